-- Joining large strings for ever ends.
-- expect: call more than | time of one call | not enough memory
return {
  api = 1,
  assemble = function(ctx)
    local s = ("x"):rep(4 << 20)
    while true do local t = s .. s end
  end,
}
