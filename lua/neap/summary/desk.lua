-- Where a session's asks for summaries are answered: a model writes changes of the notes, code
-- checks and merges them, and where that fails the next rung is taken: the model is asked once more
-- with the complaint, then lines are picked, then there is no summary and the policy masks. Every
-- rung is taken at most once an ask, so that it ends. next: templates.lua
local core = require("neap.core")
local delta = require("neap.summary.delta")
local extract = require("neap.summary.extract")
local knowns = require("neap.summary.known")
local lines = require("neap.summary.lines")
local notes = require("neap.summary.notes")
local spans = require("neap.summary.span")
local templates = require("neap.summary.templates")
local verify = require("neap.summary.verify")

local M = {}

M.FAILURES = 3 -- asks in a row that a model has failed, after which it is left in peace
M.PAUSE = 8 -- … for so many asks

---@class neap.Desk
---@field counts table<string, integer> asks, model, again, extractive, refused, faults
---@field faults table[] of the ask that was answered last: rung, code, line, what, value
local Desk = {}
Desk.__index = Desk

--- A desk for a session's asks.
---@param session table   has count(text)
---@param language "en"|"zh"|nil  nil: that of the steps
---@param silent boolean? its log is not told of faults: a shadow
---@param known table? as extract.summarize has it
---@return neap.Desk
function M.new(session, language, silent, known)
  return setmetatable({
    session = session,
    known = known,
    language = language,
    silent = silent,
    open = {},
    faults = {},
    failed = 0, -- asks in a row
    until_ask = 0, -- up to which the model is left in peace
    counts = { asks = 0, model = 0, again = 0, extractive = 0, refused = 0, faults = 0 },
  }, Desk)
end

-- ---- lines that were picked ------------------------------------------------------------------

local PICKED = {
  goal = "goal",
  facts = "facts",
  refuted = "refuted",
  files = "handles",
  errors = "findings",
  decisions = "decisions",
  open = "open",
  done = "progress",
}

-- The headings of the extractive summarizer, as sections.
local function picked_sections()
  local out = {}
  for _, headings in pairs(extract.HEADINGS) do
    for name, heading in pairs(headings) do
      if PICKED[name] then out[heading] = PICKED[name] end
    end
  end
  return out
end

-- A line that the engine puts below a summary, and will put below the next.
local function is_refutation(text)
  return text:find("^Refuted: ") or text:find("^该步的结论已被推翻")
end

-- The step and the text of a line that was picked. Only a file's cites steps at its end, of which
-- the last counts; a note has a key, and what its text says of steps is none of ours.
local function read_picked(body, section)
  local step, rest = body:match("^%[step (%d+)%] (.*)$")
  if step or section ~= "handles" then return step, rest end
  step = body:match(" %[step (%d+)%]$")
  return step, (body:gsub(" %[step %d+%]", ""))
end

-- What it has picked, as changes.
local function picked(text)
  local out, section, by_heading = {}, nil, picked_sections()
  for line in text:gmatch("[^\n]+") do
    section = line:find("^## ") and by_heading[line] or section
    local body = section and not notes.is_line(line) and line:match("^%- (.*)$")
    local step, rest = nil, nil
    if body then
      step, rest = read_picked(body, section)
    end
    step = step and math.tointeger(tonumber(step))
    if step and rest ~= "" and not is_refutation(rest) then
      local change = { verb = "add", section = section, step = step, text = notes.tidy(rest) }
      table.insert(out, change)
    end
  end
  return out
end

-- ---- an ask ---------------------------------------------------------------------------------

local function language_of(self, ask, text)
  if self.language then return self.language end
  if ask.notes ~= "" then
    return ask.notes:find(templates.zh.record, 1, true) and "zh" or "en"
  end
  return lines.is_cjk(text) and "zh" or "en"
end

