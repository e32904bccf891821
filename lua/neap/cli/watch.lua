-- neap watch: replays recordings at every save of a policy and says what each version changed.
-- Recordings are read once; the policy, and the modules it requires, are looked at until they
-- change. next: replay.lua, ../report/terminal.lua
local core = require("neap.core")
local files = require("neap.files")
local replay = require("neap.report.replay")
local terminal = require("neap.report.terminal")
local grid = require("neap.report.grid")
local visible = require("neap.report.visible")
local show_replay = require("neap.cli.replay")
local session = require("neap.cli.session")

local M = {}

local POLL = 100 -- milliseconds: a save is seen at once, and looking costs nothing
local SETTLE = 20 -- an editor empties a file before it writes it

-- ---- what is watched ----------------------------------------------------------------------

-- The files that a policy is made of: itself, and what it requires, found by their names.
local function parts(path, list, seen)
  if seen[path] then return list end
  seen[path] = true
  list[#list + 1] = path
  local text = core.stat(path) and files.read(path) or ""
  for name in text:gmatch("require%s*%(?%s*[\"']([%l%d_.]+)[\"']") do
    parts(seen.folder .. name:gsub("%.", "/") .. ".lua", list, seen)
  end
  return list
end

local function parts_of(policy)
  return parts(policy, {}, { folder = policy:match("^(.*/)[^/]*$") or "" })
end

-- A text that differs when one of the files does.
local function signature(list)
  local out = {}
  for i, path in ipairs(list) do
    local st = core.stat(path)
    out[i] = st and ("%d %d.%09d"):format(st.size, st.mtime, st.mtime_ns) or "-"
  end
  return table.concat(out, "\n")
end

-- Waits for the end of a save: two looks that agree, and a policy that is there.
local function settle(list)
  local last = nil
  for _ = 1, 50 do
    local now = signature(list)
    if now == last and now:sub(1, 1) ~= "-" then return end
    last = now
    core.sleep_ms(SETTLE)
  end
end

local function wait_for_change(list, known)
  repeat
    core.sleep_ms(POLL)
  until signature(list) ~= known
  settle(list)
end

-- ---- one version --------------------------------------------------------------------------

-- Replays every recording; the lines, the first hook errors, and how many turns did not fit.
-- nil and the reason when the policy does not load.
local function run_all(recordings, o)
  local lines, errors, seen, hash = {}, {}, {}, nil
  o.observe = true
  o.on_turn = function(account)
    for _, text in ipairs(account.hook_errors or {}) do
      if not seen[text] then errors[#errors + 1] = text end
      seen[text] = true
    end
  end
  for _, recording in ipairs(recordings) do
    local state, why = replay.run(recording, o)
    if not state then return nil, why end
    replay.close(state)
    lines[#lines + 1] = replay.summary(recording, state)
    hash = state.policy.sha256
  end
  return { lines = lines, errors = errors, sha256 = hash, name = lines[1].policy }
end

-- "12.0" after "15.1" is "12.0 (−3.1)"; what is no number, or has not changed, stays.
local function with_change(now, before)
  local a, b = tostring(now), tostring(before or "")
  local x = tonumber((a:gsub(",", "")))
  local y = tonumber((b:gsub(",", "")))
  if not x or not y or a == b then return a end
  local sign, by = x < y and "−" or "+", math.abs(x - y)
  local text = a:find(".", 1, true) and ("%.1f"):format(by) or grid.thousands(math.floor(by))
  return ("%s (%s%s)"):format(a, sign, text)
end

-- The rows with what has changed since the version before, which had the same recordings.
local function changed_rows(rows, before)
  local out = { rows[1] }
  for r = 2, #rows do
    out[r] = { rows[r][1] }
    for i = 2, #rows[1] do
      out[r][i] = with_change(rows[r][i], before and before[r][i])
    end
  end
  return out
end

-- The line of a file that an error names, below the error.
local function source_line(text, list)
  local where, number = text:match("([^%s:]+%.lua):(%d+):")
  if not where then return "" end
  for _, path in ipairs(list) do
    if path == where or path:sub(-#where - 1) == "/" .. where then
      local n, content = 0, core.stat(path) and files.read(path) or ""
      for line in (content .. "\n"):gmatch("(.-)\n") do
        n = n + 1
        if n == tonumber(number) then return ("%6d │ %s\n"):format(n, visible.line(line)) end
      end
    end
  end
  return ""
end

local function complaints(errors, list)
  local out = {}
  for i = 1, math.min(#errors, 3) do
    out[i] = "neap: " .. visible.line(errors[i]) .. "\n" .. source_line(errors[i], list)
  end
  if #errors > 3 then out[4] = ("neap: %d more\n"):format(#errors - 3) end
  return table.concat(out)
end

local function heading(version, o, number)
  local text = "policy %s, version %d (%s), window %s, format %s\n"
  local name, hash = visible.line(version.name), version.sha256:sub(1, 8)
  return text:format(name, number, hash, grid.thousands(o.window), o.format or "openai")
end

-- ---- the loop -----------------------------------------------------------------------------

local Screen = {}
Screen.__index = Screen

-- On a terminal, in place of what stood there; elsewhere errors go to standard error, and a
-- version that does not load prints no table.
function Screen:draw(errors, text, is_new)
  if self.is_terminal then
    io.stdout:write(terminal.above(self.drawn), errors, text)
    self.drawn = terminal.height(errors .. text)
  else
    io.stderr:write(errors)
    if is_new then io.stdout:write(text, "\n") end
  end
  io.stdout:flush()
end

local function print_json(lines)
  for _, line in ipairs(lines) do
    io.stdout:write(core.json.encode(line, replay.TRACE_ORDER), "\n")
  end
  io.stdout:flush()
end

--- neap watch
function M.watch(opts, args)
  opts.policy = opts.watched
  local o, recordings = session.options(opts), {}
  session.check_once(args)
  for _, path in ipairs(args) do
    local found = session.load(path, opts)
    table.move(found, 1, #found, #recordings + 1, recordings)
  end
  local screen = setmetatable({ is_terminal = core.isatty(1) and not opts.json }, Screen)
  local number, text, before, good = 0, "", nil, 0
  for round = 1, opts.rounds or math.maxinteger do
    local list = parts_of(o.policy)
    local known = signature(list)
    local version, why = run_all(recordings, o)
    local errors = version and version.errors or { why }
    number = number + 1
    if version then
      local rows = show_replay.rows(version.lines)
      text = heading(version, o, number) .. show_replay.format(changed_rows(rows, before))
      before, good = rows, good + 1
    end
    if opts.json then
      io.stderr:write(complaints(errors, list))
      print_json(version and version.lines or {})
    else
      screen:draw(complaints(errors, list), text, version ~= nil)
    end
    if round ~= opts.rounds then wait_for_change(list, known) end
  end
  return good > 0 and 0 or 1
end

return M
