-- Gemini CLI: bulky old results keep 250 characters of each end; half full, a summary.
-- Source: gemini-cli, packages/core/src/services, toolOutputMaskingService.ts (January 2026) and
-- chatCompressionService.ts (2025).
--
-- Masking leaves the newest 50,000 tokens of results, and the newest step; what is older goes
-- when it is 30,000 or more. At half of the window the first 70 % are folded, up to the next
-- user message, or else to the last: in a run that has one user message nothing is folded. In
-- windows below `per` tokens the numbers shrink in proportion. Sizes are exact, and the steps
-- whole. A summary takes in the last one: here as many of its lines as half of it holds. Left
-- out: results cut to 30 lines for the summary, and its second look at it.
--
-- example: window=4000 limit=0.3
--   user 20
--   call read src/a.c                             -> folded
--   result 700 "fault E4711 in core/pump.c:88"    -> folded
--   text 20
--   user 20
--   call read src/b.c
--   result 600                                    -> trimmed
--   call read src/c.c
--   result 800
--   call read src/d.c
--   result 100

-- The step before which all is folded: that of the first user message behind `share` of the
-- tokens, or of the last one.
local function split(ctx, share)
  local left, step = 0, 0
  for e in ctx:entries({ min_tokens = 1 }) do
    left = left + share * e.tokens
  end
  for e in ctx:entries({ min_tokens = 1 }) do
    if e.kind == "user" and e.region == "hot" then
      step = e.step
      if left <= 0 then return step end
    end
    left = left - e.tokens
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
  name = "gemini_cli",
  about = "Cut old results to their ends; half full, fold the first 70 % into a summary.",
  source = "gemini-cli, toolOutputMaskingService and chatCompressionService (2025, 2026)",
  options = {
    protect = { default = 50000, min = 0, help = "tokens of newest results that stay" },
    minimum = { default = 30000, min = 0, help = "tokens behind them that are worth a rewrite" },
    ends = { default = 150, min = 1, help = "tokens that such a result keeps" },
    limit = { default = 0.5, min = 0, max = 1, help = "share of the window that is compressed" },
    preserve = { default = 0.3, min = 0, max = 1, help = "share of the history that stays" },
    summary = { default = 2000, min = 50, max = 16000, help = "most tokens of the summary" },
    per = { default = 200000, min = 1, help = "the window that the tokens are meant for" },
  },

  compact = function(ctx, o)
    if ctx.tokens < o.limit * ctx.window or ctx.step < (ctx.state.later or 0) then return end
    local old = ctx:span({ before = split(ctx, 1 - o.preserve) })
    if old.atoms == 0 then return end
    local last, kept = earlier(ctx, o.summary)
    local most = neap.clamp(old.tokens // 3, 50, math.max(50, o.summary - #kept // 4))
    local text = ctx:summarize(old, { max_tokens = most })
    local done = text and ctx:fold(old, kept .. text)
    if done and last then last:drop("a new summary has taken its place") end
    if not done then ctx.state.later = ctx.step + 10 end
  end,

  assemble = function(ctx, o)
    local part, total, behind, gone = math.min(1, ctx.window / o.per), 0, 0, {}
    for e in ctx:entries({ kind = "result", at = "full", before = ctx.step - 1, newest = true }) do
      total = total + e.tokens
      if total > part * o.protect then
        gone[#gone + 1], behind = e, behind + e.tokens
      end
    end
    if behind < part * o.minimum then return end
    for _, e in ipairs(gone) do
      e:trim({ tokens = o.ends, keep = "ends", why = "bulky and old" })
    end
  end,
}
