-- A table whose length is the largest integer there is makes nobody count to it.
-- expect: ok
-- Written as a constructor: a table that grows would keep the first keys as a list.
local function endless(v)
  return {
    [1 << 0] = v, [1 << 1] = v, [1 << 2] = v, [1 << 3] = v, [1 << 4] = v, [1 << 5] = v, [1 << 6] = v,
    [1 << 7] = v, [1 << 8] = v, [1 << 9] = v, [1 << 10] = v, [1 << 11] = v, [1 << 12] = v, [1 << 13] = v,
    [1 << 14] = v, [1 << 15] = v, [1 << 16] = v, [1 << 17] = v, [1 << 18] = v, [1 << 19] = v, [1 << 20] = v,
    [1 << 21] = v, [1 << 22] = v, [1 << 23] = v, [1 << 24] = v, [1 << 25] = v, [1 << 26] = v, [1 << 27] = v,
    [1 << 28] = v, [1 << 29] = v, [1 << 30] = v, [1 << 31] = v, [1 << 32] = v, [1 << 33] = v, [1 << 34] = v,
    [1 << 35] = v, [1 << 36] = v, [1 << 37] = v, [1 << 38] = v, [1 << 39] = v, [1 << 40] = v, [1 << 41] = v,
    [1 << 42] = v, [1 << 43] = v, [1 << 44] = v, [1 << 45] = v, [1 << 46] = v, [1 << 47] = v, [1 << 48] = v,
    [1 << 49] = v, [1 << 50] = v, [1 << 51] = v, [1 << 52] = v, [1 << 53] = v, [1 << 54] = v, [1 << 55] = v,
    [1 << 56] = v, [1 << 57] = v, [1 << 58] = v, [1 << 59] = v, [1 << 60] = v, [1 << 61] = v, [1 << 62] = v,
    [math.maxinteger] = v,
  }
end
return {
  api = 1,
  assemble = function(ctx)
    local t = endless("read")
    assert(#t > 1 << 61)
    for from = 0, 8 do
      assert(not pcall(ctx.entries, ctx, { tool = t, from = from }))
      assert(not pcall(ctx.entries, ctx, { path = t, from = from }))
    end
    pcall(ctx.entries, ctx, { kind = endless("result") })
    pcall(ctx.tools, ctx, t)
    pcall(ctx.tools, ctx, { keep = t })
    pcall(table.insert, t, "x")
    pcall(table.insert, t, 1 << 61, "x")
    pcall(table.insert, t, math.maxinteger, "x")
    pcall(table.unpack, t)
    pcall(table.unpack, t, math.maxinteger - 3)
    pcall(table.concat, t)
    pcall(table.concat, t, ",", math.maxinteger - 1)
    pcall(table.move, t, math.maxinteger - 2, math.maxinteger, 1)
    pcall(table.move, t, 1, 3, math.maxinteger - 1)
    pcall(table.sort, t)
    pcall(table.pack, table.unpack(t, 1, 3))
    ctx.state = { x = #t }
  end,
}
