-- A pattern that balances for hours ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    return (("("):rep(200000)):find("%b()")
  end,
}
