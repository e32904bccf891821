-- opencode: prune results behind the newest 40,000 tokens of them; when full, a summary.
-- Source: opencode, packages/opencode/src/session/compaction.ts, 2025 (pruning) and 2026 (tail).
--
-- Pruning goes back from before the last two user messages, leaves 40,000 tokens of results, and
-- clears all that is older, if that is more than 20,000; not those of the tool `skill`. With a
-- single user message nothing is pruned. Above the window less a buffer of 20,000 the history is
-- folded but for the newest steps of at most 15,000 tokens, or a quarter of the room. In windows
-- below `per` tokens the numbers shrink in proportion. The summary is asked for 5 % below the
-- budget at the latest, as it comes a turn later. It takes in the last one: here as many of its
-- lines as half of it holds.
--
-- example: window=4000 reserve=0
--   user 20
--   call read src/a.c
--   result 450          -> masked
--   call read src/b.c
--   result 700          -> masked
--   call read src/c.c
--   result 700
--   user 20
--   call read src/d.c
--   result 900
--   user 20

-- The first of the newest steps that have at most so many tokens together.
local function tail(ctx, most)
  for e in ctx:entries({ region = "hot", newest = true }) do
    most = most - e.tokens
    if most < 0 then return e.step + 1 end
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
  name = "opencode",
  about = "Prune results older than the newest 40,000 tokens of them; when full, summarize.",
  source = "opencode, session/compaction.ts (2025, 2026)",
  options = {
    protect = { default = 40000, min = 0, help = "tokens of newest results that stay" },
    minimum = { default = 20000, min = 0, help = "tokens behind them that are worth a rewrite" },
    turns = { default = 2, min = 0, help = "newest user messages behind which nothing goes" },
    spare = { default = "skill", help = "a tool whose results stay" },
    buffer = { default = 20000, min = 0, help = "tokens of the window that stay free" },
    tail = { default = 15000, min = 0, help = "tokens of the newest steps that stay" },
    summary = { default = 2000, min = 50, max = 16000, help = "most tokens of the summary" },
    per = { default = 200000, min = 1, help = "the window that the tokens are meant for" },
  },

  compact = function(ctx, o)
    local part = math.min(1, ctx.window / o.per)
    local limit = math.min(ctx.window - part * o.buffer, 0.95 * ctx.budget)
    if ctx.tokens < limit or ctx.step < (ctx.state.later or 0) then return end
    local old = ctx:span({ before = tail(ctx, math.min(part * o.tail, limit / 4)) })
    local last, kept = earlier(ctx, o.summary)
    local most = neap.clamp(old.tokens // 3, 50, math.max(50, o.summary - #kept // 4))
    local text = ctx:summarize(old, { max_tokens = most })
    local done = text and ctx:fold(old, kept .. text)
    if done and last then last:drop("a new summary has taken its place") end
    if not done then ctx.state.later = ctx.step + 10 end
  end,

  assemble = function(ctx, o)
    local part, users, last = math.min(1, ctx.window / o.per), 0, o.turns == 0 and ctx.step or nil
    for e in ctx:entries({ kind = "user", newest = true }) do
      users = users + 1
      if users == o.turns then last = e.step end
      if last then break end
    end
    if not last then return end
    local total, behind, gone = 0, 0, {}
    local results = { kind = "result", at = "full", newest = true }
    results.before = math.min(last + 1, ctx.step - 1)
    for e in ctx:entries(results) do
      if e.tool ~= o.spare then
        total = total + e.tokens
        if total > part * o.protect then
          gone[#gone + 1], behind = e, behind + e.tokens
        end
      end
    end
    if behind <= part * o.minimum then return end
    for _, e in ipairs(gone) do
      e:mask("behind the newest results")
    end
  end,
}
