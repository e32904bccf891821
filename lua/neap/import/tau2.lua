-- tau2-bench results: each simulation is one session, seen from the agent. The domain's
-- policy is its system message. The simulated user may call tools of its own: those calls
-- and their results are kept aside, as the agent never sees them. next: who_and_when.lua
local core = require("neap.core")
local build = require("neap.import.build")
local look = require("neap.import.look")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "tau2", about = "tau2-bench results (simulations)" }

function M.detect(_, head)
  local seen = look.paths(head)
  if seen["simulations[].messages"] or seen["simulations[].task_id"] then return 90 end
  return seen["info.environment_info"] and seen["info.agent_info"] and 85 or 0
end

local RAW = { content = true, arguments = true, raw_data = true }
local KNOWN = {
  role = true,
  content = true,
  tool_calls = true,
  timestamp = true,
  error = true,
  id = true,
  tool_messages = true,
}

local function base(state, value)
  return {
    role = value.role,
    ts = type(value.timestamp) == "string" and value.timestamp or nil,
    meta = steps.rest(state.source, value, KNOWN),
  }
end

local function assistant(state, value, content, line)
  local calls, why = steps.calls(value.tool_calls, state.serial)
  if why then return why end
  local message = base(state, value)
  message.content, message.tool_calls = content or json.null, calls
  for _, call in ipairs(calls or {}) do
    state.names[call.id] = call["function"].name
  end
  state.session:add(message, nil, line)
end

local function user(state, value, content, raw, line)
  if json.is_array(value.tool_calls) and #value.tool_calls > 0 then
    return state.source:aside(state.aside, "user tool call", line, raw)
  end
  if not content then return "content is missing: a string is expected" end
  local message = base(state, value)
  message.content = content
  state.session:add(message, nil, line)
end

local function tool(state, value, content, raw, line)
  if value.requestor == "user" then
    return state.source:aside(state.aside, "user tool result", line, raw)
  end
  if type(value.id) ~= "string" then return "a tool message needs its id" end
  local message = base(state, value)
  message.content, message.tool_call_id = content or "", value.id
  message.name, message.is_error = state.names[value.id], value.error == true or nil
  state.session:add(message, nil, line)
end

local function read_message(state, value, raw, line)
  local content, why = steps.content(value.content)
  if why then return why end
  local role = value.role
  if role == "assistant" then return assistant(state, value, content, line) end
  if role == "user" then return user(state, value, content, raw, line) end
  if role == "tool" and json.is_array(value.tool_messages) then
    state.source.counts.records = state.source.counts.records - 1
    return state.group(raw, line)
  elseif role == "tool" then
    return tool(state, value, content, raw, line)
  elseif role == "system" and content then
    local message = base(state, value)
    message.content = content
    return state.session:add(message, nil, line)
  end
  return "a message needs a role: system, user, assistant or tool"
end

-- The policy is the system message, where the log has none of its own.
local function policy_of(info, simulation)
  local own = steps.raw(simulation.policy)
  if steps.is_text(own) then return own end
  local environment = steps.is_object(info) and info.environment_info
  local policy = steps.is_object(environment) and steps.raw(environment.policy)
  return steps.is_text(policy) and policy or nil
end

local function tools_of(info)
  local environment = steps.is_object(info) and info.environment_info
  local tools = steps.is_object(environment) and steps.raw(environment.tool_defs)
  return tools and tools.raw:find("^%[%s*{") and tools.raw or nil
end

local function read_simulation(source, document, simulation, index, line_of, line)
  local session = build.session(source, M.name, index)
  local state = { source = source, session = session, names = {}, aside = json.array() }
  state.serial = steps.serial()
  local function each(value, raw, at)
    return read_message(state, value, raw, at)
  end
  -- Results that were logged as one message.
  function state.group(raw, at)
    local list = json.decode(raw, { tool_messages = true }).tool_messages
    steps.each(source, list, "tool_messages", RAW, function()
      return at
    end, each)
  end
  local policy = policy_of(document.info, simulation)
  if policy then session:add({ role = "system", content = policy }, nil, line) end
  session.tools = tools_of(document.info)
  steps.each(source, simulation.messages, "messages", RAW, line_of, each)
  local rest = steps.rest(source, simulation, { messages = true })
  if rest and index == 1 then
    rest.results = steps.rest(source, document, { simulations = true })
  end
  steps.header(source, session, rest, state.aside)
  return session:finish()
end

function M.read(source)
  local keys = { simulations = true, policy = true, tool_defs = true }
  local document = steps.document(source, keys)
  local items = steps.raw(document.simulations) and json.items(document.simulations)
  if not items then source:stop(1, "there is no list of simulations; check the file") end
  local line_of, line_of_run, sessions = source:lines(), source:lines(), {}
  for _, raw in ipairs(items) do
    local line = line_of_run(raw)
    local simulation = json.decode(raw, { messages = true, policy = true })
    if not steps.is_object(simulation) then
      source:bad(line, "a simulation must be an object")
    else
      sessions[#sessions + 1] =
        read_simulation(source, document, simulation, #sessions + 1, line_of, line)
    end
  end
  return sessions
end

return M
