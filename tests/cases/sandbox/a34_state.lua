-- ctx.state takes plain data alone, exactly, and a refusal names the place.
-- with circle: call ctx.state.me.me: deeper than 32 tables, or a circle | ctx.state.me
-- with deep: call deeper than 32 tables
-- with wide: call more than | not enough memory | time of one call
-- with long: call more than 8 MiB | more than | not enough memory
-- with large: call ctx.state has 300
-- with nan: call ctx.state.items[3].x: not a finite number
-- with inf: call ctx.state.items[3].x: not a finite number
-- with bytes: call ctx.state.text: not UTF-8
-- with key_bytes: call a key is not UTF-8
-- with a_function: call ctx.state.f: a function is not plain data
-- with handle: call ctx.state.e: a userdata is not plain data
-- with metatable: call a table with a metatable is not plain
-- with lies: call a table with a metatable is not plain
-- with float_key: call a key is neither a string nor an integer
-- with boolean_key: call a key is neither a string nor an integer
-- with table_key: call a key is neither a string nor an integer
-- with not_a_table: call ctx.state must be a table
-- with mixed: ok
-- with holes: ok
-- with exact: ok
-- calls: assemble assemble
local made = {
  circle = function(s) s.me = s end,
  deep = function(s) for _ = 1, 1e5 do s.x = {} s = s.x end end,
  wide = function(s) for i = 1, 1e7 do s[i] = i end end,
  long = function(s) for i = 1, 12 do s[i] = ("x"):rep(1 << 20) end end,
  large = function(s) s.x = ("x"):rep(300000) end,
  nan = function(s) s.items = { 1, 2, { x = 0 / 0 } } end,
  inf = function(s) s.items = { 1, 2, { x = -1 / 0 } } end,
  bytes = function(s) s.text = "\xff\xfe" end,
  key_bytes = function(s) s["\xff"] = 1 end,
  a_function = function(s) s.f = pairs end,
  handle = function(s, ctx) for e in ctx:entries() do s.e = e end end,
  metatable = function(s) s.t = setmetatable({}, {}) end,
  lies = function(s) s.t = setmetatable({}, { __pairs = function() while true do end end, __len = error, __index = error }) end,
  float_key = function(s) s[1.5] = 1 end,
  boolean_key = function(s) s[true] = 1 end,
  table_key = function(s) s[{}] = 1 end,
  not_a_table = function(_, ctx) ctx.state = "x" end,
  mixed = function(s) s.t = { 1, 2, x = 3, [7] = 4, [-1] = 5 } end,
  holes = function(s) s.t = { 1, nil, 3, nil, nil, 6 } end,
  exact = function(s) s.i = (1 << 53) + 1 s.m = math.mininteger s.z = "a\0b" s.f = 1.0 s.d = 5e-324 end,
}
local checks = {
  mixed = function(s) return s.t[2] == 2 and s.t.x == 3 and s.t[7] == 4 and s.t[-1] == 5 end,
  holes = function(s) return s.t[1] == 1 and s.t[2] == nil and s.t[6] == 6 end,
  exact = function(s)
    return s.i == 9007199254740993 and s.m == math.mininteger and s.z == "a\0b" and math.type(s.f) == "float" and s.d == 5e-324
  end,
}
return {
  api = 1,
  options = { with = "" },
  assemble = function(ctx, o)
    if checks[o.with] then
      if ctx.state.second then assert(checks[o.with](ctx.state)) end
      made[o.with](ctx.state)
      ctx.state.second = true
    elseif ctx.state.second then
      made[o.with](ctx.state, ctx)
    else
      ctx.state.second = true
    end
  end,
}
