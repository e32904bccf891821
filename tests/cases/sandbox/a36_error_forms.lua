-- Every error comes out as one clean line, and nothing of it runs.
-- with none: call error object is a nil value
-- with a_boolean: call error object is a boolean value
-- with a_number: call error object is a number value
-- with a_table: call error object is a table value
-- with loops: call error object is a table value
-- with named: call error object is a table value
-- with context: call error object is a userdata value
-- with long: call xxxxxxxx
-- with nul: call a b
-- with lines: call a
-- with level: call boom
-- with in_pcall: call again
-- with from_close: call first
local made = {
  none = function() error() end,
  a_boolean = function() error(true) end,
  a_number = function() error(42) end,
  a_table = function() error {} end,
  loops = function() error(setmetatable({}, { __tostring = function() while true do end end })) end,
  named = function() error(setmetatable({}, { __name = ("n"):rep(1e6) })) end,
  context = function(ctx) error(ctx) end,
  long = function() error(("xxxxxxxxxx"):rep(5e5)) end,
  nul = function() error("a\0b") end,
  lines = function() error("a\nb\rc\27[31m") end,
  level = function() error("boom", 1 << 40) end,
  in_pcall = function() local _, e = pcall(error, "again", 0) error(e, 0) end,
  from_close = function()
    local x <close> = setmetatable({}, { __close = function() error("second") end })
    error("first")
  end,
}
return {
  api = 1,
  options = { with = "" },
  assemble = function(ctx, o) made[o.with](ctx) end,
}
