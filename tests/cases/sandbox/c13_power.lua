-- ^ with another exponent than 2 is libm's, and refused with its line.
-- expect: load c13_power.lua:8: ^ takes only the constant exponent 2 here
-- x ^ 3 in a comment, "x ^ 3", [[x ^ 3]] and [==[ x ^ 3 ]]^3 ]==] are nothing
--[[ x ^ 3
]]
local x, s = 3, "^" .. '\'^' .. [[
^]]
return { api = 1, assemble = function() return x ^ 2 + x ^ 2.0 * x ^ 0x2 + x ^ .5 + #s end }
