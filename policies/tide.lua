-- Tide: rise by appending, ebb in one rewrite, least value per token first.
-- Source: a simulation of eviction on 131 recorded runs, in windows of 8k to 128k tokens.
--
-- Between two ebbs every prompt is the last one and an appendix, so the provider's cache holds.
-- When the prompt has risen above the height at which a rewrite pays, everything is lowered to
-- the floor at once: what is cited often, holds many names and was used lately stays; long
-- texts that nobody came back to go first, a rung at a time.
--
-- The prompt's beginning is left alone as far as that costs little more value: what is not
-- changed is read from the cache again, and only what follows is written anew. A cache that has
-- grown cold keeps nothing, so an ebb that would come soon comes then.
--
-- Nothing is cut on arrival but giants: a result that would push out everything else shows its
-- densest lines from the start.
--
-- example: window=3100 reserve=300
--   user 20
--   call read src/a.c
--   result 500                                   -> reference
--   call read src/b.c
--   result 500 "fault E4711 in core/pump.c:88"   -> trimmed
--   text 30 "core/pump.c:88 says E4711"
--   call read src/c.c
--   result 500                                   -> reference
--   text 30 "E4711 again"
--   call read src/d.c
--   result 500                                   -> reference
--   text 30 "E4711 again"
--   call read src/e.c
--   result 500

return {
  api = 1,
  name = "tide",
  about = "Append until a rewrite pays, then lower what has the least value per token.",
  source = "a simulation on 131 recordings",
  options = {
    cited = { default = 0.3, min = 0, help = "weight of each citation" },
    spread = { default = 0.75, min = 0, help = "exponent of the number of identifiers" },
    recent = { default = 0.5, min = 0, help = "exponent of the steps since the last citation" },
    fresh = { default = 0.25, min = 0, help = "exponent of the age in steps" },
    giant = { default = 0.25, min = 0, max = 1, help = "share of the budget that is too large" },
    excerpt = { default = 1000, min = 1, help = "tokens that such a giant keeps" },
    repeated = { default = 0.1, min = 0, max = 1, help = "what a later copy leaves of the value" },
    front = { default = 0.1, min = 0, help = "more value lost, as a share, to keep the beginning" },
    floor = { default = 0.0, min = 0, max = 1, help = "share of the budget to ebb to; 0: by ctx" },
  },
  tools = { "recall", "read" },
  order = "value",

  admit = function(ctx, e, o)
    if e.kind == "user" then e:hold("what the user said") end
    if e.kind == "result" and e.tokens > o.giant * ctx.budget then
      e:trim { tokens = o.excerpt, keep = "dense", why = "a giant on arrival" }
    end
  end,

  rank = function(ctx, e, o)
    local pow = neap.pow -- bundled: the same on every machine
    local worth = (1 + o.cited * e.citations) * pow(1 + e.identifiers, o.spread)
    local wear = pow(e.since_cited, o.recent) * pow(e.age, o.fresh)
    return (e.repeated_by and o.repeated or 1) * worth / wear
  end,

  assemble = function(ctx, o)
    local floor, height = ctx.economy.floor, ctx.economy.height
    if o.floor > 0 then floor = o.floor * ctx.budget end
    if ctx.economy.cold then height = (floor + height) / 2 end -- halfway up is soon enough
    if ctx.tokens > height then ctx:shrink(floor, "ebb", o.front) end
  end,
}
