-- The metatable of strings cannot be reached.
-- expect: call attempt to index a nil value
return {
  api = 1,
  assemble = function(ctx)
    assert(getmetatable("") == nil)
    getmetatable("").__index = function() return 1 end
  end,
}
