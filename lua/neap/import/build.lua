-- What importers share: messages in the native form, sessions, schemas for tools that only the
-- history names. next: native.lua
local core = require("neap.core")
local moment = require("neap.import.moment")

local M = {}
local json = core.json

M.ORDER = {
  "kind",
  "role",
  "name",
  "content",
  "reasoning",
  "tool_calls",
  "tool_call_id",
  "is_error",
  "ts",
  "meta",
  "id",
  "type",
  "function",
  "arguments",
  "text",
}

-- The first line of the native form begins with what it is known by.
M.HEAD_ORDER = { "neap", "tools", "meta", "type", "function", "name", "description" }

---@param value any
---@return string
function M.encode(value)
  return json.encode(value, M.ORDER)
end

--- JSON on one line: line breaks can only stand between its tokens, so they and the white space
--- around them go.
---@param text string
---@return string
function M.one_line(text)
  if not text:find("\n", 1, true) and not text:find("\r", 1, true) then return text end
  return (text:gsub("[ \t]*[\r\n]%s*", ""))
end

--- True for an absent member and for null.
function M.absent(value)
  return value == nil or value == json.null
end

--- The text of a raw JSON string, or nil when it is none.
---@param raw any
---@return string?
function M.string(raw)
  if type(raw) == "string" then return raw end
  if json.kind(raw) == "string" then return (json.decode(raw)) end
end

--- One call, as a chat message holds it; `arguments` is the text the model wrote.
function M.call(id, name, arguments)
  return { id = id, type = "function", ["function"] = { name = name, arguments = arguments } }
end

--- A data URL for an image or file that came as base64.
---@param media_type any
---@param data any
---@return string
function M.data_url(media_type, data)
  local kind = M.string(media_type) or "application/octet-stream"
  return ("data:%s;base64,%s"):format(kind, M.string(data) or "")
end

--- Members of `value` whose names are not in `known`, or nil when there are none.
---@param value table
---@param known table<string, boolean>
---@return table?
function M.rest(value, known)
  local rest, any = {}, false
  for key, member in pairs(value) do
    if not known[key] then
      rest[key], any = member, true
    end
  end
  return any and rest or nil
end

--- The value itself without its members in `known`, or nil when nothing is left: for one that is
--- not needed any more.
---@param value table
---@param known string[]
---@return table?
function M.strip(value, known)
  for _, key in ipairs(known) do
    value[key] = nil
  end
  return next(value) ~= nil and value or nil
end

local ROLES = { system = 1, developer = 1, user = 1, assistant = 1, tool = 1, ["function"] = 1 }

local function check_calls(calls)
  if M.absent(calls) then return end
  if not json.is_array(calls) then return "tool_calls must be a list" end
  for _, call in ipairs(calls) do
    local f = type(call) == "table" and call["function"]
    if type(f) ~= "table" or type(f.name) ~= "string" then
      return "a call needs its function's name"
    end
    if type(call.id) ~= "string" then return "a call needs an id" end
    if f.arguments ~= nil and type(f.arguments) ~= "string" then
      return "a call's arguments must be a string that holds JSON"
    end
  end
end

local function check_parts(content)
  for _, part in ipairs(content) do
    local kind = type(part) == "table" and part.type
    if type(kind) ~= "string" then return "an item of content needs a type" end
    if kind == "tool_use" or kind == "tool_result" then
      return ("a part of type %s belongs to another form than chat messages"):format(kind)
    end
  end
end

local KINDS = { state = true, memory = true, evidence = true, notice = true }

--- Is a decoded message a block: state, memory, evidence or a notice, and no provider's message?
---@param m table
---@return boolean
function M.is_block(m)
  return m.kind ~= nil and m.role == nil and m.type == nil
end

local function block_fault(m)
  if type(m.kind) ~= "string" or not KINDS[m.kind] then
    return "a block is of kind state, memory, evidence or notice"
  end
  if type(m.content) ~= "string" or m.content == "" then
    return "a block needs its content: a string that is not empty"
  end
end

