-- Goal filter: of a large result only the lines that the model says it is looking for.
-- Source: SWE-Pruner, January 2026, arXiv:2601.16746 (row S4.9): each reading call names a goal
-- in `context_focus_question`, and a small model scores the lines: 23 to 54 % fewer tokens.
--
-- Here lines are chosen by their words, before they are sent for the first time. The goal is that
-- argument; without it, the words that the model wrote beside the call (`thoughts`); without
-- those the result stays as it came, as in SWE-Pruner. The mark says which lines are left out.
--
-- example: window=4000 least=200
--   user 20
--   text 5 "where is the error E4711 handled"
--   call read src/a.c
--   result 900 "fault E4711 in core/pump.c:88"   -> trimmed
--   call read src/b.c
--   result 900

local HINT = '"context_focus_question"%s*:%s*"(.-[^\\])"'

-- At most 4,000 bytes of the text, in whole characters.
local function short(text)
  return #text > 4000 and text:sub(1, utf8.offset(text, 0, 4001) - 1) or text
end

-- What the call looks for: its own hint, or the text beside it.
local function goal(ctx, call, o)
  local read, text = pcall(call.lines, call, 1, 500)
  local hint = read and text:match(HINT)
  if hint or not o.thoughts then return hint end
  for e in ctx:entries({ kind = "text", from = call.step, before = call.step + 1 }) do
    read, text = pcall(e.lines, e, 1, 40)
    if read and e.message == call.message and text:find("%S") then hint = text end
  end
  return hint
end

return {
  api = 1,
  name = "goal_filter",
  about = "Of each large result show the lines that fit the goal the model has named.",
  source = "SWE-Pruner, arXiv:2601.16746, January 2026 (S4.9)",
  options = {
    least = { default = 500, min = 1, help = "tokens up to which a result stays as it is" },
    share = { default = 0.5, min = 0, max = 1, help = "share of its tokens that is shown" },
    thoughts = { default = true, help = "without a hint take the words beside the call" },
  },
  tools = { "read" },

  admit = function(ctx, e, o)
    if e.kind ~= "result" or e.tokens <= o.least or not e.pair then return end
    local about = goal(ctx, e.pair, o)
    local tokens = math.max(50, o.share * e.tokens)
    if about then e:trim({ tokens = tokens, keep = "about", about = short(about) }) end
  end,
}
