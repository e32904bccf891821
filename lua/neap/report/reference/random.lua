-- Random order: the reference that a policy has to beat. When the prompt outgrows the height of
-- the economy, entries go down in random order (ctx.random, seed 1) to the floor.
return {
  api = 1,
  name = "random",
  about = "Entries go in random order, in one rewrite: a reference.",

  rank = function(ctx)
    return ctx.random()
  end,

  assemble = function(ctx)
    if ctx.tokens > ctx.economy.height then ctx:shrink(ctx.economy.floor, "random") end
  end,
}
