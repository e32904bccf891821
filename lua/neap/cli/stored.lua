-- neap session: the sessions in a store, listed, shown event by event, copied, written out and
-- read back. next: store.lua
local core = require("neap.core")
local files = require("neap.files")
local handing = require("neap.handover")
local import = require("neap.import")
local grid = require("neap.report.grid")
local terminal = require("neap.report.terminal")
local visible = require("neap.report.visible")
local width = require("neap.report.width")
local opened = require("neap.cli.opened")
local word_of = require("neap.cli.word")
local failure = require("neap.cli.fail")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

local LIST_ORDER = { "name", "events" }
local SHOW_ORDER =
  { "seq", "kind", "step", "tokens", "bytes", "purged", "sha256", "about", "head", "body" }

-- What follows the sub-verb: so many words, no more and no less.
local function words_of(args, usage, least, most)
  local n = #args - 1
  if n >= least and n <= (most or least) then return table.unpack(args, 2, 1 + (most or least)) end
  fail(("usage: neap session %s"):format(usage))
end

-- ---- list ---------------------------------------------------------------------------------------

local function list(opts, args)
  words_of(args, "list", 0)
  local engine = opened.engine(opts, "read")
  local all, why = engine:stored()
  engine:close()
  local rows = {}
  for i, one in ipairs(check(all, why)) do
    rows[i] = { one.name, one.events }
    if opts.json then io.stdout:write(json.encode(one, LIST_ORDER), "\n") end
  end
  if opts.json then return 0 end
  if #rows == 0 then failure.warn("the store has no sessions; --tenant names another's") end
  table.insert(rows, 1, { "session", "events" })
  if #rows > 1 then visible.write(grid.format(rows, { "l", "r" })) end
  return 0
end

-- ---- show ---------------------------------------------------------------------------------------

local ABOUT = {}

-- The JSON as a table: what was imported may say anything in any head.
local function object(text)
  local value = json.decode(text)
  return type(value) == "table" and not json.is_raw(value) and value or {}
end

-- A member as text; a list or an object has no words of its own.
local function plain(value)
  return type(value) == "table" and "?" or tostring(value)
end

local function first_text(message)
  local content = message.content or message.parts or message.text or message.output
  if type(content) == "string" then return content end
  for _, part in ipairs(type(content) == "table" and content or {}) do
    if type(part) == "table" and type(part.text) == "string" then return part.text end
  end
  for _, call in ipairs(type(message.tool_calls) == "table" and message.tool_calls or {}) do
    local f = type(call) == "table" and call["function"]
    if type(f) == "table" then return plain(f.name) .. " " .. plain(f.arguments) end
  end
  return ""
end

function ABOUT.message(_, body)
  local m = object(body)
  return plain(m.role or m.kind or m.type or "?") .. ": " .. first_text(m)
end

function ABOUT.open(head)
  local h = object(head)
  return ("neap %s, %s, %s, window %s, policy %s"):format(
    plain(h.neap),
    plain(h.format),
    plain(h.encoding),
    plain(h.window),
    plain(h.policy)
  )
end

function ABOUT.turn(head)
  local h = object(head)
  local changed = type(h.changed) == "table" and #h.changed or 0
  local what = h.rewrite and "rewritten" or "appended"
  local text = ("turn %s, %s, %s changed"):format(plain(h.turn or "?"), what, changed)
  local uses = type(h.pollution) == "table" and h.pollution.uses
  local use = type(uses) == "table" and uses[1]
  if type(use) ~= "table" then return text end
  return ("%s; what is refuted is used: %s"):format(text, plain(use.text))
end

function ABOUT.policy(head)
  local h = object(head)
  return ("%s %s"):format(plain(h.result or ""), plain(h.sha256 or ""):sub(1, 8))
end

local function usage_of(head)
  local h = object(head)
  return ("counted %s, reported %s"):format(plain(h.counted), plain(h.reported))
end
ABOUT.usage = usage_of

