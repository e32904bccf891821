-- Anthropic's messages as they are sent and come back: lists of messages, request bodies, logs
-- of requests with their responses. The system text is the first message; parts are read as
-- Claude Code's are. next: gemini.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local exchanges = require("neap.import.exchanges")
local look = require("neap.import.look")
local parts = require("neap.import.claude_parts")
local schemas = require("neap.import.schemas")
local json = core.json

local M = { name = "anthropic", about = "Anthropic messages: lists, request bodies, logs of them" }

local BLOCKS = { "tool_use", "tool_result", "thinking", "redacted_thinking" }
local BODIES = { "", "[].", "request.", "[].request.", "request.body.", "[].request.body." }

-- What only this provider's requests hold.
local function body_marks(paths, at)
  if not paths[at .. "messages[].role"] then return false end
  return look.any(paths, at .. "messages[].content[].type", BLOCKS)
    or paths[at .. "messages[].content[].source"]
    or paths[at .. "messages[].content[].cache_control"]
    or paths[at .. "tools[].input_schema"]
    or paths[at .. "system"]
end

function M.detect(_, head)
  local paths = look.paths(head)
  if paths.uuid or paths.sessionId or paths.parentUuid then return 0 end
  for _, at in ipairs({ "", "[]." }) do
    local blocks = look.any(paths, at .. "content[].type", BLOCKS)
    if paths[at .. "role"] and (blocks or paths[at .. "content[].source"]) then return 62 end
  end
  for _, at in ipairs(BODIES) do
    if body_marks(paths, at) then return 62 end
  end
  return look.any(paths, "response.type", { "message" }) and paths["response.stop_reason"] and 62
    or 0
end

local MESSAGE = { content = true }

--- Adds one message; what is wrong with it, or nil.
---@param source neap.Source
---@param list neap.Draft[]
---@param raw string
---@param line integer
---@return string? fault
function M.add(source, list, raw, line)
  local message = json.decode(raw, MESSAGE)
  if not drafts.is_object(message) then return "a message must be an object" end
  local role = message.role
  if role ~= "user" and role ~= "assistant" and role ~= "system" then
    return "a message needs a role: user or assistant"
  end
  if not json.is_raw(message.content) then return "a message needs its content" end
  local content = json.raw(build.one_line(message.content.raw))
  local draft, results = drafts.new(role, line, message.ts), {}
  local why
  if role == "assistant" then
    why = parts.assistant(source, draft, content)
  else
    why = parts.user(source, draft, results, content)
  end
  if why then return why end
  for _, result in ipairs(results) do
    result.line, result.ts = line, message.ts
    list[#list + 1] = result
  end
  local shown = #results == 0 or #draft.content > 0 or draft.plain or #draft.kept > 0
  if shown then list[#list + 1] = draft end
  local rest = build.rest(message, { role = true, content = true, ts = true })
  drafts.remember(shown and draft or results[1], rest)
end

--- The system text, a string or a list of blocks, as the first message.
function M.add_system(source, list, raw, line)
  if not json.is_raw(raw) or raw.raw == "null" then return end
  local why = M.add(source, list, '{"role":"system","content":' .. raw.raw .. "}", line)
  if why then source:bad(line, "system: " .. why) end
end

local provider = { name = M.name, list = "messages" }
provider.said = { content = true, role = true, type = true }
provider.raw = { messages = true, content = true, tools = true, system = true }

function provider.items(body)
  local list = body.messages
  return json.kind(list) == "array" and drafts.items(list) or nil
end

function provider.answer(response, raw)
  return json.is_raw(response.content) and response.role == "assistant" and { raw } or nil
end

function provider.is_item(value)
  return type(value.role) == "string" and value.stop_reason == nil
end

-- Without the marks of the cache, which move from request to request.
local function unmarked(value)
  if type(value) ~= "table" or json.is_raw(value) then return value end
  local list = json.is_array(value)
  local copy = list and json.array() or {}
  for key, member in pairs(value) do
    if list or key ~= "cache_control" then copy[key] = unmarked(member) end
  end
  return copy
end

function provider.canonical(raw)
  local message = json.decode(raw)
  if not drafts.is_object(message) then return raw end
  local content = message.content
  if type(content) == "string" then content = json.array({ { type = "text", text = content } }) end
  return json.encode({ role = message.role, content = unmarked(content) })
end

local BODY = { messages = true, tools = true, system = true }

function provider.session(source, e, aside, index)
  local list = {}
  M.add_system(source, list, e.body and e.body.system, e.line)
  for i, raw in ipairs(e.items) do
    local why = M.add(source, list, raw, e.lines[i])
    if why then source:bad(e.lines[i], why) end
  end
  for _, raw in ipairs(e.answer) do
    local why = M.add(source, list, raw, e.line)
    if why then source:bad(e.line, why) end
  end
  local tools, kept = schemas.convert(source, e.body and e.body.tools)
  local meta = { request = e.body and build.rest(e.body, BODY), tools = kept }
  meta.earlier = e.past
  if e.response and #e.answer == 0 then meta.response = json.raw(e.response_raw) end
  local g = { form = M.name, index = index, drafts = list, aside = aside, tools = tools }
  g.meta = meta
  return drafts.session(source, g)
end

function M.read(source)
  return exchanges.read(source, provider)
end

return M
