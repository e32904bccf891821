-- A length that lies does not reach the table library.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local huge = setmetatable({}, { __len = function() return 1 << 50 end, __index = function() return "" end })
    for _, f in ipairs { table.remove, table.concat, table.sort, table.unpack } do
      local ok, why = pcall(f, huge)
      assert(not ok and why:find("plain table"), why)
    end
    assert(not pcall(table.insert, huge, 1, 0))
    assert(not pcall(table.move, huge, 1, 1 << 40, 2))
  end,
}
