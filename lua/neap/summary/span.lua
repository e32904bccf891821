-- The steps that a summary is to be made of, taken apart: who said what in which step, and what of
-- it the notes have to hold whatever a model writes. By the places that the engine gives, never by
-- how a line looks: a result cannot pass for a user. next: verify.lua
local words = require("neap.summary.words")
local notes = require("neap.summary.notes")

local M = {}

M.DOCUMENT = 4000 -- bytes from which on a user's message is a document, not a request
M.LINES = 40 -- of one message that are kept
M.LINE = 500 -- bytes of one

---@class neap.SpanPart
---@field kind string
---@field step integer
---@field text string

---@class neap.Span
---@field text string                    as it is given to a model
---@field parts neap.SpanPart[]
---@field steps table<integer, boolean>
---@field acted table<integer, boolean>  steps that have a result, or an answer in words

local FIRST_LINE = { user = true, image = true } -- a heading on a line of its own
for _, kind in ipairs({ "summary", "state", "memory", "evidence", "notice", "system" }) do
  FIRST_LINE[kind] = true
end
local PREFIX = { text = "Answer: ", call = "Action: ", result = "Observation: " }
PREFIX.thought = "<think>"

local function body_of(kind, block)
  if FIRST_LINE[kind] then return block:match("^[^\n]*\n(.*)$") or "" end
  local prefix = PREFIX[kind]
  if prefix and block:sub(1, #prefix) == prefix then block = block:sub(#prefix + 1) end
  return block
end

--- Takes an ask for a summary apart.
---@param ask table of the core: text and parts
---@return neap.Span
function M.of(ask)
  local span = { text = ask.text, parts = {}, steps = {}, acted = {} }
  for _, part in ipairs(ask.parts or {}) do
    local text = body_of(part.kind, ask.text:sub(part.from, part.to))
    table.insert(span.parts, { kind = part.kind, step = part.step, text = text })
    span.steps[part.step] = true
    if part.kind == "result" or part.kind == "text" then span.acted[part.step] = true end
  end
  return span
end

-- ---- the user's own lines -------------------------------------------------------------------

-- At most LINE bytes each, parted before words.
local function first_piece(head)
  local cut = head:match("^(.*%S)%s+%S*$")
  if cut and #cut >= M.LINE // 4 then return cut end
  head = head:sub(1, utf8.offset(head, 0, M.LINE + 1) - 1)
  cut = words.clip(head, M.LINE) or ""
  return #cut >= M.LINE // 4 and cut or head
end

local function pieces(sentence, out)
  local at = 1
  while at <= #sentence do
    local rest = sentence:sub(at, at + M.LINE)
    local piece = #rest > M.LINE and first_piece(rest) or rest
    local text = notes.tidy(piece)
    if text ~= "" then out[#out + 1] = text end
    at = at + #piece
  end
end

-- The sentences of what a user said, as they are noted.
local function sentences_of(text)
  local out = {}
  for line in text:gmatch("[^\n]+") do
    for sentence in words.sentences(line) do
      pieces(sentence, out)
    end
  end
  return out
end

--- The sentences of a user's part, made once.
---@param part neap.SpanPart
---@return string[]
function M.sentences(part)
  part.sentences = part.sentences or sentences_of(part.text)
  return part.sentences
end

local function has_value(sentence)
  return sentence:find("%d") or sentence:find("[<>=≤≥]") or words.count_names(sentence) > 0
end

-- The first sentence is what is asked for; those that bind, or hold a value, are constraints.
-- What the task or the state has word by word stands in the prompt already.
local function said(part, answered, known, out)
  local is_document, n = #part.text > M.DOCUMENT, 0
  for i, sentence in ipairs(M.sentences(part)) do
    local binds = words.is_constraint(sentence) or (not is_document and has_value(sentence))
    local is_there = binds and known and known:says(sentence)
    if binds and not is_there and n < M.LINES then
      n = n + 1
      local change = { verb = "add", section = "constraints", step = part.step, text = sentence }
      table.insert(out, change)
    elseif i == 1 and not is_there then
      local open = { verb = "add", section = "requests", step = part.step, text = sentence }
      open.answered = answered
      table.insert(out, open)
    end
  end
end

-- The first step in which the model answered in words, and called nothing.
local function answered_in(parts)
  local calls = {}
  for _, part in ipairs(parts) do
    if part.kind == "call" then calls[part.step] = true end
  end
  for _, part in ipairs(parts) do
    if part.kind == "text" and not calls[part.step] then return part.step end
  end
end

local function until_user(parts, from)
  local out = {}
  for i = from, #parts do
    if parts[i].kind == "user" then break end
    out[#out + 1] = parts[i]
  end
  return out
end

--- What the user said that the notes have to hold, word by word, as changes.
---@param span neap.Span
---@param earlier neap.Notes whose requests may have been answered by now
---@param known neap.Known? what stands in the prompt beside them
---@return neap.Change[]
function M.required(span, earlier, known)
  local out = {}
  local reply = answered_in(until_user(span.parts, 1))
  for _, item in ipairs(reply and earlier.items or {}) do
    if item.section == "requests" and not (item.done or item.answered or item.refuted) then
      table.insert(out, { verb = "answer", key = item.key, step = reply })
    end
  end
  for i, part in ipairs(span.parts) do
    if part.kind == "user" then
      said(part, answered_in(until_user(span.parts, i + 1)), known, out)
    end
  end
  return out
end

return M
