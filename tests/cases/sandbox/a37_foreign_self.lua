-- A method takes no other object as itself.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    assert(getmetatable(ctx) == nil)
    assert(not pcall(function() return ctx.close end))
    assert(not pcall(function() return ctx.__gc end))
    assert(not pcall(function() ctx.step = 1 end))
    for e in ctx:entries() do
      assert(not pcall(e.mask, ctx))
      assert(not pcall(ctx.entries, e))
      assert(not pcall(function() e.kind = "x" end))
      assert(not pcall(setmetatable, e, {}))
      assert(not pcall(rawset, e, "a", 1))
    end
  end,
}