--- Why a decoded chat message or block is none, or nil.
---@param m any
---@return string?
function M.fault(m)
  if type(m) ~= "table" or json.is_array(m) or json.is_raw(m) then
    return "a message must be an object"
  end
  if M.is_block(m) then return block_fault(m) end
  if type(m.role) ~= "string" or not ROLES[m.role] then
    return "a message needs a role: system, user, assistant or tool"
  end
  local content = m.content
  if json.is_array(content) then
    local why = check_parts(content)
    if why then return why end
  elseif M.absent(content) then
    if m.role ~= "assistant" and m.role ~= "tool" and m.role ~= "function" then
      return "content is missing: a string or a list of parts is expected"
    end
  elseif type(content) ~= "string" then
    return "content must be a string or a list of parts"
  end
  if m.role == "tool" and type(m.tool_call_id) ~= "string" then
    return "a tool message needs its tool_call_id"
  end
  return check_calls(m.tool_calls)
end

---@class neap.Recording
---@field name string
---@field format string
---@field path string
---@field tools string?     JSON list of schemas
---@field tools_inferred boolean
---@field messages string[] JSON, one chat message each
---@field lines integer[]   where in the file each message begins
---@field roles string[]    of a block its kind
---@field times table<integer, integer> when, in milliseconds since 1970, where it is told
---@field meta table?       what has no place in a message
---@field counts table
---@field names string[]    tools named in the history, in order
---@field named table<string, boolean>
---@field open table<string, integer> calls without a result, by id
local Recording = {}
Recording.__index = Recording

--- A new, empty session of a recording; `index` counts the sessions of one file.
---@param source neap.Source
---@param format string
---@param index integer?
---@return neap.Recording
function M.session(source, format, index)
  return setmetatable({
    name = index and index > 1 and ("%s#%d"):format(source.name, index) or source.name,
    format = format,
    path = source.path,
    messages = {},
    lines = {},
    roles = {},
    times = {},
    counts = source.counts,
    names = {},
    named = {},
    open = {},
    source = source,
  }, Recording)
end

local function see_name(self, name)
  if name and not self.named[name] then
    self.named[name] = true
    self.names[#self.names + 1] = name
  end
end

local function see_calls(self, message)
  for _, call in ipairs(M.absent(message.tool_calls) and {} or message.tool_calls) do
    see_name(self, call["function"].name)
    self.open[call.id] = (self.open[call.id] or 0) + 1
  end
  if message.role == "tool" then
    local n = self.open[message.tool_call_id] or 0
    if n == 0 then self.source:note("results without a call") end
    self.open[message.tool_call_id] = math.max(n - 1, 0)
  end
end

--- Appends a message: `value` decoded, for what is learnt from it, `raw` its JSON (a raw value
--- or a string) when that is to be kept as it came.
---@param value table
---@param raw any
---@param line integer
function Recording:add(value, raw, line)
  local n = #self.messages + 1
  if json.is_raw(raw) then raw = raw.raw end
  self.messages[n], self.lines[n] = M.one_line(raw or M.encode(value)), line
  self.roles[n], self.times[n] = value.role or value.kind, moment.millis(value.ts)
  self.counts.messages = self.counts.messages + 1
  see_calls(self, value)
end

--- Schemas for tools that only the history names.
---@param names string[]
---@return string
function M.inferred_tools(names)
  local list = json.array()
  for i, name in ipairs(names) do
    list[i] = {
      type = "function",
      ["function"] = {
        name = name,
        description = "inferred from the recording, which holds no schema",
        parameters = { type = "object", properties = {} },
      },
    }
  end
  return M.encode(list)
end

--- Closes a session: counts what stayed open, infers schemas.
---@return neap.Recording
function Recording:finish()
  for _, n in pairs(self.open) do
    if n > 0 then self.source:note("calls without a result", n) end
  end
  self.tools_inferred = self.tools == nil and #self.names > 0
  if self.tools_inferred then self.tools = M.inferred_tools(self.names) end
  self.open, self.named, self.source = nil, nil, nil
  return self
end

return M