local function open(self, ask)
  local known = self.open[ask.id]
  if known then return known end
  local span, text = spans.of(ask), ask.notes or ""
  local earlier = notes.apply(notes.parse(text), picked(text))
  local beside, language = knowns.of(self.session), language_of(self, ask, ask.text)
  local required = spans.required(span, earlier, beside)
  for _, change in ipairs(verify.overtaken(span, earlier, beside, language)) do
    required[#required + 1] = change
  end
  local work = {
    span = span,
    earlier = earlier,
    required = required,
    grounds = verify.grounds(span, earlier, beside),
    language = language,
    most = ask.max_tokens,
    size = self.session:count(ask.text) + self.session:count(ask.notes or ""),
    tries = 0,
    faults = {},
  }
  self.open[ask.id] = work
  self.counts.asks = self.counts.asks + 1
  return work
end

-- ---- the prompt -----------------------------------------------------------------------------

-- A tag that the data do not hold. What follows "data" there is looked at once: a text of 1 MiB
-- cannot hold all numbers of seven digits.
local function tag_of(text)
  if not text:find("data", 1, true) then return "data" end
  local taken, n = {}, 1
  for digits in text:gmatch("data(%d?%d?%d?%d?%d?%d?%d?)") do
    for last = 1, #digits do
      taken[digits:sub(1, last)] = true
    end
  end
  while taken[tostring(n)] do
    n = n + 1
  end
  return "data" .. n
end

local function complaint(t, faults)
  local out = {}
  for i, fault in ipairs(faults) do
    if i > 10 then break end
    local place = fault.line and ("line %d: "):format(fault.line) or ""
    out[#out + 1] = "- " .. place .. fault.what
  end
  return (t.complaint:gsub("{faults}", function()
    return table.concat(out, "\n")
  end))
end

local function prompt_of(work)
  local t = templates[work.language]
  local so_far = #work.earlier.items > 0 and notes.render(work.earlier, work.language) or t.no_notes
  local fill = {
    notes = so_far,
    span = work.span.text,
    most = tostring(work.most),
    tag = tag_of(so_far .. work.span.text),
  }
  local prompt = t.prompt:gsub("{(%l+)}", fill)
  if work.tries > 0 then prompt = prompt .. complaint(t, work.faults) end
  return prompt
end

--- Adds `prompt` to an ask for a summary: what a model is to be given, from which its answer can
--- be taken. Other asks have theirs as text.
---@param ask table
---@return table ask
function Desk:prepare(ask)
  if ask.kind == "summary" then ask.prompt = prompt_of(open(self, ask)) end
  return ask
end

local ORDER = { "rung", "code", "line", "what", "value" }
local MOST = 300 -- bytes of what is told of one fault

-- UTF-8 and not long, whatever the answer was.
local function cut(text)
  text = text:gsub("[^\x20-\x7e\x80-\xff]", " ")
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", "?") end
  if #text <= MOST then return text end
  return text:sub(1, utf8.offset(text, 0, MOST + 1) - 1) .. "…"
end

-- ---- committing -----------------------------------------------------------------------------

-- The text, or nil and what is wrong.
local function commit(self, work, changes)
  local function count(text)
    return self.session:count(text)
  end
  local merged = notes.apply(notes.apply(work.earlier, work.required), changes)
  local fitted, text = notes.fit(merged, work.language, math.min(work.most, work.size - 1), count)
  if not fitted then
    return nil, { { code = "size", what = "what has to stay has no room in the summary" } }
  end
  local faults = verify.whole(merged, fitted, text, work.required)
  if #text > delta.BYTES then faults[1] = { code = "size", what = "the notes are too large" } end
  if #faults > 0 then return nil, faults end
  return text
end

-- To the host, to the log, and to the next prompt of the ask.
local function note_faults(self, ask, work, rung, faults)
  for _, fault in ipairs(faults) do
    fault.rung = rung
    fault.what = cut(fault.what)
    fault.value = fault.value and cut(fault.value)
    table.insert(work.faults, fault)
  end
  self.counts.faults = self.counts.faults + #faults
  if not self.silent then self.session:ask_faults(ask.id, core.json.encode(faults, ORDER)) end
end

-- ---- the rungs ------------------------------------------------------------------------------

local function from_model(self, work, answer)
  local changes, faults = delta.parse(answer)
  if #faults == 0 then faults = verify.changes(changes, work.grounds) end
  if #faults > 0 then return nil, faults end
  return commit(self, work, changes)
end

local function from_lines(self, work)
  local function count(text)
    return self.session:count(text)
  end
  local text = extract.summarize(work.span.text, work.most, count, self.known)
  local good = {}
  for _, change in ipairs(text and picked(text) or {}) do
    local is_users = change.section == "goal" -- is in the notes already, word by word
    if not is_users and #verify.changes({ change }, work.grounds) == 0 then
      good[#good + 1] = change
    end
  end
  return commit(self, work, good)
end

local function close(self, ask, work)
  self.open[ask.id] = nil
  self.faults = work.faults
end

local function failed(self, id)
  self.failed = self.failed + 1
  if self.failed >= M.FAILURES then
    self.failed, self.until_ask = 0, id + M.PAUSE
  end
end

-- Of a session that was opened again: how its asks have fared until then, as its log has it.
local function look_back(self, before)
  self.looked = true
  local text = before > 1 and self.session.asks and self.session:asks()
  for _, one in ipairs(text and core.json.decode(text) or {}) do
    if one.ask >= before then return end
    if one.kind == "summary" and one.failed then
      failed(self, one.ask)
    elseif one.kind == "summary" and one.answer and one.ask > self.until_ask then
      self.failed = 0
    end
  end
end

local function without_model(self, ask, work)
  local text, faults = from_lines(self, work)
  if text then
    self.counts.extractive = self.counts.extractive + 1
    close(self, ask, work)
    return "answer", text
  end
  note_faults(self, ask, work, "extractive", faults)
  self.counts.refused = self.counts.refused + 1
  close(self, ask, work)
  return "none", "no summary could be verified: " .. faults[1].what, "error"
end

--- Takes what a model has answered (nil: nothing, and why), and says what follows: "answer" and the
--- text to give to the engine, "again" and the faults (ask the model once more: prepare has the
--- complaint), or "none", why, and a code.
---@param ask table
---@param answer string?
---@param why string?
---@return "answer"|"again"|"none" what, string|table text, string? code
function Desk:take(ask, answer, why)
  if not self.looked then look_back(self, ask.id) end
  local work = open(self, ask)
  work.tries = work.tries + 1
  local rung = work.tries == 1 and "model" or "again"
  local text, faults
  if answer then
    text, faults = from_model(self, work, answer)
  else
    faults = { { code = "none", what = why or "there is no answer" } }
  end
  if text then
    self.failed = 0
    self.counts[rung] = self.counts[rung] + 1
    close(self, ask, work)
    return "answer", text
  end
  note_faults(self, ask, work, rung, faults)
  if answer and work.tries == 1 then return "again", faults end
  failed(self, ask.id)
  return without_model(self, ask, work)
end

-- ---- all at once ----------------------------------------------------------------------------

--- Is the model left in peace for this ask?
---@param ask table
---@return boolean
function Desk:is_paused(ask)
  if not self.looked then look_back(self, ask.id) end
  return ask.id <= self.until_ask
end

--- Answers an ask for a summary with the help of a function that asks a model (nil: none).
---@param ask table
---@param model (fun(ask: table): string?, string?, string?)?
---@return string? text, string? why, string? code
function Desk:answer(ask, model)
  local what, text, code
  if not model or self:is_paused(ask) then
    what, text, code = without_model(self, ask, open(self, ask))
  else
    repeat
      local answer, why = model(self:prepare(ask))
      what, text, code = self:take(ask, answer, why)
    until what ~= "again"
  end
  if what == "answer" then return text end
  return nil, text, code
end

return M
