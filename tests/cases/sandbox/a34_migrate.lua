-- What migrate returns is taken as ctx.state is.
-- with nothing: call migrate must return the new state, a table, not a nil
-- with number: call migrate must return the new state, a table, not a number
-- with circle: call deeper than 32 tables, or a circle
-- with deep: call deeper than 32 tables
-- with nan: call ctx.state.x: not a finite number
-- with bytes: call ctx.state.x: not UTF-8
-- with a_function: call ctx.state.x: a function is not plain data
-- with metatable: call a table with a metatable is not plain
-- with loops: call more than | time of one call
-- with throws: call error object is a table value
-- with fine: ok
-- calls: migrate assemble
local made = {
  nothing = function() end,
  number = function() return 1 end,
  circle = function() local t = {} t.t = t return t end,
  deep = function() local top = {} local t = top for _ = 1, 1e5 do t.x = {} t = t.x end return top end,
  nan = function() return { x = 0 / 0 } end,
  bytes = function() return { x = "\xff" } end,
  a_function = function() return { x = error } end,
  metatable = function() return setmetatable({}, { __pairs = error }) end,
  loops = function() while true do end end,
  throws = function() error(setmetatable({}, { __tostring = function() while true do end end })) end,
  fine = function(old, from) return { n = from, with = old.with } end,
}
return {
  api = 1,
  migrate = function(old, from) return made[old.with](old, from) end,
  assemble = function(ctx) assert(ctx.state.n == 7 and ctx.state.with == "fine") end,
}
