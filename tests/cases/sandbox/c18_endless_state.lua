-- State with such a table is written by its keys.
-- expect: ok
-- calls: assemble assemble
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
    if ctx.state.t then assert(ctx.state.t[math.maxinteger] == 1 and ctx.state.t[4] == 1) end
    ctx.state.t = endless(1)
  end,
}
