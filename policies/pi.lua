-- pi's compaction: what is older than the newest 20,000 tokens becomes a summary, when full.
-- Source: pi-mono, packages/coding-agent/src/core/compaction/compaction.ts, December 2025.
--
-- It begins above window - 16,384. The newest messages that have 20,000 tokens stay: the cut is
-- at a user's or an assistant's message, never between a call and its result. Sizes are exact
-- tokens, where pi takes four characters for one; the summary has at most 0.8 of the reserve.
-- In windows below `per` tokens the numbers shrink in proportion. The summary comes a turn after
-- it was asked for, so that is done 5 % below the budget at the latest. pi writes its one summary
-- anew from the last: here as many of its lines as half of the new one holds.
--
-- example: window=4000
--   user 20
--   call read src/a.c                            -> folded
--   result 900 "fault E4711 in core/pump.c:88"   -> folded
--   call read src/b.c                            -> folded
--   result 1900                                  -> folded
--   call read src/c.c
--   result 400
--   call read src/d.c
--   result 50

-- The first step that stays: the one in which the newest reach so many tokens, or, when they do
-- so within its results, the next.
local function cut(ctx, keep)
  for e in ctx:entries({ region = "hot", newest = true }) do
    keep = keep - e.tokens
    if keep <= 0 then return e.kind == "result" and e.step + 1 or e.step end
  end
  return 0
end

-- The summary so far, and as many of its lines as half of so many tokens of four bytes hold.
local function earlier(ctx, tokens)
  local last = ctx:entries({ kind = "summary", at = "full" })()
  local text = last and (last:lines(2, 2000) .. "\n"):sub(1, 2 * tokens // 1)
  return last, text and text:match("^.*\n") or ""
end

return {
  api = 1,
  name = "pi",
  about = "Above the window less 16,384 fold all but the newest 20,000 tokens into a summary.",
  source = "pi-coding-agent, compaction.ts (December 2025)",
  options = {
    reserve = { default = 16384, min = 0, help = "tokens of the window that stay free" },
    keep = { default = 20000, min = 0, help = "newest tokens that stay as they are" },
    per = { default = 200000, min = 1, help = "the window that the tokens are meant for" },
  },

  compact = function(ctx, o)
    local part = math.min(1, ctx.window / o.per)
    local limit = math.min(ctx.window - part * o.reserve, 0.95 * ctx.budget)
    if ctx.tokens <= limit or ctx.step < (ctx.state.later or 0) then return end
    local old = ctx:span({ before = cut(ctx, part * o.keep) })
    local room = math.max(50, 0.8 * part * o.reserve // 1)
    local last, kept = earlier(ctx, room)
    local most = neap.clamp(old.tokens // 3, 50, math.max(50, room - #kept // 4))
    local text = ctx:summarize(old, { max_tokens = most })
    local done = text and ctx:fold(old, kept .. text)
    if done and last then last:drop("a new summary has taken its place") end
    if not done then ctx.state.later = ctx.step + 10 end
  end,
}
