-- The collector is not the policy's.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    assert(collectgarbage == nil)
  end,
}
