-- Trim, then clear: long results lose their middles first, then the oldest lose everything.
-- Source: OpenClaw, docs/concepts/session-pruning.md (mode cache-ttl), January 2026; rows S4.4
-- and S4.5. From 0.3 of the window on, results of more than 4,000 characters keep the first and
-- the last 1,500; when that leaves 0.5 or more, and at least 50,000 characters can go, the oldest
-- results are cleared until it is less than 0.5.
--
-- Sizes here are tokens, at its own four characters each: 1,000, 750 and 12,500. The results of
-- the last three assistant turns are not touched, and calls stay, so the model sees what it asked
-- for. Nothing is done before `ttl` seconds without a request have passed: the cache is cold by
-- then. Where the host tells no time, as most recordings do not, it is done as soon as it is due.
--
-- example: window=4000 reserve=0 least=0
--   user 20
--   call read src/a.c
--   result 1200         -> masked
--   call read src/b.c
--   result 1200         -> trimmed
--   call read src/c.c
--   result 300
--   call read src/d.c
--   result 300
--   call read src/e.c
--   result 300

return {
  api = 1,
  name = "trim_then_clear",
  about = "Cut the middles of long results at 30 %, clear the oldest results at 50 %.",
  source = "OpenClaw's session pruning, January 2026 (S4.4, S4.5)",
  options = {
    soft = { default = 0.3, min = 0, max = 1, help = "share of the window that begins trimming" },
    hard = { default = 0.5, min = 0, max = 1, help = "share of the window that begins clearing" },
    long = { default = 1000, min = 1, help = "tokens above which a result is trimmed" },
    kept = { default = 750, min = 1, help = "tokens that a trimmed result keeps, of both ends" },
    least = { default = 12500, min = 0, help = "tokens there must be to clear" },
    turns = { default = 3, min = 0, help = "newest turns whose results are not touched" },
    ttl = { default = 300, min = 0, help = "seconds without a request before anything is done" },
  },

  assemble = function(ctx, o)
    local before, last = ctx.step - o.turns, ctx.state.last
    ctx.state.last = ctx.now
    if ctx.now and o.ttl > 0 and ctx.now - (last or ctx.now) < 1000 * o.ttl then return end
    if ctx.tokens < o.soft * ctx.window then return end
    for e in ctx:entries({ kind = "result", at = "full", before = before }) do
      if e.tokens > o.long then
        e:trim({ tokens = o.kept, keep = "ends", why = "a long result, and the window is filling" })
      end
    end
    local limit, there = o.hard * ctx.window, 0
    local old = { kind = "result", at = { "full", "trimmed" }, before = before }
    for e in ctx:entries(old) do
      there = there + e.tokens
    end
    if there < o.least then return end
    for e in ctx:entries(old) do
      if ctx.tokens < limit then return end
      e:mask("the oldest results are cleared above half of the window")
    end
  end,
}
