-- mini-swe-agent: chat messages in which the model writes one bash fence a turn and the next
-- user message is what the command printed. The fence becomes a call `bash`, the observation
-- its result, both with their whole text. The text around the fence stays the message's
-- content; meta.fence says where it stood, so that the original text can be put together
-- again. A turn without exactly one fence is left as it is. next: init.lua
local core = require("neap.core")
local build = require("neap.import.build")
local json = core.json

local M = { name = "mini_swe_agent", about = "mini-swe-agent trajectories (.traj.json)" }

function M.detect(_, head, tail)
  local format = '"trajectory_format"%s*:%s*"mini%-swe%-agent'
  if head:find(format) or tail:find(format) then return 90 end
  return head:find('"mini_version"%s*:') and 70 or 0
end

--- The one fence of a text: offset of its first byte from 0, its opening line, the command and
--- the text without it; nil when there is none or more than one.
---@param text string
---@return {at: integer, open: string, command: string, around: string}?
function M.fence(text)
  local from, to, open, command = text:find("(```bash[ \t\r\f\v\n]*\n)(.-)\n```")
  if not from or text:find("```bash%s*\n.-\n```", to + 1) then return nil end
  return {
    at = from - 1,
    open = open,
    command = command,
    around = text:sub(1, from - 1) .. text:sub(to + 1),
  }
end

--- Puts an assistant message's original text together again.
---@param content string
---@param fence {at: integer, open: string}
---@param command string
---@return string
function M.restore(content, fence, command)
  local before, after = content:sub(1, fence.at), content:sub(fence.at + 1)
  return before .. fence.open .. command .. "\n```" .. after
end

local KNOWN = { role = true, content = true }

-- The message as native, without the fence when it has one; says whether a result is to come.
local function assistant(source, value, serial)
  local meta = not source.lean and build.rest(value, KNOWN) or nil
  local fence = type(value.content) == "string" and M.fence(value.content)
  if not fence then
    source:note("turns without one command")
    return { role = "assistant", content = value.content, meta = meta }
  end
  meta = meta or {}
  meta.fence = { at = fence.at, open = fence.open }
  local id = ("call_%d"):format(serial)
  local command = json.encode({ command = fence.command })
  return {
    role = "assistant",
    content = fence.around,
    tool_calls = json.array({ build.call(id, "bash", command) }),
    meta = meta,
  }, id
end

local function convert(session, source, value, line, state)
  if value.role == "assistant" then
    state.serial = state.serial + 1
    local message
    message, state.open = assistant(source, value, state.serial)
    return session:add(message, nil, line)
  end
  local meta = not source.lean and build.rest(value, KNOWN) or nil
  local message = { role = value.role, content = value.content, meta = meta }
  if value.role == "user" and state.open then
    message.role, message.tool_call_id, message.name = "tool", state.open, "bash"
  end
  state.open = nil
  session:add(message, nil, line)
end

function M.read(source)
  local line_of = source:lines()
  local value = source:document({ messages = true, info = true })
  if type(value) ~= "table" or not json.is_raw(value.messages) then
    source:stop(1, "there is no list of messages in this object")
  end
  local session = build.session(source, M.name)
  session.meta = not source.lean and build.rest(value, { messages = true }) or nil
  local state = { serial = 0 }
  for _, raw in ipairs(json.items(value.messages) or {}) do
    source.counts.records = source.counts.records + 1
    local message = json.decode(raw, { extra = true })
    local line, why = line_of(raw), build.fault(message)
    if why then
      source:bad(line, why)
    else
      convert(session, source, message, line, state)
    end
  end
  return { session:finish() }
end

return M
