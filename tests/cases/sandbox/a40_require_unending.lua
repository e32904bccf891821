-- A module that is no Lua file of the folder is refused.
-- beside: odd files
-- expect: load is not in the policy
require("unending")
return { api = 1 }
