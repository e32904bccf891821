-- Items of OpenAI's Responses (Codex writes them too) as messages. Reasoning, texts and calls
-- that follow each other are one response; a result, another role or the caller ends it. A
-- tool that takes free text gets it as its argument `input`. next: responses.lua, codex.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local json = core.json

local M = {}

---@class neap.Items
---@field source neap.Source
---@field drafts neap.Draft[]
---@field aside table
---@field open neap.Draft? the response that is being gathered
---@field record string?   the record that an item comes in, when it is more than the item

---@param source neap.Source
---@return neap.Items
function M.new(source)
  return { source = source, drafts = {}, aside = json.array() }
end

--- What follows belongs to another response.
function M.close(items)
  items.open = nil
end

local RAW = {
  content = true,
  arguments = true,
  input = true,
  output = true,
  action = true,
  summary = true,
  tools = true,
  encrypted_content = true,
  result = true,
  text = true,
  refusal = true,
  file_data = true,
  ["*"] = true,
  image_url = false,
  annotations = false,
  logprobs = false,
}

-- The response that an item of the model belongs to.
local function response(items, line, ts)
  local draft = items.open
  if draft then
    items.source.counts.merged = items.source.counts.merged + 1
    return draft
  end
  draft = drafts.new("assistant", line, ts)
  items.drafts[#items.drafts + 1], items.open = draft, draft
  return draft
end

local TEXTS = { input_text = "text", output_text = "text", text = "text", refusal = "refusal" }

local MEDIA = { input_image = true, input_file = true }

local function image(draft, part)
  local url = part.image_url
  if type(url) == "table" then url = url.url end
  if type(url) ~= "string" then return false end
  local shown = { url = url, detail = build.string(part.detail) }
  draft.content[#draft.content + 1] = { type = "image_url", image_url = shown }
  return true
end

local function file(draft, part)
  local f = { file_data = part.file_data, filename = part.filename, file_id = part.file_id }
  if next(f) == nil then return false end
  draft.content[#draft.content + 1] = { type = "file", file = f }
  return true
end

local FURNITURE = { type = true, text = true, refusal = true, annotations = true, logprobs = true }

-- Members of a text part that say something: an empty list of annotations does not.
local function says_more(part)
  if build.rest(part, FURNITURE) then return true end
  for _, list in ipairs({ part.annotations or false, part.logprobs or false }) do
    if json.is_array(list) and #list > 0 then return true end
  end
  return false
end

local function add_part(source, draft, raw)
  local part = json.decode(raw, RAW)
  if not drafts.is_object(part) then return "a part must be an object" end
  local place = TEXTS[part.type]
  if place and drafts.is_text(part[place]) then
    drafts.text(draft, part[place])
    if says_more(part) then draft.kept[#draft.kept + 1] = json.raw(raw) end
  elseif place then
    return ("a part of type %s needs its text"):format(part.type)
  elseif part.type == "input_image" and image(draft, part) then
    return nil
  elseif part.type == "input_file" and file(draft, part) then
    return nil
  else
    drafts.keep(source, draft, raw, build.string(part.type) or "unknown")
  end
end

-- A string, or a list of parts.
local function add_content(source, draft, content)
  if drafts.is_text(content) then
    drafts.text(draft, content)
    return nil
  end
  if json.kind(content) ~= "array" then
    return "content must be a string or a list of parts"
  end
  for _, raw in ipairs(drafts.items(content)) do
    local why = add_part(source, draft, raw)
    if why then return why end
  end
end

local ROLES = { user = true, system = true, developer = true, assistant = true }

local READ = {}

function READ.message(items, item, _, line, ts)
  if not ROLES[item.role] then
    return "a message needs a role: user, assistant, system or developer"
  end
  local fresh = drafts.new(item.role, line, ts)
  local why = add_content(items.source, fresh, item.content)
  if why then return why end
  local rest = build.rest(item, { type = true, role = true, content = true })
  if item.role ~= "assistant" then
    M.close(items)
    items.drafts[#items.drafts + 1] = fresh
    return drafts.remember(fresh, rest)
  end
  local draft = response(items, line, ts)
  for _, part in ipairs(fresh.content) do
    if #draft.calls > 0 then draft.text_after_call = true end
    draft.content[#draft.content + 1] = part
  end
  for _, raw in ipairs(fresh.kept) do
    draft.kept[#draft.kept + 1] = raw
  end
  drafts.remember(draft, rest)
end

-- The whole item stays in meta: what a provider would want back is its bytes.
function READ.reasoning(items, item, raw, line, ts)
  local draft = response(items, line, ts)
  local told = drafts.items(item.content)
  if #told == 0 then told = drafts.items(item.summary) end
  for _, text in ipairs(told) do
    local part = json.decode(text, RAW)
    if drafts.is_object(part) and drafts.is_text(part.text) then
      draft.thoughts[#draft.thoughts + 1] = part.text
    end
  end
  draft.kept[#draft.kept + 1] = json.raw(raw)
end

local CALL = { name = true, arguments = true, call_id = true, input = true, action = true }

-- What an item says besides; its type, when that is not the plain one.
local function rest_of(item, known, plain)
  local rest = build.rest(item, known)
  if rest and rest.type == plain then rest.type = nil end
  return rest and next(rest) and rest
end

local function read_call(items, item, raw, line, ts, name, arguments)
  if type(item.call_id) ~= "string" then return "a call needs its call_id" end
  if type(name) ~= "string" then return "a call needs its tool's name" end
  local draft = response(items, line, ts)
  drafts.remember(draft, rest_of(item, CALL, "function_call"))
  return drafts.call(items.source, draft, item.call_id, name, arguments, raw)
end

function READ.function_call(items, item, raw, line, ts)
  return read_call(items, item, raw, line, ts, item.name, drafts.arguments(item.arguments))
end

function READ.custom_tool_call(items, item, raw, line, ts)
  local free = drafts.is_text(item.input)
  local arguments = free and '{"input":' .. item.input.raw .. "}" or drafts.arguments(item.input)
  return read_call(items, item, raw, line, ts, item.name, arguments)
end

local RESULT = { call_id = true, output = true, tools = true, result = true }

-- A result's content: text, a list of parts, or else the JSON it is.
local function add_output(source, draft, output)
  if drafts.is_text(output) then
    draft.result = output
    return nil
  end
  local list = json.kind(output) == "array"
  local first = list and json.decode(drafts.items(output)[1] or "null")
  if drafts.is_object(first) and (TEXTS[first.type] or MEDIA[first.type]) then
    return add_content(source, draft, output)
  end
  local object = drafts.object(output, RAW)
  if object and object.success == false then draft.is_error = true end
  if object and drafts.is_text(object.content) then
    draft.result = object.content
    drafts.remember(draft, build.rest(object, { content = true }))
  else
    draft.result = json.is_raw(output) and build.one_line(output.raw) or ""
  end
end

local function read_result(items, item, _, line, ts)
  if type(item.call_id) ~= "string" then return "a result needs its call_id" end
  M.close(items)
  local draft = drafts.result(item.call_id, nil, line, ts)
  local output = json.is_raw(item.output) and item.output or item.tools or item.result
  local why = add_output(items.source, draft, output)
  if why then return why end
  if item.status == "failed" or item.status == "incomplete" then draft.is_error = true end
  drafts.remember(draft, rest_of(item, RESULT, "function_call_output"))
  items.drafts[#items.drafts + 1] = draft
end

-- Kept aside as the whole record that the item came in.
local function set_aside(items, kind, raw, line)
  if items.record then kind, raw = "response_item/" .. kind, items.record end
  items.source:aside(items.aside, kind, line, raw)
end

-- Other items of the model: a call and its result when they are paired by a call_id; what the
-- provider ran by itself stays in the response's meta.
local function read_other(items, item, raw, line, ts, kind)
  if kind:find("_output$") and type(item.call_id) == "string" then
    return read_result(items, item, raw, line, ts)
  end
  local name = kind:match("^(.*)_call$")
  if not name then return set_aside(items, kind, raw, line) end
  if type(item.call_id) == "string" then
    local given = item.arguments or item.action or item.input
    return read_call(items, item, raw, line, ts, name, drafts.arguments(given))
  end
  drafts.keep(items.source, response(items, line, ts), raw, kind)
end

--- Adds one item; what is wrong with it, or nil.
---@param items neap.Items
---@param raw string
---@param line integer
---@param ts any
---@return string? fault
function M.add(items, raw, line, ts)
  local item = json.decode(raw, RAW)
  if not drafts.is_object(item) then return "an item must be an object" end
  local kind = item.type
  if kind == nil and item.role ~= nil then kind = "message" end
  if type(kind) ~= "string" then return "an item needs a type" end
  local reader = READ[kind] or (kind == "function_call_output" and read_result)
  if reader then return reader(items, item, raw, line, ts) end
  return read_other(items, item, raw, line, ts, kind)
end

return M
