-- What was watched in the replays of one recording, as the compact JSON that the report carries:
-- once what all policies share, and for each run only what differs. Lists are columns; numbers
-- that grow are differences; what page.js can work out is left out. How to read it back stands
-- in data.js. next: page.lua
local core = require("neap.core")
local safe = require("neap.report.html.safe")

local M = {}
local array = core.json.array

-- A table of distinct strings, and the place of each, from 0.
local function names()
  local list, at = array({}), {}
  return list, function(text)
    text = text or ""
    if not at[text] then
      list[#list + 1] = text
      at[text] = #list - 1
    end
    return at[text]
  end
end

-- Whether an entry of a run is one of the recording's.
local function is_same(a, b)
  return b ~= nil and a.kind == b.kind and a.step == b.step and a.tool == b.tool
end

local AHEAD = 8 -- entries of the recording that a run may lack before it counts as different

-- Which entry of the recording each of a run's is: a list of the run's own ones (summaries, and
-- what else the engine adds) and of the recording's that it lacks.
local function align(entries, base)
  local own, lacks, j = {}, {}, 1
  for i, e in ipairs(entries) do
    local at = j
    while at <= j + AHEAD and base[at] and not is_same(e, base[at]) do
      at = at + 1
    end
    if is_same(e, base[at]) and (at == j or e.full == base[at].full) then
      for k = j, at - 1 do
        lacks[#lacks + 1] = k
      end
      j = at + 1
    else
      own[#own + 1] = i
    end
  end
  for k = j, #base do
    lacks[#lacks + 1] = k
  end
  return own, lacks
end

local FIELDS = { "kind", "region", "tool", "path" }

-- Entries as columns: words by their place among the names, steps as differences.
local function columns(entries, ids, name)
  local out, step = {}, 0
  for _, field in ipairs({ "kind", "region", "tool", "path", "step", "full", "pair" }) do
    out[field] = array({})
  end
  out.errors = array({})
  for k, id in ipairs(ids) do
    local e = entries[id]
    for _, field in ipairs(FIELDS) do
      out[field][k] = name(e[field])
    end
    out.step[k], step = e.step - step, e.step
    out.full[k] = e.full
    out.pair[k] = e.pair > 0 and e.pair - id or 0
    if e.is_error then out.errors[#out.errors + 1] = k - 1 end
  end
  return out
end

local function all_of(entries)
  local ids = {}
  for i = 1, #entries do
    ids[i] = i
  end
  return ids
end

local function texts_of(entries, ids)
  local out = array({})
  for k, id in ipairs(ids) do
    out[k] = entries[id].text
  end
  return out
end

-- { by, credited, name } of each citation, one after the other.
local function citations_of(seen, name)
  local out = array({})
  for _, c in ipairs(seen.citations) do
    table.move({ c.by, c.credited, name(c.identifier) }, 1, 3, #out + 1, out)
  end
  return out
end

-- Tokens by region: a column of differences each. What was read from the cache: how much less
-- than the prompt before.
local function add_turns(into, turns)
  local before, tokens, step = {}, 0, 0
  into.regions, into.cached, into.step = {}, array({}), array({})
  into.begins, into.short = array({}), array({})
  for t, turn in ipairs(turns) do
    local sum = 0
    for region, n in pairs(turn.regions) do
      into.regions[region] = into.regions[region] or array({})
      sum = sum + n
    end
    into.cached[t], tokens = tokens - turn.cached, turn.short and tokens or sum
    into.step[t], step = turn.step - step - 1, turn.step
    if turn.begins then into.begins[#into.begins + 1] = t end
    if turn.short then table.move({ t, turn.short }, 1, 2, #into.short + 1, into.short) end
  end
  for region, column in pairs(into.regions) do
    for t, turn in ipairs(turns) do
      local n = turn.regions[region] or 0
      column[t], before[region] = n - (before[region] or 0), n
    end
  end
  if step == #turns then into.step = nil end -- turn n is before step n
end

-- The turn in which an entry of each step comes: the first that is sent after it.
local function arrivals(turns)
  local by_step, at = {}, 1
  for step = 0, turns[#turns] and turns[#turns].step or 0 do
    while turns[at] and (turns[at].step <= step or turns[at].short) do
      at = at + 1
    end
    by_step[step] = at
  end
  return by_step
end

-- What comes whole and when it should is not written down.
local function add_events(into, seen, name)
  local events, marks, comes, has_come = array({}), array({}), arrivals(seen.turns), {}
  local turn, entry = 0, 0
  into.late = array({}) -- what does not come when it should, if ever
  for _, e in ipairs(seen.events) do
    local of = seen.entries[e.entry]
    local is_due = not has_come[e.entry] and e.turn == comes[of.step]
    local is_late = not has_come[e.entry] and e.turn > comes[of.step]
    if is_late then into.late[#into.late + 1] = e.entry end
    has_come[e.entry] = true
    if not is_due or e.rung ~= 1 or e.tokens ~= of.full or e.why then
      local why = e.why and name(e.why) + 1 or 0
      local row = { e.turn - turn, e.entry - entry, e.rung, e.tokens, why, why > 0 and name(e.by) }
      table.move(row, 1, why > 0 and 6 or 5, #events + 1, events)
      turn, entry = e.turn, e.entry
      marks[#marks + 1] = e.mark or ""
    end
  end
  for id, e in ipairs(seen.entries) do
    if not has_come[id] and seen.turns[comes[e.step]] then into.late[#into.late + 1] = id end
  end
  into.events = events
  return marks
end

-- Facts that were not shown; the last two of each are 0 where nothing points to it.
local function add_gone(into, gone, name)
  local list = array({})
  for _, g in ipairs(gone) do
    local row = { g.turn, g.step, g.by, g.credited, name(g.identifier), g.from or 0, g.cost or 0 }
    table.move(row, 1, 7, #list + 1, list)
  end
  into.gone = list
end

--- What all runs of a recording share: its entries and citations, and the beginnings of the
--- entries' texts.
---@param seen table of the run without a window
---@param head table { name, form, path }
---@return string core, string texts
function M.recording(seen, head)
  local list, name = names()
  local ids = all_of(seen.entries)
  local out = columns(seen.entries, ids, name)
  out.cites = citations_of(seen, name)
  out.trace, out.form, out.file = head.name, head.form, head.path
  out.names = list
  return safe.json(out), safe.json(texts_of(seen.entries, ids))
end

--- One run: what its policy showed and what was gone; and the texts that only it has: of marks,
--- and of its own entries.
---@param seen table
---@param base table of the run without a window
---@param head table what the page says of the run
---@return string core, string texts
function M.run(seen, base, head)
  local list, name = names()
  local own, lacks = align(seen.entries, base.entries)
  local out = { own = array(own), lacks = array(lacks), about = head, budget = seen.budget }
  if #own > 0 then out.added = columns(seen.entries, own, name) end
  add_turns(out, seen.turns)
  local marks = add_events(out, seen, name)
  add_gone(out, seen.gone, name)
  out.names = list
  return safe.json(out), safe.json({ marks = marks, own = texts_of(seen.entries, own) })
end

return M
