-- What of a block may be noted, whatever stands around it: of what the model said its sentences, of
-- what it did its calls, of what it was told the lines; each with the section it belongs to. What
-- a result says is a fact or an error, whatever it calls itself. next: pieces.lua
local core = require("neap.core")
local pieces = require("neap.summary.pieces")
local words = require("neap.summary.words")
local worth = require("neap.summary.worth")

local M = {}

-- What a line is worth for being of its section, in names: what is decided, refuted or open is
-- short, and cannot be found again by its words.
local BASE = {
  goal = 4,
  refuted = 6,
  decisions = 4,
  open = 4,
  errors = 1.5,
  files = 1,
  facts = 0,
  done = 1,
}
local DONE = 1.5 -- of what the model says that it has done
local QUESTION = 0 -- of the user's: what follows has answered it, or it is asked again
local SHORTEST = 8 -- bytes of a sentence
local GOAL_LINES = 3 -- of each thing that the user said; the rest are facts

-- ---- what the model said ----------------------------------------------------------------------

local function said(add, text)
  for line in text:gmatch("[^\r\n]+") do
    line = pieces.is_frame(line) and "" or pieces.without_marks(line, true)
    for sentence in words.sentences(line) do
      for _, piece in ipairs(pieces.split(sentence)) do
        local s = pieces.tidy(piece)
        if s and #s >= SHORTEST then
          local section = words.section(s)
          local item = add(section or "facts", s)
          item.unsure = words.is_unsure(s)
          if section == "done" then item.base = DONE end
        end
      end
    end
  end
end

-- ---- what it did ------------------------------------------------------------------------------

-- Arguments that name a call best, in this order; else its first string by name.
local MAIN = { "path", "file", "file_path", "filename", "command", "cmd", "pattern", "query" }

local function main_argument(args)
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
  return #s <= 160 and not s:find("[%s%c]") and s:find("[./]") and s:find("%a") and utf8.len(s)
end

-- Escapes in a call's JSON may stand between what then reads as a name and the name that the
-- step holds: only what is written there as it is read is noted.
local function is_written(s, raw)
  local there = {}
  for _, name in ipairs(core.cite_scan(raw)) do
    there[name] = true
  end
  for _, name in ipairs(core.cite_scan(s)) do
    if not there[name] then return false end
  end
  return true
end

local function did(add, raw, out)
  local call = core.json.decode(raw)
  if type(call) ~= "table" or type(call.action) ~= "string" then return end
  local action = pieces.first(call.action) or "call"
  local main = main_argument(type(call.args) == "table" and call.args or {})
  main = main and main:match("[^\t\r\n]+") -- its first line
  if main and not is_written(main:sub(1, 1000), raw) then main = nil end
  if main and is_path(main) then
    out.file, out.action = main, action
  else
    local what = main and pieces.first(main)
    add("done", what and action .. " " .. what or action)
  end
end

-- ---- what it was told -------------------------------------------------------------------------

local function told(add, text)
  local errors, i = {}, 0
  for _, n in ipairs(core.error_lines(text)) do
    errors[n] = true
  end
  for line in text:gmatch("([^\n]*)\n") do
    i = i + 1
    if line:byte(-1) == 13 then line = line:sub(1, -2) end
    line = pieces.without_marks(pieces.without_gutter(line))
    for _, piece in ipairs(pieces.is_frame(line) and {} or pieces.split(line)) do
      local s = pieces.tidy(piece)
      if s and #s >= 4 then
        local is_error = (errors[i] or words.is_error(s)) and not words.is_code(s)
        add(is_error and "errors" or "facts", s)
      end
    end
  end
end

local function asked(add, text)
  local n = 0
  for line in text:gmatch("[^\r\n]+") do
    line = pieces.is_frame(line) and "" or pieces.without_marks(line, true)
    for _, piece in ipairs(pieces.split(line)) do
      local s = pieces.tidy(piece)
      if s then
        n = n + 1
        local item = add("goal", s)
        if n > GOAL_LINES then
          item.base = 0
        elseif words.is_question(s) then
          item.base = QUESTION
        end
      end
    end
  end
end

-- ---- all --------------------------------------------------------------------------------------

local READ = { user = asked, call = did, result = told, text = said, thought = said }

--- A line about a file.
---@param text string
---@return table item
function M.file(text)
  return worth.read({ section = "files", text = text, base = BASE.files })
end

--- What a block holds: items { section, text, base (what it is worth beside its names), unsure },
--- or a file and what was done to it.
---@param block neap.Block
---@param known table by kind and text: what was read before; not to be changed
---@return table
function M.of(block, known)
  local of_kind = known[block.kind]
  if not of_kind then
    of_kind = {}
    known[block.kind] = of_kind
  end
  local out = of_kind[block.text]
  if out then return out end
  out = { items = {} }
  of_kind[block.text] = out
  local function add(section, text)
    local item = { section = section, text = text, base = BASE[section] }
    table.insert(out.items, item)
    return item
  end
  if READ[block.kind] then READ[block.kind](add, block.text, out) end
  for _, item in ipairs(out.items) do
    worth.read(item)
  end
  return out
end

return M
