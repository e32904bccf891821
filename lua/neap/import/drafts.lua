-- Messages in the making, shared by the importers that gather a message from several records:
-- texts, pictures, calls, results and the session they end in. Texts pass as their raw JSON
-- strings, so that no escape changes. next: schemas.lua, exchanges.lua
local core = require("neap.core")
local build = require("neap.import.build")
local parts = require("neap.import.claude_parts")
local json = core.json

local M = { new = parts.draft }

--- A raw JSON string?
---@param value any
---@return boolean
function M.is_text(value)
  return json.kind(value) == "string"
end

--- An object, neither a list nor a raw slice?
---@param value any
---@return boolean
function M.is_object(value)
  return type(value) == "table" and not json.is_array(value) and not json.is_raw(value)
end

--- Decodes a raw slice that must be an object; nil for anything else.
---@param raw any
---@param raw_keys table<string, boolean>?
---@return table?
function M.object(raw, raw_keys)
  if json.kind(raw) ~= "object" then return nil end
  return (json.decode(raw, raw_keys))
end

--- The raw items of a list; none for anything but a list.
---@param raw any
---@return userdata[]
function M.items(raw)
  return json.kind(raw) == "array" and json.items(raw) or {}
end

--- Why a member that should be a list is none; nil for a list and for nothing.
---@param raw any
---@param what string
---@return string?
function M.list_fault(raw, what)
  local kind = json.kind(raw)
  if raw == nil or kind == "array" or kind == "null" then return nil end
  return what .. " must be a list"
end

--- The text a raw slice is as arguments: the text of a string, the bytes of anything else.
---@param raw any
---@return any
function M.arguments(raw)
  local kind = json.kind(raw)
  if not kind or kind == "null" then return "{}" end
  return kind == "string" and raw or build.one_line(raw.raw)
end

--- Text in a message; `raw` is a raw JSON string.
function M.text(draft, raw)
  if #draft.calls > 0 then draft.text_after_call = true end
  draft.content[#draft.content + 1] = { type = "text", text = raw }
end

--- A picture, or a file that is none, as a URL or as data of a media type.
function M.media(draft, media_type, url, name)
  local kind = build.string(media_type) or ""
  local part = { type = "image_url", image_url = { url = url } }
  if kind:sub(1, 6) ~= "image/" and not url:find("^data:image/") then
    part = { type = "file", file = { file_data = url, filename = build.string(name) } }
  end
  draft.content[#draft.content + 1] = part
end

--- A part that has no form here stays whole in the message's meta.
function M.keep(source, draft, raw, kind)
  source:note("parts kept in meta: " .. kind)
  draft.kept[#draft.kept + 1] = json.raw(raw)
end

--- Takes back what a record added that turned out to be bad; the fault, for its caller.
---@param list neap.Draft[]
---@param n integer how many there were before
---@param why string?
---@return string? why
function M.undo(list, n, why)
  for i = why and #list or 0, n + 1, -1 do
    list[i] = nil
  end
  return why
end

--- What a record says besides its message.
function M.remember(draft, rest)
  if rest then draft.records[#draft.records + 1] = rest end
end

--- A call; one that repeats an id of the same message is kept in meta.
---@return string? fault
function M.call(source, draft, id, name, arguments, raw)
  if type(id) ~= "string" or type(name) ~= "string" then
    return "a call needs its id and its tool's name"
  end
  if draft.call_ids[id] then
    M.keep(source, draft, raw, "repeated call")
    return nil
  end
  draft.call_ids[id] = true
  draft.calls[#draft.calls + 1] = build.call(id, name, arguments)
end

--- The result of a call. Its content is what `draft.content` gathers, or `result`.
---@param id string
---@param result any
---@param line integer
---@param ts any
function M.result(id, result, line, ts)
  local draft = M.new("tool", line, ts)
  draft.call_id, draft.result = id, result
  return draft
end

-- Parts of a result in the way a message shows them: one text as a string.
local function settle(draft)
  if draft.role ~= "tool" or draft.result ~= nil then return end
  local n, first = #draft.content, draft.content[1]
  draft.result = n == 0 and "" or draft.content
  if n == 1 and first.type == "text" then draft.result = first.text end
end

---@class neap.Gathered
---@field form string
---@field index integer?
---@field drafts neap.Draft[]
---@field meta table?
---@field aside table? records kept aside
---@field tools string?

--- Appends a draft to a session as a message: nothing more is added to it.
---@param session neap.Recording
---@param draft neap.Draft
function M.add(session, draft)
  settle(draft)
  session:add(parts.message(session.source, draft), nil, draft.line)
end

--- Closes a session: what stands beside its messages.
---@param session neap.Recording
---@param g neap.Gathered
---@return neap.Recording
function M.close(session, g)
  session.meta = { form = g.form }
  if not session.source.lean then
    for key, value in pairs(g.meta or {}) do
      session.meta[key] = value
    end
  end
  if g.aside and #g.aside > 0 then session.meta.aside = g.aside end
  session.tools = g.tools
  return session:finish()
end

--- Drafts as a session; each is let go of as soon as it is a message.
---@param source neap.Source
---@param g neap.Gathered
---@return neap.Recording
function M.session(source, g)
  local session = build.session(source, g.form, g.index)
  for i, draft in ipairs(g.drafts) do
    M.add(session, draft)
    g.drafts[i] = false
  end
  return M.close(session, g)
end

return M
