-- What stands in the prompt beside the notes: the state object, which is exact, and the task. A
-- line may name what they hold; none may say of a value of the state that it is another one; what
-- the user said there word by word need not be noted again. next: verify.lua
local core = require("neap.core")

local M = {}

local MOST = 256 -- entries that are looked at for the task, which is among the first
local LONGEST = 64 -- bytes of a value that a line is compared with

---@class neap.Known
---@field texts string[]  the task as it is shown, and the state as JSON
---@field lines string[]  what stands there word by word: the task, then a value each
---@field said string     the same as one text
---@field keys string[]   of `values`, sorted
---@field values table<string, table> by key in small letters: { value = true }
local Known = {}
Known.__index = Known

-- ---- reading ----------------------------------------------------------------------------------

local function task_of(session)
  local out, begun = {}, false
  for id = 1, math.min(session:entry_count(), MOST) do
    local is_task = session:entry(id).region == "task"
    if begun and not is_task then break end
    begun = begun or is_task
    if is_task then out[#out + 1] = session:shown(id) end
  end
  return table.concat(out, "\n")
end

local function sorted_keys(object)
  local keys = {}
  for key in pairs(object) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

-- A number, or a word that names a thing: what another one could be written for.
local function is_exact(value)
  local text = tostring(value)
  if #text > LONGEST then return false end
  if type(value) ~= "string" then return text:find("^-?%d") ~= nil end
  return #text >= 3 and text:find("^[%w_./:@#-]*%d[%w_./:@#-]*$") ~= nil
end

-- The members of the state, those of lists without a key.
local function walk(self, value, key)
  if type(value) == "table" then
    for _, own in ipairs(sorted_keys(value)) do
      walk(self, value[own], type(own) == "string" and own:lower() or nil)
    end
    return
  end
  if type(value) == "string" then self.lines[#self.lines + 1] = value end
  if not key or #key < 3 or not is_exact(value) then return end
  self.values[key] = self.values[key] or {}
  self.values[key][tostring(value)] = true
end

--- What a session's prompt holds beside the notes; nothing of a session that cannot say it.
---@param session table of the core
---@return neap.Known
function M.of(session)
  local self = setmetatable({ texts = {}, lines = {}, values = {} }, Known)
  local task = session.entry and task_of(session) or ""
  local state = session.state_get and session:state_get() or nil
  self.texts = { task, state }
  self.lines[1] = task
  local object = state and core.json.decode(state)
  if object then walk(self, object) end
  self.said = table.concat(self.lines, "\n")
  self.keys = sorted_keys(self.values)
  return self
end

--- Does the sentence stand in the task, or as a text of the state, word by word?
---@param sentence string
---@return boolean
function Known:says(sentence)
  local from, to = self.said:find(sentence, 1, true)
  if not from or from > 1 and self.said:find("^[%w_]", from - 1) then return false end
  return not (self.said:find("^[%w_]", to + 1) or self.said:find("^[.,:]%d", to + 1))
end

-- ---- contradictions ---------------------------------------------------------------------------

-- What may stand between a key and its value: "is", "≤", "must be at most", "为".
local GLUE = {
  "is", "are", "of", "to", "at", "most", "least", "be", "must", "now", "stays", "equals", "set",
  "should", "shall", "can", "may", "will", "go", "up", "has been", "raised", "lowered",
  "changed", "moved", "increased", "reduced", "updated", "was raised", "was lowered", "was set",
  "was changed", "was moved", "was increased", "was reduced", "was updated",
  "=", ":", "<", ">", "≤", "≥", "\"", "'", "`", "*", "(", "|", "→", "->",
  "为", "是", "：", "不超过", "不得超过", "至多", "至少", "等于", "改为", "设为", "应为",
}
local LONG_GLUE = 12 -- pieces at most

local function past_glue(text, at)
  for _ = 1, LONG_GLUE do
    at = text:match("^%s*()", at)
    local from = at
    for _, piece in ipairs(GLUE) do
      local last = at + #piece - 1
      local is_word = piece:find("^%a") ~= nil
      if text:sub(at, last) == piece and not (is_word and text:find("^[%w_]", last + 1)) then
        at = last + 1
        break
      end
    end
    if at == from then return at end
  end
  return at
end

local function value_at(text, at)
  local value = text:match("^%-?%d[%d.,]*%%?", at)
  local word = text:match("^[%w_./:@#-]+", at)
  if word and (not value or #word > #value) and word:find("%d") then value = word end
  return value and value:gsub("[.,:]+$", "")
end

local function same(said, values)
  for value in pairs(values) do
    if value:lower() == said then return true end
    local number = tonumber(value)
    if number and number == tonumber((said:gsub(",", ""))) then return true end
  end
  return false
end

-- A key that is a word of the language means this one only where the line begins with it, or where
-- it stands in quotes or as a path.
local function is_meant(key, before)
  if before == "" or before == "the " or before == "该" then return true end
  return (key:find("[_%d-]") or before:find("[\"'`/]$")) ~= nil
end

local function other_value(text, key, values)
  local at = 1
  while true do
    local from, to = text:find(key, at, true)
    if not from then return nil end
    at = to + 1
    local longer = text:find("^[%w_]", to + 1) or from > 1 and text:find("^[%w_]", from - 1)
    local meant = not longer and is_meant(key, text:sub(1, from - 1))
    local said = meant and value_at(text, past_glue(text, at))
    if said and not same(said, values) then return said end
  end
end

--- What a line says of a value of the state that is another one there: the key, what it says, and
--- what the state has; nil when nothing is wrong.
---@param text string
---@return string? key, string? said, string? state
function Known:contradicted(text)
  local low = text:lower()
  for _, key in ipairs(self.keys) do
    for _, form in ipairs({ key, (key:gsub("[_-]", " ")) }) do
      local said = low:find(form, 1, true) and other_value(low, form, self.values[key])
      if said then return key, said, table.concat(sorted_keys(self.values[key]), " or ") end
    end
  end
end

return M
