-- Names that are not known and long cost what they take.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx, o)
    local s = ("xy"):rep(1 << 21)
    while true do
      pcall(function() return ctx[s] end)
      pcall(function() return o[s] end)
      pcall(function() return neap.grammar[s] end)
    end
  end,
}
