-- There is no registry.
-- expect: call attempt to index a nil value
return {
  api = 1,
  assemble = function(ctx)
    return debug.getregistry()
  end,
}
