-- OpenHands' output.jsonl: one run a line, its events in `history`, each an action or an
-- observation (in old files in pairs, without sources and ids). All events of one
-- response become one message with all calls the model made; where the response was not
-- logged the action becomes a call with its arguments. An observation is the result of
-- the action that caused it. What the model was not asked and did not say is kept aside
-- by kind. next: tau2.lua
local core = require("neap.core")
local build = require("neap.import.build")
local look = require("neap.import.look")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "openhands", about = "OpenHands runs (output.jsonl)" }

function M.detect(_, head)
  local seen = look.paths(head)
  if seen.trajectory or seen["history[].role"] then return 0 end
  local event = seen["history[].action"] or seen["history[].observation"]
  if event or seen["history[][].action"] then return 90 end
  return seen.instruction and (seen.git_patch or seen.test_result) and 70 or 0
end

local RAW = {
  content = true,
  thought = true,
  images_urls = true,
  image_urls = true,
  tools = true,
  arguments = true,
  message = true,
  command = true,
  code = true,
  llm_metrics = true,
  extras = true,
  model_response = true,
  ["*"] = true,
  args = false,
  tool_call_metadata = false,
}

-- What stands beside an action's arguments: bookkeeping of the program, not the model's
-- words.
local BOOKKEEPING = {
  thought = true,
  is_confirmed = true,
  confirmation_state = true,
  security_risk = true,
  action_risk = true,
  keep_prompt = true,
  kernel_init_code = true,
  hidden = true,
  blocking = true,
  is_static = true,
  cwd = true,
}
local EVENT = {
  action = true,
  source = true,
  timestamp = true,
  id = true,
  message = true,
}

local function id_of(value)
  if type(value) == "number" or type(value) == "string" then return tostring(value) end
end

-- The arguments of an action that was logged without its response, as the text of an
-- object.
local function action_arguments(event)
  local from, arguments = steps.is_object(event.args) and event.args or event, {}
  for key, value in pairs(from) do
    local own = from ~= event or not EVENT[key] and key ~= "args"
    if own and not BOOKKEEPING[key] and not build.absent(value) then
      arguments[key] = value
    end
  end
  return json.encode(arguments)
end

-- What an event says: content or text of an old or a new action.
local function said(event, key)
  local args = steps.is_object(event.args) and event.args or event
  local value = steps.raw(args[key])
  return steps.is_text(value) and value or nil
end

