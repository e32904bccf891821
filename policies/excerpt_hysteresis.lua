-- Excerpts on arrival, then hysteresis: long results come in short; full, drop down to half.
-- Source: the best of the plain loops measured in November 2026 (a session of 1,000 turns that
-- grows to 0.86 M tokens, window 128,000): 0.114 units a prompt token against 0.119 of
-- hysteresis alone, and a history that shrinks to 70 %.
--
-- A result of more than 4,000 characters shows 2,000 of its two ends from the start, so the cut
-- rewrites nothing. Sizes here are tokens, at four characters each. What the middle holds is one
-- neap_read away; a policy that cuts later, as tide, finds more of it cited by then.
--
-- example: window=1000 long=200 kept=100 floor=0.6
--   user 20
--   call read src/a.c   -> dropped
--   result 150          -> dropped
--   call read src/b.c   -> dropped
--   result 900          -> dropped
--   call read src/c.c   -> dropped
--   result 150          -> dropped
--   call read src/d.c
--   result 900          -> trimmed
--   call read src/e.c
--   result 150

return {
  api = 1,
  name = "excerpt_hysteresis",
  about = "Cut long results as they come; when full, drop the oldest whole steps to half.",
  source = "a measurement of packing loops, November 2026",
  options = {
    long = { default = 1000, min = 1, help = "tokens above which a result is cut on arrival" },
    kept = { default = 500, min = 1, help = "tokens that it keeps, of both ends" },
    floor = { default = 0.5, min = 0, max = 1, help = "share of the budget that is left filled" },
  },
  tools = { "read" },

  admit = function(_, e, o)
    if e.kind == "result" and e.tokens > o.long then
      e:trim({ tokens = o.kept, keep = "ends", why = "long on arrival" })
    end
  end,

  overflow = function(ctx, o)
    local goal, step = o.floor * ctx.budget, nil
    for e in ctx:entries({ region = "hot", min_tokens = 1 }) do
      if e.step ~= step and ctx.tokens <= goal then return end
      step = e.step
      if not e.held then e:drop("the oldest steps go when the prompt is full") end
    end
  end,
}
