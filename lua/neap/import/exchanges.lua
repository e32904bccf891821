-- Logs of a provider's own requests and responses: a list of messages, one request's body, or
-- many requests with their responses, as one JSON document or a record a line. A request that
-- begins with all that an earlier one sent goes on with its session; the last one, with its
-- response, is the session. Others are sessions of their own. next: responses.lua,
-- anthropic.lua, gemini.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local json = core.json

local M = {}

-- Sessions that a log may have under way at the same time; a request looks no further back.
local OPEN = 64

---@class neap.Provider
---@field name string
---@field raw table<string, boolean>  members of a body and a response that stay raw
---@field list string                 the body's member that holds what is sent
---@field items fun(body: table): any[]?             the raw items a body sends
---@field answer fun(response: table, raw: any): any[]?  the raw items of a response
---@field said table<string, boolean> members of a response that become messages
---@field is_item fun(value: table): boolean
---@field canonical fun(raw: any): string          by which items are the same
---@field session fun(source: neap.Source, e: neap.Exchange, aside: table, index: integer)

---@class neap.Exchange
---@field line integer
---@field body table?       the request's body
---@field items any[]       what it sends, raw
---@field lines integer[]
---@field answer any[]      what came back, raw
---@field response table?
---@field response_raw userdata?
---@field same string[]?    canonical texts of the items that were asked for
---@field past table?       what earlier responses of the session say besides

-- A body may stand in its request as an object or as the text of one.
local function unwrap(raw)
  local outer = drafts.object(raw, { body = true })
  if not outer or not outer.body then return raw end
  if drafts.is_text(outer.body) then
    local text = json.decode(outer.body)
    local value = json.decode(text)
    return value ~= nil and json.raw(text) or raw
  end
  return json.kind(outer.body) == "object" and outer.body or raw
end

local function read_response(provider, e, raw)
  e.response = drafts.object(raw, provider.raw)
  if not e.response then return end
  e.response_raw = raw
  e.answer = provider.answer(e.response, raw) or {}
end

-- A request and its response, a body, or a response alone; nil when it is none of them.
local function read_exchange(provider, value, raw, line)
  local e = { line = line, items = {}, lines = {}, answer = {} }
  local request = value.request and unwrap(value.request)
  if request then
    e.body = drafts.object(request, provider.raw)
    if value.response then read_response(provider, e, unwrap(value.response)) end
  elseif value[provider.list] ~= nil then
    e.body = drafts.object(raw, provider.raw)
  else
    read_response(provider, e, raw)
    return #e.answer > 0 and e or nil
  end
  e.items = e.body and provider.items(e.body)
  return e.items and e or nil
end

-- What an item says, however it is written.
local function canonical(provider, e, i)
  e.same = e.same or {}
  if not e.same[i] and e.items[i] then e.same[i] = provider.canonical(e.items[i]) end
  return e.same[i]
end

local function goes_on(provider, earlier, e)
  if #earlier.items == 0 or #earlier.items > #e.items then return false end
  for i, raw in ipairs(earlier.items) do
    local same = raw == e.items[i] or canonical(provider, earlier, i) == canonical(provider, e, i)
    if not same then return false end
  end
  return true
end

