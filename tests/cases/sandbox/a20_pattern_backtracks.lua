-- A pattern that backtracks for hours ends.
-- expect: call more than | time of one call | too complex
return {
  api = 1,
  assemble = function(ctx)
    return (("a"):rep(30000)):find((".-"):rep(8) .. "b")
  end,
}
