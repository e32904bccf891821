-- Handing a session over: its state, notes, pins, void attempts, what is refuted or waits to be
-- verified, and pointers to what can be read again, as one JSON document that another session opens
-- with. The state goes over to the byte; of the rest nothing is worded anew. next: state.lua
local core = require("neap.core")

local M = {}

local json = core.json
local VERSION = 1
local POINTERS = 200 -- the newest: a list is read whole
local ORDER = { "neap_handover", "session", "step", "phase", "task", "state", "open", "notes" }
local READABLE = { result = true, file = true, image = true, evidence = true }

-- Lists of a schema that hold open things, with what stands in them: path and items.
local function open_lists(schema, value, path, out)
  if type(schema) ~= "table" or json.is_raw(schema) then return out end
  if (schema.kind == "pending" or schema.kind == "blocked") and type(value) == "table" then
    for _, item in ipairs(value) do
      out[#out + 1] = { path = path, kind = schema.kind, item = item }
    end
  end
  local names = {}
  for name in pairs(type(schema.properties) == "table" and schema.properties or {}) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local below = type(value) == "table" and not json.is_raw(value) and value[name] or nil
    open_lists(schema.properties[name], below, path .. "/" .. name, out)
  end
  return out
end

local function state_of(engine, raw, name)
  local text, version = raw:state_get()
  if not text then return nil end
  local stored = assert(engine:state_stored(name))
  local schema = json.decode(stored, { schema = true }).schema
  return {
    schema = json.raw((tostring(schema):gsub("[\r\n]", " "))),
    version = version,
    value = json.raw((text:gsub("\n", ""))),
  }, open_lists(json.decode(tostring(schema)), json.decode(text), "", {})
end

-- A pin is what the policy or the host pinned besides what every session begins with.
local function add_entry(out, raw, name, e)
  local text = raw:text(e.id)
  local gone = e.rung == "absent" or e.rung == "folded"
  if e.region == "task" then
    out.task[#out.task + 1] = text
  elseif e.kind == "summary" then
    if e.listed and not gone then out.notes[#out.notes + 1] = { entry = e.id, text = text } end
  elseif e.kind == "notice" then -- also one behind a summary: what is void must not be tried again
    out.notices[#out.notices + 1] = text
  elseif e.kind == "memory" and e.listed then
    out.memories[#out.memories + 1] = text
  elseif e.pinned and e.region ~= "fixed" and e.kind ~= "state" then
    out.pins[#out.pins + 1] = { entry = e.id, kind = e.kind, text = text }
  elseif READABLE[e.kind] and not e.empty then
    local one = { id = name .. "/" .. e.id, kind = e.kind, step = e.step }
    if e.tool ~= "" then one.tool = e.tool end
    if e.path ~= "" then one.path = e.path end
    one.tokens = raw:count(text or "")
    out.pointers[#out.pointers + 1] = one
  end
end

--- The document, as a table in the order of its JSON.
---@param engine userdata
---@param raw userdata the session of the core
---@param name string
---@return table
function M.of(engine, raw, name)
  local out = { neap_handover = VERSION, session = name, step = 0 }
  for _, list in ipairs({ "task", "open", "notes", "notices", "memories", "pins", "pointers" }) do
    out[list] = json.array({})
  end
  for id = 1, raw:entry_count() do
    local e = raw:entry(id)
    if raw:text(id) and not e.voided then
      out.step = math.max(out.step, e.step)
      add_entry(out, raw, name, e)
    end
  end
  local n = #out.pointers - POINTERS
  if n > 0 then
    out.left_out = n
    table.move(out.pointers, n + 1, n + POINTERS, 1)
    for i = POINTERS + 1, POINTERS + n do
      out.pointers[i] = nil
    end
  end
  local open
  out.state, open = state_of(engine, raw, name)
  for i, one in ipairs(open or {}) do
    out.open[i] = one
  end
  out.refuted = json.array({})
  for i, one in ipairs(json.decode(assert(raw:refutations()))) do
    out.refuted[i] = one.line
  end
  out.scratchpad = json.array({})
  for _, one in ipairs(json.decode(assert(raw:scratch_list()), { patch = true })) do
    if one.status == "waiting" then
      local kept = { who = one.who, text = one.text, patch = one.patch }
      if one.source > 0 then kept.source = name .. "/" .. one.source end
      table.insert(out.scratchpad, kept)
    end
  end
  return out
end

--- The same as one line of JSON.
---@param engine userdata
---@param raw userdata
---@param name string
---@return string
function M.text(engine, raw, name)
  return (json.encode(M.of(engine, raw, name), ORDER))
end

local RAW = { schema = true, value = true, patch = true }

--- Reads a document; a table of M.of is taken as it is.
---@param given string|table
---@return table? document, string? message
function M.read(given)
  local doc = given
  if type(given) == "string" then
    local why
    doc, why = json.decode(given, RAW)
    if doc == nil then return nil, "handover: " .. why end
  end
  if type(doc) ~= "table" or json.is_raw(doc) or math.type(doc.neap_handover) ~= "integer" then
    return nil, "handover: this is no document of neap session handover; give one as it was printed"
  end
  if doc.neap_handover > VERSION then
    return nil, ("handover: its version is %d, this neap reads %d; update neap"):format(
      doc.neap_handover, VERSION)
  end
  if type(doc.session) ~= "string" then return nil, "handover: it names no session" end
  return doc
end

local function list(v)
  return type(v) == "table" and not json.is_raw(v) and v or {}
end

local function texts_of(doc)
  local parts = {}
  local function add(title, lines)
    if #lines > 0 then parts[#parts + 1] = title .. "\n" .. table.concat(lines, "\n") end
  end
  local function strings(of, field)
    local lines = {}
    for _, one in ipairs(list(of)) do
      local text = field and type(one) == "table" and one[field] or one
      if type(text) == "string" then lines[#lines + 1] = text end
    end
    return lines
  end
  local head = ("Handed over from session %s at step %s."):format(doc.session, tostring(doc.step))
  add(head .. " Its task was:", strings(doc.task))
  add("Memories:", strings(doc.memories))
  add("Notes:", strings(doc.notes, "text"))
  add("Pinned:", strings(doc.pins, "text"))
  add("Void or corrected:", strings(doc.notices))
  add("Refuted:", strings(doc.refuted))
  local lines = {}
  for _, p in ipairs(list(doc.pointers)) do
    if type(p) == "table" and type(p.id) == "string" then
      local what = ("%s: %s, step %s, %s tokens"):format(p.id,
        table.concat({ tostring(p.tool or p.kind), p.path and tostring(p.path) }, " "),
        tostring(p.step), tostring(p.tokens))
      lines[#lines + 1] = what
    end
  end
  add("Can be read again by these ids:", lines)
  return parts
end

--- What a fresh session begins with: the state to the byte, the rest as memories, the scratchpad.
---@param raw userdata a session that has no entry yet
---@param doc table of M.read
---@return true? ok, string? message, string? code
function M.begin(raw, doc)
  if raw:entry_count() > 0 then return true end -- resumed: it has begun with it already
  local ok, why, code = true, nil, nil
  local state = doc.state
  if state then
    local reason = ("handed over from session %s, version %s"):format(doc.session,
      tostring(state.version))
    ok, why, code = raw:state_begin(tostring(state.value), reason)
  end
  for _, text in ipairs(texts_of(doc)) do
    if not ok then return nil, why, code end
    ok, why, code = raw:append(json.encode({ kind = "memory", content = text }))
  end
  for _, one in ipairs(list(doc.scratchpad)) do
    if not ok then return nil, why, code end
    local text = one.source and ("%s (from %s)"):format(one.text, one.source) or one.text
    ok, why, code = raw:scratch_put(one.who, text, one.patch and tostring(one.patch))
  end
  if not ok then return nil, why, code end
  return true
end

return M
