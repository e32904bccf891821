-- The blocks of a span (what was said, a call, a result), and what of each may be noted, whatever
-- stands around it. Lines are taken as they stand; a long one ends at a space. next: words.lua
local core = require("neap.core")
local words = require("neap.summary.words")

local M = {}

local LINE = 200 -- bytes of a line that is noted

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

--- Blocks of the plain-text form: step, kind, and its text from behind what starts it to its last
--- line end. Only lines that begin as a start does are looked at one by one.
---@param text string
---@return table[]
function M.split(text)
  local out, step, block, from = {}, 0, nil, nil
  text = text .. "\n"
  local at = 1
  while at do
    local last = text:find("\n", at, true)
    local line = text:sub(at, last - 1)
    if line:byte(-1) == 13 then line = line:sub(1, -2) end
    local n = line:match("^%[step (%d+)%]$")
    local kind, rest = start_of(line)
    if block and (n or kind) then block.text = text:sub(from, at - 1) end
    if n then
      step, block = tonumber(n), nil
    elseif kind then
      block, from = { step = step, kind = kind }, rest and at + #line - #rest or last + 1
      out[#out + 1] = block
    end
    at = text:find("\n[%[<AO]", last)
    at = at and at + 1
  end
  if block then block.text = text:sub(from) end
  return out
end

-- The lines of a block.
local function lines_of(text)
  local out = {}
  for line in text:gmatch("(.-)\r?\n") do
    out[#out + 1] = line
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
  return words.is_cjk(line) and words.clip(line, LINE) or nil
end

local function sentences(line)
  local out = {}
  for part in words.sentences(line) do
    local s = tidy(part)
    if s and #s >= 8 then out[#out + 1] = s end
  end
  return out
end

-- ---- what they hold -------------------------------------------------------------------------

local function said(lines)
  local items = {}
  for _, line in ipairs(lines) do
    for _, s in ipairs(sentences(line)) do
      local section = words.section(s)
      local names = words.count_names(s)
      local score = section and names * 0.5 or names >= 2 and names * 0.5 - 1
      if score then
        local unsure = words.is_unsure(s)
        section = section or "facts"
        items[#items + 1] = { section = section, text = s, score = score, unsure = unsure }
      end
    end
  end
  return { items = items }
end

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

local function did(lines)
  local call = core.json.decode(table.concat(lines, "\n"))
  if type(call) ~= "table" or type(call.action) ~= "string" then return { items = {} } end
  local args = type(call.args) == "table" and call.args or {}
  local main = first_string(args)
  if main and is_path(main) then return { items = {}, file = main, action = call.action } end
  local what = main and tidy(main)
  if main and not what then return { items = {} } end
  local text = what and call.action .. " " .. what or call.action
  return { items = { { section = "done", text = text, score = 0 } } }
end

local GOAL_LINES = 3 -- of each thing that the user said

local function asked(lines)
  local items = {}
  for _, line in ipairs(lines) do
    local s = tidy(line)
    if s and s ~= "" and #items < GOAL_LINES then
      items[#items + 1] = { section = "goal", text = s, score = 1.5 - #items * 0.5 }
    end
  end
  return { items = items }
end

-- The names of a line, each once; nil for none.
local function distinct(line)
  local list, seen
  for name in words.names(line) do
    if not list then
      list, seen = {}, {}
    end
    if not seen[name] then
      seen[name], list[#list + 1] = true, name
    end
  end
  return list
end

-- The lines of a result that say that something went wrong, or hold names.
local function told(lines)
  local candidates, seen = {}, {}
  for i, raw in ipairs(lines) do
    local line = tidy(raw)
    if line and #line >= 4 and not seen[line] then
      seen[line] = true
      local is_error, names = words.is_error(line), distinct(line)
      if is_error or names then
        local one = { text = line, at = i, is_error = is_error, names = names or {} }
        candidates[#candidates + 1] = one
      end
    end
  end
  return { candidates = candidates }
end

local READ = { user = asked, call = did, result = told, text = said, thought = said }

-- Names in what the model says or does: a result's line that holds one is likely needed again.
local function used_in(lines)
  local list, seen = {}, {}
  for _, line in ipairs(lines) do
    for name in words.names(line) do
      if not seen[name] then
        seen[name], list[#list + 1] = true, name
      end
    end
  end
  return list
end

--- What a block holds: items; or candidates, of which the span takes the best; or a file and what
--- was done to it. `used` are names that the model or the user wrote.
---@param block table
---@param known table by kind and text: what was read before
---@return table
function M.read(block, known)
  local of_kind = known[block.kind]
  if not of_kind then
    of_kind = {}
    known[block.kind] = of_kind
  end
  local one = of_kind[block.text]
  if one then return one end
  local lines = lines_of(block.text)
  one = READ[block.kind](lines)
  one.used = block.kind ~= "result" and used_in(lines) or {}
  of_kind[block.text] = one
  return one
end

return M
