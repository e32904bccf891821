-- Trimming for ever ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    while true do
      for e in ctx:entries { kind = "result" } do
        e:trim { tokens = 20 }
        e:restore()
      end
    end
  end,
}
