-- An error that is a table is told, and nothing of it runs.
-- expect: call error object is a table value
return {
  api = 1,
  assemble = function(ctx)
    error(setmetatable({}, { __tostring = function() while true do end end }))
  end,
}
