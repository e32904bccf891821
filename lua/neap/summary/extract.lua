-- The extractive summarizer: picks lines of a span and says from which step each is. It writes
-- nothing of its own, so that no number and no path can be wrong; what it leaves out is found by
-- recall. Deterministic. next: lines.lua
local lines = require("neap.summary.lines")

local M = {}

local SECTIONS = { "goal", "facts", "refuted", "files", "errors", "decisions", "open", "done" }

local HEADINGS = {
  en = {
    goal = "## Goal",
    facts = "## Confirmed facts",
    refuted = "## Refuted or failed",
    files = "## Files touched",
    errors = "## Errors",
    decisions = "## Decisions",
    open = "## Open items",
    done = "## Done",
    unsure = " (unconfirmed)",
  },
  zh = {
    goal = "## 目标",
    facts = "## 已确认事实",
    refuted = "## 已排除/已证伪",
    files = "## 涉及文件",
    errors = "## 错误",
    decisions = "## 决策",
    open = "## 待办与未决",
    done = "## 已完成",
    unsure = "（未确认）",
  },
}
M.HEADINGS = HEADINGS

-- How much each section's lines are worth before their own score: what is decided, failed or
-- open is short and cannot be found again by its words.
local WEIGHT = {
  goal = 8,
  refuted = 6,
  decisions = 5,
  open = 5,
  errors = 4,
  files = 4,
  facts = 3,
  done = 2,
}

local function estimate(text)
  local ascii = select(2, text:gsub("[\0-\x7f]", ""))
  return (ascii + 2) // 3 + (#text - ascii + 1) // 2
end

local function render(chosen, headings)
  local out = {}
  for _, section in ipairs(SECTIONS) do
    local list = chosen[section]
    if #list > 0 then
      table.sort(list, function(a, b)
        return a.order < b.order
      end)
      out[#out + 1] = headings[section]
      for _, item in ipairs(list) do
        out[#out + 1] = item.line
      end
    end
  end
  return table.concat(out, "\n")
end

local function line_of(item, headings)
  local step = item.step and ("[step %d] "):format(item.step) or ""
  return "- " .. step .. item.text .. (item.unsure and headings.unsure or "")
end

-- The best lines that fit, each counted with its line end; a heading is paid by its first line.
local function choose(items, room, count, headings)
  local chosen, used = {}, 0
  for _, section in ipairs(SECTIONS) do
    chosen[section] = {}
  end
  for _, item in ipairs(items) do
    local list = chosen[item.section]
    item.line = line_of(item, headings)
    local cost = count(item.line .. "\n")
    if #list == 0 then cost = cost + count(headings[item.section] .. "\n") end
    if used + cost <= room then
      used = used + cost
      list[#list + 1] = item
    end
  end
  return chosen
end

-- The items by worth, the best first; those of one worth stay in their order.
local function by_worth(items)
  local of, worths, out = {}, {}, {}
  for i, item in ipairs(items) do
    local worth = -(WEIGHT[item.section] + item.score)
    item.order = i
    if not of[worth] then
      of[worth], worths[#worths + 1] = {}, worth
    end
    table.insert(of[worth], item)
  end
  table.sort(worths)
  for _, worth in ipairs(worths) do
    table.move(of[worth], 1, #of[worth], #out + 1, out)
  end
  return out
end

--- A summary of at most `max_tokens` tokens, or nil and why there is none.
---@param text string       the steps, each after a line `[step n]`
---@param max_tokens integer
---@param count (fun(text: string): integer)? tokens of a text; nil: an estimate
---@param known table? kept by the caller, for spans that overlap
---@return string? summary, string? why
function M.summarize(text, max_tokens, count, known)
  count = count or estimate
  local headings = lines.is_cjk(text) and HEADINGS.zh or HEADINGS.en
  local items = by_worth(lines.collect(text, known))
  local out = render(choose(items, max_tokens, count, headings), headings)
  if out == "" then return nil, "the steps hold nothing to note" end
  return out
end

--- Answers a session's asks: summaries only, since it can write nothing.
---@param session table   has count(text)
---@param known table? as for summarize
---@return fun(ask: table): string?
function M.answerer(session, known)
  local function count(text)
    return session:count(text)
  end
  return function(ask)
    if ask.kind ~= "summary" then return nil, "there is no model here", "refused" end
    return (M.summarize(ask.text, ask.max_tokens, count, known))
  end
end

--- Answers all open asks of a session, or of its shadow.
---@param session table of the core
---@param of "shadow_"|nil
---@param answer fun(ask: table): string?, string?, string?|nil
---@return true? ok, string? message, string? code
function M.answer_all(session, of, answer)
  local next_ask = session[(of or "") .. "next_ask"]
  local give = session[(of or "") .. "answer"]
  answer = answer or M.answerer(session)
  local ask = next_ask(session)
  while ask do
    local ok, why, code = give(session, ask.id, answer(ask))
    if not ok then return nil, why, code end
    ask = next_ask(session, ask.id)
  end
  return true
end

return M