-- The text with its pictures.
local function with_images(event, text)
  local args = steps.is_object(event.args) and event.args or event
  local urls = steps.raw(args.image_urls) or steps.raw(args.images_urls)
  local list = urls and json.decode(urls)
  if not json.is_array(list) or #list == 0 then return text end
  local parts = json.array({ { type = "text", text = text } })
  for _, url in ipairs(list) do
    if type(url) == "string" then
      parts[#parts + 1] = { type = "image_url", image_url = { url = url } }
    end
  end
  return parts
end

local RESPONSE = { ["*"] = true, content = true, arguments = true, reasoning_content = true }
RESPONSE.choices, RESPONSE.message, RESPONSE.tool_calls = false, false, false
RESPONSE["function"] = false

-- The message of a response and its id, when the event was logged with it.
local function response_of(event)
  local meta = steps.is_object(event.tool_call_metadata) and event.tool_call_metadata
  local raw = meta and steps.raw(meta.model_response)
  if not raw then return nil end
  local body = json.decode(raw, RESPONSE)
  local choice = steps.is_object(body) and json.is_array(body.choices) and body.choices[1]
  local message = steps.is_object(choice) and choice.message
  if steps.is_object(message) then return message, body.id or raw.raw end
end

local EVENT_KNOWN = {
  source = true,
  timestamp = true,
  content = true,
  observation = true,
}
local SYSTEM_KNOWN = { args = true, message = true, source = true, timestamp = true }

local function remember(run, message, event, known)
  local rest = steps.rest(run.source, event, known)
  if not rest then return end
  message.meta = message.meta or { events = json.array() }
  message.meta.events[#message.meta.events + 1] = rest
end

local function add(run, message, line)
  run.drafts[#run.drafts + 1] = { message = message, line = line }
end

local function ts_of(event)
  return type(event.timestamp) == "string" and event.timestamp or nil
end

-- A response's message, made at its first event; later events are merged into it.
local function from_response(run, event, response, response_id, line)
  local draft = run.responses[response_id]
  if draft then
    run.source.counts.merged = run.source.counts.merged + 1
    remember(run, draft, event, EVENT_KNOWN)
    return
  end
  local content, why = steps.content(response.content)
  if why then return why end
  local calls
  calls, why = steps.calls(response.tool_calls, run.serial)
  if why then return why end
  local thought = steps.raw(response.reasoning_content)
  local message = { role = "assistant", tool_calls = calls }
  message.content = content or json.null
  message.reasoning = steps.is_text(thought) and thought or nil
  message.ts = ts_of(event)
  run.responses[response_id] = message
  for _, call in ipairs(calls or {}) do
    run.names[call.id] = call["function"].name
  end
  remember(run, message, event, EVENT_KNOWN)
  add(run, message, line)
end

-- An action whose response was not logged: a call of its own.
local function own_call(run, event, line)
  local id = run.serial()
  local name = event.action
  local message = { role = "assistant", content = said(event, "thought") or json.null }
  message.tool_calls = json.array({ build.call(id, name, action_arguments(event)) })
  message.ts = ts_of(event)
  remember(run, message, event, { args = steps.is_object(event.args), source = true })
  run.caused[id_of(event.id) or ""] = id
  run.names[id], run.open = name, { id = id, kind = name }
  add(run, message, line)
end

local function words(run, event, line)
  local text = said(event, "content")
  if not text then return "a message action needs its content" end
  local role = event.source == "agent" and "assistant" or "user"
  local message = { role = role, content = with_images(event, text), ts = ts_of(event) }
  remember(run, message, event, EVENT_KNOWN)
  add(run, message, line)
end

local function system(run, event, line)
  local text = said(event, "content")
  if not text then return "a system action needs its content" end
  local tools = steps.raw(event.args and event.args.tools)
  if tools and tools.raw:find("^%[%s*[^%s%]]") then run.session.tools = tools.raw end
  local message = { role = "system", content = text, ts = ts_of(event) }
  remember(run, message, event, SYSTEM_KNOWN)
  add(run, message, line)
end

-- Actions of the program: the model neither asked for them nor is shown them as such.
local PROGRAM = {
  recall = true,
  change_agent_state = true,
  null = true,
  condensation = true,
}

local function read_action(run, event, raw, line)
  local kind = event.action
  local response, response_id = response_of(event)
  if response then
    local why = from_response(run, event, response, response_id, line)
    local meta = event.tool_call_metadata
    if type(meta.tool_call_id) == "string" then
      run.caused[id_of(event.id) or ""] = meta.tool_call_id
    end
    return why
  end
  local first = kind == "system" and steps.is_object(event.args)
  if first then return system(run, event, line) end
  if kind == "message" then return words(run, event, line) end
  if PROGRAM[kind] or event.source == "user" or event.source == "environment" then
    return run.source:aside(run.aside, "action " .. kind, line, raw)
  end
  own_call(run, event, line)
end

-- The call that an observation answers, or nil.
local function answers(run, event)
  local meta = steps.is_object(event.tool_call_metadata) and event.tool_call_metadata
  if meta and type(meta.tool_call_id) == "string" then return meta.tool_call_id end
  if event.cause ~= nil then return run.caused[id_of(event.cause) or ""] end
  local open = run.open
  if open and event.source == nil then return open.id end
end

-- An error of no call (an answer that could not be read): the model is told of it.
local function read_error(run, event, line)
  local content, why = steps.content(event.content)
  if why then return why end
  local message = { role = "user", name = "environment", content = content or "" }
  message.ts, message.is_error = ts_of(event), true
  remember(run, message, event, { content = true, source = true, timestamp = true })
  add(run, message, line)
end

local function read_observation(run, event, raw, line)
  local id = answers(run, event)
  if not id and event.observation == "error" then return read_error(run, event, line) end
  if not id then
    return run.source:aside(run.aside, "observation " .. event.observation, line, raw)
  end
  local content, why = steps.content(event.content)
  if why then return why end
  run.open = nil
  local message = { role = "tool", tool_call_id = id, name = run.names[id] }
  message.content, message.ts = content or "", ts_of(event)
  local failed = event.success == false or event.observation == "error"
  message.is_error = failed or nil
  remember(run, message, event, { content = true, source = true, timestamp = true })
  add(run, message, line)
end

local function read_event(run, event, raw, line)
  local action, observation = event.action, event.observation
  if type(action) == "string" then return read_action(run, event, raw, line) end
  if type(observation) == "string" then return read_observation(run, event, raw, line) end
  return "an event needs its action or its observation"
end

-- Events, and pairs of them.
local function read_events(run, list, line)
  for _, raw in ipairs(list) do
    if json.kind(raw) == "array" then
      for _, inner in ipairs(json.items(raw) or {}) do
        run.each(inner, line)
      end
    else
      run.each(raw, line)
    end
  end
end

local function read_run(source, value, line, index)
  local session = build.session(source, M.name, index)
  local run = { source = source, session = session, drafts = {}, responses = {} }
  run.names, run.caused, run.aside, run.serial = {}, {}, json.array(), steps.serial()
  function run.each(raw, at)
    source.counts.records = source.counts.records + 1
    local event = json.decode(raw, RAW)
    local why = not steps.is_object(event) and "an event must be an object"
      or read_event(run, event, raw, at)
    if why then source:bad(at, why) end
  end
  local items = steps.raw(value.history) and json.items(value.history)
  if not items then
    return source:bad(line, "a run needs its history, a list of events")
  end
  read_events(run, items, line)
  for _, draft in ipairs(run.drafts) do
    session:add(draft.message, nil, draft.line)
  end
  steps.header(source, session, steps.rest(source, value, { history = true }), run.aside)
  return session:finish()
end

function M.read(source)
  local sessions = {}
  source:records({ history = true }, function(value, _, line)
    -- The run is no record of its own: its events are.
    source.counts.records = source.counts.records - 1
    if not steps.is_object(value) then
      return source:bad(line, "a run must be an object")
    end
    sessions[#sessions + 1] = read_run(source, value, line, #sessions + 1)
  end)
  return sessions
end

return M
