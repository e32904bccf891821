-- opencode's exports (opencode export): one JSON document, {info, messages: [{info, parts}]}.
-- A step is one response; a tool's part is its call and, when it has ended, its result.
-- next: opencode_folder.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local look = require("neap.import.look")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "opencode", about = "opencode exports (JSON), session files before 1.2" }

function M.detect(_, head)
  local paths = look.paths(head)
  local own = paths["info.id"] and paths["messages[].parts"] and paths["messages[].info.role"]
  return own and 85 or 0
end

local RAW = { text = true, input = true, output = true, error = true, url = true, metadata = true }
RAW.state, RAW.attachments, RAW.raw = true, true, true

local function new_step(state)
  local draft = drafts.new(state.role, state.line, state.ts)
  state.drafts[#state.drafts + 1], state.open = draft, draft
  return draft
end

-- The response that goes on; a new one after a step, and after its results.
local function current(state)
  return state.open or new_step(state)
end

local PART = { sessionID = true, messageID = true, type = true, text = true }
PART.callID, PART.tool, PART.state = true, true, true

local function remember(draft, part)
  drafts.remember(draft, build.rest(part, PART))
end

local PARTS = {}

-- A text that opencode marks as ignored was shown to the user alone.
function PARTS.text(state, part, raw)
  if not drafts.is_text(part.text) then return "a text part needs its text" end
  if part.ignored == true then
    return drafts.keep(state.source, current(state), raw, "ignored text")
  end
  local draft = current(state)
  drafts.text(draft, part.text)
  remember(draft, part)
end

function PARTS.reasoning(state, part)
  if not drafts.is_text(part.text) then return "a reasoning part needs its text" end
  local draft = current(state)
  if part.text.raw ~= '""' then draft.thoughts[#draft.thoughts + 1] = part.text end
  remember(draft, part)
end

-- Only what the export itself holds can be shown.
local function add_file(draft, part)
  local url = build.string(part.url)
  if not url or not url:find("^data:") and not url:find("^https?:") then return false end
  drafts.media(draft, part.mime, url, part.filename)
  return true
end

function PARTS.file(state, part, raw)
  local draft = current(state)
  if not add_file(draft, part) then drafts.keep(state.source, draft, raw, "file") end
end

local ENDED = { completed = "output", error = "error" }
local STATE = { input = true, output = true, error = true, status = true, attachments = true }

local function read_result(state, part, told)
  local member = ENDED[told.status]
  if not member then return nil end
  local fault = drafts.list_fault(told.attachments, "attachments")
  if fault then return fault end
  local draft = drafts.result(part.callID, nil, state.line, state.ts)
  draft.is_error = told.status == "error" or nil
  if drafts.is_text(told[member]) then drafts.text(draft, told[member]) end
  for _, raw in ipairs(drafts.items(told.attachments)) do
    local file = drafts.object(raw, RAW)
    if not file or not add_file(draft, file) then
      drafts.keep(state.source, draft, raw, "attachment")
    end
  end
  drafts.remember(draft, build.rest(told, STATE))
  state.results[#state.results + 1] = draft
end

function PARTS.tool(state, part, raw)
  local told = drafts.object(part.state, RAW)
  if not told then return "a tool part needs its state" end
  local draft = current(state)
  local arguments = drafts.arguments(told.input)
  local repeated = draft.call_ids[part.callID or 0]
  local why = drafts.call(state.source, draft, part.callID, part.tool, arguments, raw)
  if why or repeated then return why end
  remember(draft, part)
  return read_result(state, part, told)
end

-- Results stand behind the response that called for them.
local function close(state)
  for _, draft in ipairs(state.results) do
    state.drafts[#state.drafts + 1] = draft
  end
  state.open, state.results = nil, {}
end

local function read_parts(state, list)
  for _, raw in ipairs(list) do
    local part = json.decode(raw, RAW)
    if not drafts.is_object(part) or type(part.type) ~= "string" then
      return "a part must be an object with a type"
    end
    local reader = PARTS[part.type]
    if part.type == "step-start" and state.role == "assistant" then close(state) end
    if reader then
      local why = reader(state, part, raw)
      if why then return why end
    else
      state.source:aside(state.aside, "part/" .. part.type, state.line, raw)
    end
  end
end

local MESSAGE = { info = true, parts = true }

local function read_message(state, message, raw, line)
  local info = drafts.object(message.info, { error = true })
  if not info or info.role ~= "user" and info.role ~= "assistant" then
    return "a message needs its info with a role: user or assistant"
  end
  if json.kind(message.parts) ~= "array" then
    return "a message needs its parts, a list"
  end
  state.role, state.line, state.open, state.results = info.role, line, nil, {}
  state.ts = drafts.is_object(info.time) and info.time.created or nil
  local before = #state.drafts
  local why = read_parts(state, drafts.items(message.parts))
  close(state)
  local first = state.drafts[before + 1]
  if not first then
    if not why then state.source:aside(state.aside, "empty message", line, raw) end
    return why
  end
  drafts.remember(first, build.rest(info, { role = true, sessionID = true }))
  return why
end

function M.read(source)
  return steps.conversation(source, M.name, { source = source, drafts = {} }, MESSAGE, read_message)
end

return M