function ABOUT.scratch(head, body)
  local h = object(head)
  local why = h.op ~= "put" and plain(h.reason or "") or body
  return ("%s %s by %s: %s"):format(plain(h.op), plain(h.id), plain(h.who), why)
end

function ABOUT.refute(head)
  local h = object(head)
  local what = h.entry ~= 0 and "entry " .. plain(h.entry) or "step " .. plain(h.step)
  return what .. ": " .. plain(h.reason)
end

function ABOUT.proposal(head)
  local h = object(head)
  local what = h.refused and "refused" or "version " .. plain(h.version)
  local why = h.reason and h.reason ~= "" and ": " .. plain(h.reason) or ""
  return ("%s, by %s%s"):format(what, plain(h.who), why)
end

function ABOUT.rollback(head)
  local h = object(head)
  local e = type(h.entries) == "table" and h.entries or {}
  return ("entries %s to %s are void: %s"):format(plain(e[1]), plain(e[2]), plain(h.reason))
end

function ABOUT.mark(head)
  return plain(object(head).name)
end

function ABOUT.phase(head)
  local h = object(head)
  return ("%s, from step %s"):format(plain(h.name), plain(h.step))
end

function ABOUT.answer(_, body)
  return body
end

ABOUT.ask, ABOUT.note = ABOUT.answer, ABOUT.answer

local MOST = 60 -- characters of a line that says what an event holds

local function short(text)
  text = visible.line(text)
  local at = utf8.offset(text, MOST + 1)
  return at and at <= #text and text:sub(1, at - 1) .. "…" or text
end

-- The events of a session, page by page.
local function each(engine, name)
  local page, i, from = {}, 0, 1
  return function()
    i = i + 1
    if not page[i] then
      page, i = check(engine:events(name, from)), 1
    end
    if page[i] then from = page[i].seq + 1 end
    return page[i]
  end
end

local function row_of(ev, step, enc)
  local turn = ev.kind == "turn" and object(ev.head)
  local row = {
    seq = ev.seq,
    kind = ev.kind ~= "" and ev.kind or "?",
    step = step,
    bytes = #ev.head + #ev.body,
    tokens = turn and math.tointeger(turn.tokens) or enc:count(ev.body),
    about = ABOUT[ev.kind] and not ev.purged and short(ABOUT[ev.kind](ev.head, ev.body)) or "",
  }
  if ev.purged then row.purged, row.about = true, "purged by its owner" end
  return row
end

