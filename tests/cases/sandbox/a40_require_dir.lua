-- A module that is no Lua file of the folder is refused.
-- beside: odd files
-- expect: load is no regular file
require("dir")
return { api = 1 }
