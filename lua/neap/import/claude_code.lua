-- Claude Code's session files: a JSON record a line. Records of one response (same message id)
-- become one message, at the place of the first: they are written as results come in, which
-- parts parallel calls. Thinking becomes reasoning, tool_use a call whose arguments are the
-- bytes of its input, tool_result a tool message. What is no part of the conversation (system,
-- progress, summaries, snapshots, queues, meta records) is kept aside in meta by type and
-- counted. So are side chains, unless they are asked for or the file holds nothing else:
-- then each is a session of its own. next: claude_parts.lua
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
local KNOWN = { "message", "type", "timestamp", "isSidechain" }
local SAID = { "role", "content" }
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

-- What a record says besides its message, for meta; the record and its message are used up.
local function remember(source, draft, record, message)
  if source.lean then return end
  local rest = build.strip(record, KNOWN) or {}
  rest.message = build.strip(message, SAID)
  draft.records[#draft.records + 1] = rest
end

-- The place in the file where a response's records are gathered.
local function response(chain, message, record, line)
  local id = type(message.id) == "string" and message.id or record.requestId
  local draft = type(id) == "string" and chain.by_id[id]
  if draft then
    chain.source.counts.merged = chain.source.counts.merged + 1
    return draft
  end
  draft = parts.draft("assistant", line, record.timestamp)
  chain.drafts[#chain.drafts + 1] = draft
  if type(id) == "string" then chain.by_id[id] = draft end
  return draft
end

local function read_assistant(chain, record, message, line)
  local draft, content = response(chain, message, record, line), message.content
  remember(chain.source, draft, record, message)
  return parts.assistant(chain.source, draft, content)
end

-- Results first, each a message of its own; then what else the record says, as one message.
local function read_user(chain, record, message, line)
  local results, user = {}, parts.draft("user", line, record.timestamp)
  if record.isCompactSummary == true then chain.source:note("compact summaries") end
  local why = parts.user(chain.source, user, results, message.content)
  if why then return why end
  for _, draft in ipairs(results) do
    draft.line, draft.ts = line, record.timestamp
    chain.drafts[#chain.drafts + 1] = draft
  end
  local shown = #user.content > 0 or user.plain
  if shown then chain.drafts[#chain.drafts + 1] = user end
  remember(chain.source, shown and user or results[1] or user, record, message)
  if not shown and #results == 0 then return "a user record needs content" end
end

local function new_chain(source)
  return { source = source, drafts = {}, by_id = {} }
end

-- The side chain that a record belongs to: its agent's, that of its parent, or a new one.
local function side_chain(state, record)
  local key = record.agentId or record.parentUuid
  local chain = type(key) == "string" and state.chain_of[key]
  if not chain then
    chain = new_chain(state.source)
    chain.from = { agent = record.agentId, parent = record.parentUuid }
    state.chains[#state.chains + 1] = chain
  end
  for _, id in ipairs({ record.agentId or false, record.uuid or false }) do
    if type(id) == "string" then state.chain_of[id] = chain end
  end
  return chain
end

local function read_record(state, record, raw, line)
  local source, chain = state.source, state.main
  if type(record) ~= "table" or json.is_array(record) then
    return source:bad(line, "a record must be an object")
  end
  local aside = kept_aside(record)
  if aside == "sidechain" and state.branches then
    aside, chain = nil, side_chain(state, record)
  end
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
  local why = reader(chain, record, message, line)
  if why then source:bad(line, why) end
end

local function gather(source, branches)
  local state = { source = source, branches = branches, seen = {}, aside = json.array() }
  state.main, state.chains, state.chain_of = new_chain(source), {}, {}
  source:records(RAW, function(record, raw, line)
    read_record(state, record, raw, line)
  end)
  return state
end

local function session_of(source, chain, index, aside)
  local session = build.session(source, M.name, index)
  for i, draft in ipairs(chain.drafts) do
    session:add(parts.message(source, draft), nil, draft.line)
    chain.drafts[i] = false
  end
  session.meta = { form = M.name, branch = chain.from }
  if #aside > 0 then session.meta.aside = aside end
  return session:finish()
end

function M.read(source)
  local state = gather(source, source.branches)
  if #state.main.drafts == 0 and source.counts.aside.sidechain then
    source:restart()
    state = gather(source, true)
  end
  local list, aside = {}, state.aside
  if #state.main.drafts > 0 or #state.chains == 0 then
    list[1], aside = session_of(source, state.main, 1, aside), json.array()
  end
  for _, chain in ipairs(state.chains) do
    if #chain.drafts > 0 then
      source:note("side chains read as sessions")
      list[#list + 1], aside = session_of(source, chain, #list + 1, aside), json.array()
    end
  end
  return list
end

return M
