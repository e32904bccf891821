-- Hashing for ever ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    while true do
      for e in ctx:entries() do local h = e.hash end
    end
  end,
}
