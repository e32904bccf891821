-- A handler that loops ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    xpcall(function() while true do end end, function() while true do end end)
  end,
}
