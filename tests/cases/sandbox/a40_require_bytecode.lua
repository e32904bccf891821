-- A module that is no Lua file of the folder is refused.
-- beside: odd files
-- expect: load attempt to load a binary chunk
require("bytecode")
return { api = 1 }
