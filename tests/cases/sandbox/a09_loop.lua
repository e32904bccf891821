-- An endless loop ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    while true do end
  end,
}
