-- A handler that loops over an ordinary error ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    xpcall(error, function() while true do end end, "x")
  end,
}
