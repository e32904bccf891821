-- Text cannot be made code.
-- expect: call attempt to call a nil value
return {
  api = 1,
  assemble = function(ctx)
    return load("return os or io or debug")()
  end,
}
