-- A string that cannot be is an error at once.
-- expect: call too large
return {
  api = 1,
  assemble = function(ctx)
    return #(("x"):rep(1 << 40))
  end,
}
