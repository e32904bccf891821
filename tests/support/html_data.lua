-- Reads the compact data of the HTML report back, written from what pack.lua says of its form and
-- not from data.js: the two are held against each other by the specs.
-- next: ../spec/html_report_spec.lua
local M = {}

local RUNGS = { [0] = "absent", "full", "trimmed", "reference", "masked", "dropped", "folded" }

local function entry_at(columns, names, k, step, id)
  local pair = columns.pair[k]
  return {
    kind = names[columns.kind[k] + 1],
    region = names[columns.region[k] + 1],
    tool = names[columns.tool[k] + 1],
    path = names[columns.path[k] + 1],
    step = step,
    full = columns.full[k],
    pair = pair ~= 0 and id + pair or 0,
  }
end

local function set_of(list)
  local set = {}
  for k, value in ipairs(list) do
    set[value] = k
  end
  return set
end

local function entries_of(recording, run)
  local own, lacks, list, place = set_of(run.own), set_of(run.lacks), {}, {}
  local step, k = 0, 0
  local steps = {}
  for i, more in ipairs(recording.step) do
    step = step + more
    steps[i] = step
  end
  local own_step = 0
  for id = 1, #recording.step - #run.lacks + #run.own do
    if own[id] then
      own_step = own_step + run.added.step[own[id]]
      list[id] = entry_at(run.added, run.names, own[id], own_step, id)
      list[id].is_own = true
    else
      repeat
        k = k + 1
      until not lacks[k]
      list[id] = entry_at(recording, recording.names, k, steps[k], k)
      place[k] = id
    end
  end
  for _, e in ipairs(list) do
    if not e.is_own and e.pair ~= 0 then e.pair = place[e.pair] or 0 end
  end
  return list
end

local function turns_of(run)
  local list, begins, step, tokens, epoch = {}, set_of(run.begins), 0, 0, 1
  local short, sums = {}, {}
  for i = 1, #run.short, 2 do
    short[run.short[i]] = run.short[i + 1]
  end
  for t, less in ipairs(run.cached) do
    local turn = { regions = {}, tokens = 0, cached = tokens - less, short = short[t] }
    for name, column in pairs(run.regions) do
      sums[name] = (sums[name] or 0) + column[t]
      turn.regions[name] = sums[name]
      turn.tokens = turn.tokens + sums[name]
    end
    step = step + 1 + (run.step and run.step[t] or 0)
    if begins[t] then epoch = epoch + 1 end
    turn.step, turn.epoch = step, epoch
    if not turn.short then tokens = turn.tokens end
    list[t] = turn
  end
  return list
end

local function lives_of(run, entries, turns)
  local lives, turn, entry, i = {}, 0, 0, 1
  for id = 1, #entries do
    lives[id] = {}
  end
  local e = run.events
  while i <= #e do
    turn, entry = turn + e[i], entry + e[i + 1]
    local change = { turn = turn, rung = RUNGS[e[i + 2]], tokens = e[i + 3] }
    if e[i + 4] > 0 then change.why = run.names[e[i + 4]] end
    i = i + (e[i + 4] > 0 and 6 or 5)
    table.insert(lives[entry], change)
  end
  local late = set_of(run.late)
  for id, one in ipairs(entries) do
    local due
    for t, at in ipairs(turns) do
      if not at.short and at.step > one.step then
        due = t
        break
      end
    end
    local first = lives[id][1]
    if due and not late[id] and not (first and first.turn <= due) then
      table.insert(lives[id], 1, { turn = due, rung = "full", tokens = one.full })
    end
  end
  return lives
end

--- A run as lists: entries, turns, and of each entry its changes.
---@param recording table
---@param run table
---@return table
function M.run(recording, run)
  local entries, turns = entries_of(recording, run), turns_of(run)
  return { entries = entries, turns = turns, lives = lives_of(run, entries, turns), own = run.own }
end

--- The change that holds in a turn; nil before the entry came.
---@param life table[]
---@param turn integer
---@return table?
function M.at(life, turn)
  local found
  for _, change in ipairs(life) do
    if change.turn > turn then break end
    found = change
  end
  return found
end

return M
