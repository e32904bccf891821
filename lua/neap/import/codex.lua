-- Codex's rollouts: a JSON record a line, {timestamp, type, payload}. A response_item is an
-- item of the Responses form; a token count that names tokens ends a response. The first
-- session_meta's instructions are the system message. Events that mirror items, turn contexts
-- and compactions are kept aside: the history goes on whole. next: copilot_cli.lua
local core = require("neap.core")
local build = require("neap.import.build")
local drafts = require("neap.import.drafts")
local look = require("neap.import.look")
local reader = require("neap.import.responses_items")
local json = core.json

local M = { name = "codex", about = "Codex rollouts (JSONL)" }

local KINDS = { "session_meta", "response_item", "event_msg", "turn_context", "compacted" }

function M.detect(_, head)
  local paths = look.paths(head)
  return paths.payload and look.any(paths, "type", KINDS) and 85 or 0
end

local INFO = { ["*"] = true, base_instructions = true, instructions = true, info = false }

-- The system message, when the record says what the model was told.
local function read_meta(items, payload, line, ts)
  local told = payload.base_instructions
  local text = json.is_raw(told) and drafts.object(told, { text = true })
  text = text and text.text or payload.instructions
  if not drafts.is_text(text) or #items.drafts > 0 then return false end
  local draft = drafts.new("system", line, ts)
  drafts.text(draft, text)
  drafts.remember(draft, build.rest(payload, INFO))
  items.drafts[1] = draft
  return true
end

local function kind_of(record, payload)
  if type(payload.type) == "string" then return record.type .. "/" .. payload.type end
  return record.type
end

local RECORD = { ["*"] = true, payload = true }

local function read_record(items, record, raw, line)
  local source = items.source
  if not drafts.is_object(record) or type(record.type) ~= "string" then
    return source:bad(line, "a record must be an object with a type")
  end
  if record.type == "response_item" and json.kind(record.payload) == "object" then
    items.record = raw
    local why = reader.add(items, record.payload, line, record.timestamp)
    return why and source:bad(line, why)
  end
  local payload = drafts.object(record.payload, INFO)
  if not payload then return source:bad(line, "a record needs its payload, an object") end
  if record.type == "session_meta" and read_meta(items, payload, line, record.timestamp) then
    return
  end
  if payload.type == "token_count" and drafts.is_object(payload.info) then reader.close(items) end
  source:aside(items.aside, kind_of(record, payload), line, raw)
end

function M.read(source)
  local items = reader.new(source)
  source:records(RECORD, function(record, raw, line)
    read_record(items, record, raw, line)
  end)
  return { drafts.session(source, { form = M.name, drafts = items.drafts, aside = items.aside }) }
end

return M
