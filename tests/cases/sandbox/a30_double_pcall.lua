-- Doubling in pcall for ever ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    while true do
      pcall(function()
        local s = "x"
        while true do s = s .. s end
      end)
    end
  end,
}
