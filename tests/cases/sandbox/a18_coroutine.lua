-- There are no coroutines.
-- expect: load attempt to index a nil value
local co = coroutine.wrap(function() while true do end end)
return { api = 1, assemble = function() co() end }
