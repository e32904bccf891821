-- Priority queue: at 80 % of the budget the least important goes, down to 70 %.
-- Source: rows S1.13 to S1.16: importance instead of first in, first out; down to 70 %, not to
-- the line; one batch at the 80 % mark; and only when ten turns have gathered, because to
-- compress every second turn doubled the cost.
--
-- What the user said counts most, then results that were cited or are errors, talk without a
-- name in it least; of equals the oldest goes first. Only what is shown of an entry changes,
-- never the order: chronology holds. Newer entries go when nothing else is left.
--
-- example: window=1500 reserve=0 turns=4 recent=1
--   user 20
--   text 60                     -> dropped
--   call read src/a.c
--   result 300 "fault E4711"
--   text 20 "E4711 it is"        -> dropped
--   call read src/b.c
--   result 300                  -> masked
--   user 20
--   text 20 "E4711 again"
--   call read src/c.c
--   result 300
--   call read src/d.c
--   result 300

return {
  api = 1,
  name = "priority_queue",
  about = "At 80 % of the budget lower the least important entries to 70 %, oldest first.",
  source = "S1.13, S1.14, S1.15, S1.16",
  options = {
    high = { default = 0.8, min = 0, max = 1, help = "share of the budget that begins it" },
    low = { default = 0.7, min = 0, max = 1, help = "share of the budget that ends it" },
    turns = { default = 10, min = 1, help = "turns that must have gathered since the last time" },
    recent = { default = 3, min = 0, help = "newest turns that go last" },
    user = { default = 3, min = 0, help = "importance of what the user said" },
    key = { default = 2, min = 0, help = "importance of a cited result or an error" },
    talk = { default = 0.5, min = 0, help = "importance of a text without names" },
  },
  order = "rank",

  rank = function(_, e, o)
    local importance = 1
    if e.kind == "user" then
      importance = o.user
    elseif e.kind == "result" and (e.citations > 0 or e.is_error) then
      importance = o.key
    elseif e.kind == "text" and e.identifiers == 0 then
      importance = o.talk
    end
    return e.age <= o.recent and importance + 1000 or importance
  end,

  assemble = function(ctx, o)
    local last = ctx.state.last or 0
    if ctx.usage < o.high or ctx.step - last < o.turns then return end
    ctx.state.last = ctx.step
    ctx:shrink(o.low * ctx.budget, "the least important goes")
  end,
}
