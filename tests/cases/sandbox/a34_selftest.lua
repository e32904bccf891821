-- A selftest that does not agree refuses, however it says so.
-- expect: call selftest returned false
-- calls: selftest
return {
  api = 1,
  selftest = function() return false, setmetatable({}, { __tostring = error }) end,
}
