-- What policies ask of a model, for Lua programs: answered at once by the host's function, or when
-- the host likes; a summary becomes notes that are verified before the engine has them.
-- next: desk.lua
local desks = require("neap.summary.desk")
local extract = require("neap.summary.extract")
local notes = require("neap.summary.notes")

local M = {}

local UNFIT = { utf8 = true, limit = true, arg = true }

-- What cannot be taken is no answer: the log and the hook are told "error" and why, and
-- so is the account.
local function give(self, ask, text, no, kind, verified)
  local ok, why, code = self.raw:answer(ask.id, text, no, kind, verified)
  if ok or not UNFIT[code] then return ok, why, code end
  why = ("what summarize returned for ask %d: %s"):format(ask.id, why)
  self.unfit[#self.unfit + 1] = why
  return self.raw:answer(ask.id, nil, why, "error")
end

local function open_ask(raw, id)
  local ask = raw:next_ask(id - 1)
  return ask and ask.id == id and ask or nil
end

-- What the host's function says, which is a text or nil.
local function host_says(self, ask)
  local text, no, kind = self.summarize(ask)
  local form = type(text)
  if form ~= "nil" and form ~= "string" and form ~= "number" then
    error(("summarize returned a %s; return a text, or nil, why and a code"):format(form), 0)
  end
  return text and tostring(text), no, kind
end

--- Answers a session's asks without a model: summaries only, since it can write nothing. What is to
--- grow is merged with the notes so far.
---@param session table of the core
---@param known table? as extract.summarize has it
---@return fun(ask: table): string?, string?, string?
function M.answerer(session, known)
  local desk, pick = desks.new(session, nil, true, known), extract.answerer(session, known)
  return function(ask)
    if ask.kind == "summary" and ask.notes ~= "" then return desk:answer(ask) end
    return pick(ask)
  end
end

-- The host's own text for a summary is looked at by the engine. What it does not take is asked for
-- once more, with the complaint (`ask.complaint`); then the policy is told that there is none.
local function answer_by_host(self, ask, model)
  for _ = 1, 2 do
    local text, no, kind = model(ask)
    if not text then return give(self, ask, nil, no, kind) end
    local ok, why, code = give(self, ask, text)
    if code ~= "unverified" then return ok, why, code end
    ask.complaint = why
    if not open_ask(self.raw, ask.id) then return true end
  end
  return true
end

-- A summary is notes that were verified; anything else is what the host says.
local function answer_one(self, ask)
  local model = self.summarize and function(one)
    return host_says(self, one)
  end
  local is_notes = ask.kind == "summary" and self.desk and model
  if model and not is_notes then return answer_by_host(self, ask, model) end
  local text, no, kind
  if is_notes then
    text, no, kind = self.desk:answer(ask, model)
  else
    text, no, kind = M.answerer(self.raw)(ask)
  end
  return give(self, ask, text, no, kind, true)
end

--- What the policy asks a model: the host's function answers, or the extractive summarizer. What
--- a shadow asks the summarizer answers, always.
---@param self neap.Session
---@return true? ok, string? message, string? code
function M.answer_all(self)
  local raw = self.raw
  if raw:has_shadow() then extract.answer_all(raw, "shadow_", M.answerer(raw)) end
  if self.summarize == false then return true end
  local ask, ok, why, code = raw:next_ask(), true, nil, nil
  while ok and ask do
    ok, why, code = answer_one(self, ask)
    ask = raw:next_ask(ask.id)
  end
  return ok, why, code
end

-- ---- when the host likes --------------------------------------------------------------------

-- A model's changes, or that there are none: what the engine is told, or that the host may try
-- once more.
local function answer_summary(self, ask, text, why, code)
  if not text and code == "cancelled" then return self.raw:answer(ask.id, nil, why, code) end
  local what, got, kind = self.desk:take(ask, text, why)
  if what == "answer" then return self.raw:answer(ask.id, got, nil, nil, true) end
  if what == "none" then return self.raw:answer(ask.id, nil, got, kind) end
  local first = got[1] and got[1].what or "it cannot be verified"
  return nil, "the answer was not taken: " .. first .. "; ask once more", "unverified", got
end

-- The next ask that is the host's to answer: while its model is left in peace, lines are picked.
local function next_of(self, raw, after)
  local ask = raw:next_ask(after)
  while ask and self.desk and ask.kind == "summary" and self.desk:is_paused(ask) do
    local text, why, code = self.desk:answer(ask)
    if not raw:answer(ask.id, text, why, code, true) then return ask end
    ask = raw:next_ask(ask.id)
  end
  return ask
end

-- The newest live summary that holds notes, its entry and its text.
local function live_notes(raw)
  for id = raw:entry_count(), 1, -1 do
    local e = raw:entry(id)
    local text = e.kind == "summary" and raw:shown(id)
    if text then
      local parsed = notes.parse(text)
      if #parsed.items > 0 then return parsed, id, text end
    end
  end
end

--- Adds the methods to the class. `open_session` gives the session of the core, or raises.
function M.add(Session, open_session)
  --- The first open ask of the policy whose id is greater than `after`, when `summarize = false`:
  --- id, kind, text, max_tokens; of a summary also prompt, notes and parts.
  ---@param after integer?
  ---@return table?
  function Session:next_ask(after)
    local ask = next_of(self, open_session(self), after)
    return ask and self.desk and self.desk:prepare(ask) or ask
  end

  --- Answers an ask. Without a text there is no answer: `why` and `code` ("refused", "error",
  --- "timeout" or "cancelled") are told to the policy. The text for a summary is changes of notes;
  --- what cannot be verified is refused once (code "unverified", and a list of faults): next_ask
  --- gives the same ask again, its prompt with the complaint. After that, and where there is no
  --- text, lines are picked instead.
  ---@param ask integer its id
  ---@param text string?
  ---@param why string?
  ---@param code string?
  ---@return true? ok, string? message, string? code, table[]? faults
  function Session:answer(ask, text, why, code)
    local raw = open_session(self)
    local id = math.tointeger(ask)
    if not id then error("bad argument #1 to 'answer' (an ask's id is expected)", 2) end
    local open = self.desk and open_ask(raw, id)
    if open and open.kind == "summary" then
      return answer_summary(self, open, text, why, code)
    end
    return raw:answer(ask, text, why, code)
  end

  --- The notes that stand in the prompt, as data: items (key, section, step, text, version,
  --- why, refuted, done, answered), left_out, the entry, its text, and the steps from..to that
  --- it covers.
  --- Nil where no summary holds any.
  ---@return table? notes
  function Session:notes()
    local found, id, text = live_notes(open_session(self))
    if not found then return nil end
    found.entry, found.text = id, text
    local from, to = text:match("^Summary of steps (%d+)%-(%d+)")
    if not from then from = text:match("^Summary of step (%d+)") end
    found.from, found.to = math.tointeger(tonumber(from)), math.tointeger(tonumber(to or from))
    return found
  end

  --- How summaries fared: asks, model (taken at once), again (after a complaint), extractive,
  --- refused, faults; and `last`, the faults of the newest: rung, code, line, what, value.
  ---@return table? checks nil with `notes = false`
  function Session:checks()
    open_session(self)
    if not self.desk then return nil end
    local out = { last = self.desk.faults }
    for name, n in pairs(self.desk.counts) do
      out[name] = n
    end
    return out
  end
end

return M
