-- A quadratic pattern ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    return (("a"):rep(200000)):find(".-b")
  end,
}
