-- Reads a prompt as a model does: the state that stands in it, which is the last whole one and the
-- changes behind it, and nothing else. By a way of its own: numbers stay the text they are.
-- next: ../spec/state_changes_spec.lua
local json = require("neap.core").json

local M = {}

-- ---- JSON whose numbers and words stay texts: strings are { text = … }, lists { list = … } ----

local value

local function skip(s, at)
  return s:match("^[ \t\r\n]*()", at)
end

local function quoted(s, at)
  local stop = at + 1
  while s:sub(stop, stop) ~= '"' do
    stop = stop + (s:sub(stop, stop) == "\\" and 2 or 1)
    assert(stop <= #s, "a string does not end")
  end
  return json.decode(s:sub(at, stop)), stop + 1
end

local function parts(s, at, close, one)
  at = skip(s, at + 1)
  while s:sub(at, at) ~= close do
    at = skip(s, one(at))
    if s:sub(at, at) == "," then at = skip(s, at + 1) end
  end
  return at + 1
end

function value(s, at)
  at = skip(s, at)
  local c = s:sub(at, at)
  if c == '"' then
    local text, stop = quoted(s, at)
    return { text = text }, stop
  end
  if c == "[" then
    local list = {}
    return { list = list }, parts(s, at, "]", function(i)
      local v, stop = value(s, i)
      list[#list + 1] = v
      return stop
    end)
  end
  if c == "{" then
    local object = {}
    return { object = object }, parts(s, at, "}", function(i)
      local key, stop = quoted(s, i)
      stop = assert(s:match("^%s*:()", stop))
      object[key], stop = value(s, stop)
      return stop
    end)
  end
  local word, stop = s:match("^([%w%.%+%-]+)()", at)
  return { word = assert(word, "no JSON at " .. s:sub(at, at + 20)) }, stop
end

--- One text for equal values: members in the order of their keys.
function M.canonical(v)
  if v.word then return v.word end
  if v.text then return json.encode(v.text) end
  local out = {}
  for i, item in ipairs(v.list or {}) do
    out[i] = M.canonical(item)
  end
  if v.list then return "[" .. table.concat(out, ",") .. "]" end
  for key, item in pairs(v.object) do
    out[#out + 1] = json.encode(key) .. ":" .. M.canonical(item)
  end
  table.sort(out)
  return "{" .. table.concat(out, ",") .. "}"
end

function M.read(text)
  return (value(text, 1))
end

-- ---- operations ----

local function parent_of(root, path)
  local node, keys = root, {}
  for key in path:gmatch("/([^/]*)") do
    keys[#keys + 1] = (key:gsub("~1", "/"):gsub("~0", "~"))
  end
  for i = 1, #keys - 1 do
    node = node.object and node.object[keys[i]] or node.list[tonumber(keys[i]) + 1]
    assert(node, "there is no " .. path)
  end
  return node, keys[#keys]
end

local function apply(root, op, path, new)
  local node, key = parent_of(root, path)
  if node.object then
    assert((node.object[key] == nil) == (op == "add"), op .. " " .. path)
    node.object[key] = new
    return
  end
  local i = tonumber(key) + 1
  assert(i <= #node.list + (op == "add" and 1 or 0), op .. " " .. path)
  if op == "add" then table.insert(node.list, i, new)
  elseif op == "remove" then table.remove(node.list, i)
  else node.list[i] = new end
end

-- One line; where the next one begins.
local function operation(root, s, at)
  local op, from = s:match("^\n(%l+) ()", at)
  if op ~= "add" and op ~= "replace" and op ~= "remove" then return nil end
  local path, stop
  if s:sub(from, from) == '"' then path, stop = quoted(s, from)
  else path, stop = s:match("^(/%S*)()", from) end
  local new
  if op ~= "remove" then new, stop = value(s, stop) end
  apply(root, op, path, new)
  return assert(s:match("^[^\n]*()", stop))
end

-- ---- prompts ----

local function texts(v, out)
  if type(v) == "string" then
    out[#out + 1] = v
  elseif json.is_array(v) then
    for _, item in ipairs(v) do
      texts(item, out)
    end
  elseif type(v) == "table" then
    local keys = {}
    for key in pairs(v) do
      keys[#keys + 1] = key
    end
    table.sort(keys)
    for _, key in ipairs(keys) do
      texts(v[key], out)
    end
  end
  return out
end

local function blocks(body, format)
  if format ~= "text" then return texts(json.decode(body), {}) end
  local out, at = {}, 1
  while true do
    local _, stop = body:find("[state]\n", at, true)
    if not stop then return out end
    out[#out + 1] = body:sub(stop + 1)
    at = stop + 1
  end
end

-- The version that a change makes, and where its operations begin.
local function title(s)
  local version, at = s:match("^State changed to version (%d+) %(by %l+, step %d+()")
  if not version then return nil end
  at = s:match("^, from entry %d+()", at) or at
  if s:sub(at, at + 1) == ": " then
    local _, stop = quoted(s, at + 2)
    at = stop
  end
  assert(s:sub(at, at) == ")", "a title that does not end: " .. s)
  return math.tointeger(version), at + 1
end

--- The state of a prompt's body, canonical; how many of its changes stand in it, and wholes.
---@return string? state, integer changes, integer wholes, integer? version
function M.of_prompt(body, format)
  local state, changes, wholes, version = nil, 0, 0, nil
  for _, text in ipairs(blocks(body, format)) do
    local whole = text:match("^State:\n()")
    local to, at = title(text)
    if whole then
      state, wholes = value(text, whole), wholes + 1
    elseif to then
      changes, version = changes + 1, to
      while at do
        at = operation(state, text, at)
      end
    end
  end
  return state and M.canonical(state), changes, wholes, version
end

return M
