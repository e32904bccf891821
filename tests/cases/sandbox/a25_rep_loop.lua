-- Making large strings in a loop ends.
-- expect: call more than | time of one call | not enough memory | too large
return {
  api = 1,
  assemble = function(ctx)
    while true do local s = ("x"):rep(7 << 20) end
  end,
}
