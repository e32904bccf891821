-- What a prompt has to hold whatever the policy: constraints, and in recordings that say so
-- (meta.truth, docs/recordings.md) also what each step needs and what was refuted. Texts are
-- looked for as they are, byte for byte. next: observe.lua
local core = require("neap.core")
local words = require("neap.summary.words")

local M = {}
local json = core.json

local MOST = 64 -- constraints that are found in a recording without a plan
local SHORTEST, LONGEST = 12, 400 -- bytes of a sentence that is taken for one

local NOTE = { summary = true, state = true }
local SAID = { user = true, system = true }

-- The plan of a recording: nil without one; a reason when it is none.
local function plan_of(recording)
  local meta = recording.meta
  if json.is_raw(meta) then meta = json.decode(meta.raw) end
  local truth = type(meta) == "table" and meta.truth
  if type(truth) ~= "table" then return nil end
  return truth
end

local function strings(list)
  local out = {}
  for _, one in ipairs(type(list) == "table" and list or {}) do
    if type(one) == "string" and one ~= "" then out[#out + 1] = one end
  end
  return out
end

---@class neap.Truth
---@field is_planted boolean
---@field texts table[]   constraints: { text, holders, state of the last turn that was sent }
---@field by_entry table<integer, table[]> the constraints that an entry holds
local Truth = {}
Truth.__index = Truth

local function no_needs()
  return { needed = 0, present = 0, noted = 0, pointed = 0, gone = 0 }
end

---@param recording neap.Recording
---@return neap.Truth
function M.new(recording)
  local truth = plan_of(recording)
  local self = setmetatable({
    is_planted = truth ~= nil,
    recording = recording,
    seen = 0,
    texts = {},
    by_entry = {},
    has = {},
    refuted = {},
    due = 0,
    kept = 0,
    noted = 0,
    steps = 0,
    polluted = 0,
    turns_refuted = 0,
    exposed = 0,
    needs = no_needs(),
  }, Truth)
  for _, text in ipairs(strings(truth and truth.constraints)) do
    self:watch_for(text)
  end
  for _, one in ipairs(truth and type(truth.refuted) == "table" and truth.refuted or {}) do
    if type(one) == "table" and type(one.fact) == "string" and type(one.by) == "string" then
      table.insert(self.refuted, { fact = one.fact, by = one.by, facts = {}, bys = {} })
    end
  end
  return self
end

function Truth:watch_for(text)
  if self.has[text] then return end
  self.has[text] = true
  self.texts[#self.texts + 1] = { text = text, holders = {} }
end

-- Sentences of what the user says that tell what must or must not be. Asked once for each text:
-- every policy hears the same.
local function constraints_in(recording, text)
  recording.constraints = recording.constraints or {}
  local list = recording.constraints[text]
  if list then return list end
  list = {}
  for line in text:gmatch("[^\n]+") do
    if #list >= MOST then break end
    for sentence in words.sentences(line) do
      local fits = #sentence >= SHORTEST and #sentence <= LONGEST
      if fits and words.is_constraint(sentence) then list[#list + 1] = sentence end
    end
  end
  recording.constraints[text] = list
  return list
end

local function note_holder(list, id, kind, text, wanted)
  if not text:find(wanted, 1, true) then return false end
  list[#list + 1] = { id = id, is_note = NOTE[kind] }
  return true
end

-- The same for a constraint, whose state has to be looked at again.
function Truth:note_constraint(one, id, kind, text)
  if not note_holder(one.holders, id, kind, text, one.text) then return end
  one.is_known = false
  self.by_entry[id] = self.by_entry[id] or {}
  table.insert(self.by_entry[id], one)
end

-- Entries that have come since: which constraints and refuted facts they hold.
function Truth:take_in(session)
  for id = self.seen + 1, session:entry_count() do
    local kind = session:kind(id)
    local reads = self.is_planted or NOTE[kind] or SAID[kind]
    local text = reads and session:text(id) or ""
    if not self.is_planted and kind == "user" then
      for _, sentence in ipairs(constraints_in(self.recording, text)) do
        if #self.texts < MOST then self:watch_for(sentence) end
      end
    end
    for _, one in ipairs(text ~= "" and self.texts or {}) do
      self:note_constraint(one, id, kind, text)
    end
    for _, one in ipairs(self.refuted) do
      note_holder(one.facts, id, kind, text, one.fact)
      note_holder(one.bys, id, kind, text, one.by)
    end
  end
  self.seen = session:entry_count()
end

-- "present", "noted", or nil.
local function state_of(session, holders, text)
  local noted
  for _, one in ipairs(holders) do
    if session:shows(one.id, text) then
      if not one.is_note then return "present" end
      noted = "noted"
    end
  end
  return noted
end

-- A fact that was refuted stands in the prompt, and what refuted it does not.
local function is_exposed(session, one)
  if not state_of(session, one.facts, one.fact) then return false end
  return not state_of(session, one.bys, one.by)
end

-- What a constraint's state was is what it is, unless an entry that holds it has changed since.
function Truth:forget(account)
  for _, change in ipairs(account.changed or {}) do
    for _, one in ipairs(self.by_entry[change.entry] or {}) do
      one.is_known = false
    end
  end
  if not account.overflow then return end
  for _, one in ipairs(self.texts) do
    one.is_known = false
  end
end

--- Takes in a turn's prompt.
---@param session table
---@param account table
function Truth:turn(session, account)
  local is_sent = account.overflow == nil
  self:take_in(session)
  self:forget(account)
  for _, one in ipairs(self.texts) do
    if #one.holders > 0 then
      if is_sent and not one.is_known then
        one.state, one.is_known = state_of(session, one.holders, one.text), true
      end
      local state = is_sent and one.state
      self.due = self.due + 1
      if state == "present" then self.kept = self.kept + 1 end
      if state == "noted" then self.noted = self.noted + 1 end
    end
  end
  for _, one in ipairs(self.refuted) do
    if #one.bys > 0 then
      self.turns_refuted = self.turns_refuted + 1
      if is_sent and is_exposed(session, one) then self.exposed = self.exposed + 1 end
    end
  end
end

-- A call or a result that left a mark, or whose name stands in the notice of what was dropped.
local function can_point(session, id, kind)
  if kind ~= "call" and kind ~= "result" then return false end
  return session:shown(id) or session:named(id)
end

--- How the last prompt has a text: present, noted, pointed or gone. A mark points when a call or
--- result that left one holds it in full.
---@param session table
---@param text string
---@param last integer? the newest entry that is looked at
---@return string
function M.state_in(session, text, last)
  local best = "gone"
  for id = 1, last or session:entry_count() do
    local kind = session:kind(id)
    if session:shows(id, text) then
      if not NOTE[kind] then return "present" end
      best = "noted"
    elseif best == "gone" and can_point(session, id, kind) then
      if (session:text(id) or ""):find(text, 1, true) then best = "pointed" end
    end
  end
  return best
end

-- What the message says that its step needs: meta.needs.
local function needs_of(recording, i)
  local raw = recording.messages[i]
  if not raw:find('"needs"', 1, true) then return {} end
  local message = json.decode(raw)
  local meta = type(message) == "table" and message.meta
  return strings(type(meta) == "table" and meta.needs)
end

--- Takes in what step message `i` needs; before it is appended.
---@param session table
---@param i integer
---@param is_sent boolean
function Truth:need(session, i, is_sent)
  if not self.is_planted then return end
  for _, text in ipairs(needs_of(self.recording, i)) do
    local state = is_sent and M.state_in(session, text) or "gone"
    self.needs.needed = self.needs.needed + 1
    self.needs[state] = self.needs[state] + 1
  end
end

--- Takes in the step that was appended as message `i`: does it use what was refuted?
---@param i integer
function Truth:step(i)
  self.steps = self.steps + 1
  local raw = self.recording.messages[i]
  for _, one in ipairs(self.refuted) do
    if #one.bys > 0 and raw:find(one.fact, 1, true) then
      self.polluted = self.polluted + 1
      return
    end
  end
end

--- What was measured, and only that: { constraints, needs, pollution, exposed }.
---@return table
function Truth:result()
  local out = {}
  if self.due > 0 then
    out.constraints = {
      planted = self.is_planted or nil,
      due = self.due,
      present = self.kept,
      noted = self.noted,
    }
  end
  if #self.refuted > 0 and self.steps > 0 then
    out.pollution = self.polluted / self.steps
    if self.turns_refuted > 0 then out.exposed = self.exposed / self.turns_refuted end
  end
  if self.needs.needed > 0 then out.needs = self.needs end
  return out
end

return M
