-- A comparison that loops inside a handler's call ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    xpcall(table.sort, function() while true do end end, { 3, 2, 1 }, function() while true do end end)
  end,
}
