-- OpenAI's Responses as they are sent and come back: lists of items, request bodies, logs of
-- requests with their responses. The instructions are the system message. next: anthropic.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local exchanges = require("neap.import.exchanges")
local look = require("neap.import.look")
local reader = require("neap.import.responses_items")
local schemas = require("neap.import.schemas")
local json = core.json

local M = { name = "responses", about = "OpenAI Responses: items, request bodies, logs of them" }

local ITEMS = { "function_call", "function_call_output", "reasoning", "custom_tool_call" }
local TEXTS = { "input_text", "output_text", "input_image" }
local PLACES = { "", "[].", "input[].", "output[].", "request.input[].", "[].request.input[].",
  "request.body.input[].", "[].input[].", "response.output[]." }

function M.detect(_, head)
  local paths = look.paths(head)
  if paths.payload or paths["contents"] then return 0 end
  for _, place in ipairs(PLACES) do
    if look.any(paths, place .. "type", ITEMS) then return 63 end
    if look.any(paths, place .. "content[].type", TEXTS) then return 63 end
  end
  for _, place in ipairs({ "", "[].", "request.", "[].request.", "request.body." }) do
    local sent = paths[place .. "input"] or paths[place .. "instructions"]
    if sent and paths[place .. "model"] and not paths[place .. "messages"] then return 55 end
  end
  return 0
end

local provider = { name = M.name, list = "input" }
provider.said = { output = true }
provider.raw = { input = true, output = true, tools = true, instructions = true }

function provider.items(body)
  local input = body.input
  if drafts.is_text(input) then return { '{"role":"user","content":' .. input.raw .. "}" } end
  if json.kind(input) == "array" then return drafts.items(input) end
  return input == nil and {} or nil
end

function provider.answer(response)
  return drafts.items(response.output)
end

local ROLES = { user = 1, assistant = 1, system = 1, developer = 1 }

function provider.is_item(value)
  if value.request ~= nil or value.input ~= nil and value.model ~= nil then return false end
  if type(value.role) == "string" then return ROLES[value.role] ~= nil end
  return type(value.type) == "string" and value.object == nil
end

local SAME = { "role", "call_id", "name", "arguments", "input", "output", "summary" }

-- Ids and states come and go between a response and the request that repeats it.
function provider.canonical(raw)
  local item = json.decode(raw)
  if not drafts.is_object(item) then return raw end
  local kept = { type = item.type or "message", text = json.array() }
  for _, key in ipairs(SAME) do
    kept[key] = item[key]
  end
  local content = json.is_array(item.content) and item.content or { item.content }
  for i, part in ipairs(content) do
    kept.text[i] = drafts.is_object(part) and (part.text or part) or part
  end
  return json.encode(kept)
end

local BODY = { input = true, tools = true, instructions = true }

local function meta_of(e, kept)
  local meta = { request = e.body and build.rest(e.body, BODY), tools = kept, earlier = e.past }
  meta.response = e.response and build.rest(e.response, provider.said)
  return meta
end

local function add_all(source, items, list, lines, line)
  for i, raw in ipairs(list) do
    local why = reader.add(items, raw, lines[i] or line)
    if why then source:bad(lines[i] or line, why) end
  end
end

function provider.session(source, e, aside, index)
  local items = reader.new(source)
  items.aside = aside
  local told = e.body and e.body.instructions
  if drafts.is_text(told) then
    local draft = drafts.new("system", e.line)
    drafts.text(draft, told)
    items.drafts[1] = draft
  end
  add_all(source, items, e.items, e.lines, e.line)
  reader.close(items)
  add_all(source, items, e.answer, {}, e.line)
  local tools, kept = schemas.convert(source, e.body and e.body.tools)
  return drafts.session(source, {
    form = M.name,
    index = index,
    drafts = items.drafts,
    aside = aside,
    tools = tools,
    meta = meta_of(e, kept),
  })
end

function M.read(source)
  return exchanges.read(source, provider)
end

return M
