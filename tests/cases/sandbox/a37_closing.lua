-- There is nothing of a context to close or to collect.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local e, span = nil, ctx:span()
    for x in ctx:entries() do e = x end
    for _, it in ipairs { ctx, e, span } do
      assert(getmetatable(it) == nil)
      for _, name in ipairs { "close", "__gc", "__close", "__index", "__name", "__metatable", "free" } do
        assert(not pcall(function() return it[name] end), name)
        assert(not pcall(function() return it[name](it) end))
        assert(not pcall(function() it[name] = error end))
      end
      for _, f in ipairs { rawget, rawset, rawlen, next, ipairs, table.unpack, table.concat, string.rep, string.byte } do
        pcall(f, it, 1, 1)
      end
      assert(not pcall(rawget, it, "x") and not pcall(rawset, it, "x", 1) and not pcall(rawlen, it))
      assert(not pcall(setmetatable, it, {}) and not pcall(next, it) and not pcall(function() return #it end))
      assert(not pcall(function() local x <close> = it end))
      assert(not pcall(function() return it < it end) and not pcall(function() return it .. it end))
      assert(not pcall(function() for _ in pairs(it) do end end))
      assert(not pcall(function() return it() end))
    end
  end,
}