local function show(opts, args)
  local name = words_of(args, "show NAME", 1)
  local engine, rows, step = opened.engine(opts, "read"), {}, 0
  local enc = check(core.encoding("o200k_base"))
  for ev in each(engine, name) do
    if ev.kind == "turn" then step = step + 1 end
    local row = row_of(ev, step, enc)
    if opts.json then
      row.sha256 = #ev.body > 0 and core.sha256(ev.body) or nil
      io.stdout:write(json.encode(row, SHOW_ORDER), "\n")
    else
      rows[#rows + 1] = { row.seq, row.kind, row.step, row.tokens, row.bytes, row.about }
    end
  end
  engine:close()
  if opts.json then return 0 end
  table.insert(rows, 1, { "event", "kind", "step", "tokens", "bytes", "" })
  local text, columns = grid.format(rows, { "r", "l", "r", "r", "r", "l" }), terminal.columns()
  if columns then
    text = text:gsub("[^\n]+", function(line)
      return width.cut(line, columns)
    end)
  end
  visible.write(text)
  return 0
end

-- ---- replay -------------------------------------------------------------------------------------

local AROUND = 60 -- bytes shown of each side of the first difference

local function around(text, at)
  return visible.line(text:sub(math.max(1, at - AROUND), at + AROUND))
end

local REPLAY_ORDER = { "session", "same", "unpinned", "turn", "at", "cause", "was", "is" }

local function replay(opts, args)
  local name = words_of(args, "replay NAME", 1)
  local engine = opened.engine(opts, "read")
  local r, why = engine:replay(name)
  engine:close()
  check(r, why)
  if r.turn then
    r.was, r.is = around(r.was, r.at), around(r.is, r.at)
  end
  if opts.json then
    r.session = name
    io.stdout:write(json.encode(r, REPLAY_ORDER), "\n")
  elseif not r.turn then
    local what = grid.count(r.same, "prompt")
    visible.write(("%s: %s made again, the same to the byte\n"):format(visible.line(name), what))
  else
    local text = "%s: turn %d differs at byte %d: %s\n  was: %s\n  is:  %s\n"
    visible.write(text:format(visible.line(name), r.turn, r.at, r.cause, r.was, r.is))
  end
  return r.turn and 1 or 0
end

-- ---- scratch ------------------------------------------------------------------------------------

local SCRATCH_ORDER = { "session", "id", "status", "who", "step", "source", "text", "by" }

local function scratch(opts, args)
  local name = words_of(args, "scratch NAME", 1)
  local engine = opened.engine(opts, "read")
  local s = opened.session(engine, name)
  local drafts = json.decode((check(s:scratch_list())), { patch = true })
  s:close()
  engine:close()
  local rows = {}
  for i, one in ipairs(drafts) do
    one.session = name
    if opts.json then io.stdout:write((json.encode(one, SCRATCH_ORDER):gsub("\n", "")), "\n") end
    local source = one.source > 0 and one.source or ""
    local text = short(one.text)
    if one.status == "rejected" then text = text .. " (" .. short(one.reason) .. ")" end
    rows[i] = { one.id, one.status, one.who, one.step, source, text }
  end
  if opts.json then return 0 end
  if #rows == 0 then failure.warn("nothing is on the scratchpad of " .. visible.line(name)) end
  table.insert(rows, 1, { "number", "status", "who", "step", "source", "" })
  if #rows > 1 then visible.write(grid.format(rows, { "r", "l", "l", "r", "r", "l" })) end
  return 0
end

-- ---- handover -----------------------------------------------------------------------------------

local function handover(opts, args)
  local name = words_of(args, "handover NAME", 1)
  local engine = opened.engine(opts, "read")
  local s = opened.session(engine, name)
  io.stdout:write(handing.text(engine, s, name), "\n")
  s:close()
  engine:close()
  return 0
end

-- ---- fork, export, import -----------------------------------------------------------------------

local function fork(opts, args)
  local from, name = words_of(args, "fork NAME NEW [--turn N|--events N]", 2)
  local engine = opened.engine(opts, "write")
  local ok, why = engine:fork(from, name, { turn = opts.turn, events = opts.events })
  engine:close()
  check(ok, why)
  if opts.json then
    io.stdout:write(json.encode({ name = name, from = from }, { "name", "from" }), "\n")
  else
    visible.write(visible.line(name), "\n")
  end
  return 0
end

-- To a file through another one beside it: what is there stays until all is written.
local function export_file(engine, name, path)
  local fresh, no = core.fresh(path, true)
  if not fresh then return nil, ("%s: %s; check the path"):format(path, no) end
  local out, why = io.open(fresh, "wb")
  local ok = out ~= nil
  if ok then ok, why = engine:export(name, out) end
  if out then
    local closed, problem = out:close()
    if ok and not closed then ok, why = nil, problem end
  end
  if ok then ok, why = os.rename(fresh, path) end
  if ok then return true end
  os.remove(fresh)
  return nil, ("%s: %s"):format(path, why)
end

local function export(opts, args)
  local name, path = words_of(args, "export NAME [FILE]", 1, 2)
  local engine = opened.engine(opts, "read")
  local ok, why
  if path and path ~= "-" then
    ok, why = export_file(engine, name, path)
  else
    ok, why = engine:export(name, io.stdout)
  end
  engine:close()
  check(ok, why)
  return 0
end

-- A recording of another program: its messages as a session that has had no turn, made in memory
-- first, so that all of it is there or nothing.
local function from_recording(path, name)
  local recordings = check(import.load(path, {}))
  if #recordings ~= 1 then
    fail(("%s: holds %d sessions; neap import --session N writes one"):format(path, #recordings))
  end
  local one = recordings[1]
  local engine = check(core.engine({}))
  local s = check(engine:session({ name = name or one.name }))
  if one.tools then check(s:set_tools(one.tools)) end
  for i, message in ipairs(one.messages) do
    local ok, why = s:append(message)
    if not ok then fail(("%s:%d: %s"):format(path, one.lines[i] or 1, why)) end
  end
  local out = check(io.tmpfile())
  check(engine:export(name or one.name, out))
  out:seek("set")
  local text = out:read("a")
  out:close()
  engine:close()
  return text
end

local EXPORTED = '{"neap_session":'

local function import_file(opts, args)
  local path = words_of(args, "import FILE [--name NAME]", 1)
  local text = check(files.read(path))
  if text:sub(1, #EXPORTED) ~= EXPORTED then
    if path == "-" then fail("(standard input): no session that neap has exported; name a file") end
    text = from_recording(path, opts.imported)
  end
  local engine = opened.engine(opts, "make")
  local name, why, code = engine:import(text, opts.imported)
  engine:close()
  if not name then
    why = why:gsub("^line (%d+): ", "%1: ")
    fail(code == "misuse" and why or ("%s:%s"):format(files.label(path), why), 2)
  end
  if opts.json then
    io.stdout:write(json.encode({ name = name }), "\n")
  else
    visible.write(visible.line(name), "\n")
  end
  return 0
end

-- ---- rm -----------------------------------------------------------------------------------------

-- What goes is said first; without --yes a person is asked, and where there is none nothing goes.
local function may_remove(opts, name, events)
  if opts.yes then return true end
  local what = ("session %s: %s"):format(visible.line(name), grid.count(events, "event"))
  if not core.isatty(0) then
    fail(what .. " would be removed for good; give --yes to do it")
  end
  io.stderr:write(what, " will be removed for good. Go on? [y/N] ")
  local answer = io.read("l") or ""
  return answer == "y" or answer == "Y" or answer == "yes"
end

local function events_of(opts, name)
  local engine = opened.engine(opts, "read")
  local all, why = engine:stored()
  engine:close()
  for _, one in ipairs(check(all, why)) do
    if one.name == name then return one.events end
  end
  failure.fail(("there is no session %s; neap session list names them"):format(name), 1)
end

local function rm(opts, args)
  local name = words_of(args, "rm NAME [--yes]", 1)
  if not may_remove(opts, name, events_of(opts, name)) then
    failure.warn("nothing is removed")
    return 1
  end
  local engine = opened.engine(opts, "write")
  local events, contents, code = engine:remove_session(name)
  engine:close()
  if not events then fail(tostring(contents), code == "notfound" and 1 or 2) end
  if opts.json then
    local row = { name = name, events = events, contents = contents }
    io.stdout:write(json.encode(row, { "name", "events", "contents" }), "\n")
  end
  return 0
end

local WORDS = {
  list = list,
  show = show,
  replay = replay,
  scratch = scratch,
  handover = handover,
  fork = fork,
  export = export,
  import = import_file,
  rm = rm,
}

local TAKES = {
  list = {},
  show = {},
  replay = {},
  scratch = {},
  handover = {},
  fork = word_of.set("turn", "events"),
  export = {},
  import = word_of.set("imported"),
  rm = word_of.set("yes"),
}

--- neap session
function M.session(opts, args)
  local word = WORDS[args[1]]
  if not word then
    local text = "neap session has no %s; there are list, show, replay, scratch, handover, "
      .. "fork, export, import, rm"
    fail(text:format(args[1]))
  end
  word_of.check("session " .. args[1], opts, TAKES[args[1]])
  return word(opts, args)
end

return M
