-- A global is not written: it would outlive a failed call.
-- expect: call global 'leaked' cannot be written
return {
  api = 1,
  assemble = function(ctx)
    leaked = 1
  end,
}
