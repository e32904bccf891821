-- Claude Code: old results go after an idle hour; near the limit, a summary of all but the tail.
-- Source: public analyses of Claude Code 2.x (2025 and 2026), as its code is not public.
--
-- When 60 minutes have passed since the last request, the cache is cold, and all
-- but the 5 newest results of its own tools are cleared. Only where the host tells the time.
-- Of the window 20,000 tokens are the answer's and 13,000 a buffer; above that (167,000 of
-- 200,000) all is folded but the newest steps: at least 10,000 tokens with 5 texts, at most
-- 40,000. In windows below `per` these numbers shrink in proportion. The summary comes a turn
-- later, so it is asked for 5 % below the budget at the latest. It takes in the last one: here
-- as many of its lines as half of it holds.
--
-- example: window=4000
--   user 20
--   call Read src/a.c                            -> folded
--   result 900 "fault E4711 in core/pump.c:88"   -> folded
--   call Read src/b.c                            -> folded
--   result 1600                                  -> folded
--   call Read src/c.c
--   result 700
--   call Read src/d.c
--   result 50

local TOOLS = "Read,Bash,Grep,Glob,WebSearch,WebFetch,Edit,Write"

-- The first step of what stays.
local function tail(ctx, o, part)
  local tokens, texts, step = 0, 0, ctx.step
  for e in ctx:entries({ region = "hot", newest = true }) do
    if tokens + e.tokens > part * o.most then break end
    if e.kind == "text" or e.kind == "user" then texts = texts + 1 end
    tokens, step = tokens + e.tokens, e.step
    if tokens >= part * o.least and texts >= o.texts then break end
  end
  return step
end

-- The summary so far, and as many of its lines as half of so many tokens of four bytes hold.
local function earlier(ctx, tokens)
  local last = ctx:entries({ kind = "summary", at = "full" })()
  local text = last and (last:lines(2, 2000) .. "\n"):sub(1, 2 * tokens // 1)
  return last, text and text:match("^.*\n") or ""
end

return {
  api = 1,
  name = "claude_code",
  about = "Clear old results after an idle hour; at 167,000 of 200,000 fold all but the tail.",
  source = "public analyses of Claude Code 2.x (2025, 2026)",
  options = {
    idle = { default = 60, min = 0, help = "minutes without a request that clear old results" },
    keep = { default = 5, min = 0, help = "newest results of these tools that stay" },
    tools = { default = TOOLS, help = "the tools whose results are cleared" },
    answer = { default = 20000, min = 0, help = "tokens of the window for the answer" },
    buffer = { default = 13000, min = 0, help = "tokens below that where the summary begins" },
    least = { default = 10000, min = 0, help = "tokens of the newest steps that stay" },
    texts = { default = 5, min = 0, help = "texts among them" },
    most = { default = 40000, min = 0, help = "tokens of them at most" },
    summary = { default = 2000, min = 50, max = 16000, help = "most tokens of the summary" },
    per = { default = 200000, min = 1, help = "the window that the tokens are meant for" },
  },

  compact = function(ctx, o)
    local part = math.min(1, ctx.window / o.per)
    local limit = math.min(ctx.window - part * (o.answer + o.buffer), 0.95 * ctx.budget)
    if ctx.tokens < limit or ctx.step < (ctx.state.later or 0) then return end
    local old = ctx:span({ before = tail(ctx, o, part) })
    local last, kept = earlier(ctx, o.summary)
    local most = neap.clamp(old.tokens // 3, 50, math.max(50, o.summary - #kept // 4))
    local text = ctx:summarize(old, { max_tokens = most })
    local done = text and ctx:fold(old, kept .. text)
    if done and last then last:drop("a new summary has taken its place") end
    if not done then ctx.state.later = ctx.step + 10 end
  end,

  assemble = function(ctx, o)
    local last, old = ctx.state.last, { kind = "result", at = "full", tool = {} }
    ctx.state.last = ctx.now
    if not last or ctx.now - last <= 60000 * o.idle then return end
    for name in o.tools:gmatch("[^,%s]+") do
      table.insert(old.tool, name)
    end
    old.except_last = o.keep
    for e in ctx:entries(old) do
      if e.age > 1 then e:mask("the cache is cold") end
    end
  end,
}
