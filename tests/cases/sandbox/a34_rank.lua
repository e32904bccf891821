-- What rank returns is a finite number of at least 0.
-- with nothing: call is a nil; return a finite number
-- with text: call is a string; return a finite number
-- with a_table: call is a table; return a finite number
-- with nan: call is nan; return a finite number
-- with inf: call is inf; return a finite number
-- with negative: call is -1; return a finite number
-- with loops: call more than
-- with throws: call error object is a nil value
-- with fails_last: call no more
-- with huge: ok
-- with tiny: ok
-- with integer: ok
local n = 0
local made = {
  nothing = function() end,
  text = function() return "1" end,
  a_table = function() return setmetatable({}, { __lt = function() return true end }) end,
  nan = function() return 0 / 0 end,
  inf = function() return math.huge end,
  negative = function() return -1 end,
  loops = function() while true do end end,
  throws = function() error(nil) end,
  fails_last = function() n = n + 1 if n > 5 then error("no more") end return n end,
  huge = function() return 1.7976931348623157e308 end,
  tiny = function() return 5e-324 end,
  integer = function() return math.maxinteger end,
}
return {
  api = 1,
  options = { with = "" },
  rank = function(_, _, o) return made[o.with]() end,
  assemble = function(ctx) pcall(ctx.shrink, ctx, 1) end,
}
