-- Options are plain values.
-- expect: load option 'me'
local o = {}
o.me = o
return { api = 1, options = o }
