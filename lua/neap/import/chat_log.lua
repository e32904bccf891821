-- Logs of OpenAI chat requests with their responses, a record a line, as sessions: what
-- the importers of other providers do for theirs. next: exchanges.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local exchanges = require("neap.import.exchanges")
local json = core.json

local M = {}

local provider = { name = "openai", list = "messages", said = { choices = true } }
provider.raw = { messages = true, tools = true, message = true }

function provider.items(body)
  local list = body.messages
  return json.kind(list) == "array" and drafts.items(list) or nil
end

function provider.answer(response)
  local choice = json.is_array(response.choices) and response.choices[1]
  local message = drafts.is_object(choice) and choice.message
  return json.kind(message) == "object" and { message } or nil
end

function provider.is_item(value)
  return type(value.role) == "string"
end

-- What a later request repeats of a message.
function provider.canonical(raw)
  local message = json.decode(raw)
  if not drafts.is_object(message) then return raw end
  local same = {}
  for _, key in ipairs({ "role", "content", "tool_calls", "tool_call_id" }) do
    if message[key] ~= json.null then same[key] = message[key] end
  end
  return json.encode(same)
end

local BODY = { messages = true, tools = true }

function provider.session(source, e, aside, index)
  local session = build.session(source, "openai", index)
  local function add(raw, line)
    local message = json.decode(raw)
    local why = build.fault(message)
    if why then return source:bad(line, why) end
    session:add(message, raw, line)
  end
  for i, raw in ipairs(e.items) do
    add(raw, e.lines[i])
  end
  for _, raw in ipairs(e.answer) do
    add(raw, e.line)
  end
  local tools = e.body and e.body.tools
  if json.is_raw(tools) and tools.raw:find("^%[%s*{") then session.tools = tools.raw end
  local meta = { form = "openai" }
  if not source.lean then
    meta.request, meta.earlier = e.body and build.rest(e.body, BODY), e.past
    meta.response = e.response and build.rest(e.response, provider.said)
  end
  if #aside > 0 then meta.aside = aside end
  session.meta = meta
  return session:finish()
end

--- Reads a log.
---@param source neap.Source
---@return neap.Recording[]
function M.read(source)
  return exchanges.read(source, provider)
end

return M
