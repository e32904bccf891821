-- Comparing large strings for ever ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    local a, b = ("x"):rep(4 << 20), ("x"):rep(4 << 20)
    while true do local t = a < b end
  end,
}
