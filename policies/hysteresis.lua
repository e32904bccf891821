-- Hysteresis: append until the prompt is full, then drop the oldest steps down to half.
-- Source: row S1.14: who evicts does it well below the line, or he is at it again next turn.
--
-- Between two drops every prompt is the last one and an appendix, so the provider's cache holds;
-- what is paid for it is that half of the room stands empty after each. Steps go whole, oldest
-- first; the task, what is held and the newest step stay.
--
-- example: window=1500 reserve=0 floor=0.5
--   user 20
--   call read src/a.c   -> dropped
--   result 300          -> dropped
--   call read src/b.c   -> dropped
--   result 300          -> dropped
--   call read src/c.c   -> dropped
--   result 300          -> dropped
--   call read src/d.c
--   result 300

local SHOWN = { "full", "trimmed", "reference", "masked" }

return {
  api = 1,
  name = "hysteresis",
  about = "Append until the prompt is full, then drop the oldest whole steps to half.",
  source = "S1.14",
  options = {
    floor = { default = 0.5, min = 0, max = 1, help = "share of the budget that is left filled" },
  },

  overflow = function(ctx, o)
    local goal, step = o.floor * ctx.budget, nil
    for e in ctx:entries({ region = "hot", at = SHOWN }) do
      if e.step ~= step and ctx.tokens <= goal then return end
      step = e.step
      if not e.held then e:drop("the oldest steps go when the prompt is full") end
    end
  end,
}
