-- A module that is no Lua file of the folder is refused.
-- beside: odd files
-- expect: load larger than 1 MiB
require("huge")
return { api = 1 }
