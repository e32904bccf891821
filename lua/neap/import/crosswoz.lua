-- CrossWOZ dialogues: two people, one in the system's part, which is the assistant here.
-- One session for each dialogue of the file, in its order. Acts and states stay in the
-- messages' meta. next: vcr.lua
local core = require("neap.core")
local build = require("neap.import.build")
local look = require("neap.import.look")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "crosswoz", about = "CrossWOZ dialogues" }

function M.detect(_, head)
  if not head:find('"dialog_act"%s*:') then return 0 end
  for path in pairs(look.paths(head)) do
    if path:find("messages[].dialog_act", 1, true) then return 90 end
  end
  return 0
end

local ROLES = { usr = "user", sys = "assistant" }
local RAW = { content = true, dialog_act = true, user_state = true, sys_state = true }
local KNOWN = { content = true, role = true }

local function read_dialogue(source, value, id, index, line_of)
  local session = build.session(source, M.name, index)
  steps.each(source, value.messages, "messages", RAW, line_of, function(message, _, line)
    local role = ROLES[message.role]
    if not role then return "a message needs a role: usr or sys" end
    local content, why = steps.content(message.content)
    if why or not content then return why or "a message needs its content" end
    local meta = steps.rest(source, message, KNOWN)
    session:add({ role = role, content = content, meta = meta }, nil, line)
  end)
  local rest = steps.rest(source, value, { messages = true })
  if rest then rest.dialogue = id end
  steps.header(source, session, rest)
  return session:finish()
end

-- Dialogues by their ids, in the order of the file.
local function in_order(source, document)
  local order, placed = {}, {}
  for key in source.text:gmatch('"([^"\\]*)"%s*:%s*{') do
    if document[key] ~= nil and not placed[key] then
      placed[key], order[#order + 1] = true, key
    end
  end
  return order
end

function M.read(source)
  local document = source:document({ messages = true })
  if steps.is_object(document) and json.is_raw(document.messages) then
    return { read_dialogue(source, document, nil, 1, source:lines()) }
  end
  local keys = {}
  if json.is_array(document) then
    for i in ipairs(document) do
      keys[i] = i
    end
  elseif steps.is_object(document) then
    keys = in_order(source, document)
  end
  local line_of, sessions = source:lines(), {}
  for _, key in ipairs(keys) do
    local value = document[key]
    if not steps.is_object(value) then
      source:bad(1, "a dialogue must be an object")
    else
      local at = #sessions + 1
      sessions[at] = read_dialogue(source, value, tostring(key), at, line_of)
    end
  end
  return sessions
end

return M
