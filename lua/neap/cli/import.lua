-- neap import: a recording in the native form on standard output; what was read, merged and
-- kept aside on standard error. next: ../import/init.lua
local core = require("neap.core")
local import = require("neap.import")
local joining = require("neap.import.join")
local found = require("neap.sessions")
local failure = require("neap.cli.fail")
local grid = require("neap.report.grid")
local synthetic = require("neap.report.synthetic")

local M = {}

local function list_forms(opts)
  local rows = {}
  for i, form in ipairs(import.forms()) do
    if opts.json then io.stdout:write(core.json.encode(form, { "name" }), "\n") end
    rows[i] = { form.name, form.about }
  end
  if not opts.json then io.stdout:write(grid.format(rows, { "l", "l" })) end
  return 0
end

local function sorted(counts)
  local names = {}
  for name in pairs(counts) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- "12 records, 9 messages, 2 merged; kept aside: 3 progress, 1 summary; 1 calls without …"
local function summary(counts)
  local records, messages = counts.records, counts.messages
  local parts = { grid.count(records, "record") .. ", " .. grid.count(messages, "message") }
  if counts.merged > 0 then parts[1] = parts[1] .. (", %d merged"):format(counts.merged) end
  if counts.skipped > 0 then parts[1] = parts[1] .. (", %d skipped"):format(counts.skipped) end
  local aside = {}
  for _, name in ipairs(sorted(counts.aside)) do
    aside[#aside + 1] = ("%d %s"):format(counts.aside[name], name)
  end
  if #aside > 0 then parts[#parts + 1] = "kept aside: " .. table.concat(aside, ", ") end
  for _, name in ipairs(sorted(counts.notes)) do
    parts[#parts + 1] = ("%d %s"):format(counts.notes[name], name)
  end
  return table.concat(parts, "; ")
end

local function row(session, total)
  return {
    trace = session.name,
    form = session.format,
    sessions = total,
    records = session.counts.records,
    messages = #session.messages,
    merged = session.counts.merged,
    skipped = session.counts.skipped,
    aside = session.counts.aside,
    notes = session.counts.notes,
    tools_inferred = session.tools_inferred,
  }
end

local ORDER = { "trace", "form", "sessions", "records", "messages", "merged", "skipped" }

local function load(word, opts)
  local path, why = found.resolve(word)
  if not path then return nil, why end
  return import.load(path, opts)
end

-- ---- many recordings ------------------------------------------------------------------------

local function add(sums, counts)
  for name, n in pairs(counts) do
    sums[name] = (sums[name] or 0) + n
  end
end

-- What one file adds to the row of its form. Sessions of a file may share their counts.
local function tally(forms, sessions)
  local form = sessions[1].format
  local t = forms[form]
  if not t then
    t = { files = 0, sessions = 0, messages = 0, records = 0, merged = 0, skipped = 0 }
    t.aside, t.notes = {}, {}
    forms[form] = t
  end
  t.files, t.sessions = t.files + 1, t.sessions + #sessions
  local seen = {}
  for _, session in ipairs(sessions) do
    local counts = session.counts
    t.messages = t.messages + #session.messages
    if not seen[counts] then
      seen[counts] = true
      for _, name in ipairs({ "records", "merged", "skipped" }) do
        t[name] = t[name] + counts[name]
      end
      add(t.aside, counts.aside)
      add(t.notes, counts.notes)
    end
  end
end

local COLUMNS = { "files", "sessions", "records", "messages", "merged", "skipped" }

local function sum(counts)
  local n = 0
  for _, each in pairs(counts) do
    n = n + each
  end
  return n
end

-- "aside  3 progress, 1 summary": what the row's sums are made of, the most frequent first.
local function kinds(name, counts)
  local list, texts = sorted(counts), {}
  table.sort(list, function(a, b)
    if counts[a] ~= counts[b] then return counts[a] > counts[b] end
    return a < b
  end)
  for i, kind in ipairs(list) do
    texts[i] = ("%s %s"):format(grid.thousands(counts[kind]), kind)
  end
  return #texts > 0 and ("  %s: %s\n"):format(name, table.concat(texts, ", ")) or ""
end

local function print_table(forms)
  local rows, below = { { "form", table.unpack(COLUMNS) } }, {}
  table.insert(rows[1], "kept aside")
  for _, form in ipairs(sorted(forms)) do
    local t, cells = forms[form], { form }
    for _, name in ipairs(COLUMNS) do
      cells[#cells + 1] = grid.thousands(t[name])
    end
    cells[#cells + 1] = grid.thousands(sum(t.aside))
    rows[#rows + 1] = cells
    local told = kinds("kept aside", t.aside) .. kinds("noted", t.notes)
    if told ~= "" then below[#below + 1] = form .. "\n" .. told end
  end
  io.stdout:write(grid.format(rows, { "l", "r", "r", "r", "r", "r", "r", "r" }))
  if #below > 0 then io.stdout:write("\n", table.concat(below)) end
end

-- One row a form, or one line a session; a recording that cannot be read is named, and the rest
-- goes on.
local function many(opts, args)
  local forms, code = {}, 0
  for _, word in ipairs(args) do
    local sessions, why = load(word, opts)
    if not sessions then
      failure.warn(why)
      code = 2
    elseif opts.json then
      for _, session in ipairs(sessions) do
        io.stdout:write(core.json.encode(row(session, #sessions), ORDER), "\n")
      end
    else
      tally(forms, sessions)
    end
  end
  if not opts.json then print_table(forms) end
  return code
end

-- ---- sessions that are made here --------------------------------------------------------------

local function write(session)
  import.write(session, function(piece)
    io.stdout:write(piece)
  end)
end

-- All sessions of all files, in order, as one.
local function join(opts, args)
  local all = {}
  for _, word in ipairs(args) do
    local sessions = failure.check(load(word, opts))
    table.move(sessions, 1, #sessions, #all + 1, all)
  end
  local session = failure.check(joining.join(all))
  write(session)
  local text = "%s joined, %s; the later ones' tasks are sub-tasks"
  failure.warn(text:format(grid.count(#all, "session"), grid.count(#session.messages, "message")))
  return 0
end

-- What says how recordings are read, or what is told of them.
local READING = { "from", "as", "branches", "session", "lenient", "json", "table", "join" }

local function make(opts, args)
  if args[1] then failure.fail("--synthetic reads no recording; leave out " .. args[1]) end
  for _, name in ipairs(READING) do
    if opts[name] then
      failure.fail(("--synthetic reads no recording; leave out --%s"):format(name))
    end
  end
  io.stdout:write(synthetic.session(opts.synthetic, opts.steps))
  return 0
end

--- neap import
function M.import(opts, args)
  if opts.list then return list_forms(opts) end
  if opts.synthetic then return make(opts, args) end
  if opts.steps then failure.fail("--steps is of a made-up session; give it with --synthetic") end
  if not args[1] then failure.fail("neap import needs TRACE; neap import --help") end
  if opts.json or opts.table then return many(opts, args) end
  if opts.join then return join(opts, args) end
  if args[2] then
    failure.fail("neap import prints one recording; --join makes one of several, --table or "
      .. "--json tells of many")
  end
  local sessions = failure.check(load(args[1], opts))
  local n = opts.session or 1
  local session = sessions[n]
  if not session then
    failure.fail(("%s: has no session %d; the last is %d"):format(args[1], n, #sessions))
  end
  write(session)
  failure.warn(("%s: %s; %s"):format(session.name, session.format, summary(session.counts)))
  if #sessions > 1 and not opts.session then
    local text = "%d sessions here, this is the first; --session N prints another"
    failure.warn(text:format(#sessions))
  end
  return 0
end

return M
