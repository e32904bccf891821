-- A handler that fails is an error and no crash.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local function h(e) error(e) end
    local ok, why = xpcall(error, h, "x")
    assert(not ok, why)
  end,
}
