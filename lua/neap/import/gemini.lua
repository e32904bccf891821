-- Gemini's contents as they are sent and come back: lists of contents, request bodies, logs of
-- requests with their responses. The system instruction is the first message.
-- next: gemini_cli.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local exchanges = require("neap.import.exchanges")
local look = require("neap.import.look")
local reader = require("neap.import.gemini_parts")
local schemas = require("neap.import.schemas")
local json = core.json

local M = { name = "gemini", about = "Gemini contents: lists, request bodies, logs of them" }

local BODIES = { "", "[].", "request.", "[].request.", "request.body.", "[].request.body." }

function M.detect(_, head)
  local paths = look.paths(head)
  for _, at in ipairs(BODIES) do
    if paths[at .. "contents[].parts"] or paths[at .. "contents[].parts[].text"] then return 63 end
  end
  for _, at in ipairs({ "", "[]." }) do
    if paths[at .. "role"] and paths[at .. "parts"] then return 62 end
    if paths[at .. "candidates[].content"] then return 62 end
  end
  return 0
end

local provider = { name = M.name, list = "contents" }
provider.said = { candidates = true }
provider.raw = {
  contents = true,
  candidates = true,
  tools = true,
  systemInstruction = true,
  system_instruction = true,
}

-- Contents may be a list, one content, or one text.
function provider.items(body)
  local list = body.contents
  if drafts.is_text(list) then
    return { '{"role":"user","parts":[{"text":' .. list.raw .. "}]}" }
  end
  if drafts.object(list) then return { list } end
  return json.kind(list) == "array" and drafts.items(list) or nil
end

function provider.answer(response)
  local first = drafts.items(response.candidates)[1]
  local candidate = first and drafts.object(first, { content = true })
  local content = candidate and candidate.content
  return drafts.object(content) and { content } or nil
end

function provider.is_item(value)
  return value.parts ~= nil
end

function provider.canonical(raw)
  local content = json.decode(raw)
  if not drafts.is_object(content) then return raw end
  return json.encode({ role = content.role or "user", parts = content.parts })
end

local ROLES = { user = "user", model = "assistant", ["function"] = "user", tool = "user" }
ROLES.system = "system"

local function add(state, raw, line)
  local content = json.decode(raw, { parts = true })
  if not drafts.is_object(content) then return "a content must be an object" end
  local role = ROLES[build.absent(content.role) and "user" or content.role]
  if not role then return "a content needs a role: user or model" end
  local draft, results = drafts.new(role, line), {}
  local why = reader.add(state, draft, results, content.parts)
  if why then return why end
  for _, result in ipairs(results) do
    state.drafts[#state.drafts + 1] = result
  end
  local shown = #results == 0 or #draft.content > 0 or #draft.kept > 0 or #draft.calls > 0
  if shown then state.drafts[#state.drafts + 1] = draft end
  local rest = build.rest(content, { role = true, parts = true })
  drafts.remember(shown and draft or results[1], rest)
end

-- The instruction is a content, a list of parts or a text; its role says nothing.
local function add_system(source, state, raw, line)
  if not json.is_raw(raw) or raw.raw == "null" then return end
  local draft = drafts.new("system", line)
  local object = drafts.object(raw, { parts = true })
  local given = object and object.parts or raw
  local why = reader.add(state, draft, {}, given)
  if why then return source:bad(line, "systemInstruction: " .. why) end
  state.drafts[#state.drafts + 1] = draft
end

local BODY = { contents = true, tools = true, systemInstruction = true, system_instruction = true }

local function meta_of(e, kept)
  local meta = { request = e.body and build.rest(e.body, BODY), tools = kept, earlier = e.past }
  if e.response and #e.answer == 0 then
    meta.response = json.raw(e.response_raw)
  elseif e.response then
    meta.response = build.rest(e.response, provider.said) or {}
    local candidates = json.decode(e.response.candidates)
    if candidates[2] then meta.response.candidates = e.response.candidates end
    meta.response.finishReason = candidates[1].finishReason
  end
  return meta
end

function provider.session(source, e, aside, index)
  local state = reader.new(source)
  if e.body then add_system(source, state, reader.member(e.body, "systemInstruction"), e.line) end
  for i, raw in ipairs(e.items) do
    local why = add(state, raw, e.lines[i])
    if why then source:bad(e.lines[i], why) end
  end
  for _, raw in ipairs(e.answer) do
    local why = add(state, raw, e.line)
    if why then source:bad(e.line, why) end
  end
  local tools, kept = schemas.convert(source, e.body and e.body.tools)
  return drafts.session(source, {
    form = M.name,
    index = index,
    drafts = state.drafts,
    aside = aside,
    tools = tools,
    meta = meta_of(e, kept),
  })
end

function M.read(source)
  return exchanges.read(source, provider)
end

return M
