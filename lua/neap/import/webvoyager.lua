-- WebVoyager's interact_messages: chat messages in which the model ends its text with one
-- line "Action: Click [4]" and the next user message is what the browser shows. The
-- action becomes a call, named by its first word; the observation, pictures included, its
-- result. meta.fence says where the line stood (M.restore). next: crosswoz.lua
local core = require("neap.core")
local build = require("neap.import.build")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "webvoyager", about = "WebVoyager interact_messages.json" }

function M.detect(_, head)
  if not head:find("^%s*%[%s*{") then return 0 end
  return head:find('"Imagine you are a robot browsing the web', 1, true) and 85 or 0
end

--- The one action of a text: where its line stands, from 0, what opens it, the action and
--- the text without it; nil when there is none or more than one.
---@param text string
---@return {at: integer, open: string, action: string, name: string, around: string}?
function M.action(text)
  local line = "\n" .. text
  local from, to, open, action = line:find("(\nAction:[ \t]*)(%a[^\n]*)")
  if not from or line:find("\nAction:", to + 1, true) then return nil end
  local at = math.max(from - 2, 0)
  if from == 1 then open = open:sub(2) end
  return {
    at = at,
    open = open,
    action = action,
    name = action:match("^%a+"),
    around = text:sub(1, at) .. text:sub(to),
  }
end

--- Puts a message's original text together again.
---@param content string
---@param fence {at: integer, open: string}
---@param action string
---@return string
function M.restore(content, fence, action)
  return content:sub(1, fence.at) .. fence.open .. action .. content:sub(fence.at + 1)
end

local KNOWN = { role = true, content = true }
local ROLES = { system = true, user = true, assistant = true }

local function assistant(state, message)
  local text = steps.plain(message.content)
  local found = text and M.action(text)
  if not found then return state.source:note("turns without one action") end
  local id = state.serial()
  local arguments = json.encode({ action = found.action })
  message.content = found.around
  message.tool_calls = json.array({ build.call(id, found.name, arguments) })
  if not state.source.lean then
    message.meta = message.meta or {}
    message.meta.fence = { at = found.at, open = found.open }
  end
  return id, found.name
end

local function read_message(state, value, line)
  if not ROLES[value.role] then
    return "a message needs a role: system, user or assistant"
  end
  local content, why = steps.content(value.content)
  if not content then
    return why or "content is missing: a string or parts are expected"
  end
  local meta = steps.rest(state.source, value, KNOWN)
  local message = { role = value.role, content = content, meta = meta }
  if value.role == "assistant" then
    state.open, state.name = assistant(state, message)
  else
    if value.role == "user" and state.open then
      message.role, message.tool_call_id, message.name = "tool", state.open, state.name
    end
    state.open = nil
  end
  state.session:add(message, nil, line)
end

function M.read(source)
  source:document({ content = true })
  local state = { source = source, session = build.session(source, M.name) }
  state.serial = steps.serial()
  local list = json.raw(source.text)
  local function each(value, _, line)
    return read_message(state, value, line)
  end
  steps.each(source, list, "the file", { content = true }, source:lines(), each)
  steps.header(source, state.session)
  return { state.session:finish() }
end

return M
