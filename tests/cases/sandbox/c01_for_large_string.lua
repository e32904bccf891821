-- A loop up to a huge numeral ends.
-- expect: call more than | time of one call | must be a number
return {
  api = 1,
  assemble = function(ctx)
    local s = ("1"):rep(4 << 20)
    while true do
      pcall(function() for i = 1, s do break end end)
    end
  end,
}
