-- Sliding window: the newest steps word for word, nothing of the older ones.
-- Source: requirements S0.9 (`steps[-n:]`, n = 6) and S0.10 (a notice stands at the cut,
-- because a model does not know what it has forgotten). System, tools and task always stay.
--
-- With slack = 0 the oldest step goes in every turn, and every turn rewrites the prompt from
-- the cut on: little room, but no cache. slack = 6 lets six steps too many gather, then drops
-- them in one rewrite.
--
-- example: window=4000 steps=2
--   user 20
--   call read src/a.c   -> dropped
--   result 300          -> dropped
--   call read src/b.c
--   result 300
--   call grep main
--   result 100

local SHOWN = { "full", "trimmed", "reference", "masked" }

return {
  api = 1,
  name = "sliding_window",
  about = "Show the newest steps word for word; drop older ones whole, with a notice.",
  source = "S0.9, S0.10",
  options = {
    steps = { default = 6, min = 1, help = "steps that are shown" },
    slack = { default = 0, min = 0, help = "steps too many that may gather before a rewrite" },
  },

  assemble = function(ctx, o)
    local first, old = ctx.step - o.steps, {} -- the oldest step that stays; what is older
    for e in ctx:entries({ region = "hot", at = SHOWN, before = first }) do
      if not e.held then old[#old + 1] = e end
    end
    if #old == 0 or first - old[1].step <= o.slack then return end
    for _, e in ipairs(old) do
      e:drop("older than the newest " .. o.steps .. " steps")
    end
  end,
}
