-- Who&When's logs of several agents, as one of them sees it (--as SPEAKER; without it,
-- the agent that makes most calls, else says most). Its messages are the assistant's,
-- thoughts included; what others say comes as user messages with their name. Thoughts of
-- others are kept aside. next: aider.lua
local core = require("neap.core")
local build = require("neap.import.build")
local look = require("neap.import.look")
local steps = require("neap.import.steps")
local json = core.json

local M = {
  name = "who_and_when",
  about = "Who&When logs of several agents (--as SPEAKER)",
  speakers = true,
}

function M.detect(_, head, tail)
  local seen = look.paths(head)
  if not seen.history and not seen.mistake_agent then return 0 end
  local blamed = seen.mistake_agent or tail:find('"mistake_agent"%s*:')
  return blamed and (seen["history[].role"] or seen.history) and 90 or 0
end

-- Who says it, and how: "Orchestrator (-> WebSurfer)" is Orchestrator and "-> WebSurfer".
local function speaker_of(value)
  if type(value.name) == "string" and value.name ~= "" then return value.name end
  if type(value.role) ~= "string" then return nil end
  local name, how = value.role:match("^([^(]*%S)%s*%((.*)%)$")
  if name then return name, how end
  return value.role
end

local PEOPLE = { human = true, user = true, User = true, system = true, tool = true }
local RAW = { content = true, arguments = true }

-- The speakers in order, with what they said and called.
local function survey(list)
  local order, by_name = {}, {}
  for _, raw in ipairs(list) do
    local value = json.decode(raw, RAW)
    local name = steps.is_object(value) and speaker_of(value)
    if name then
      local one = by_name[name]
      if not one then
        one = { name = name, calls = 0, messages = 0 }
        by_name[name], order[#order + 1] = one, one
      end
      one.messages = one.messages + 1
      local calls = value.tool_calls
      if json.is_array(calls) then one.calls = one.calls + #calls end
    end
  end
  return order, by_name
end

local function busiest(order)
  local best
  for _, one in ipairs(order) do
    local more = not best or one.calls > best.calls
    local as_many = best and one.calls == best.calls
    if as_many then more = one.messages > best.messages end
    if more and not PEOPLE[one.name] then best = one end
  end
  return best and best.name
end

local function choose(source, list)
  local order, by_name = survey(list)
  if not source.as then
    local name = busiest(order)
    if not name then source:stop(1, "no agent speaks in this log; check the file") end
    return name
  end
  if by_name[source.as] then return source.as end
  local names = {}
  for i, one in ipairs(order) do
    names[i] = one.name
  end
  local text = "no speaker %s; they are %s"
  source:stop(nil, text:format(source.as, table.concat(names, ", ")), "arg")
end

-- A name as chat messages may hold it; the true one stays in meta.
local function plain_name(name)
  return (name:gsub("[^%w_-]", "_"))
end

local KNOWN = { content = true }

local function own(state, value, content, meta, line)
  local calls, why = steps.calls(value.tool_calls, state.serial)
  if why then return why end
  for _, call in ipairs(calls or {}) do
    state.open[call.id] = call["function"].name
  end
  if meta then meta.tool_calls = nil end
  local message = { role = "assistant", tool_calls = calls, meta = meta }
  message.content = content or json.null
  state.session:add(message, nil, line)
end

local function read_message(state, value, raw, line)
  local name, how = speaker_of(value)
  if not name then return "a message needs its role or name" end
  local content, why = steps.content(value.content)
  if why then return why end
  local meta = steps.rest(state.source, value, KNOWN)
  if name == state.as then return own(state, value, content, meta, line) end
  if not content then return "content is missing: a string is expected" end
  local message = { content = content, meta = meta }
  if state.open[value.tool_call_id] then
    message.role, message.tool_call_id = "tool", value.tool_call_id
    message.name = state.open[value.tool_call_id]
  elseif value.role == "system" then
    message.role = "system"
  elseif how == "thought" then
    return state.source:aside(state.aside, "thought of " .. name, line, raw)
  else
    message.role, message.name = "user", plain_name(name)
  end
  state.session:add(message, nil, line)
end

-- What the speaker was told at the start, where the log says so.
local function own_prompt(state, prompts)
  local text = steps.is_object(prompts) and prompts[state.as]
  if type(text) == "string" and text ~= "" then
    state.session:add({ role = "system", content = text }, nil, 1)
  end
end

function M.read(source)
  local value = steps.document(source, { history = true })
  local list = steps.raw(value.history) and json.items(value.history)
  if not list then
    source:stop(1, "history must be a list; check that the recording is whole")
  end
  local session = build.session(source, M.name)
  local state = { source = source, session = session, open = {}, aside = json.array() }
  state.as, state.serial = choose(source, list), steps.serial()
  own_prompt(state, value.system_prompt)
  local function each(message, raw, line)
    return read_message(state, message, raw, line)
  end
  steps.each(source, value.history, "history", RAW, source:lines(), each)
  local rest = steps.rest(source, value, { history = true })
  if rest then rest.as = state.as end
  steps.header(source, session, rest, state.aside)
  return { session:finish() }
end

return M
