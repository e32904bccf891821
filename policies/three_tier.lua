-- Three tiers: the newest steps verbatim, a summary of older ones, everything by recall.
-- Source: rows S0.6 and S0.14 to S0.22, an essay on agents of many steps: hot, warm, cold.
--
-- Large results are cut as they come in. Every few steps what has grown old is folded into one
-- more summary, each fact with its step, by the host's model or, without one, by picking lines.
-- A summary is at most a third of what it stands for, and is never written again, so that
-- nothing in it drifts. Between two folds the beginning of the prompt stays as it is, so that
-- the provider's cache holds.
--
-- example: window=9000 reserve=0 hot=2 every=2
--   user 20
--   call read src/a.c                            -> folded
--   result 300 "fault E4711 in core/pump.c:88"   -> folded
--   call read src/b.c                            -> folded
--   result 300                                   -> folded
--   call read src/c.c
--   result 300
--   call read src/d.c
--   result 300
--   call read src/e.c
--   result 300

return {
  api = 1,
  name = "three_tier",
  about = "Newest steps verbatim, summaries of older ones, everything by recall.",
  source = "S0.6, S0.14-S0.22",
  options = {
    hot = { default = 6, min = 1, help = "newest steps that stay as they are" },
    every = { default = 4, min = 1, help = "steps that make a summary" },
    observation = { default = 1200, min = 50, help = "tokens of one result" },
    merge = { default = false, help = "one summary that grows, in place of one more each time" },
    summary = { default = 1000, min = 50, max = 16000, help = "most tokens of one summary" },
    map = { default = 0, min = 0, max = 4000, help = "bytes of what it leads to, 100 and more" },
  },
  tools = { "recall", "read" },

  admit = function(_, e, o)
    if e.kind == "result" and e.tokens > o.observation then
      e:trim { tokens = o.observation, keep = "ends", why = "large on arrival" }
    end
  end,

  compact = function(ctx, o)
    local old = ctx:span { from = 1, before = ctx.step - o.hot, merge = o.merge }
    -- after a refusal, or no answer, not again before as many steps have come
    if old.steps < o.every + (ctx.state.refused or 0) then return end
    local most = neap.clamp(old.merged + old.tokens // 3, 50, o.summary)
    local text, why = ctx:summarize(old, { max_tokens = most })
    -- a model does not search for what it does not remember having seen
    local map = text and o.map >= 100 and ctx:map(o.map, old)
    local ok = ctx:fold(old, map and text .. "\n" .. map or text, why)
    ctx.state.refused = not ok and old.steps or nil
  end,
}
