-- Inspect's evaluation logs as JSON: each sample is a session. Texts that stand elsewhere
-- (attachment://…) are put in; tools come from the first request to the model that is logged.
-- next: opencode.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local look = require("neap.import.look")
local schemas = require("neap.import.schemas")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "inspect_eval", about = "Inspect evaluation logs (JSON)" }

function M.detect(_, head)
  local paths = look.paths(head)
  local own = paths["eval.task"] or paths["eval.eval_id"] or paths["eval.run_id"]
  return own and paths.version and 85 or 0
end

local RAW = { content = true, text = true, reasoning = true, image = true, arguments = true }

-- The text itself where only its address stands.
local function resolve(state, raw)
  local hash = drafts.is_text(raw) and raw.raw:match('^"attachment://(%x+)"$')
  local text = hash and state.attachments[hash]
  if hash and not text then state.source:note("attachments that are not there") end
  return text or raw
end

local function attachments_of(raw)
  local decoded = drafts.object(raw) or {}
  local all = {}
  for key in pairs(decoded) do
    all[key] = true
  end
  local texts = drafts.object(raw, all) or {}
  for key, value in pairs(texts) do
    if not drafts.is_text(value) then texts[key] = nil end
  end
  return texts
end

local PARTS = {}

function PARTS.text(state, draft, part)
  if not drafts.is_text(part.text) then return "a text part needs its text" end
  drafts.text(draft, resolve(state, part.text))
end

function PARTS.reasoning(state, draft, part, raw)
  local text = resolve(state, part.reasoning)
  if not drafts.is_text(text) then return "a reasoning part needs its reasoning" end
  if part.redacted ~= true then draft.thoughts[#draft.thoughts + 1] = text end
  if part.redacted == true or not build.absent(part.signature) then
    draft.kept[#draft.kept + 1] = json.raw(raw)
  end
end

function PARTS.image(state, draft, part)
  local url = resolve(state, part.image)
  if not drafts.is_text(url) then return "an image part needs its image" end
  local shown = { url = url, detail = build.string(part.detail) }
  draft.content[#draft.content + 1] = { type = "image_url", image_url = shown }
end

local function add_content(state, draft, content)
  if drafts.is_text(content) then
    local text = resolve(state, content)
    if text.raw ~= '""' or draft.role ~= "assistant" then drafts.text(draft, text) end
    return nil
  end
  if json.kind(content) ~= "array" then
    return "content must be a string or a list of parts"
  end
  for _, raw in ipairs(drafts.items(content)) do
    local part = json.decode(raw, RAW)
    if not drafts.is_object(part) then return "a part must be an object" end
    local reader, why = PARTS[part.type], nil
    if reader then
      why = reader(state, draft, part, raw)
    else
      drafts.keep(state.source, draft, raw, build.string(part.type) or "unknown")
    end
    if why then return why end
  end
end

local function add_calls(state, draft, calls)
  if build.absent(calls) then return nil end
  if not json.is_array(calls) then return "tool_calls must be a list" end
  for _, call in ipairs(calls) do
    if not drafts.is_object(call) then return "a call must be an object" end
    local arguments = drafts.arguments(call.arguments)
    local raw = json.encode(call)
    local why = drafts.call(state.source, draft, call.id, call["function"], arguments, raw)
    if why then return why end
    local known = { id = true, ["function"] = true, arguments = true, type = true }
    drafts.remember(draft, build.rest(call, known))
  end
end

local ROLES = { system = true, user = true, assistant = true, tool = true }
local KNOWN = { role = true, content = true, tool_calls = true, tool_call_id = true }

-- A failed tool's reason is what the model was shown when there was no content.
local function settle_error(draft, message)
  local fault = message.error
  if not drafts.is_object(fault) then return end
  draft.is_error = true
  if type(fault.message) ~= "string" then return end
  local only = draft.content[1]
  if not only or #draft.content == 1 and only.text and only.text.raw == '""' then
    draft.result = fault.message
  end
end

local function read_message(state, message, line)
  if not ROLES[message.role] then
    return "a message needs a role: system, user, assistant or tool"
  end
  local draft = drafts.new(message.role, line, message.timestamp)
  if message.role == "tool" then
    if type(message.tool_call_id) ~= "string" then
      return "a tool message needs its tool_call_id"
    end
    draft.call_id = message.tool_call_id
  end
  local why = add_content(state, draft, message.content)
  why = why or add_calls(state, draft, message.tool_calls)
  if why then return why end
  if message.role == "tool" then settle_error(draft, message) end
  drafts.remember(draft, build.rest(message, KNOWN))
  state.drafts[#state.drafts + 1] = draft
end

local EVENT = { ["*"] = true, tools = true }

-- The tools of the first request that the events tell of.
local function tools_of(source, events)
  for _, raw in ipairs(drafts.items(events)) do
    local event = json.decode(raw, EVENT)
    if drafts.is_object(event) and event.event == "model" and json.is_raw(event.tools) then
      return schemas.convert(source, event.tools)
    end
  end
end

local SAMPLE = { messages = true, attachments = true, events = true, input = true, output = true }
SAMPLE.store, SAMPLE.metadata, SAMPLE.scores = true, true, true

local function read_sample(source, value, line_of, index, log)
  local state = { source = source, drafts = {}, attachments = attachments_of(value.attachments) }
  steps.each(source, value.messages, "messages", RAW, line_of, function(message, _, line)
    return read_message(state, message, line)
  end)
  if #state.drafts == 0 then
    source:note("samples without a message")
    return nil
  end
  local tools = tools_of(source, value.events)
  local meta = { sample = build.rest(value, { messages = true }), log = log }
  local g = { form = M.name, index = index, drafts = state.drafts, tools = tools, meta = meta }
  return drafts.session(source, g)
end

function M.read(source)
  local line_of = source:lines()
  local value = steps.document(source, { samples = true })
  if json.kind(value.samples) ~= "array" then
    source:stop(1, "there is no list of samples; write the log with its samples")
  end
  local list, log = {}, build.rest(value, { samples = true })
  for _, raw in ipairs(drafts.items(value.samples)) do
    local sample = json.decode(raw, SAMPLE)
    if not drafts.is_object(sample) then
      source:bad(line_of(raw), "a sample must be an object")
    else
      list[#list + 1] = read_sample(source, sample, line_of, #list + 1, log)
      if #list > 0 then log = nil end
    end
  end
  return list
end

return M
