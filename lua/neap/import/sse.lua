-- Answers that came as a stream of events, put together as the one response they are:
-- OpenAI chat and Responses, Anthropic, Gemini. Texts are joined as their raw JSON
-- strings, so that no escape changes. next: chat_log.lua
local core = require("neap.core")
local drafts = require("neap.import.drafts")
local json = core.json

local M = {}

-- The data of each event, as JSON text.
local function data_of(text)
  local list = {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    local data = line:match("^data:%s*(.*)$")
    if data and data:find("^{") then list[#list + 1] = data end
  end
  return list
end

local function add(parts, raw)
  if drafts.is_text(raw) then parts[#parts + 1] = raw.raw:sub(2, -2) end
end

local function text_of(parts)
  return json.raw('"' .. table.concat(parts) .. '"')
end

local READ = {}

local DELTA = { content = true, arguments = true, reasoning_content = true }

local function chat_calls(state, deltas)
  for _, delta in ipairs(json.is_array(deltas) and deltas or {}) do
    if drafts.is_object(delta) then
      local index = math.type(delta.index) == "integer" and delta.index or 0
      local call = state.calls[index]
      if not call then
        call = { arguments = {} }
        state.calls[index], state.order[#state.order + 1] = call, call
      end
      local f = drafts.is_object(delta["function"]) and delta["function"] or {}
      call.id = type(delta.id) == "string" and delta.id or call.id
      call.name = type(f.name) == "string" and f.name or call.name
      add(call.arguments, f.arguments)
    end
  end
end

function READ.openai(list)
  local state, texts, thoughts = { calls = {}, order = {} }, {}, {}
  local response = { object = "chat.completion" }
  for _, raw in ipairs(list) do
    local chunk = json.decode(raw, DELTA)
    if not drafts.is_object(chunk) then return nil end
    for _, key in ipairs({ "id", "model", "created", "usage" }) do
      if chunk[key] ~= nil and chunk[key] ~= json.null then response[key] = chunk[key] end
    end
    local choice = json.is_array(chunk.choices) and chunk.choices[1]
    local delta = drafts.is_object(choice) and choice.delta
    if drafts.is_object(delta) then
      add(texts, delta.content)
      add(thoughts, delta.reasoning_content)
      chat_calls(state, delta.tool_calls)
    end
  end
  local message = { role = "assistant" }
  message.content = #texts > 0 and text_of(texts) or json.null
  if #thoughts > 0 then message.reasoning = text_of(thoughts) end
  for i, call in ipairs(state.order) do
    message.tool_calls = message.tool_calls or json.array()
    message.tool_calls[i] = {
      id = call.id,
      type = "function",
      ["function"] = { name = call.name, arguments = text_of(call.arguments) },
    }
  end
  response.choices = json.array({ { index = 0, message = message } })
  return response
end

local ENDS = {
  ["response.completed"] = true,
  ["response.incomplete"] = true,
  ["response.failed"] = true,
}

function READ.responses(list)
  for i = #list, 1, -1 do
    local event = json.decode(list[i], { response = true })
    if drafts.is_object(event) and ENDS[event.type] and json.is_raw(event.response) then
      return event.response
    end
  end
end

local BLOCK = { text = true, thinking = true, partial_json = true, signature = true }

local function block_of(block)
  for _, key in ipairs({ "text", "thinking", "signature" }) do
    if block.parts[key] then block.value[key] = text_of(block.parts[key]) end
  end
  local input = block.parts.partial_json
  if input and #input > 0 then
    local text = json.decode('"' .. table.concat(input) .. '"')
    local whole = type(text) == "string" and json.decode(text) ~= nil
    block.value.input = whole and json.raw(text) or json.raw("{}")
  end
  return block.value
end

local function take_block(blocks, order, event)
  local index = math.type(event.index) == "integer" and event.index or 0
  if drafts.is_object(event.content_block) then
    local block = { value = event.content_block, parts = {} }
    blocks[index], order[#order + 1] = block, block
    for key in pairs(BLOCK) do
      if drafts.is_text(block.value[key]) then
        block.parts[key] = {}
        add(block.parts[key], block.value[key])
      end
    end
  end
  local block, delta = blocks[index], drafts.is_object(event.delta) and event.delta or {}
  for key in pairs(block and BLOCK or {}) do
    if drafts.is_text(delta[key]) then
      block.parts[key] = block.parts[key] or {}
      add(block.parts[key], delta[key])
    end
  end
end

function READ.anthropic(list)
  local response, blocks, order = nil, {}, {}
  for _, raw in ipairs(list) do
    local event = json.decode(raw, BLOCK)
    if not drafts.is_object(event) then return nil end
    if event.type == "message_start" and drafts.is_object(event.message) then
      response = event.message
    elseif event.type == "content_block_start" or event.type == "content_block_delta" then
      take_block(blocks, order, event)
    elseif event.type == "message_delta" and drafts.is_object(event.delta) then
      if response then response.stop_reason = event.delta.stop_reason end
    end
  end
  if not response then return nil end
  response.content = json.array()
  for i, block in ipairs(order) do
    response.content[i] = block_of(block)
  end
  return response
end

function READ.gemini(list)
  local response, parts = nil, json.array()
  for _, raw in ipairs(list) do
    local chunk = json.decode(raw, { parts = true })
    local candidate = drafts.is_object(chunk)
      and json.is_array(chunk.candidates)
      and chunk.candidates[1]
    local content = drafts.is_object(candidate) and candidate.content
    if drafts.is_object(content) then
      for _, part in ipairs(drafts.items(content.parts)) do
        parts[#parts + 1] = json.raw(part)
      end
    end
    response = drafts.is_object(chunk) and chunk or response
  end
  if not response then return nil end
  local content = { role = "model", parts = parts }
  response.candidates = json.array({ { content = content, index = 0 } })
  return response
end

--- The response that a stream of `provider` holds, as JSON on one line; nil when it is
--- none.
---@param provider string
---@param text string
---@return string?
function M.response(provider, text)
  local list = data_of(text)
  local response = #list > 0 and READ[provider](list)
  return response and json.encode(response) or nil
end

return M
