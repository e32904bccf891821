-- neap import: a recording in the native form on standard output; what was read, merged and
-- kept aside on standard error. next: ../import/init.lua
local core = require("neap.core")
local import = require("neap.import")
local found = require("neap.sessions")
local failure = require("neap.cli.fail")
local grid = require("neap.report.grid")

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
  local parts = { ("%d records, %d messages"):format(counts.records, counts.messages) }
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

--- neap import
function M.import(opts, args)
  if opts.list then return list_forms(opts) end
  if not args[1] then failure.fail("neap import needs TRACE; neap import --help") end
  local sessions = failure.check(import.load(failure.check(found.resolve(args[1])), opts))
  local order = { "trace", "form", "sessions", "records", "messages", "merged", "skipped" }
  if opts.json then
    for _, session in ipairs(sessions) do
      io.stdout:write(core.json.encode(row(session, #sessions), order), "\n")
    end
    return 0
  end
  local n = opts.session or 1
  local session = sessions[n]
  if not session then
    failure.fail(("%s: has no session %d; the last is %d"):format(args[1], n, #sessions))
  end
  import.write(session, function(piece)
    io.stdout:write(piece)
  end)
  failure.warn(("%s: %s; %s"):format(session.name, session.format, summary(session.counts)))
  if #sessions > 1 and not opts.session then
    local text = "%d sessions here, this is the first; --session N prints another"
    failure.warn(text:format(#sessions))
  end
  return 0
end

return M
