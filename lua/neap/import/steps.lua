-- What the importers of logs share: lists of records with their lines, members that are
-- passed on as the bytes they came in, calls in the forms they are logged in. next:
-- swe_agent.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local json = core.json

local M = {}

M.is_text, M.is_object = drafts.is_text, drafts.is_object

--- A raw member that holds a value, or nil for an absent one and for null.
function M.raw(value)
  local kind = json.kind(value)
  if kind and kind ~= "null" then return value end
end

--- The text of a raw JSON string; nil when decoding would change it (lone surrogates).
---@param value any
---@return string?
function M.plain(value)
  if not M.is_text(value) then return nil end
  local text = json.decode(value)
  local halves = value.raw:find("\\u[dD][89a-fA-F]")
  if halves and text:find("\xEF\xBF\xBD", 1, true) then return nil end
  return text
end

--- Calls `each(value, raw, line)` for every object of a raw list. A fault it returns, or
--- an item that is none, is a bad record.
---@param source neap.Source
---@param list any       raw
---@param what string    as messages name the list
---@param keys table?    members that stay raw
---@param line_of fun(raw: string): integer
---@param each fun(value: table, raw: userdata, line: integer): string?
function M.each(source, list, what, keys, line_of, each)
  local items = json.is_raw(list) and json.items(list)
  if not items then
    source:stop(1, what .. " must be a list; check that the recording is whole")
  end
  for _, raw in ipairs(items) do
    source.counts.records = source.counts.records + 1
    local line, value = line_of(raw), json.decode(raw, keys)
    local why = what .. " must hold objects"
    if M.is_object(value) then why = each(value, raw, line) end
    if why then source:bad(line, why) end
  end
end

--- A cursor for the lines of a slice that begins on `line`.
---@param source neap.Source
---@param raw string
---@param line integer
---@return fun(raw: string): integer
function M.lines_in(source, raw, line)
  local inner = source.lines({ text = raw })
  return function(slice)
    return line + inner(slice) - 1
  end
end

--- The document as one object; stops when it is none.
---@param source neap.Source
---@param keys table?
---@return table
function M.document(source, keys)
  local value = source:document(keys)
  if not M.is_object(value) then
    source:stop(1, "an object is expected; check that the recording is whole")
  end
  return value
end

--- What a record says besides, for the message's meta; nothing when lean. Nulls say
--- nothing.
---@param source neap.Source
---@param value table
---@param known table<string, boolean>
---@return table?
function M.rest(source, value, known)
  if source.lean then return nil end
  local rest = build.rest(value, known) or {}
  for key, member in pairs(rest) do
    if member == json.null or json.kind(member) == "null" then rest[key] = nil end
  end
  return next(rest) and rest or nil
end

-- Only a part's type is looked at.
local PART = { ["*"] = true, text = true }

local function part_fault(part)
  if type(part) ~= "table" or type(part.type) ~= "string" then
    return "an item of content needs a type"
  end
  if part.type == "tool_use" or part.type == "tool_result" then
    return ("a part of type %s belongs to another form"):format(part.type)
  end
end

--- Content as it came: a string or a list of parts; nil when there is none.
---@param value any raw
---@return table? content, string? fault
function M.content(value)
  if build.absent(value) or json.kind(value) == "null" then return nil end
  if M.is_text(value) then return value end
  local items = json.is_raw(value) and json.items(value)
  if not items then return nil, "content must be a string or a list of parts" end
  for _, raw in ipairs(items) do
    local why = part_fault(json.decode(raw, PART))
    if why then return nil, why end
  end
  return value
end

--- Arguments: the string that was logged, or the bytes of the object.
---@param value any raw
---@return string|table
function M.arguments(value)
  value = M.raw(value)
  if not value then return "{}" end
  return M.is_text(value) and value or value.raw
end

--- Logged calls as those of a chat message; decoded with `arguments` raw. Calls without
--- an id get the next of `serial`, a function.
---@param calls any
---@param serial fun(): string
---@return table? list, string? fault
function M.calls(calls, serial)
  if build.absent(calls) then return nil end
  if not json.is_array(calls) then return nil, "tool_calls must be a list" end
  local list = json.array()
  for i, call in ipairs(calls) do
    local f = type(call) == "table" and (call["function"] or call)
    if not M.is_object(f) or type(f.name) ~= "string" then
      return nil, "a call needs its function's name"
    end
    local id = call.id
    if build.absent(id) then id = serial() end
    if type(id) ~= "string" then return nil, "a call's id must be text" end
    list[i] = build.call(id, f.name, M.arguments(f.arguments))
  end
  return #list > 0 and list or nil
end

--- Ids for calls that have none: call_1, call_2, …
---@return fun(): string
function M.serial()
  local n = 0
  return function()
    n = n + 1
    return ("call_%d"):format(n)
  end
end

--- The header's meta: what the document says besides, and the records kept aside.
---@param source neap.Source
---@param session neap.Recording
---@param rest table?
---@param aside table?
function M.header(source, session, rest, aside)
  local meta = rest or {}
  if not source.lean then
    meta.form = session.format
    if aside and #aside > 0 then meta.aside = aside end
  end
  session.meta = next(meta) and meta or nil
end

--- The one session of a document that holds a list of messages, and what else it says for
--- meta. `read(state, message, raw, line)` adds to `state.drafts`; what it added for a message
--- that it finds fault with is taken back.
---@param source neap.Source
---@param form string
---@param state table
---@param keys table?     members of a message that stay raw
---@param read fun(state: table, message: table, raw: userdata, line: integer): string?
---@return neap.Recording[]
function M.conversation(source, form, state, keys, read)
  local line_of = source:lines()
  local value = M.document(source, { messages = true })
  state.aside = json.array()
  M.each(source, value.messages, "messages", keys, line_of, function(message, raw, line)
    local before = #state.drafts
    return drafts.undo(state.drafts, before, read(state, message, raw, line))
  end)
  local g = { form = form, drafts = state.drafts, aside = state.aside }
  g.meta = build.rest(value, { messages = true })
  return { drafts.session(source, g) }
end

return M
