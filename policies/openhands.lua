-- OpenHands' condenser: more than 80 events are brought down to 40 by a summary of the middle.
-- Source: OpenHands SDK, LLMSummarizingCondenser with the preset of its default agent,
-- November 2025 (max_size 80, keep_first 4; of the class itself 240 and 2).
--
-- An event is the system prompt, a message, a call, a result, a summary. The first `keep_first`
-- stay for good, then comes the summary, then the newest: half of max_size in all. The summary
-- takes in the last one: here as many of its lines as half of the new one holds. Whole steps go,
-- so up to a step more is kept.
--
-- example: window=8000 max_size=10 keep_first=2
--   user 20
--   call read src/a.c                            -> folded
--   result 200 "fault E4711 in core/pump.c:88"   -> folded
--   call read src/b.c                            -> folded
--   result 200                                   -> folded
--   call read src/c.c                            -> folded
--   result 200                                   -> folded
--   call read src/d.c                            -> folded
--   result 200                                   -> folded
--   call read src/e.c
--   result 200
--   call read src/f.c
--   result 200

-- The events besides system prompt and task, oldest first; a text beside calls is part of theirs.
local function events(ctx)
  local list, last, kinds = {}, nil, { "user", "text", "call", "result" }
  for e in ctx:entries({ region = "hot", kind = kinds, min_tokens = 1 }) do
    if last and last.kind == "text" and last.message == e.message then list[#list] = nil end
    list[#list + 1], last = e, e
  end
  return list
end

-- The summary so far, and as many of its lines as half of so many tokens of four bytes hold.
local function earlier(ctx, tokens)
  local last = ctx:entries({ kind = "summary", at = "full" })()
  local text = last and (last:lines(2, 2000) .. "\n"):sub(1, 2 * tokens // 1)
  return last, text and text:match("^.*\n") or ""
end

return {
  api = 1,
  name = "openhands",
  about = "Above 80 events fold the middle into a summary, so that 40 are left.",
  source = "OpenHands SDK, LLMSummarizingCondenser (November 2025)",
  options = {
    max_size = { default = 80, min = 4, help = "events above which it condenses" },
    keep_first = { default = 4, min = 2, help = "first events that stay, system and task too" },
    summary = { default = 2000, min = 50, max = 16000, help = "most tokens of one summary" },
  },

  compact = function(ctx, o)
    local list = events(ctx)
    local _, summaries = ctx:entries({ kind = "summary", at = "full" })
    local count = 2 + #list + math.min(1, summaries)
    if count <= o.max_size or ctx.step < (ctx.state.later or 0) then return end
    local first = list[o.keep_first - 1] -- the oldest that may go
    local tail = list[#list - (o.max_size // 2 - o.keep_first - 1) + 1]
    if not first or not tail then return end
    local from = first.kind == "result" and first.step + 1 or first.step
    local middle = ctx:span({ from = from, before = tail.step })
    local last, kept = earlier(ctx, o.summary)
    local most = neap.clamp(middle.tokens // 3, 50, math.max(50, o.summary - #kept // 4))
    local text = ctx:summarize(middle, { max_tokens = most })
    local done = text and ctx:fold(middle, kept .. text)
    if done and last then last:drop("a new summary has taken its place") end
    if not done then ctx.state.later = ctx.step + 10 end
  end,
}