-- True when the request repeats what came back before; other responses are not lost.
local function repeats(provider, earlier, e)
  for i, raw in ipairs(earlier.answer) do
    local repeated = canonical(provider, e, #earlier.items + i)
    if provider.canonical(raw) ~= repeated then return false end
  end
  return true
end

-- A request that only names the response before it is sent what that one knew.
local function chain(earlier, e)
  local items, lines = earlier.items, earlier.lines
  for _, list in ipairs({ { earlier.answer, earlier.lines }, { e.items, e.lines } }) do
    for i, raw in ipairs(list[1]) do
      items[#items + 1] = raw
      lines[#items] = list[1] == e.items and list[2][i] or earlier.line
    end
  end
  e.items, e.lines = items, lines
  if earlier.body and not e.body.tools then e.body.tools = earlier.body.tools end
end

-- What earlier responses say besides (their usage) stays with the session.
local function remember(source, provider, earlier, e)
  if source.lean then return end
  e.past = earlier.past or json.array()
  if earlier.response then e.past[#e.past + 1] = build.rest(earlier.response, provider.said) end
end

local function keep_response(source, state, e)
  if not e.response_raw then return end
  source:aside(state.aside, "response that no request repeats", e.line, e.response_raw)
end

-- Puts an exchange to the session it goes on with, or begins one.
local function place(source, provider, state, e)
  local open = state.sessions
  for i = #open, math.max(1, #open - OPEN + 1), -1 do
    local earlier = open[i]
    local id = e.body and e.body.previous_response_id
    if id and earlier.response and earlier.response.id == id then
      chain(earlier, e)
    elseif not goes_on(provider, earlier, e) then
      goto next
    elseif not repeats(provider, earlier, e) then
      keep_response(source, state, earlier)
    end
    source.counts.merged = source.counts.merged + 1
    remember(source, provider, earlier, e)
    open[i] = e
    do return end
    ::next::
  end
  open[#open + 1] = e
end

local function lines_of(e, line_of)
  for i, raw in ipairs(e.items) do
    e.lines[i] = line_of and line_of(raw) or e.line
  end
end

local MEMBERS = { ["*"] = true, request = true, response = true }

-- One record: an exchange, a response to the one before, or an item of a bare list.
local function take(source, provider, state, raw, line, line_of)
  local value = json.decode(raw, MEMBERS)
  if not drafts.is_object(value) then return source:bad(line, "a record must be an object") end
  if provider.is_item(value) then
    local e = state.bare or { line = line, items = {}, lines = {}, answer = {} }
    if not state.bare then state.sessions[#state.sessions + 1] = e end
    state.bare, e.same = e, nil
    e.items[#e.items + 1], e.lines[#e.items + 1] = raw, line
    return
  end
  local e = read_exchange(provider, value, raw, line)
  if not e then
    return source:bad(line, "neither a message, a request nor a response of this provider")
  end
  local last = state.sessions[#state.sessions]
  if not e.body and last and #last.answer == 0 then
    last.answer, last.response, last.response_raw = e.answer, e.response, e.response_raw
    source.counts.merged = source.counts.merged + 1
    return
  end
  state.bare = nil
  lines_of(e, line_of)
  place(source, provider, state, e)
end

local SHALLOW = { ["*"] = true }

-- Is the text one JSON value? One that breaks off is a document unless more records begin on
-- later lines.
local function is_document(text)
  local value, after = json.decode_at(text, 1, SHALLOW)
  if value ~= nil then return not text:find("%S", after) end
  return not text:find("^%s*{[^\n]*\n%s*{") or text:find("^%s*%[") ~= nil
end

local function read_document(source, provider, state)
  local line_of = source:lines()
  source:document(SHALLOW)
  local whole = json.raw(source.text)
  if json.kind(whole) ~= "array" then
    source.counts.records = 1
    return take(source, provider, state, whole, line_of("{"), line_of)
  end
  local items = json.items(whole)
  for _, raw in ipairs(items) do
    source.counts.records = source.counts.records + 1
    take(source, provider, state, raw, line_of(raw))
  end
end

--- Reads a recording of `provider`.
---@param source neap.Source
---@param provider neap.Provider
---@return neap.Recording[]
function M.read(source, provider)
  local state = { sessions = {}, aside = json.array() }
  if is_document(source.text) then
    read_document(source, provider, state)
  else
    source:records(MEMBERS, function(_, raw, line)
      take(source, provider, state, raw, line)
    end)
  end
  local list = {}
  for _, e in ipairs(state.sessions) do
    if e.past and #e.past == 0 then e.past = nil end
    local session = provider.session(source, e, state.aside, #list + 1)
    if #session.messages > 0 then list[#list + 1] = session end
    state.aside = json.array()
  end
  return list
end

return M
