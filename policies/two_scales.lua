-- Two scales: each step that grows old becomes a few lines, a sub-task that has ended one entry.
-- Source: AgentFold (Ye et al. 2025, arXiv:2510.24699): granular condensation of the last step,
-- deep consolidation of several.
--
-- A sub-task ends where the host or a policy says so (ctx:phase), where the user speaks again, or
-- after so many steps. What its steps were noted as is then merged into one entry: lines are kept
-- or left out, never written again, so that nothing in them drifts. The steps themselves are found
-- by recall. A short step is left as it is until its sub-task ends.
--
-- example: window=9000 reserve=0 hot=2 line=120
--   user 20
--   call read src/a.c                            -> folded
--   result 300 "fault E4711 in core/pump.c:88"   -> folded
--   call read src/b.c
--   result 300
--   call read src/c.c
--   result 300
--   call read src/d.c
--   result 300

local SHORTEST = 40 -- tokens that a step's lines have; a step of less than twice that stays

-- Where the newest sub-task begins: with a phase, or behind what the user has said.
local function sub_task_end(ctx, from)
  local _, phase = ctx:phase()
  local ends = phase or 1
  for e in ctx:entries { kind = "user", from = from } do
    ends = math.max(ends, e.step + 1)
  end
  return ends
end

return {
  api = 1,
  name = "two_scales",
  about = "Each old step becomes a few lines; a sub-task that has ended, one entry.",
  source = "AgentFold, arXiv:2510.24699; S4.10",
  options = {
    hot = { default = 4, min = 1, help = "newest steps that stay as they are" },
    line = { default = 200, min = 20, max = 4000, help = "most tokens of one step" },
    deep = { default = 12, min = 2, help = "steps that end a sub-task, if nothing else does" },
    entry = { default = 1200, min = 50, max = 16000, help = "most tokens of one sub-task" },
    observation = { default = 1200, min = 50, help = "tokens of one result" },
  },
  tools = { "recall", "read" },

  admit = function(_, e, o)
    if e.kind == "result" and e.tokens > o.observation then
      e:trim { tokens = o.observation, keep = "ends", why = "large on arrival" }
    end
  end,

  compact = function(ctx, o)
    local from, old = ctx.state.from or 1, ctx.step - o.hot
    local ends = sub_task_end(ctx, from)
    if ends > old or ends <= from then ends = old - from >= o.deep and old or nil end
    if ends then
      local span = ctx:span { from = from, before = ends, merge = true }
      local most = neap.clamp((span.tokens + span.merged) // 2, 20, o.entry)
      ctx:fold(span, ctx:summarize(span, { max_tokens = most, turns = 5 }))
      ctx.state.from = ends
      return
    end
    local asks, spans = {}, {}
    for step = math.max(from, ctx.state.noted or 1, old - 16), old - 1 do
      local span = ctx:span { from = step, before = step + 1 }
      if span.tokens >= 2 * SHORTEST then
        local most = neap.clamp(span.tokens // 3, SHORTEST, o.line)
        spans[#spans + 1] = span
        asks[#asks + 1] = { span = span, max_tokens = most, turns = 5 }
      end
    end
    local texts = #asks > 0 and ctx:ask_all(asks) or {}
    for i, text in ipairs(texts) do
      if text then ctx:fold(spans[i], text) end
    end
    ctx.state.noted = math.max(old, 1)
  end,
}
