-- Looks on at one replay for the HTML report: what each prompt took, by region; what of each
-- entry it showed, written down where that changes; which facts were gone and who needed them.
-- It changes nothing. next: pack.lua
local safe = require("neap.report.html.safe")

local M = {}

M.MARK = 160 -- bytes of what stands in place of an entry
M.NAME = 80 -- bytes of an identifier, a path or the name of a tool
M.TEXT = 240 -- bytes of an entry's text

-- How much of an entry is shown, as numbers of the report; 0: it has no place in the prompt.
local RUNGS = { full = 1, trimmed = 2, reference = 3, masked = 4, dropped = 5, folded = 6 }
local ABSENT, FULL, DROPPED = 0, RUNGS.full, RUNGS.dropped
local HAS_MARK = { [2] = true, [3] = true, [4] = true }

---@class neap.Watch
---@field turns table[]   of each turn { step, cached, regions, begins, short }
---@field events table[]  { turn, entry, rung, tokens, why, by, mark }
---@field gone table[]    { turn, step, identifier, by, credited }; of what is only pointed at also
--- { from, cost }: the entry whose mark points, and what its recall costs
local Watch = {}
Watch.__index = Watch

---@param label string? the policy's name in place of its file's, where that is made up anew
---@param is_first boolean? note what is the same in every run of a recording too: texts, and who
--- cites what
---@return neap.Watch
function M.new(label, is_first)
  return setmetatable({
    label = label,
    is_first = is_first,
    turns = {},
    events = {},
    gone = {},
    last = {},
    rungs = {},
  }, Watch)
end

-- "tide.lua:41"; the oracle's file is a temporary one, whose name is by chance.
local function place(self, by)
  if not self.label or not by then return by or "" end
  return (by:gsub("^[^:]*", function()
    return self.label
  end))
end

local function note_event(self, session, id, turn, change)
  local rung = change and RUNGS[change.to] or self.rungs[id] or FULL
  self.rungs[id] = rung
  local tokens = self.last[id] or 0
  local event = { turn = turn, entry = id, rung = rung, tokens = tokens }
  if tokens == 0 and rung < DROPPED then event.rung = ABSENT end
  if change then
    event.why, event.by = change.why, place(self, change.by)
  end
  if HAS_MARK[event.rung] then event.mark = safe.excerpt(session:shown(id) or "", M.MARK) end
  self.events[#self.events + 1] = event
end

-- Entries whose tokens or rung differ from those of the last prompt, by their ids.
local function take_events(self, session, account)
  local runs, changes, ids = {}, {}, {}
  session:take_shown(self.last, runs, account.turn)
  for i = 1, #runs, 3 do
    ids[#ids + 1] = runs[i]
    changes[runs[i]] = false
  end
  for _, change in ipairs(account.changed or {}) do
    if changes[change.entry] == nil then ids[#ids + 1] = change.entry end
    changes[change.entry] = change
  end
  table.sort(ids)
  for _, id in ipairs(ids) do
    note_event(self, session, id, account.turn, changes[id] or nil)
  end
end

--- Takes in a turn's prompt. What was tried for one that does not fit has been taken back.
---@param account table
---@param session table
function Watch:turn(account, session)
  local turn = { step = account.step, cached = account.cached, regions = account.regions }
  if account.overflow then
    turn.short, turn.regions, turn.cached = account.overflow.short, {}, 0
  else
    turn.begins = self.epoch ~= nil and self.epoch ~= account.epoch
    self.epoch = account.epoch
    take_events(self, session, account)
  end
  self.budget = self.budget or account.budget
  self.turns[#self.turns + 1] = turn
end

--- Takes in what the step after that turn used.
---@param m table the session's measure
function Watch:measure(m)
  local turn, fresh = #self.turns, {}
  table.move(m.gone_list, 1, #m.gone_list, 1, fresh)
  table.move(m.pointed_list, 1, #m.pointed_list, #fresh + 1, fresh)
  local was_sent = self.turns[turn] and not self.turns[turn].short
  for k, c in ipairs(fresh) do
    fresh[k] = {
      turn = turn,
      place = k,
      step = c.step,
      identifier = safe.excerpt(c.identifier, M.NAME),
      by = c.by,
      credited = c.credited,
      from = was_sent and c.from or nil,
      cost = was_sent and c.cost or nil,
    }
  end
  table.sort(fresh, function(a, b)
    if a.by ~= b.by then return a.by < b.by end
    return a.place < b.place
  end)
  table.move(fresh, 1, #fresh, #self.gone + 1, self.gone)
end

-- What recordings hold: its text is taken from one run alone.
local COMMON = { system = true, user = true, text = true, thought = true, call = true }
COMMON.result = true

local function entry_of(session, id, has_all)
  local e = session:entry(id)
  local text = (has_all or not COMMON[e.kind]) and session:text(id) or ""
  return {
    kind = e.kind,
    region = e.region,
    step = e.step,
    tool = safe.excerpt(e.tool, M.NAME),
    path = safe.excerpt(e.path, M.NAME),
    full = e.full_tokens,
    pair = e.pair or 0,
    is_error = e.is_error,
    text = safe.excerpt(text, M.TEXT),
  }
end

-- Who cites an entry, and for what.
local function add_citations(list, session, id)
  for _, c in ipairs(session:citations(id)) do
    if c.credited == id then
      local name = safe.excerpt(c.identifier, M.NAME)
      list[#list + 1] = { by = c.by, credited = id, identifier = name }
    end
  end
end

--- Everything that is known at the end, as plain data.
---@param session table
---@return table
function Watch:result(session)
  local entries, citations = {}, {}
  for id = 1, session:entry_count() do
    entries[id] = entry_of(session, id, self.is_first)
    if self.is_first then add_citations(citations, session, id) end
  end
  return {
    budget = self.budget,
    turns = self.turns,
    events = self.events,
    gone = self.gone,
    entries = entries,
    citations = citations,
  }
end

return M
