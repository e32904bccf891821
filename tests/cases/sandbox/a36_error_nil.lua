-- An error that is nil is told.
-- expect: call error object is a nil value
return {
  api = 1,
  assemble = function(ctx)
    error(nil)
  end,
}
