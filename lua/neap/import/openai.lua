-- Chat messages as one JSON document: a list of messages; a request body, alone or logged with
-- its response (OpenHands); a list of runs with their `traj` (tau-bench). Messages are kept as
-- the bytes they came in, but for arguments that were logged as objects. next: claude_code.lua
local core = require("neap.core")
local build = require("neap.import.build")
local chat = require("neap.import.chat_log")
local json = core.json

local M = { name = "openai", about = "chat messages: a list, a request body, logs of them" }

function M.detect(_, head)
  local first = head:match("^%s*([%[{])")
  if not first then return 0 end
  local known = head:find('"role"%s*:') or head:find('"messages"%s*:') or head:find('"traj"%s*:')
  if not known then return 0 end
  return first == "[" and 50 or 40
end

-- Some logs hold arguments as an object; chat messages hold the text of one.
local function text_arguments(source, value)
  local changed = false
  for _, call in ipairs(json.is_array(value.tool_calls) and value.tool_calls or {}) do
    local f = type(call) == "table" and call["function"]
    if type(f) == "table" and json.is_raw(f.arguments) then
      local raw = f.arguments.raw
      f.arguments = raw:sub(1, 1) == '"' and json.decode(raw) or raw
      changed = changed or raw:sub(1, 1) ~= '"'
    end
  end
  if changed then source:note("arguments that were objects") end
  return changed
end

local function add_message(session, source, raw, line)
  local value = json.decode(raw, { arguments = true })
  if type(value) ~= "table" then return source:bad(line, "a message must be an object") end
  local changed = text_arguments(source, value)
  local why = build.fault(value)
  if why then return source:bad(line, why) end
  session:add(value, not changed and raw or nil, line)
end

local function add_list(session, source, raw, line_of)
  local items = json.items(raw)
  if not items then source:stop(line_of(raw), "messages must be a list") end
  for _, item in ipairs(items) do
    source.counts.records = source.counts.records + 1
    add_message(session, source, item, line_of(item))
  end
end

local RAW = { messages = true, traj = true, tools = true, response = true }
local KNOWN = { messages = true, traj = true, tools = true }

-- The answer that a log keeps beside its request.
local function add_response(session, source, response, line_of)
  local body = json.decode(response, { message = true })
  local choice = type(body) == "table" and json.is_array(body.choices) and body.choices[1]
  if type(choice) ~= "table" or not json.is_raw(choice.message) then return end
  add_message(session, source, choice.message, line_of(choice.message))
  source:note("responses appended to their request")
end

local function tools_of(value)
  local tools = value.tools
  if json.is_raw(tools) and tools.raw:find("^%[%s*[^%s%]]") then return tools.raw end
  local kwargs = json.is_raw(tools) and nil or value.kwargs
  local inner = type(kwargs) == "table" and kwargs.tools
  if json.kind(inner) == "array" then return inner.raw end
end

-- One object that holds a list of messages.
local function read_object(source, value, index, line_of)
  local session = build.session(source, M.name, index)
  local list = value.messages or value.traj
  if not json.is_raw(list) then source:stop(1, "there is no list of messages in this object") end
  session.tools = tools_of(value)
  session.meta = build.rest(value, KNOWN)
  add_list(session, source, list, line_of)
  if json.is_raw(value.response) then add_response(session, source, value.response, line_of) end
  return session:finish()
end

local function read_list(source, line_of)
  local whole = json.raw(source.text)
  local items = json.items(whole)
  local first = items[1] and json.decode(items[1], RAW)
  if type(first) ~= "table" then source:stop(1, "the list holds no messages") end
  if first.role ~= nil then
    local session = build.session(source, M.name)
    add_list(session, source, whole, line_of)
    return { session:finish() }
  end
  local sessions = {}
  for i, item in ipairs(items) do
    local value = json.decode(item, RAW)
    if type(value) ~= "table" then source:stop(line_of(item), "a run must be an object") end
    sessions[i] = read_object(source, value, i, line_of)
  end
  return sessions
end

-- A log: a request with its response, or a request's body, on each line.
local function is_log(text)
  local value, after = json.decode_at(text, 1, { ["*"] = true })
  if type(value) ~= "table" or not (value.request or value.messages) then return false end
  return text:find("%S", after) ~= nil
end

function M.read(source)
  if is_log(source.text) then return chat.read(source) end
  local line_of = source:lines()
  if source.text:find("^%s*%[") then
    source:document({ messages = true, traj = true, content = true })
    return read_list(source, line_of)
  end
  local value = source:document(RAW)
  if type(value) ~= "table" then source:stop(1, "a list or an object of messages is expected") end
  return { read_object(source, value, 1, line_of) }
end

return M
