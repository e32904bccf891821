-- A finalizer that is added later is none.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local m = {}
    setmetatable({}, m)
    m.__gc = function() while true do end end
    for i = 1, 1e4 do local t = { i } end
  end,
}
