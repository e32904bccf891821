-- Parts of Gemini's contents as messages. Calls there need no id: one that has none gets
-- call_N, and a result without one answers the earliest open call of its name. A part with a
-- signature stays whole in meta beside what it became. next: gemini.lua, gemini_cli.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local json = core.json

local M = {}

---@param source neap.Source
function M.new(source)
  return { source = source, drafts = {}, serial = 0, waiting = {} }
end

local RAW = {
  text = true,
  args = true,
  response = true,
  data = true,
  thoughtSignature = true,
  thought_signature = true,
}

-- The member of a part in either of its spellings.
local function member(part, camel)
  local found = part[camel]
  if found ~= nil then return found end
  return part[(camel:gsub("%u", function(c)
    return "_" .. c:lower()
  end))]
end

M.member = member

local function id_for_call(state, call)
  if type(call.id) == "string" then return call.id end
  state.serial = state.serial + 1
  state.source:note("calls without an id")
  local id = ("call_%d"):format(state.serial)
  local queue = state.waiting[call.name] or { first = 1 }
  queue[#queue + 1] = id
  state.waiting[call.name] = queue
  return id
end

local function id_for_result(state, result)
  if type(result.id) == "string" then return result.id end
  local queue = state.waiting[result.name]
  local id = queue and queue[queue.first]
  if id then queue.first = queue.first + 1 end
  return id or "call_0"
end

local OUTPUTS = { output = true, result = true, content = true, error = true }

-- The one text that a response holds, or the JSON it is.
local function response_text(draft, raw)
  local object = drafts.object(raw, OUTPUTS)
  local key, value = next(object or {})
  if key and OUTPUTS[key] and next(object, key) == nil and drafts.is_text(value) then
    draft.result = value
    draft.is_error = key == "error" or nil
    drafts.remember(draft, { member = key })
  else
    draft.result = json.is_raw(raw) and build.one_line(raw.raw) or ""
  end
end

--- The result that a functionResponse is.
---@return neap.Draft? draft, string? fault
function M.result(state, response, line, ts)
  if not drafts.is_object(response) or type(response.name) ~= "string" then
    return nil, "a functionResponse needs its name"
  end
  local draft = drafts.result(id_for_result(state, response), nil, line, ts)
  response_text(draft, response.response)
  local known = { id = true, name = true, response = true }
  drafts.remember(draft, build.rest(response, known))
  return draft
end

local function add_call(state, draft, call, raw)
  if not drafts.is_object(call) or type(call.name) ~= "string" then
    return "a functionCall needs its name"
  end
  local id = id_for_call(state, call)
  return drafts.call(state.source, draft, id, call.name, drafts.arguments(call.args), raw)
end

local function add_media(draft, part)
  local inline, file = member(part, "inlineData"), member(part, "fileData")
  if drafts.is_object(inline) and drafts.is_text(inline.data) then
    local kind = member(inline, "mimeType")
    drafts.media(draft, kind, build.data_url(kind, inline.data), inline.displayName)
    return true
  end
  local uri = drafts.is_object(file) and build.string(member(file, "fileUri"))
  local kind = uri and build.string(member(file, "mimeType")) or ""
  if uri and kind:find("^image/") then
    drafts.media(draft, kind, uri)
    return true
  end
  return false
end

-- A text is the model's thought or something said.
local function add_text(draft, part)
  if part.thought == true then
    draft.thoughts[#draft.thoughts + 1] = part.text
  else
    drafts.text(draft, part.text)
  end
end

local FURNITURE = { thought = true, thoughtSignature = true, thought_signature = true }

-- The first member, in order, that says what a part is.
local function kind_of(part)
  local names = {}
  for name in pairs(build.rest(part, FURNITURE) or {}) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names[1] or "empty"
end

local function add_part(state, draft, results, raw)
  local part = json.decode(raw, RAW)
  if not drafts.is_object(part) then return "a part must be an object" end
  local response = member(part, "functionResponse")
  if response ~= nil then
    local made, why = M.result(state, response, draft.line, draft.ts)
    results[#results + 1] = made
    return why
  end
  local call, why = member(part, "functionCall"), nil
  if call ~= nil then
    why = add_call(state, draft, call, raw)
  elseif part.text ~= nil then
    if not drafts.is_text(part.text) then return "a text part needs its text" end
    add_text(draft, part)
  elseif not add_media(draft, part) then
    drafts.keep(state.source, draft, raw, kind_of(part))
    return nil
  end
  if member(part, "thoughtSignature") then draft.kept[#draft.kept + 1] = json.raw(raw) end
  return why
end

--- Adds parts, a list or one text: results go to `results`, everything else to `draft`.
---@return string? fault
function M.add(state, draft, results, content)
  if drafts.is_text(content) then
    drafts.text(draft, content)
    return nil
  end
  local kind = json.kind(content)
  if not kind then return "parts are missing: a list is expected" end
  if kind == "object" then return add_part(state, draft, results, content) end
  if kind ~= "array" then return "parts must be a list" end
  for _, raw in ipairs(drafts.items(content)) do
    local why
    if drafts.is_text(raw) then
      drafts.text(draft, raw)
    else
      why = add_part(state, draft, results, raw)
    end
    if why then return why end
  end
end

return M
