-- Cline's session files: one JSON document with messages in Anthropic's form, the system
-- prompt beside them. A file that came with a message is its text; results that are lists of
-- plain objects are their JSON. next: inspect_eval.lua
local core = require("neap.core")
local anthropic = require("neap.import.anthropic")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local look = require("neap.import.look")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "cline", about = "Cline sessions (JSON, Anthropic's messages)" }

function M.detect(_, head)
  local paths = look.paths(head)
  local own = paths.updated_at and paths.sessionId and paths["messages[].role"]
  return own and (paths["messages[].ts"] or paths["messages[].content[].type"]) and 85 or 0
end

-- A file's block as a text, with what it says besides for meta.
local function file_block(source, block, kept)
  source:note("files shown as text")
  kept[#kept + 1] = build.rest(block, { content = true })
  return '{"type":"text","text":' .. block.content.raw .. "}"
end

-- A result's content, when it is a list of things that are no parts, as one text. The tool's
-- name, which Anthropic's form has no place for, goes to `names`.
local function result_block(source, block, names)
  local plain = false
  if type(block.tool_use_id) == "string" then names[block.tool_use_id] = block.name end
  block.name = nil
  for _, item in ipairs(drafts.items(block.content)) do
    local part = json.decode(item)
    plain = plain or not drafts.is_object(part) or type(part.type) ~= "string"
  end
  if plain then
    source:note("results shown as their JSON")
    block.content = build.one_line(block.content.raw)
  end
  return json.encode(block)
end

local BLOCK = { content = true, text = true, input = true }

-- The message with its blocks in Anthropic's form.
local function settle(source, message, raw, kept, names)
  local items = drafts.items(message.content)
  if #items == 0 then return raw end
  for i, item in ipairs(items) do
    local block = json.decode(item, BLOCK)
    items[i] = item.raw
    if drafts.is_object(block) then
      if block.type == "file" and drafts.is_text(block.content) then
        items[i] = file_block(source, block, kept)
      elseif block.type == "tool_result" then
        items[i] = result_block(source, block, names)
      end
    end
  end
  message.content = json.raw("[" .. table.concat(items, ",") .. "]")
  return json.encode(message)
end

local function read_message(source, list, message, raw, line)
  local kept, names, before = json.array(), {}, #list
  local settled = settle(source, message, raw, kept, names)
  local why = anthropic.add(source, list, settled, line)
  if why then return why end
  for i = before + 1, #list do
    local name = names[list[i].call_id or 0]
    if name ~= nil then drafts.remember(list[i], { name = name }) end
  end
  if #kept > 0 then drafts.remember(list[#list], { files = kept }) end
end

function M.read(source)
  local line_of = source:lines()
  local value = steps.document(source, { messages = true, system_prompt = true })
  local list = {}
  anthropic.add_system(source, list, value.system_prompt, 1)
  local keys = { content = true }
  steps.each(source, value.messages, "messages", keys, line_of, function(message, raw, line)
    return read_message(source, list, message, raw, line)
  end)
  return {
    drafts.session(source, {
      form = M.name,
      drafts = list,
      meta = build.rest(value, { messages = true, system_prompt = true }),
    }),
  }
end

return M
