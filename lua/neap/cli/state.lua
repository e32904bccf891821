-- neap state: the state object of a stored session: what it is, how it came about, what differs,
-- and a proposal from the command line. next: recall.lua
local core = require("neap.core")
local visible = require("neap.report.visible")
local opened = require("neap.cli.opened")
local failure = require("neap.cli.fail")
local word_of = require("neap.cli.word")

local M = {}

local json = core.json
local RAW = { state = true, patch = true, faults = true, from = true, to = true }

local function open(opts, readonly)
  local path = opened.existing(opts)
  local how = { store = path, tenant = opts.tenant, fixed_secret = true, readonly = readonly }
  return failure.check(core.engine(how))
end

-- What the store has of a session: its proposals, those that were taken with the state they made.
local function read(opts, session)
  local engine = open(opts, true)
  local text, why = engine:state_stored(session)
  engine:close()
  return json.decode(failure.check(text, why), RAW)
end

local function whole(word, what)
  local n = word and math.tointeger(tonumber(word))
  if word and not (n and n >= 0) then
    failure.fail(("%s: %s is a number, as neap state history lists them"):format(word, what))
  end
  return n
end

-- The state of a version, as the text it was kept as; version 0 is none yet.
local function state_of(all, version, session)
  if version == 0 then return "{}" end
  for _, one in ipairs(all.history) do
    if one.state and one.version == version then return tostring(one.state) end
  end
  local text = "session %s has no version %d of its state; neap state history lists them"
  failure.fail(text:format(session, version))
end

local verbs = {}

function verbs.show(opts, session, version)
  local all = read(opts, session)
  local n = whole(version, "the version") or all.version
  local text = state_of(all, n, session)
  if opts.json then
    local row = { session = session, version = n, state = json.raw((text:gsub("\n", ""))) }
    io.stdout:write(json.encode(row, { "session", "version", "state" }), "\n")
  else
    visible.write(("version %d\n%s\n"):format(n, text))
  end
  return 0
end

local function print_record(one)
  local what = one.refused and "refused" or "version " .. one.version
  if one.void then what = what .. " (void)" end
  local parts = { what, one.who, "step " .. one.step }
  if one.source > 0 then parts[#parts + 1] = "source " .. one.source end
  if one.reason ~= "" then parts[#parts + 1] = one.reason end
  visible.write(visible.line(table.concat(parts, "\t"):gsub("\t", "  ")), "\n")
  for _, fault in ipairs(one.faults and json.decode(tostring(one.faults)) or {}) do
    local path = fault.path == "" and "/" or fault.path
    visible.write("  ", visible.line(path .. ": " .. fault.what), "\n")
  end
end

local ORDER = { "version", "who", "refused", "void", "step", "source", "reason" }

function verbs.history(opts, session)
  for _, one in ipairs(read(opts, session).history) do
    if opts.json then
      one.session = session
      io.stdout:write((json.encode(one, ORDER):gsub("\n", "")), "\n")
    else
      print_record(one)
    end
  end
  return 0
end

function verbs.diff(opts, session, from, to)
  local all = read(opts, session)
  local b = whole(to, "the version") or all.version
  local a = whole(from, "the version") or math.max(b - 1, 0)
  local text = core.object_diff(state_of(all, a, session), state_of(all, b, session))
  local rows = json.decode(text, RAW)
  for _, row in ipairs(rows) do
    if opts.json then
      io.stdout:write(json.encode(row, { "path", "from", "to" }), "\n")
    else
      local was, now = row.from and tostring(row.from) or "", row.to and tostring(row.to) or ""
      local line = ("%s: %s -> %s"):format(row.path, was == "" and "(none)" or was,
        now == "" and "(none)" or now)
      visible.write(visible.line(line), "\n")
    end
  end
  return 0
end

local function patch_text(word)
  if word == "-" then return io.stdin:read("a") end
  return word
end

function verbs.propose(opts, session, patch)
  if not patch then
    failure.fail("neap state propose needs a SESSION and a PATCH, or - to read it")
  end
  local engine = open(opts, false)
  local text, why = engine:state_stored_propose(
    session,
    opts.who or "user",
    patch_text(patch),
    opts.reason,
    opts.source,
    opts.if_version
  )
  engine:close()
  local answer = json.decode(failure.check(text, why), RAW)
  if opts.json then
    io.stdout:write((text:gsub("\n", "")), "\n")
  elseif answer.committed then
    local form = answer.changed == false and "nothing changes: version %d stands\n"
      or "committed version %d\n"
    visible.write(form:format(answer.version))
  else
    failure.warn(("refused; version %d stands"):format(answer.version))
    for _, fault in ipairs(json.decode(tostring(answer.faults))) do
      failure.warn(("%s: %s"):format(fault.path == "" and "/" or fault.path, fault.what))
    end
  end
  return answer.committed and 0 or 1
end

local PROPOSAL = word_of.set("who", "reason", "source", "if_version")
local TAKES = { show = {}, history = {}, diff = {}, propose = PROPOSAL }
local MOST = { show = 3, history = 2, diff = 4, propose = 3 } -- words, the first with them

--- neap state
function M.state(opts, args)
  local verb = verbs[args[1]]
  if not verb then
    failure.fail(("neap state %s: use show, history, diff or propose"):format(args[1]))
  end
  if not args[2] then failure.fail(("neap state %s needs a SESSION"):format(args[1])) end
  word_of.check("state " .. args[1], opts, TAKES[args[1]])
  local extra = args[MOST[args[1]] + 1]
  if extra then
    failure.fail(("neap state %s: %s is one argument too many"):format(args[1], extra))
  end
  return verb(opts, args[2], args[3], args[4])
end

return M
