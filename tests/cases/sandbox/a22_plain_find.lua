-- A plain search pays for each candidate.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    local s, p = ("a"):rep(2000000), ("a"):rep(1000000) .. "b"
    while true do s:find(p, 1, true) end
  end,
}
