-- Native → provider → native loses nothing: recordings are rendered as one request of each format
-- that is built in, under a window that holds them, and read back. What a provider's form has no
-- place for is named here. And the other way: no text of a provider's own body is missing from
-- what its importer makes of it. next: recordings_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")
local json = core.json

local DIR = "tests/cases/import/"

-- What a request of the format has no place for, or what is not carried over from another form
-- yet: left out of the comparison, and only that. A picture in a result is a note, a file a mark,
-- a speaker's name leads the text.
local LOST = {
  openai = { thoughts = true, errors = true, result_media = true },
  responses = { thoughts = true, errors = true, result_media = true, names = true },
  -- one without the signature that came with it
  anthropic = { thoughts = true, names = true },
  gemini = { thoughts = true, ids = true, result_media = true, names = true },
}
local NOTE = "(an image or file, not shown here)"

local engine = assert(core.engine({ data = core.data_dir(), fixed_secret = true }))

local function open(format)
  local options = { name = "trip", format = format, window = 1000000000000, reserve = -1 }
  options.no_log, options.no_tools = true, true
  return engine:session(options)
end

-- The same value for texts that mean the same JSON.
local function same_json(text)
  local value = json.decode(text)
  return value ~= nil and json.encode(value) or text
end

local function url_of(part)
  local from = part.image_url or part.file or {}
  return from.url or from.file_data or from.file_id
end

-- What the engine adds, since providers take no call without a result and no result without its
-- call: a stub, which says nothing, and a note before an orphan's text.
local STUB = "^%[neap·%l%l%l%l %d+: no result was recorded for this call%]$"
local ORPHAN = "^%[neap·%l%l%l%l %d+: a result whose call is not in the history%]\n(.*)$"

-- What stands before a history that the assistant begins and behind one that it ends, where a
-- provider wants the user's word there; and in place of a file.
local FILLED = {
  ["(go on)"] = true,
  ["(no user message stands before this)"] = true,
  ["Continue."] = true,
  ["(The conversation begins with the model.)"] = true,
}
local FOREIGN = "^%[neap·%l%l%l%l %d+: file in a form that this model does not take%]$"

-- The texts of a result as one, without the note for what is no text.
local function joined(parts)
  local texts = {}
  for _, part in ipairs(parts) do
    if type(part.text) == "string" then texts[#texts + 1] = part.text end
  end
  local text, note = table.concat(texts), 1
  repeat
    local from, to = text:find(NOTE, note, true)
    if from then text, note = text:sub(1, from - 1) .. text:sub(to + 1), from end
  until not from
  return { { type = "text", text = text } }
end

-- Everything that a session says, in order: kind, role or id, text.
local function said(session, lost)
  local list, open_calls = {}, {}
  local function add(...)
    list[#list + 1] = table.concat({ ... }, " | ")
  end
  for _, raw in ipairs(session.messages) do
    local m = json.decode(raw)
    local role = m.role == "developer" and "system" or m.role
    local id = role == "tool" and m.tool_call_id
    local orphan = id and (open_calls[id] or 0) == 0
    local of = orphan and "orphan" or id and (lost.ids and "" or id) or role
    if id and not orphan then open_calls[id] = open_calls[id] - 1 end
    if type(m.reasoning) == "string" and not lost.thoughts then add("thought", m.reasoning) end
    local parts = json.is_array(m.content) and m.content or { { type = "text", text = m.content } }
    if role == "tool" and lost.result_media then parts = joined(parts) end
    for _, part in ipairs(parts) do
      local text = type(part.text) == "string" and part.text ~= "" and part.text
      local media = part.type ~= "text"
      if id and text and text:find(STUB) then text = false end
      local whose = of
      if role == "user" and text and text:find(ORPHAN) then
        whose, text = "orphan", text:match(ORPHAN)
      end
      if text and (FILLED[text] or text:find(FOREIGN)) then text = false end
      if media and lost.files and part.type == "file" then media = false end
      if text and lost.names and type(m.name) == "string" and role ~= "tool" then
        text = m.name .. ": " .. text
      end
      if text then add("text", whose, text) end
      if media then add(part.type, of, url_of(part) or json.encode(part)) end
    end
    for _, call in ipairs(json.is_array(m.tool_calls) and m.tool_calls or {}) do
      local f = call["function"]
      open_calls[call.id] = (open_calls[call.id] or 0) + 1
      add("call", lost.ids and "" or call.id, f.name, same_json(f.arguments or "{}"))
    end
    if m.is_error == true and role == "tool" and not lost.errors then add("error", of) end
  end
  return list
end

-- One request that holds the whole session, or nil where it holds what no provider would take.
local function request(session, format)
  local s = assert(open(format))
  if session.tools then assert(s:set_tools(session.tools)) end
  for _, raw in ipairs(session.messages) do
    assert(s:append(raw))
  end
  local body, why, code = s:prompt()
  s:close()
  return body, why, code
end

local function recordings()
  local list = {}
  for _, name in ipairs(core.list(DIR)) do
    if name:find("%.native$") then list[#list + 1] = name:sub(1, -8) end
  end
  return list
end

describe("native → provider → native", function()
  for _, format in ipairs({ "openai", "responses", "anthropic", "gemini" }) do
    local session = open(format)
    if not session then
      pending(format .. ": the build does not have this format")
    else
      session:close()
      for _, name in ipairs(recordings()) do
        it(("loses nothing of %s in a request of %s"):format(name, format), function()
          local lost = LOST[format]
          for _, before in ipairs(assert(import.load(DIR .. name))) do
            local body = assert(request(before, format))
            local after = assert(import.load_text("body.json", body, { from = format }))[1]
            assert.are.same(said(before, lost), said(after, lost))
            assert.are.equal(#before.names, #after.names)
          end
        end)
      end
    end
  end
end)

-- ---- provider → native ---------------------------------------------------------------------

-- The texts and numbers of a value; a type is a provider's word for what the native form has
-- another word for.
local function strings(value, list)
  if type(value) == "string" then
    list[#list + 1] = value
    -- Arguments and data are JSON, or another form of the same bytes, in a string.
    local inner = value:find("^%s*[%[{]") and json.decode(value)
    if type(inner) == "table" then strings(inner, list) end
  elseif json.is_raw(value) then
    list[#list + 1] = value.raw
  elseif type(value) == "table" then
    for key, member in pairs(value) do
      if key ~= "type" then strings(member, list) end
    end
  end
  return list
end

local BODIES = { "anthropic_body.json", "anthropic_list.json", "responses_body.json",
  "responses_items.json", "gemini_body.json", "gemini_list.json", "openai_list.json",
  "openai_log.json" }

describe("provider → native", function()
  for _, name in ipairs(BODIES) do
    it("keeps every text of " .. name, function()
      local text = assert(shared.read(DIR .. name))
      local found = {}
      for _, session in ipairs(assert(import.load_text(name, text))) do
        for line in import.native(session):gmatch("[^\n]+") do
          strings(json.decode(line), found)
        end
      end
      local all, missing = table.concat(found, "\0"), {}
      for _, value in ipairs(strings(json.decode(text), {})) do
        -- Shorter ones are roles and states, which the native form has words of its own for.
        if #value >= 6 and not all:find(value, 1, true) then missing[#missing + 1] = value end
      end
      table.sort(missing)
      assert.are.same({}, missing)
    end)
  end
end)
