-- Claude Code's session files: a JSON record a line. Records of one response (same message id)
-- become one message, at the place of the first: they are written as results come in, which
-- parts parallel calls. Thinking becomes reasoning, tool_use a call whose arguments are the
-- bytes of its input, tool_result a tool message. What is no part of the conversation (system,
-- progress, summaries, snapshots, queues, meta and side-chain records) is kept aside in meta
-- by type and counted. next: claude_parts.lua
local core = require("neap.core")
local build = require("neap.import.build")
local parts = require("neap.import.claude_parts")
local json = core.json

local M = { name = "claude_code", about = "Claude Code sessions (JSONL)" }

function M.detect(_, head)
  if not head:find("^%s*{") then return 0 end
  local marks = 0
  for _, mark in ipairs({
    '"parentUuid"%s*:',
    '"sessionId"%s*:',
    '"isSidechain"%s*:',
    '"type"%s*:%s*"file%-history%-snapshot"',
    '"type"%s*:%s*"queue%-operation"',
    '"leafUuid"%s*:',
  }) do
    if head:find(mark) then marks = marks + 1 end
  end
  return marks >= 2 and 80 or marks == 1 and 45 or 0
end

-- Members of a record that become something of their own; the others go to meta.
local KNOWN = { message = true, type = true, timestamp = true, isSidechain = true }
-- Nothing here looks into what a record holds besides names and flags.
local RAW = { ["*"] = true, toolUseResult = true }
local MESSAGE = { ["*"] = true, content = true }

-- Why a record is no part of the conversation, or nil.
local function kept_aside(record)
  local kind = type(record.type) == "string" and record.type or "unknown"
  if kind ~= "user" and kind ~= "assistant" then
    if type(record.subtype) == "string" then return kind .. "/" .. record.subtype end
    return kind
  end
  if record.isSidechain == true then return "sidechain" end
  if record.isMeta == true then return "meta" end
  if record.isApiErrorMessage == true then return "api error" end
end

-- What a record says besides its message, for meta.
local function remember(source, draft, record, message)
  if source.lean then return end
  local rest = build.rest(record, KNOWN) or {}
  rest.message = build.rest(message, { role = true, content = true })
  draft.records[#draft.records + 1] = rest
end

-- The place in the file where a response's records are gathered.
local function response(state, message, record, line)
  local id = type(message.id) == "string" and message.id or record.requestId
  local draft = type(id) == "string" and state.by_id[id]
  if draft then
    state.source.counts.merged = state.source.counts.merged + 1
    return draft
  end
  draft = parts.draft("assistant", line, record.timestamp)
  state.drafts[#state.drafts + 1] = draft
  if type(id) == "string" then state.by_id[id] = draft end
  return draft
end

local function read_assistant(state, record, message, line)
  local draft = response(state, message, record, line)
  remember(state.source, draft, record, message)
  return parts.assistant(state.source, draft, message.content)
end

-- Results first, each a message of its own; then what else the record says, as one message.
local function read_user(state, record, message, line)
  local results, user = {}, parts.draft("user", line, record.timestamp)
  if record.isCompactSummary == true then state.source:note("compact summaries") end
  local why = parts.user(state.source, user, results, message.content)
  if why then return why end
  for _, draft in ipairs(results) do
    draft.line, draft.ts = line, record.timestamp
    state.drafts[#state.drafts + 1] = draft
  end
  local shown = #user.content > 0 or user.plain
  if shown then state.drafts[#state.drafts + 1] = user end
  remember(state.source, shown and user or results[1] or user, record, message)
  if not shown and #results == 0 then return "a user record needs content" end
end

local function read_record(state, record, raw, line)
  local source = state.source
  if type(record) ~= "table" or json.is_array(record) then
    return source:bad(line, "a record must be an object")
  end
  local aside = kept_aside(record)
  if not aside and type(record.uuid) == "string" then
    if state.seen[record.uuid] then aside = "repeated" end
    state.seen[record.uuid] = true
  end
  if aside then return source:aside(state.aside, aside, line, raw) end
  local message = json.is_raw(record.message) and json.decode(record.message, MESSAGE)
  if type(message) ~= "table" or not json.is_raw(message.content) then
    return source:bad(line, ("a record of type %s needs its message"):format(record.type))
  end
  local reader = record.type == "user" and read_user or read_assistant
  local why = reader(state, record, message, line)
  if why then source:bad(line, why) end
end

function M.read(source)
  local state = { source = source, drafts = {}, by_id = {}, seen = {}, aside = json.array() }
  source:records(RAW, function(record, raw, line)
    read_record(state, record, raw, line)
  end)
  local session = build.session(source, M.name)
  for _, draft in ipairs(state.drafts) do
    session:add(parts.message(source, draft), nil, draft.line)
  end
  session.meta = { form = M.name }
  if #state.aside > 0 then session.meta.aside = state.aside end
  return { session:finish() }
end

return M
