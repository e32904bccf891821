-- How much of what the prompts carried was used: the share of their tokens that stand in results
-- which a later step came back to. Two measures, docs/metrics.md: by the first words of a result,
-- and by its identifiers, the rare ones weighing more. next: repeats.lua
local M = {}

local KEYS, THRESHOLD = 20, 2
local WORD = "[A-Za-z_][A-Za-z_][A-Za-z_][A-Za-z_]+"
local HAN = "[\xE4-\xE9][\x80-\xBF][\x80-\xBF]" -- U+4000 to U+9FFF: 4E00 on is looked at below

-- The next run of two or more of U+4E00 to U+9FFF from `at`; its first and last byte.
local function next_han(text, at)
  while true do
    local from = text:find(HAN, at)
    if not from then return nil end
    local to = from
    while text:find("^" .. HAN, to) and text:sub(to, to + 2) >= "\xE4\xB8\x80" do
      to = to + 3
    end
    if to - from >= 6 then return from, to - 1 end
    at = math.max(to, from + 3)
  end
end

-- The first distinct keys of a text, in order of place.
local function keys_of(text)
  local keys, seen = {}, {}
  local wa, wb = text:find(WORD)
  local ha, hb = next_han(text, 1)
  while #keys < KEYS and (wa or ha) do
    local is_word = wa and (not ha or wa < ha)
    local from, to = is_word and wa or ha, is_word and wb or hb
    local key = text:sub(from, to)
    if not seen[key] then
      seen[key] = true
      keys[#keys + 1] = { text = key, is_word = is_word }
    end
    local at = to + 1
    if is_word then
      wa, wb = text:find(WORD, at)
    else
      ha, hb = next_han(text, at)
    end
  end
  return keys
end

local MODEL = { text = true, thought = true, call = true }

-- The last step in which the model wrote each word; its texts that hold Chinese, oldest first.
local function writings(session)
  local last, han = {}, {}
  for id = 1, session:entry_count() do
    if MODEL[session:kind(id)] then
      local step, text = session:entry(id).step, session:text(id) or ""
      for word in text:gmatch(WORD) do
        last[word] = step
      end
      if text:find(HAN) then han[#han + 1] = { step = step, text = text } end
    end
  end
  return last, han
end

local function last_step(key, last, han)
  if key.is_word then return last[key.text] or 0 end
  for i = #han, 1, -1 do
    if han[i].text:find(key.text, 1, true) then return han[i].step end
  end
  return 0
end

-- The last step that uses THRESHOLD of the keys or, later ones counted in, so many: 0 for none.
local function used_until(text, last, han)
  local steps = {}
  for i, key in ipairs(keys_of(text)) do
    steps[i] = last_step(key, last, han)
  end
  table.sort(steps, function(a, b)
    return a > b
  end)
  return steps[THRESHOLD] or 0
end

local SOURCE = { result = true, user = true, file = true, memory = true, evidence = true }

-- Of each source of the session, in order, how long it was used. The sources of a recording are
-- the same under every policy, and so is this: it is worked out once.
local function measure(session)
  local list = {}
  local last, han = writings(session)
  for id = 1, session:entry_count() do
    local kind = session:kind(id)
    if SOURCE[kind] then
      local all, uses = session:uses(id)
      local text = kind == "result" and session:text(id)
      local words = text and used_until(text, last, han) or 0
      list[#list + 1] = { words = words, all = all, uses = uses }
    end
  end
  return list
end

---@class neap.Density
local Density = {}
Density.__index = Density

function M.new()
  return setmetatable({ last = {}, runs = {}, steps = {} }, Density)
end

--- Takes in the prompt of the turn that is to be answered by `step`; only of turns that are sent.
---@param session table
---@param step integer
function Density:turn(session, step)
  session:take_shown(self.last, self.runs, step, true)
  self.steps[#self.steps + 1] = step
end

-- The runs of each entry: { first turn, tokens }, turns counted from 1.
local function runs_by_entry(self)
  local turn_of, by = {}, {}
  for turn, step in ipairs(self.steps) do
    turn_of[step] = turn
  end
  for i = 1, #self.runs, 3 do
    local id = self.runs[i]
    by[id] = by[id] or {}
    table.insert(by[id], { turn_of[self.runs[i + 1]], self.runs[i + 2] })
  end
  return by
end

-- How many turns were sent up to each step.
local function turns_until(steps)
  local count, n = {}, 0
  local at = 1
  for step = 1, steps[#steps] or 0 do
    if steps[at] == step then
      n, at = n + 1, at + 1
    end
    count[step] = n
  end
  count[0] = 0
  return count, n
end

-- Tokens that an entry took in the prompts of the turns up to `turn`.
local function tokens_until(runs, turn)
  local sum = 0
  for i, run in ipairs(runs) do
    if run[1] > turn then break end
    local to = math.min(turn, runs[i + 1] and runs[i + 1][1] - 1 or turn)
    sum = sum + run[2] * (to - run[1] + 1)
  end
  return sum
end

--- The two densities, as shares of all tokens that were sent; nothing when none was.
---@param session table at the end of the replay
---@param recording table what was worked out is kept there
---@param tokens integer
---@return number? words, number? rare
function Density:shares(session, recording, tokens)
  if tokens == 0 then return nil end
  recording.used = recording.used or measure(session)
  local by, count, all_turns = runs_by_entry(self), turns_until(self.steps)
  local words, rare, k = 0, 0.0, 0
  for id = 1, session:entry_count() do
    if SOURCE[session:kind(id)] then
      k = k + 1
      local used, runs = recording.used[k], by[id]
      if runs and used then
        words = words + tokens_until(runs, count[used.words] or all_turns)
        for i = 1, #used.uses, 2 do
          local part = tokens_until(runs, count[used.uses[i]] or all_turns)
          rare = rare + part * used.uses[i + 1] / used.all
        end
      end
    end
  end
  return words / tokens, rare / tokens
end

return M
