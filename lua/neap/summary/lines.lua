-- What of a span is worth noting: what its blocks hold, each line with its step, and the files with
-- what was done to them. Blocks are read once for all spans that hold them. next: blocks.lua
local blocks = require("neap.summary.blocks")
local read = require("neap.summary.read")
local words = require("neap.summary.words")

local M = {}

local function note_file(files, step, name, action)
  local file = files[name]
  if not file then
    file = { name = name, steps = {} }
    files[name], files[#files + 1] = file, file
  end
  file.steps[#file.steps + 1] = ("%s [step %d]"):format(action, step)
  file.action, file.step = action, step
end

local MOST_STEPS = 6 -- of one file that are named

local function add_files(add, files)
  for _, file in ipairs(files) do
    local steps, n = {}, #file.steps
    for i = math.max(1, n - MOST_STEPS + 1), n do
      steps[#steps + 1] = file.steps[i]
    end
    local item = read.file(file.name .. ": " .. table.concat(steps, ", "))
    if n == 1 then -- may stand in a line with others
      item.kin = file.action .. ": "
      item.piece = ("%s [step %d]"):format(file.name, file.step)
    end
    add(item)
  end
end

-- Takes in what was read; a line is noted once, from the step that held it last.
local function collector()
  local items, at = {}, {}
  return items, function(one, step)
    local section = at[one.section] or {}
    at[one.section] = section
    local known = section[one.text]
    if known then known.order = false end
    local item = { is = one, step = step, order = #items + 1 }
    section[one.text] = item
    items[#items + 1] = item
  end
end

--- Everything that may be noted, in the order of the steps: step, order, and what was read (`is`:
--- section, text, unsure and what it is worth). A line is noted once, from the step that held it
--- last.
---@param text string
---@param known table? what was read of blocks, kept by the caller for spans that overlap
---@return table[]
function M.collect(text, known)
  local files = {}
  local items, add = collector()
  known = known or {}
  for _, block in ipairs(blocks.split(text)) do
    local one = read.of(block, known)
    for _, item in ipairs(one.items) do
      add(item, block.step)
    end
    if one.file then note_file(files, block.step, one.file, one.action) end
  end
  add_files(add, files)
  local out = {}
  for _, item in ipairs(items) do
    if item.order then out[#out + 1] = item end
  end
  return out
end

M.is_cjk = words.is_cjk

return M
