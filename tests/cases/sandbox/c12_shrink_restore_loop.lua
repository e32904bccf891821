-- Shrinking and restoring for ever ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    while true do
      ctx:shrink(1)
      for e in ctx:entries() do
        e:restore()
      end
    end
  end,
}
