-- Clear tool uses: above a trigger all results but the newest are cleared, in one rewrite.
-- Source: Anthropic's context editing, `clear_tool_uses_20250919` of the beta
-- context-management-2025-06-27: trigger 100,000 input tokens, keep 3, nothing else set.
--
-- What was cleared stays cleared, and is not counted again: the prompt has to rise to the
-- trigger anew. `at_least` is worth setting: a rewrite that clears less is put off. It adds up
-- what the results take; the marks that stand there instead are a line each. A call itself always
-- stays, with its arguments or the first of them. In windows below `per` tokens both numbers
-- shrink in proportion.
--
-- example: window=4000 per=4000 trigger=900 keep=1 exclude=search
--   user 20
--   call read src/a.c
--   result 300          -> masked
--   call search main
--   result 300
--   call read src/b.c
--   result 300          -> masked
--   call read src/c.c
--   result 300

return {
  api = 1,
  name = "clear_tool_uses",
  about = "Above 100,000 tokens clear the results of all tool uses but the newest three.",
  source = "Anthropic, context editing, clear_tool_uses_20250919 (September 2025)",
  options = {
    trigger = { default = 100000, min = 0, help = "tokens of the prompt that begin it" },
    uses = { default = 0, min = 0, help = "tool uses that begin it instead; 0: tokens" },
    keep = { default = 3, min = 0, help = "newest tool uses that stay" },
    at_least = { default = 0, min = 0, help = "tokens that must be cleared, or nothing is" },
    exclude = { default = "", help = "tools that are never cleared, as web_search,memory" },
    inputs = { default = false, help = "cut the calls' arguments to 60 tokens too" },
    per = { default = 200000, min = 1, help = "the window that the tokens are meant for" },
  },

  assemble = function(ctx, o)
    local part, never = math.min(1, ctx.window / o.per), "," .. o.exclude:gsub("%s", "") .. ","
    local shown = { kind = "result", at = { "full", "trimmed" } }
    local _, uses = ctx:entries(shown)
    local size, trigger = ctx.tokens, part * o.trigger
    if o.uses > 0 then size, trigger = uses, o.uses end
    if size <= trigger then return end

    local old, tokens = {}, 0
    shown.except_last = o.keep
    for e in ctx:entries(shown) do
      if e.age > 1 and not never:find("," .. (e.tool or "") .. ",", 1, true) then
        old[#old + 1], tokens = e, tokens + e.tokens
      end
    end
    if tokens < part * o.at_least then return end
    for _, e in ipairs(old) do
      e:mask("an old tool use")
      if o.inputs and e.pair then e.pair:trim({ tokens = 60, why = "an old tool use" }) end
    end
  end,
}
