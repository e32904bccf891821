-- LangChain's ClearToolUsesEdit: once the history has 100,000 tokens, only 3 results are shown.
-- Source: langchain (JavaScript) 1.5, middleware/contextEditing.ts, November 2025.
--
-- It mirrors Anthropic's clear_tool_uses, but keeps nothing from one call to the next: each
-- call starts from the whole history, so that after the trigger every call clears all but the
-- newest `keep` again, and the prompt changes every turn. Excluded tools count among those.
-- Its deprecated clearAtLeast, which goes on into the newest, is left out. In windows below
-- `per` tokens the trigger shrinks in proportion.
--
-- example: window=4000 per=4000 trigger=900 keep=1
--   user 20
--   call read src/a.c
--   result 300          -> masked
--   call read src/b.c
--   result 300          -> masked
--   call read src/c.c
--   result 300          -> masked
--   call read src/d.c
--   result 100

return {
  api = 1,
  name = "langchain_clear",
  about = "Once the whole history has 100,000 tokens, show only the newest three results.",
  source = "LangChain's ClearToolUsesEdit, langchain 1.5.14 (November 2025)",
  options = {
    trigger = { default = 100000, min = 0, help = "tokens of the whole history that begin it" },
    keep = { default = 3, min = 0, help = "newest results that stay" },
    exclude = { default = "", help = "tools that are never cleared, as read,search" },
    inputs = { default = false, help = "cut the calls' arguments to 60 tokens too" },
    per = { default = 200000, min = 1, help = "the window that the trigger is meant for" },
  },

  assemble = function(ctx, o)
    local cleared, trigger = ctx.state.cleared or 0, o.trigger * math.min(1, ctx.window / o.per)
    if ctx.tokens + cleared < trigger then return end
    local never, before = "," .. o.exclude:gsub("%s", "") .. ",", ctx.tokens
    local old = { kind = "result", at = { "full", "trimmed" }, except_last = o.keep }
    for e in ctx:entries(old) do
      if e.age > 1 and not never:find("," .. (e.tool or "") .. ",", 1, true) then
        e:mask("cleared")
        if o.inputs and e.pair then e.pair:trim({ tokens = 60, why = "cleared" }) end
      end
    end
    ctx.state.cleared = cleared + before - ctx.tokens
  end,
}
