-- A long error is cut.
-- expect: call xxxxxxxx
return {
  api = 1,
  assemble = function(ctx)
    error(("x"):rep(1e6))
  end,
}
