-- SWE-agent's .traj files. `history` holds the messages: with tool calls, or with the
-- command in a fence (```…``` or <command>…</command>) that ends the text. Such a command
-- becomes a call `bash`, the next user message its result; meta.fence says where it
-- stood, so that the text can be put together again (M.restore). The steps of
-- `trajectory` repeat the history with times and states: they are kept aside, and are
-- read only when there is no history. next: openhands.lua
local core = require("neap.core")
local build = require("neap.import.build")
local look = require("neap.import.look")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "swe_agent", about = "SWE-agent trajectories (.traj)" }

function M.detect(_, head)
  local seen = look.paths(head)
  if not seen.trajectory then return 0 end
  local step = seen["trajectory[].action"] or seen["trajectory[].observation"]
  return (step or seen["history[].role"] or seen.environment) and 90 or 0
end

local FENCES = { { "```%w*\n$", "^\n?```" }, { "<command>%s*$", "^%s*</command>" } }

--- The command in a text: offset of its fence from 0, what opens and closes it, and the
--- text without it; nil when it stands in no fence.
---@param text string
---@param thought string what precedes it, when that is known
---@param command string
---@return {at: integer, open: string, close: string, around: string}?
function M.fence(text, thought, command)
  if not command:find("%S") then return nil end
  local start = text:sub(1, #thought) == thought and #thought + 1 or 1
  local from, to = text:find(command, start, true)
  if not from then return nil end
  -- Fences are short: what opens one stands within this many bytes.
  local near = math.max(1, from - 64)
  local before = text:sub(near, from - 1)
  for _, fence in ipairs(FENCES) do
    local open = before:find(fence[1])
    if open then
      local _, stop = text:find(fence[2], to + 1)
      local at = near + open - 2
      local close = text:sub(to + 1, stop or to)
      local around = text:sub(1, at) .. text:sub(to + 1 + #close)
      local opened = text:sub(at + 1, from - 1)
      return { at = at, open = opened, close = close, around = around }
    end
  end
end

--- Puts a message's original text together again.
---@param content string
---@param fence {at: integer, open: string, close: string}
---@param command string
---@return string
function M.restore(content, fence, command)
  local before, after = content:sub(1, fence.at), content:sub(fence.at + 1)
  return before .. fence.open .. command .. fence.close .. after
end

local RAW = {
  content = true,
  arguments = true,
  state = true,
  thought = true,
  action = true,
}
local KNOWN = { role = true, content = true, tool_calls = true, tool_call_ids = true }
local ROLES = { system = true, user = true, assistant = true, tool = true }

-- A message whose command stands in its text.
local function with_command(state, message, content, thought, action)
  local text, command = steps.plain(content), steps.plain(action)
  local fence = text and command and M.fence(text, steps.plain(thought) or "", command)
  if not fence then
    if text then state.source:note("turns without one command") end
    return
  end
  local id = state.serial()
  message.content = fence.around
  message.tool_calls =
    json.array({ build.call(id, "bash", json.encode({ command = command })) })
  if not state.source.lean then
    message.meta = message.meta or {}
    message.meta.fence = { at = fence.at, open = fence.open, close = fence.close }
  end
  state.open = id
end

local function assistant(state, value, message)
  local calls, why = steps.calls(value.tool_calls, state.serial)
  if why then return why end
  message.tool_calls = calls
  for _, call in ipairs(calls or {}) do
    state.names[call.id] = call["function"].name
  end
  local content = message.content or json.null
  message.content = content
  if not calls then with_command(state, message, content, value.thought, value.action) end
end

-- An observation names the calls it answers; the first is its own.
local function result(state, value, message)
  local ids = value.tool_call_ids
  local id = json.is_array(ids) and ids[1] or value.tool_call_id
  if type(id) ~= "string" then return "a tool message needs its tool_call_ids" end
  local several = json.is_array(ids) and #ids > 1
  if several then state.source:note("results of several calls") end
  message.tool_call_id, message.name = id, state.names[id]
  message.content = message.content or ""
end

local function read_message(state, value, line)
  local role = value.role
  if not ROLES[role] then
    return "a message needs a role: system, user, assistant or tool"
  end
  local content, why = steps.content(value.content)
  if why then return why end
  local meta = steps.rest(state.source, value, KNOWN)
  local message = { role = role, content = content, meta = meta }
  local open = state.open
  state.open = nil
  if role == "assistant" then
    why = assistant(state, value, message)
  elseif role == "tool" then
    why = result(state, value, message)
  elseif not content then
    return "content is missing: a string or a list of parts is expected"
  elseif role == "user" and open and value.is_demo ~= true then
    message.role, message.tool_call_id, message.name = "tool", open, "bash"
  end
  if why then return why end
  state.session:add(message, nil, line)
end

-- A step where there is no history: what the model answered, and what came of it.
local function read_step(state, value, line)
  local said = steps.raw(value.response) or steps.raw(value.thought)
  if not steps.is_text(said) then return "a step needs its response" end
  local rest = { response = true, observation = true, thought = true, action = true }
  local message = { role = "assistant", content = said }
  message.meta = steps.rest(state.source, value, rest)
  state.open = nil
  with_command(state, message, said, value.thought, value.action)
  state.session:add(message, nil, line)
  local seen = steps.is_text(value.observation) and value.observation
  if not seen then return end
  if state.open then
    message = { role = "tool", tool_call_id = state.open, name = "bash", content = seen }
  else
    message = { role = "user", content = seen }
  end
  state.session:add(message, nil, line)
end

local STEP = { response = true, observation = true, thought = true, action = true }

local function read_trajectory(state, list, aside)
  if build.absent(list) then return end
  local line_of, source = state.source:lines(), state.source
  if not aside then source:note("steps read for want of a history") end
  steps.each(source, list, "trajectory", STEP, line_of, function(value, raw, line)
    if not aside then return read_step(state, value, line) end
    source:aside(aside, "trajectory step", line, raw)
  end)
end

function M.read(source)
  local value = steps.document(source, { history = true, trajectory = true })
  local state = { source = source, session = build.session(source, M.name), names = {} }
  state.serial = steps.serial()
  local history = steps.raw(value.history)
  local aside = history and history.raw:find("^%[%s*[^%s%]]") and json.array() or nil
  if aside or not steps.raw(value.trajectory) then
    steps.each(source, history, "history", RAW, source:lines(), function(message, _, line)
      return read_message(state, message, line)
    end)
  end
  read_trajectory(state, value.trajectory, aside)
  local known = { history = true, trajectory = true }
  steps.header(source, state.session, steps.rest(source, value, known), aside)
  return { state.session:finish() }
end

return M
