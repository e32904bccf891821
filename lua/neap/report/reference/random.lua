-- Random eviction: the reference that every policy should beat. At the height of the economy, as
-- tide, it drops whole atoms by chance (ctx.random, seed 1) in one rewrite down to the floor.

local SHOWN = { "full", "trimmed", "reference", "masked" }

return {
  api = 1,
  name = "random",
  about = "What goes is drawn by lot, in one rewrite: a reference.",

  assemble = function(ctx)
    if ctx.tokens <= ctx.economy.height then return end
    local list = {}
    for e in ctx:entries({ region = "hot", at = SHOWN }) do
      if not e.held then list[#list + 1] = e end
    end
    for last = #list, 1, -1 do
      if ctx.tokens <= ctx.economy.floor then return end
      local i = ctx.random() * last // 1 + 1
      local e = list[i]
      list[i] = list[last]
      e:drop("drawn by lot")
    end
  end,
}
