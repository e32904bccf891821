-- What of a span is worth noting: its blocks, the lines in them, and to which section each
-- belongs. Lines are taken as they stand; a long one ends at a space. next: words.lua
local core = require("neap.core")
local words = require("neap.summary.words")

local M = {}

local LINE = 200 -- bytes of a line that is noted
local PER_BLOCK = 12 -- lines of one result that may compete

-- ---- blocks ---------------------------------------------------------------------------------

local STARTS = {
  { "^<think>", "thought" },
  { "^Action: ", "call" },
  { "^Answer: ", "text" },
  { "^Observation: ", "result" },
}

local MAY_START = { [("<"):byte()] = true, [("A"):byte()] = true, [("O"):byte()] = true }
MAY_START[("["):byte()] = true

local function start_of(line)
  if not MAY_START[line:byte()] then return nil end -- nearly every line
  for _, one in ipairs(STARTS) do
    local _, last = line:find(one[1])
    if last then return one[2], line:sub(last + 1) end
  end
  if line == "[user]" or line:find("^%[user [^\n]*%]$") then return "user", nil end
end

-- Blocks of the plain-text form: step, kind, list of lines.
local function blocks(text)
  local out, step, block = {}, 0, nil
  for line in (text .. "\n"):gmatch("(.-)\r?\n") do
    local n = line:find("^%[step ") and line:match("^%[step (%d+)%]$")
    local kind, rest = start_of(line)
    if n then
      step, block = tonumber(n), nil
    elseif kind then
      block = { step = step, kind = kind, lines = { rest } }
      out[#out + 1] = block
    elseif block then
      block.lines[#block.lines + 1] = line
    end
  end
  return out
end

-- ---- lines ----------------------------------------------------------------------------------

-- At most LINE bytes, cut before a space, so that no name or number is cut in two.
local function tidy(line)
  if line:find("</think>", -8, true) then line = line:sub(1, -9) end
  if line:find("%c") then line = line:gsub("%c", " ") end
  line = line:match("^%s*(.-)%s*$")
  if #line <= LINE then return line end
  local head = line:sub(1, LINE)
  local cut = head:match("^(.*%S)%s+%S*$")
  if cut and #cut >= LINE // 2 then return cut end
  return M.is_cjk(line) and words.clip(line, LINE) or nil
end

local function sentences(line)
  local out = {}
  for part in words.sentences(line) do
    local s = tidy(part)
    if s and #s >= 8 then out[#out + 1] = s end
  end
  return out
end

-- ---- what the model said --------------------------------------------------------------------

local function said(add, block)
  for _, line in ipairs(block.lines) do
    for _, s in ipairs(sentences(line)) do
      local section = words.section(s)
      local names = words.count_names(s)
      if section then
        add(section, block.step, s, names * 0.5, words.is_unsure(s))
      elseif names >= 2 then
        add("facts", block.step, s, names * 0.5 - 1, words.is_unsure(s))
      end
    end
  end
end

-- ---- what it did ----------------------------------------------------------------------------

-- Arguments that name a call best, in this order; else its first string by name.
local MAIN = { "path", "file", "file_path", "filename", "command", "pattern", "query" }

local function first_string(args)
  local keys = {}
  for key, value in pairs(args) do
    if type(key) == "string" and type(value) == "string" then keys[#keys + 1] = key end
  end
  table.sort(keys)
  for _, key in ipairs(MAIN) do
    if type(args[key]) == "string" then return args[key] end
  end
  return keys[1] and args[keys[1]]
end

local function is_path(s)
  return #s <= 160 and not s:find("[%s%c]") and s:find("[./]") and s:find("%a") ~= nil
end

local function did(add, block, files)
  local call = core.json.decode(table.concat(block.lines, "\n"))
  if type(call) ~= "table" or type(call.action) ~= "string" then return end
  local args = type(call.args) == "table" and call.args or {}
  local main = first_string(args)
  if not main then
    add("done", block.step, call.action, 0)
  elseif is_path(main) then
    local file = files[main]
    if not file then
      file = { name = main, steps = {} }
      files[main], files[#files + 1] = file, file
    end
    file.steps[#file.steps + 1] = ("%s [step %d]"):format(call.action, block.step)
  else
    local what = tidy(main)
    if what then add("done", block.step, call.action .. " " .. what, 0) end
  end
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

-- ---- what it was told -----------------------------------------------------------------------

-- Names in what the model says or does: a result's line that holds one is likely needed again.
local function used_names(list)
  local used = {}
  for _, block in ipairs(list) do
    if block.kind ~= "result" then
      for _, line in ipairs(block.lines) do
        for name in words.names(line) do
          used[name] = (used[name] or 0) + 1
        end
      end
    end
  end
  return used
end

local function score_line(line, used)
  local score, seen = 0, {}
  for name in words.names(line) do
    if not seen[name] then
      seen[name] = true
      score = score + 1 + (used[name] and 2 or 0)
    end
  end
  return score / (1 + #line / 80)
end

-- The lines of a result that hold the most for their length.
local function told(add, block, used)
  local best, seen = {}, {}
  for i, raw in ipairs(block.lines) do
    local line = tidy(raw)
    if line and #line >= 4 and not seen[line] then
      seen[line] = true
      local is_error = words.is_error(line)
      local score = score_line(line, used)
      if is_error or score >= 1 then
        best[#best + 1] = { line = line, at = i, score = score, error = is_error }
      end
    end
  end
  table.sort(best, function(a, b)
    if a.error ~= b.error then return a.error end
    if a.score ~= b.score then return a.score > b.score end
    return a.at < b.at
  end)
  for rank = 1, math.min(#best, PER_BLOCK) do
    local one = best[rank]
    -- every further line of one result is worth less, so that all results are heard
    add(one.error and "errors" or "facts", block.step, one.line, one.score - rank * 0.5)
  end
end

local GOAL_LINES = 3 -- of each thing that the user said

local function asked(add, block)
  local n = 0
  for _, line in ipairs(block.lines) do
    local s = tidy(line)
    if s and s ~= "" and n < GOAL_LINES then
      n = n + 1
      add("goal", block.step, s, 2 - n * 0.5)
    end
  end
end

--- Everything that may be noted, in the order of the steps: section, step, text, score, unsure.
--- A line is noted once, from the step that held it last.
---@param text string
---@return table[]
function M.collect(text)
  local list = blocks(text)
  local used, files, items, at = used_names(list), {}, {}, {}
  local function add(section, step, line, score, unsure)
    local known = at[section .. line]
    if known then known.gone = true end
    local item = { section = section, step = step, text = line, score = score, unsure = unsure }
    at[section .. line] = item
    items[#items + 1] = item
  end
  for _, block in ipairs(list) do
    if block.kind == "user" then
      asked(add, block)
    elseif block.kind == "call" then
      did(add, block, files)
    elseif block.kind == "result" then
      told(add, block, used)
    else
      said(add, block)
    end
  end
  add_files(add, files)
  local out = {}
  for _, item in ipairs(items) do
    if not item.gone then out[#out + 1] = item end
  end
  return out
end

M.is_cjk = words.is_cjk

return M
