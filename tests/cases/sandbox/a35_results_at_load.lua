-- A chunk that returns too much is an error or its first value.
-- expect: ok
local t = { { api = 1 } }
for i = 2, 200000 do t[i] = i end
return table.unpack(t)
