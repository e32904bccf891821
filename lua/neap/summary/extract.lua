-- The extractive summarizer: picks lines of a span and says from which step each is. It writes
-- nothing of its own, so that no number and no path can be wrong; what it leaves out is found by
-- recall. Deterministic. next: lines.lua
local lines = require("neap.summary.lines")
local words = require("neap.summary.words")
local worth = require("neap.summary.worth")

local M = {}

local SHORTEST = 8 -- tokens of a line
local SAMPLE = 65536 -- bytes that tell the language

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

local function estimate(text)
  local ascii = select(2, text:gsub("[\0-\x7f]", ""))
  return (ascii + 2) // 3 + (#text - ascii + 1) // 2
end

local function by_order(a, b)
  return a.order < b.order
end

local function text_of(line)
  local pieces = {}
  if #line == 1 then return line.alone end
  table.sort(line, by_order)
  for i, one in ipairs(line) do
    pieces[i] = one.piece
  end
  return line.head .. table.concat(pieces, ", ")
end

local function render(chosen, headings)
  local out = {}
  for _, section in ipairs(SECTIONS) do
    local list = chosen[section]
    if #list > 0 then
      table.sort(list, by_order)
      out[#out + 1] = headings[section]
      for _, line in ipairs(list) do
        out[#out + 1] = text_of(line)
      end
    end
  end
  return table.concat(out, "\n")
end

-- ---- lines ------------------------------------------------------------------------------------

local KIN = 240 -- bytes of names in one line

-- The line of an item by itself. Names alone of one step, and files with the same done to them, may
-- share one: then also what leads it, and what stands in it. Every fact has a line of its own.
local function line_of(item, headings)
  local is = item.is
  local head = "- " .. (item.step and ("[step %d] "):format(item.step) or "")
  local alone = head .. is.text .. (is.unsure and headings.unsure or "")
  if is.kin then return alone, "- " .. is.kin, is.piece end
  if is.unsure or not (item.step and is.alone) then return alone end
  return alone, head, is.text:match("^(.-),?$")
end

-- The line that the item may share, if there is one with room.
local function shared(open, head, piece)
  local line = open[head]
  return line and line.bytes + #piece <= KIN and line or nil
end

-- Takes items while they fit, each counted with its line end; a heading is paid by its first line.
local function taker(chosen, room, count, headings)
  local used, open = 0, {}
  for _, section in ipairs(SECTIONS) do
    chosen[section], open[section] = {}, {}
  end
  return function(item)
    local section = item.is.section
    local list, own = chosen[section], open[section]
    local alone, head, piece = line_of(item, headings)
    local line = head and shared(own, head, piece)
    local cost = count(line and ", " .. piece or alone .. "\n")
    if #list == 0 then cost = cost + count(headings[section] .. "\n") end
    if used + SHORTEST > room then return "full" end
    if used + cost > room then return false end
    used = used + cost
    if not line then
      line = { alone = alone, head = head, order = item.order, bytes = 0 }
      list[#list + 1] = line
      if head then own[head] = line end
    end
    line[#line + 1] = { piece = piece, order = item.order }
    line.order, line.bytes = math.min(line.order, item.order), line.bytes + #alone
    return true
  end
end

--- A summary of at most `max_tokens` tokens and shorter than the text, or nil and why there is
--- none.
---@param text string       the steps, each after a line `[step n]`
---@param max_tokens integer
---@param count (fun(text: string): integer)? tokens of a text; nil: an estimate
---@param known table? kept by the caller, for spans that overlap
---@return string? summary, string? why
function M.summarize(text, max_tokens, count, known)
  count = count or estimate
  local headings = words.is_cjk(text:sub(1, SAMPLE)) and HEADINGS.zh or HEADINGS.en
  local items, chosen = lines.collect(text, known), {}
  local room = math.min(max_tokens, count(text) - 1)
  worth.choose(items, taker(chosen, room, count, headings))
  local out = render(chosen, headings)
  if out == "" then return nil, "the steps hold nothing to note" end
  if #out >= #text then return nil, "the steps are as short as what would be noted" end
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
---@param unverified boolean? somebody else has written what it answers
---@return true? ok, string? message, string? code
function M.answer_all(session, of, answer, unverified)
  local next_ask = session[(of or "") .. "next_ask"]
  local give = session[(of or "") .. "answer"]
  answer = answer or M.answerer(session)
  local ask = next_ask(session)
  while ask do
    local text, no, kind = answer(ask)
    local ok, why, code = give(session, ask.id, text, no, kind, not unverified)
    if not ok and code ~= "unverified" then return nil, why, code end
    ask = next_ask(session, ask.id)
  end
  return true
end

return M
