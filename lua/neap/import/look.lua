-- What the beginning of a recording is made of: the paths of its values with the short texts
-- that stand there, `messages[].content[].type` → tool_use. Importers tell their form by it,
-- so that words inside of a text decide nothing. It may end anywhere. next: drafts.lua
local M = {}

-- Deeper values tell nothing about a form; longer texts are no names.
local DEPTH, SHORT = 8, 40

local function string_end(text, at)
  while true do
    at = text:find('["\\]', at)
    if not at then return nil end
    if text:byte(at) == 34 then return at end
    at = at + 2
  end
end

local function note(paths, path, value)
  if not path then return end
  local values = paths[path]
  if not values then
    values = {}
    paths[path] = values
  end
  if value and #value <= SHORT then values[value] = true end
end

-- The path of the next value in a container.
local function path_of(stack)
  local top = stack[#stack]
  if not top then return "" end
  if not top.path or #stack > DEPTH then return nil end
  if not top.object then return top.path .. "[]" end
  return top.path == "" and top.key or top.path .. "." .. top.key
end

-- One token at `at`; the place after it, or nil when nothing more can be read.
local function token(state, text, at)
  local stack, c = state.stack, text:sub(at, at)
  local top = stack[#stack]
  if c == "}" or c == "]" then
    if not top then return nil end
    stack[#stack] = nil
    return at + 1, true
  end
  local stop = c == '"' and string_end(text, at + 1)
  if c == '"' and not stop then return nil end
  if top and top.object and not top.key then
    if c ~= '"' then return nil end
    top.key = text:sub(at + 1, stop - 1)
    return stop + 1
  end
  local path = path_of(stack)
  note(state.paths, path, stop and text:sub(at + 1, stop - 1))
  if c == "{" or c == "[" then
    stack[#stack + 1] = { object = c == "{", path = path }
    return at + 1
  end
  stop = stop or text:match('^[^%s,:%[%]{}"]+()', at)
  return stop and (c == '"' and stop + 1 or stop), true
end

local last_text, last_paths

--- The paths in `text` and the texts found there.
---@param text string
---@return table<string, table<string, boolean>>
function M.paths(text)
  if text == last_text then return last_paths end
  local state = { paths = {}, stack = {} }
  local at = 1
  while at do
    at = text:find("[^%s,:]", at)
    if not at then break end
    local after, closed = token(state, text, at)
    local top = state.stack[#state.stack]
    if closed and top then top.key = nil end
    at = after
  end
  last_text, last_paths = text, state.paths
  return state.paths
end

--- Is one of `values` found at `path`?
---@param paths table<string, table<string, boolean>>
---@param path string
---@param values string[]
---@return boolean
function M.any(paths, path, values)
  local found = paths[path]
  for _, value in ipairs(found and values or {}) do
    if found[value] then return true end
  end
  return false
end

return M
