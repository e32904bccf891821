-- Content parts of Claude Code's records (the form of Anthropic's messages) as parts of chat
-- messages. Texts pass as their raw JSON strings, so that no escape changes. What has no form
-- in a chat message stays in the message's meta, whole. next: mini_swe_agent.lua
local core = require("neap.core")
local build = require("neap.import.build")
local json = core.json

local M = {}

---@class neap.Draft
---@field role string
---@field line integer
---@field ts any
---@field content table   parts so far
---@field plain table?    content that came as one string, raw
---@field thoughts userdata[] raw JSON strings
---@field calls table
---@field records table   what each record said besides
---@field kept table      parts that have no form here, raw

---@return neap.Draft
function M.draft(role, line, ts)
  return {
    role = role,
    line = line,
    ts = ts,
    content = json.array(),
    thoughts = {},
    calls = json.array(),
    call_ids = {},
    records = json.array(),
    kept = json.array(),
  }
end

local RAW = { text = true, thinking = true, input = true, content = true, data = true }
RAW["*"], RAW.source = true, false

-- Keeps a part whole in meta, because a chat message has no place for it.
local function keep(source, draft, raw, kind)
  source:note("parts kept in meta: " .. kind)
  draft.kept[#draft.kept + 1] = json.raw(raw)
end

local function is_text(value)
  return json.kind(value) == "string"
end

local function image(part)
  local from = type(part.source) == "table" and part.source or {}
  local url = from.type == "base64" and build.data_url(from.media_type, from.data)
  url = url or build.string(from.url)
  return url and { type = "image_url", image_url = { url = url } }
end

local function document(part)
  local from = type(part.source) == "table" and part.source or {}
  if from.type == "text" and is_text(from.data) then return { type = "text", text = from.data } end
  if from.type ~= "base64" then return nil end
  local file = { file_data = build.data_url(from.media_type, from.data) }
  file.filename = build.string(part.title)
  return { type = "file", file = file }
end

-- A part that both users and results may hold, or nil.
local function plain_part(part)
  if part.type == "text" and is_text(part.text) then
    return { type = "text", text = part.text }
  elseif part.type == "image" then
    return image(part)
  elseif part.type == "document" then
    return document(part)
  end
end

local ASSISTANT = {}

function ASSISTANT.text(_, draft, part)
  if not is_text(part.text) then return "a text part needs its text" end
  if #draft.calls > 0 then draft.text_after_call = true end
  draft.content[#draft.content + 1] = { type = "text", text = part.text }
end

-- The signed block itself stays in meta: what a provider would want back is its bytes.
function ASSISTANT.thinking(_, draft, part, raw)
  if not is_text(part.thinking) then return "a thinking part needs its thinking" end
  draft.thoughts[#draft.thoughts + 1] = part.thinking
  if part.signature ~= nil then draft.kept[#draft.kept + 1] = json.raw(raw) end
end

local CALL = { type = true, id = true, name = true, input = true }

function ASSISTANT.tool_use(source, draft, part, raw)
  if type(part.id) ~= "string" or type(part.name) ~= "string" then
    return "a tool_use part needs its id and name"
  end
  if draft.call_ids[part.id] then
    return keep(source, draft, raw, "repeated tool_use")
  end
  draft.call_ids[part.id] = true
  local input = json.is_raw(part.input) and part.input.raw or "{}"
  draft.calls[#draft.calls + 1] = build.call(part.id, part.name, input)
  if build.rest(part, CALL) then draft.kept[#draft.kept + 1] = json.raw(raw) end
end

-- The raw items of a list; nil, with the text kept, when content is one string.
local function items_of(draft, content)
  if is_text(content) then
    draft.plain = content
    return {}
  end
  return json.items(content)
end

--- Adds the content of one record of a response.
---@return string? fault
function M.assistant(source, draft, content)
  if is_text(content) then
    draft.content[#draft.content + 1] = { type = "text", text = content }
    return nil
  end
  local items = json.items(content)
  if not items then return "content must be a string or a list of parts" end
  for _, raw in ipairs(items) do
    local part = json.decode(raw, RAW)
    local kind = type(part) == "table" and type(part.type) == "string" and part.type or "unknown"
    local reader = ASSISTANT[kind]
    if not reader then
      keep(source, draft, raw, kind)
    else
      local why = reader(source, draft, part, raw)
      if why then return why end
    end
  end
end

local RESULT = { type = true, tool_use_id = true, content = true, is_error = true }

-- A tool_result's content: a string stays one, a list becomes a list of parts.
local function result_content(source, draft, content)
  local kind = json.kind(content)
  if not kind or kind == "null" then return "" end
  if kind == "string" then return content end
  local list = json.array()
  for _, raw in ipairs(json.items(content) or {}) do
    local part = json.decode(raw, RAW)
    local shown = type(part) == "table" and plain_part(part)
    if shown then
      list[#list + 1] = shown
    else
      keep(source, draft, raw, type(part) == "table" and build.string(part.type) or "unknown")
    end
  end
  return #list > 0 and list or ""
end

local function result(source, part, raw)
  if type(part.tool_use_id) ~= "string" then return nil, "a tool_result needs its tool_use_id" end
  local draft = M.draft("tool")
  draft.call_id = part.tool_use_id
  draft.is_error = part.is_error == true or nil
  draft.result = result_content(source, draft, part.content)
  if build.rest(part, RESULT) then draft.kept[#draft.kept + 1] = json.raw(raw) end
  return draft
end

--- Reads a user record: results go to `results`, everything else to `draft`.
---@return string? fault
function M.user(source, draft, results, content)
  local items = items_of(draft, content)
  if not items then return "content must be a string or a list of parts" end
  for _, raw in ipairs(items) do
    local part = json.decode(raw, RAW)
    if type(part) ~= "table" then return "a part must be an object" end
    if part.type == "tool_result" then
      local made, why = result(source, part, raw)
      if not made then return why end
      results[#results + 1] = made
    else
      local shown = plain_part(part)
      if shown then
        draft.content[#draft.content + 1] = shown
      else
        keep(source, draft, raw, build.string(part.type) or "unknown")
      end
    end
  end
end

-- Raw JSON strings joined with an empty line between them.
local function join(raws)
  if #raws <= 1 then return raws[1] end
  local inner = {}
  for i, raw in ipairs(raws) do
    inner[i] = raw.raw:sub(2, -2)
  end
  return json.raw('"' .. table.concat(inner, "\\n\\n") .. '"')
end

-- A single text is a string; everything else a list of parts; nothing is null for the model
-- and an empty text for a user.
local function content_of(draft)
  if draft.result ~= nil then return draft.result end
  if draft.plain then return draft.plain end
  local n, first = #draft.content, draft.content[1]
  if n == 1 and first.type == "text" then return first.text end
  if n > 0 then return draft.content end
  return draft.role == "assistant" and json.null or ""
end

-- What the message's records say besides; left out of lean imports.
local function meta_of(draft)
  local meta = { records = #draft.records > 0 and draft.records or nil }
  if #draft.kept > 0 then meta.parts = draft.kept end
  if draft.text_after_call then meta.text_after_call = true end
  return next(meta) and meta or nil
end

--- The draft as a native message.
---@param source neap.Source
---@param draft neap.Draft
---@return table
function M.message(source, draft)
  return {
    role = draft.role,
    content = content_of(draft),
    reasoning = join(draft.thoughts),
    tool_calls = #draft.calls > 0 and draft.calls or nil,
    tool_call_id = draft.call_id,
    is_error = draft.is_error,
    ts = draft.ts,
    meta = not source.lean and meta_of(draft) or nil,
  }
end

return M
