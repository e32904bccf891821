-- Codex's compaction: at 90 % of the window only the user's messages and a summary are left.
-- Source: OpenAI Codex CLI, codex-rs/core/src/compact.rs, 2025: automatic at 90 % of the
-- window; the newest user messages up to 20,000 tokens stay word for word, then the summary.
--
-- Answers, calls and results all go, but for those of the newest step. The user's messages stand
-- at the head of the summary; of the one that is too long the end is cut; the newest stays in its
-- place as well. A token is four bytes,
-- as Codex takes it; a fold holds 64 KiB, so that 14,000 are the most. The summary is asked for
-- 5 % below the budget at the latest, as it comes a turn later. It takes in the last one: as many
-- of its lines as half of it holds.
--
-- example: window=3000 reserve=0
--   user 20
--   call read src/a.c                            -> folded
--   result 700 "fault E4711 in core/pump.c:88"   -> folded
--   user 20 "spare core/pump.c"
--   call read src/b.c
--   result 1480
--   call read src/c.c
--   result 100

-- The newest user messages that have at most so many bytes, oldest first.
local function said(ctx, bytes)
  local kept, users = {}, { kind = "user", region = "hot", newest = true, before = ctx.step - 1 }
  for e in ctx:entries(users) do
    if bytes <= 0 then break end
    local read, text = pcall(e.lines, e, 1, 2000) -- not when it has 64 KiB and more
    if not read then text = "" end
    if #text > bytes then
      text = text:sub(1, utf8.offset(text, 0, bytes + 1) - 1)
      text = text:match("^(.*[^%w_.,/:@#%%-])") or text -- not within a name
    end
    bytes = bytes - #text
    table.insert(kept, 1, text)
  end
  return table.concat(kept, "\n")
end

-- What the last compaction left: its summary, the user's words in it, and of the rest as many lines
-- as half of so many tokens of four bytes hold.
local function earlier(ctx, tokens)
  local last = ctx:entries({ kind = "summary", at = "full" })()
  local read, text = pcall(last and last.lines or error, last, 2, 4000)
  if not read then return last, "", "" end
  local from, to = text:find("\n\nSummary:\n", 1, true)
  local words = from and text:sub(#"The user said:\n" + 1, from - 1) or ""
  local rest = (text:sub((to or 0) + 1) .. "\n"):sub(1, 2 * tokens // 1)
  return last, words, rest:match("^.*\n") or ""
end

-- Both, the older cut to what is left of so many bytes.
local function joined(older, newer, bytes)
  local room = bytes - #newer - 1
  if older == "" or room <= 0 then return newer end
  if #older > room then
    older = older:sub(utf8.offset(older, 0, #older - room + 1))
    older = older:match("[^%w_.,/:@#%%-].*$") or older
  end
  return newer == "" and older or older .. "\n" .. newer
end

return {
  api = 1,
  name = "codex",
  about = "At 90 % of the window leave the user's messages and a summary, nothing else.",
  source = "OpenAI Codex CLI, compact.rs (2025)",
  options = {
    limit = { default = 0.9, min = 0, max = 1, help = "share of the window that begins it" },
    users = { default = 20000, min = 0, help = "tokens of the user's messages that stay" },
    summary = { default = 2000, min = 50, max = 16000, help = "most tokens of the summary" },
  },

  compact = function(ctx, o)
    local limit = math.min(o.limit * ctx.window, 0.95 * ctx.budget)
    if ctx.tokens < limit or ctx.step < (ctx.state.later or 0) then return end
    local bytes, old = math.min(4 * o.users // 1, 56000), ctx:span({})
    local last, before, kept = earlier(ctx, o.summary)
    local words = joined(before, said(ctx, bytes), bytes)
    local most = neap.clamp(old.tokens // 3, 50, math.max(50, o.summary - #kept // 4))
    local summary = ctx:summarize(old, { max_tokens = most })
    local text = summary and kept .. summary
    if text and words ~= "" then text = "The user said:\n" .. words .. "\n\nSummary:\n" .. text end
    local done = text and ctx:fold(old, text)
    if done and last then last:drop("a new summary has taken its place") end
    if not done then ctx.state.later = ctx.step + 10 end
  end,
}
