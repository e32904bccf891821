-- Copilot CLI's event logs: a JSON record a line, {type, data, id, timestamp}. Messages, and
-- the results of tools, are the conversation; a user's text is the one that the model was
-- given. What a sub-agent did, hooks, turns and starts of tools are kept aside.
-- next: gemini_cli.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local look = require("neap.import.look")
local json = core.json

local M = { name = "copilot_cli", about = "Copilot CLI event logs (JSONL)" }

local KINDS = { "session.start", "user.message", "assistant.message", "tool.execution_start" }

function M.detect(_, head)
  local paths = look.paths(head)
  return paths.data and look.any(paths, "type", KINDS) and 85 or 0
end

local RAW = { content = true, transformedContent = true, reasoningText = true, toolRequests = true }
RAW["*"], RAW.result, RAW.error = true, true, true

local READ = {}

local function plain(state, role, text, data, known, line, ts)
  if not drafts.is_text(text) then return "its content is missing: a text is expected" end
  local draft = drafts.new(role, line, ts)
  drafts.text(draft, text)
  drafts.remember(draft, build.rest(data, known))
  state.drafts[#state.drafts + 1] = draft
end

READ["system.message"] = function(state, data, line, ts)
  return plain(state, "system", data.content, data, { content = true, role = true }, line, ts)
end

READ["user.message"] = function(state, data, line, ts)
  local given = data.transformedContent
  if not drafts.is_text(given) then
    return plain(state, "user", data.content, data, { content = true }, line, ts)
  end
  return plain(state, "user", given, data, { transformedContent = true }, line, ts)
end

-- The harness speaks to the model between two turns.
READ["system.notification"] = function(state, data, line, ts)
  return plain(state, "user", data.content, data, { content = true }, line, ts)
end

local REQUEST = { ["*"] = true, arguments = true }
local ASKED = { toolCallId = true, name = true, arguments = true, type = true }

local function add_call(state, draft, raw)
  local call = json.decode(raw, REQUEST)
  if not drafts.is_object(call) then return "a tool request must be an object" end
  local arguments = drafts.arguments(call.arguments)
  local why = drafts.call(state.source, draft, call.toolCallId, call.name, arguments, raw)
  drafts.remember(draft, build.rest(call, ASKED))
  return why
end

-- Records of one message are one response.
local function response(state, data, line, ts)
  local id = data.messageId
  local draft = type(id) == "string" and state.by_id[id]
  if draft then
    state.source.counts.merged = state.source.counts.merged + 1
    return draft
  end
  draft = drafts.new("assistant", line, ts)
  state.drafts[#state.drafts + 1] = draft
  if type(id) == "string" then state.by_id[id] = draft end
  return draft
end

local SAID = { content = true, reasoningText = true, toolRequests = true }

READ["assistant.message"] = function(state, data, line, ts)
  local has_text = drafts.is_text(data.content)
  if not has_text and not json.is_raw(data.toolRequests) then
    return "a message needs its content or its toolRequests"
  end
  local fault = drafts.list_fault(data.toolRequests, "toolRequests")
  if fault then return fault end
  local draft = response(state, data, line, ts)
  if drafts.is_text(data.reasoningText) then
    draft.thoughts[#draft.thoughts + 1] = data.reasoningText
  end
  if has_text and data.content.raw ~= '""' then drafts.text(draft, data.content) end
  drafts.remember(draft, build.rest(data, SAID))
  for _, raw in ipairs(drafts.items(data.toolRequests)) do
    local why = add_call(state, draft, raw)
    if why then return why end
  end
end

-- What the model was shown: the result's content, or why there is none.
local function shown(data)
  local result = drafts.object(data.result, RAW)
  local fault = drafts.object(data.error, { message = true })
  if result and drafts.is_text(result.content) then return result.content end
  if fault and drafts.is_text(fault.message) then return fault.message end
  for _, raw in ipairs({ data.result or false, data.error or false }) do
    if json.is_raw(raw) and raw.raw ~= "null" then
      return drafts.is_text(raw) and raw or build.one_line(raw.raw)
    end
  end
  return ""
end

local function rest_of(data)
  local rest = build.rest(data, { toolCallId = true, result = true, success = true }) or {}
  local result = drafts.object(data.result, RAW)
  rest.result = result and build.rest(result, { content = true })
  return next(rest) and rest or nil
end

READ["tool.execution_complete"] = function(state, data, line, ts)
  if type(data.toolCallId) ~= "string" then return "a result needs its toolCallId" end
  local draft = drafts.result(data.toolCallId, shown(data), line, ts)
  draft.is_error = data.success == false or nil
  drafts.remember(draft, rest_of(data))
  state.drafts[#state.drafts + 1] = draft
end

-- Why a record is no part of the conversation, or nil.
local function kept_aside(state, record, data)
  if data and type(data.parentToolCallId) == "string" then return "sidechain" end
  if type(record.id) ~= "string" then return nil end
  if state.seen[record.id] then return "repeated" end
  state.seen[record.id] = true
end

local RECORD = { type = true, data = true, timestamp = true }

local function read_record(state, record, raw, line)
  local source = state.source
  if not drafts.is_object(record) or type(record.type) ~= "string" then
    return source:bad(line, "a record must be an object with a type")
  end
  if not READ[record.type] then return source:aside(state.aside, record.type, line, raw) end
  local data = drafts.object(record.data, RAW)
  local aside = kept_aside(state, record, data)
  if aside then return source:aside(state.aside, aside, line, raw) end
  if not data then return source:bad(line, "a record needs its data, an object") end
  local before = #state.drafts
  local why = READ[record.type](state, data, line, record.timestamp)
  if drafts.undo(state.drafts, before, why) then
    if type(data.messageId) == "string" then state.by_id[data.messageId] = nil end
    return source:bad(line, ("%s: %s"):format(record.type, why))
  end
  local draft = #state.drafts > before and state.drafts[#state.drafts] or nil
  if draft then drafts.remember(draft, build.rest(record, RECORD)) end
end

local ENTRY = { ["*"] = true, data = true }

function M.read(source)
  local state = { source = source, drafts = {}, by_id = {}, seen = {}, aside = json.array() }
  source:records(ENTRY, function(record, raw, line)
    read_record(state, record, raw, line)
  end)
  return { drafts.session(source, { form = M.name, drafts = state.drafts, aside = state.aside }) }
end

return M
