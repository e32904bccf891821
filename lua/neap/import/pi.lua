-- pi's session files: a JSON entry a line, which form a tree by id and parentId. The branch
-- that the last entry stands on is the session; other branches are kept aside, as are the
-- summaries that replaced a part of it: the history goes on whole. Old files without ids are
-- one branch. next: cline.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local look = require("neap.import.look")
local json = core.json

local M = { name = "pi", about = "pi sessions (JSONL)" }

function M.detect(_, head)
  local paths = look.paths(head)
  return look.any(paths, "type", { "session" }) and paths.cwd and paths.timestamp and 85 or 0
end

local RAW = { content = true, text = true, thinking = true, data = true, arguments = true }
RAW["*"], RAW.partialJson, RAW.output, RAW.command = true, true, true, true

-- The model's own bytes when they are whole, else the object that was made of them.
local function arguments_of(part)
  local partial = drafts.is_text(part.partialJson) and json.decode(part.partialJson)
  if partial and json.decode(partial) ~= nil then return part.partialJson end
  return drafts.arguments(part.arguments)
end

local PARTS = {}

function PARTS.text(_, draft, part)
  if not drafts.is_text(part.text) then return "a text part needs its text" end
  drafts.text(draft, part.text)
end

function PARTS.image(_, draft, part)
  drafts.media(draft, part.mimeType, build.data_url(part.mimeType, part.data))
end

-- The signed part itself stays in meta: what a provider would want back is its bytes.
function PARTS.thinking(_, draft, part, raw)
  if not drafts.is_text(part.thinking) then return "a thinking part needs its thinking" end
  draft.thoughts[#draft.thoughts + 1] = part.thinking
  if part.thinkingSignature ~= nil then draft.kept[#draft.kept + 1] = json.raw(raw) end
end

function PARTS.toolCall(source, draft, part, raw)
  return drafts.call(source, draft, part.id, part.name, arguments_of(part), raw)
end

local function add_content(source, draft, content)
  if drafts.is_text(content) then
    drafts.text(draft, content)
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
      why = reader(source, draft, part, raw)
    else
      drafts.keep(source, draft, raw, build.string(part.type) or "unknown")
    end
    if why then return why end
  end
end

local LINE = { ["*"] = true, message = true, content = true, details = true }

local MAKE = {}

function MAKE.user(_, message, line, ts)
  return drafts.new("user", line, ts), message.content
end

MAKE.custom, MAKE.hookMessage = MAKE.user, MAKE.user

function MAKE.assistant(_, message, line, ts)
  return drafts.new("assistant", line, ts), message.content
end

function MAKE.toolResult(_, message, line, ts)
  if type(message.toolCallId) ~= "string" then return nil, "a result needs its toolCallId" end
  local draft = drafts.result(message.toolCallId, nil, line, ts)
  draft.is_error = message.isError == true or nil
  return draft, message.content
end

-- A command that the user ran himself: the command and what it printed.
function MAKE.bashExecution(_, message, line, ts)
  if not drafts.is_text(message.command) then return nil, "a bashExecution needs its command" end
  local draft = drafts.new("user", line, ts)
  drafts.text(draft, message.command)
  return draft, drafts.is_text(message.output) and message.output or json.raw('""')
end

local KNOWN = { role = true, content = true, toolCallId = true, isError = true }
local ENTRY = { type = true, message = true, timestamp = true, content = true, details = true }
local RAN = { role = true, command = true, output = true }

-- An answer that was broken off before it said anything.
local function is_empty(message)
  return message.role == "assistant" and json.is_raw(message.content)
    and not message.content.raw:find("[^%[%]%s]")
end

local function read_message(state, entry, message, line)
  if type(message.role) ~= "string" then return "a message needs its role" end
  local make = MAKE[message.role]
  if not make then return "unknown", "message/" .. message.role end
  if is_empty(message) then return "unknown", "empty answer" end
  local draft, content = make(state.source, message, line, entry.timestamp)
  if not draft then return content end
  local why = add_content(state.source, draft, content)
  if why then return why end
  local known = message.role == "bashExecution" and RAN or KNOWN
  if not state.source.lean then
    drafts.remember(draft, build.rest(entry, ENTRY))
    drafts.remember(draft, build.rest(message, known))
  end
  drafts.add(state.session, draft)
end

-- An entry of the current branch.
local function read_entry(state, raw, line)
  local source, entry = state.source, json.decode(raw, LINE)
  if entry.type ~= "message" and entry.type ~= "custom_message" then
    return source:aside(state.aside, entry.type, line, raw)
  end
  local message = drafts.object(entry.message, RAW)
  if entry.type == "custom_message" then
    message = { role = "custom", content = entry.content, details = entry.details }
  end
  if not message then return source:bad(line, "an entry needs its message, an object") end
  local why, aside = read_message(state, entry, message, line)
  if aside then return source:aside(state.aside, aside, line, raw) end
  if why then source:bad(line, why) end
end

-- Which entries the last one stands on, by walking up from it; nil when nothing has an id. A
-- parent that is not there, or one seen before, ends the walk.
local function branch_of(source, tree)
  local at
  for i = #tree.raws, 1, -1 do
    if tree.ids[i] then
      at = i
      break
    end
  end
  if not at then return nil end
  local on = {}
  while at and not on[at] do
    on[at] = true
    local parent = tree.parents[at]
    at = parent and tree.by_id[parent]
    if parent and not at then source:note("parents that are not there") end
  end
  return on
end

-- The entries in order: their raw values and lines, and what tells their branch. A session's own
-- id is none of an entry. Lists side by side, since there are many.
local function gather(source, state)
  local tree = { raws = {}, lines = {}, ids = {}, parents = {}, by_id = {} }
  source:records(LINE, function(entry, raw, line)
    if not drafts.is_object(entry) or type(entry.type) ~= "string" then
      return source:bad(line, "an entry must be an object with a type")
    end
    local id = type(entry.id) == "string" and entry.type ~= "session" and entry.id
    if id and tree.by_id[id] then return source:aside(state.aside, "repeated", line, raw) end
    local i = #tree.raws + 1
    tree.raws[i], tree.lines[i] = raw, line
    if id then tree.ids[i], tree.by_id[id] = id, i end
    if type(entry.parentId) == "string" then tree.parents[i] = entry.parentId end
  end)
  return tree
end

function M.read(source)
  local state = { source = source, aside = json.array() }
  state.session = build.session(source, M.name)
  local tree = gather(source, state)
  local on = branch_of(source, tree)
  for i, raw in ipairs(tree.raws) do
    local line = tree.lines[i]
    tree.raws[i] = false -- let go of as soon as it is read
    if on and tree.ids[i] and not on[i] then
      source:aside(state.aside, "other branch", line, raw)
    else
      read_entry(state, raw, line)
    end
  end
  return { drafts.close(state.session, { form = M.name, aside = state.aside }) }
end

return M
