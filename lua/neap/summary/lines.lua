-- What of a span is worth noting, and to which section each line belongs. A span sets only what
-- names are worth: the blocks in it are read once. next: blocks.lua
local blocks = require("neap.summary.blocks")
local words = require("neap.summary.words")

local M = {}

local PER_BLOCK = 12 -- lines of one result that may compete

-- What a line has for its length: its names, those most that the span uses.
local function score_of(one, used)
  local names = one.names
  local score = #names
  for i = 1, #names do
    if used[names[i]] then score = score + 2 end
  end
  return score / (1 + #one.text / 80)
end

-- Puts a candidate where it belongs among the best so far; of two that are alike the earlier
-- stays before the later.
local function place(best, scores, one, score)
  local n = #best
  while n > 0 do
    local other = best[n]
    local is_before = other.is_error and not one.is_error
    if is_before or other.is_error == one.is_error and scores[n] >= score then break end
    best[n + 1], scores[n + 1] = other, scores[n]
    n = n - 1
  end
  best[n + 1], scores[n + 1] = one, score
  best[PER_BLOCK + 1] = nil
end

-- The best of a result's candidates: errors first, then what holds the most.
local function add_told(add, step, candidates, used)
  local best, scores = {}, {}
  for i = 1, #candidates do
    local one = candidates[i]
    local score = score_of(one, used)
    if one.is_error or score >= 1 then place(best, scores, one, score) end
  end
  for rank, one in ipairs(best) do
    -- every further line of one result is worth less, so that all results are heard
    add(one.is_error and "errors" or "facts", step, one.text, scores[rank] - rank * 0.5)
  end
end

local function note_file(files, step, name, action)
  local file = files[name]
  if not file then
    file = { name = name, steps = {} }
    files[name], files[#files + 1] = file, file
  end
  file.steps[#file.steps + 1] = ("%s [step %d]"):format(action, step)
end

local MOST_STEPS = 6 -- of one file that are named

local function add_files(add, files)
  for _, file in ipairs(files) do
    local steps, n = {}, #file.steps
    for i = math.max(1, n - MOST_STEPS + 1), n do
      steps[#steps + 1] = file.steps[i]
    end
    add("files", nil, file.name .. ": " .. table.concat(steps, ", "), math.min(n, 4) * 0.5)
  end
end

-- Takes in items; a line is noted once, from the step that held it last.
local function collector()
  local items, at = {}, {}
  return items, function(section, step, line, score, unsure)
    at[section] = at[section] or {}
    local known = at[section][line]
    if known then known.gone = true end
    local item = { section = section, step = step, text = line, score = score, unsure = unsure }
    at[section][line] = item
    items[#items + 1] = item
  end
end

--- Everything that may be noted, in the order of the steps: section, step, text, score, unsure.
--- A line is noted once, from the step that held it last.
---@param text string
---@param known table? what was read of blocks, kept by the caller for spans that overlap
---@return table[]
function M.collect(text, known)
  local list, used, files = blocks.split(text), {}, {}
  local all, add = collector()
  known = known or {}
  for i, block in ipairs(list) do
    local one = blocks.read(block, known)
    list[i] = { step = block.step, is = one }
    for _, name in ipairs(one.used) do
      used[name] = true
    end
  end
  for _, block in ipairs(list) do
    local one, step = block.is, block.step
    for _, item in ipairs(one.items or {}) do
      add(item.section, step, item.text, item.score, item.unsure)
    end
    if one.file then note_file(files, step, one.file, one.action) end
    if one.candidates then add_told(add, step, one.candidates, used) end
  end
  add_files(add, files)
  local out = {}
  for _, item in ipairs(all) do
    if not item.gone then out[#out + 1] = item end
  end
  return out
end

M.is_cjk = words.is_cjk

return M
