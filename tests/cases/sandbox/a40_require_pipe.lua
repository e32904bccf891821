-- A module that is no Lua file of the folder is refused.
-- beside: odd files
-- expect: load is no regular file
require("pipe")
return { api = 1 }
