-- Tide: rise by appending, ebb in one rewrite, least value per token first.
-- Source: fitted on recorded runs in windows of 8k and 16k tokens, by halves: `make bench-tide`;
-- where the halves chose differently, by all of them.
--
-- Between two ebbs every prompt is the last one and an appendix, so the provider's cache holds.
-- When the prompt has risen above the height at which a rewrite pays, everything is lowered to
-- the floor at once. What an entry is worth is what would be lost with it: the facts that were
-- shown there last, since a fact that stands again further down needs no earlier place. Those
-- that the model has written before count most, numbers less than names, old things less.
--
-- What goes goes by steps: the lines that show most of those facts, fewer of them, a mark, nothing
-- but a name in the notice of what is gone. A step is worth the share of the facts that it shows.
--
-- A cache that has grown cold keeps nothing, so an ebb that would come soon comes then. Nothing is
-- cut on arrival but giants: a result that would push out everything else shows its densest
-- lines from the start. What a user said stays, unless it is long.
--
-- example: window=2900 reserve=300
--   user 20
--   call read src/a.c
--   result 400                                     -> masked
--   call read src/b.c
--   result 400 "fault E4711 in core/pump.c:88"     -> trimmed
--   text 30 "core/pump.c:88 says E4711"
--   call read src/c.c
--   result 400 "warns of W0815 in core/valve.c:3"   -> trimmed
--   call read src/d.c
--   result 400                                     -> masked
--   text 30 "E4711 again"
--   call read src/e.c
--   result 400                                     -> masked
--   text 30 "E4711 again"
--   call read src/f.c
--   result 400                                     -> trimmed

return {
  api = 1,
  name = "tide",
  about = "Append until a rewrite pays, then lower what has the least value per token.",
  source = "fitted on recorded runs",
  options = {
    base = { default = 0.3, min = 0, help = "worth of an entry without facts, in facts" },
    spread = { default = 0.75, min = 0, help = "exponent of the worth in facts" },
    fresh = { default = 0.6, min = 0, help = "exponent of the age in steps" },
    user = { default = 3.0, min = 0, help = "times as much for what a user said" },
    repeated = { default = 0.1, min = 0, max = 1, help = "what a later copy leaves of the value" },
    held = { default = 0.04, min = 0, max = 1, help = "share of the room: a user's words kept" },
    giant = { default = 0.15, min = 0, help = "share of the budget that is too large on arrival" },
    excerpt = { default = 0.15, min = 0, max = 1, help = "share of the budget that a giant keeps" },
    front = { default = 0.3, min = 0, help = "more value lost, as a share, to keep the beginning" },
    floor = { default = 0.4, min = 0, max = 1, help = "share of the room to ebb to" },
  },
  tools = { "recall", "read" },
  order = "value",
  -- What a fact weighs that nothing later shows, as much as it is likelier to be written again:
  -- numbers and plain words less than names, and 6 more for each time that the model wrote it.
  facts = { name = 1, number = 0.2, word = 0.4, written = 6, again = 6 },
  ladder = {
    trimmed = { keep = "dense", tokens = { 1000, 400, 150 }, worth = "shown" },
    reference = { worth = 0.15 },
    masked = { worth = 0.1 },
    dropped = { named = 16 }, -- one read away where so much went
  },

  admit = function(ctx, e, o)
    local room = ctx.budget - ctx.economy.front
    if e.kind == "user" and e.tokens <= o.held * room then e:hold("what the user said") end
    if e.kind == "result" and e.tokens > o.giant * ctx.budget then
      local tokens = math.max(o.excerpt * ctx.budget, math.min(200, ctx.budget)) // 1 | 0
      e:trim { tokens = tokens, keep = "dense", why = "a giant on arrival" }
    end
  end,

  rank = function(_, e, o)
    local worth = neap.pow(o.base + e.worth, o.spread) * (e.kind == "user" and o.user or 1)
    return worth * (e.repeated_by and o.repeated or 1) / neap.pow(e.age, o.fresh)
  end,

  assemble = function(ctx, o)
    local front, height = ctx.economy.front, ctx.economy.height
    local floor = (front + o.floor * (ctx.budget - front)) // 1 | 0
    if ctx.economy.cold then height = (floor + height) / 2 end -- halfway up is soon enough
    if ctx.tokens > height then ctx:shrink(floor, "ebb", o.front) end
  end,
}
