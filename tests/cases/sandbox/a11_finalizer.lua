-- There are no finalizers.
-- expect: call __gc is not allowed
return {
  api = 1,
  assemble = function(ctx)
    setmetatable({}, { __gc = function() while true do end end })
    for i = 1, 1e6 do local t = { i } end
  end,
}
