-- Gemini CLI's session files: one JSON document whose messages hold a response with its
-- thoughts, its calls and their results. Notes of the program (info, errors, warnings) are
-- kept aside. next: pi.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local look = require("neap.import.look")
local reader = require("neap.import.gemini_parts")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "gemini_cli", about = "Gemini CLI sessions (JSON)" }

function M.detect(_, head)
  local paths = look.paths(head)
  return paths.projectHash and paths.messages and paths.sessionId and 85 or 0
end

local RAW = { content = true, toolCalls = true, subject = true, description = true }
RAW.args, RAW.result, RAW.response, RAW.resultDisplay, RAW.output = true, true, true, true, true
RAW.thoughts, RAW.displayContent = true, true

-- Each thought is a heading and a text.
local function add_thoughts(draft, thoughts)
  for _, raw in ipairs(drafts.items(thoughts)) do
    local thought = json.decode(raw, RAW)
    if drafts.is_object(thought) then
      for _, text in ipairs({ thought.subject or false, thought.description or false }) do
        if drafts.is_text(text) then draft.thoughts[#draft.thoughts + 1] = text end
      end
    end
  end
end

local FAILED = { error = true, cancelled = true }

-- One result of a call: the text the model was given, and what else came with it.
local function read_result(state, call, line)
  local draft = drafts.result(call.id, nil, line, call.timestamp)
  local parts = drafts.items(call.result)
  if drafts.is_text(call.result) then drafts.text(draft, call.result) end
  if #parts == 0 and drafts.object(call.result) then parts = { call.result } end
  for _, raw in ipairs(parts) do
    local part = drafts.object(raw, RAW)
    local response = part and reader.member(part, "functionResponse")
    local made = response and reader.result(state, response, line, call.timestamp)
    if made then
      if draft.result ~= nil then drafts.keep(state.source, draft, raw, "further result") end
      draft.result = draft.result or made.result
      draft.is_error = draft.is_error or made.is_error
      drafts.remember(draft, made.records[1])
    else
      local why = reader.add(state, draft, {}, raw)
      if why then return why end
    end
  end
  if draft.result ~= nil and #draft.content > 0 then
    table.insert(draft.content, 1, { type = "text", text = draft.result })
    draft.result = nil
  end
  if FAILED[call.status] then draft.is_error = true end
  state.drafts[#state.drafts + 1] = draft
end

local CALL = { id = true, name = true, args = true, result = true, timestamp = true }

-- A call that is still under way has no result.
local function has_result(call)
  return json.is_raw(call.result) and call.result.raw ~= "null" or FAILED[call.status]
end

local function add_calls(state, draft, list, line)
  local done, fault = {}, drafts.list_fault(list, "toolCalls")
  if fault then return fault end
  for _, raw in ipairs(drafts.items(list)) do
    local call = json.decode(raw, RAW)
    if not drafts.is_object(call) then return "a call must be an object" end
    local arguments = drafts.arguments(call.args)
    local why = drafts.call(state.source, draft, call.id, call.name, arguments, raw)
    if why then return why end
    drafts.remember(draft, build.rest(call, CALL))
    if has_result(call) then done[#done + 1] = call end
  end
  for _, call in ipairs(done) do
    local why = read_result(state, call, line)
    if why then return why end
  end
end

local MODEL = { type = true, content = true, toolCalls = true, timestamp = true }

local function read_message(state, m, raw, line)
  if type(m.type) ~= "string" then return "a message needs its type" end
  if m.type ~= "user" and m.type ~= "gemini" then
    return state.source:aside(state.aside, m.type, line, raw)
  end
  local role = m.type == "user" and "user" or "assistant"
  local draft, results = drafts.new(role, line, m.timestamp), {}
  if m.content ~= nil and m.content.raw ~= '""' then
    local why = reader.add(state, draft, results, m.content)
    if why then return why end
  elseif role == "user" then
    if m.content == nil then return "a message needs its content" end
    drafts.text(draft, m.content)
  end
  for _, result in ipairs(results) do
    state.drafts[#state.drafts + 1] = result
  end
  if #results == 0 or #draft.content > 0 then state.drafts[#state.drafts + 1] = draft end
  add_thoughts(draft, m.thoughts)
  drafts.remember(draft, build.rest(m, MODEL))
  return add_calls(state, draft, m.toolCalls, line)
end

function M.read(source)
  return steps.conversation(source, M.name, reader.new(source), RAW, read_message)
end

return M
