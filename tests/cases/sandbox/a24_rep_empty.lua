-- Repeating nothing is nothing, at once.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    assert(#((""):rep(1 << 60)) == 0)
  end,
}
