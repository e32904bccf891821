-- Comparing long rows of NULs, which libc takes one at a time, ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    local s = ("\0\0\0\0\0\0\0\0"):rep(1000000)
    local a, b = s:sub(1, -9) .. "a", s:sub(1, -9) .. "b"
    while true do local t = a < b end
  end,
}
