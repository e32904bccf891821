-- A width that is absurd is an error.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    assert(not pcall(string.format, "%1000d", 1))
    assert(not pcall(string.format, "%.1000f", 1))
    assert(not pcall(string.format, "%" .. ("0"):rep(1e5) .. "d", 1))
    assert(not pcall(string.format, "%"))
    assert(#string.format("%99.99f", -1e308) > 300)
  end,
}
