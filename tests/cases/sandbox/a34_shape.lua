-- The table that a policy returns is read without running anything of it.
-- expect: load a value without a name | is not known
local t = { api = 1 }
for i = 1, 1e5 do t[i] = i end
return t
