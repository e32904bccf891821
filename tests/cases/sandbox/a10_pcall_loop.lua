-- pcall does not swallow the end.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    while true do
      pcall(function() while true do end end)
    end
  end,
}
