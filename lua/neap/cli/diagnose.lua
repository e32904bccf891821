-- neap diagnose: the symptoms that recordings show under a policy, and what to turn; with --budget
-- what windows and shares their numbers ask for. next: ../report/diagnose.lua
local core = require("neap.core")
local diagnose = require("neap.report.diagnose")
local grid = require("neap.report.grid")
local replay = require("neap.report.replay")
local visible = require("neap.report.visible")
local show_replay = require("neap.cli.replay")
local session = require("neap.cli.session")
local failure = require("neap.cli.fail")

local M = {}
local json = core.json

local ORDER = { "trace", "policy", "symptom", "value", "limit", "evidence", "advice" }

local function each_recording(opts, args, use)
  local n = 0
  session.check_once(args)
  for _, path in ipairs(args) do
    for _, recording in ipairs(session.load_or_skip(path, opts)) do
      n = n + 1
      use(recording)
    end
  end
  session.check_any(n)
  return n
end

local function round(x)
  return math.type(x) == "float" and math.floor(x * 10000 + 0.5) / 10000 or x
end

-- ---- symptoms -------------------------------------------------------------------------------

local function look_at(recording, o, errors)
  local seen, s = diagnose.new(), nil
  o.observe = true
  o.on_turn = function(account, body, now)
    s = now
    session.hook_errors(account, recording.name, errors)
    seen:turn(account, body)
  end
  o.on_measure = function(measure)
    seen:measure(measure, s)
  end
  local state = failure.check(replay.run(recording, o))
  seen:finish(state.session)
  replay.close(state)
  local line = replay.summary(recording, state)
  return diagnose.symptoms(line, seen, state.policy), state
end

local function print_symptoms(recording, list, turns)
  if #list == 0 then
    local none = turns > 0 and ": no symptom\n\n" or ": has no turn, so nothing was looked at\n\n"
    visible.write(visible.line(recording.name), none)
    return
  end
  visible.write(visible.line(recording.name), "\n")
  for _, one in ipairs(list) do
    visible.write("  ", one.symptom, ": ", visible.line(one.evidence), "\n")
    visible.write("      ", one.advice, "\n")
  end
  visible.write("\n")
end

local function symptoms(opts, args)
  local o, errors, is_first = session.project_options(opts), {}, true
  each_recording(opts, args, function(recording)
    local list, state = look_at(recording, o, errors)
    if opts.json then
      for _, one in ipairs(list) do
        one.trace, one.policy, one.value = recording.name, state.policy.name, round(one.value)
        io.stdout:write(json.encode(one, ORDER), "\n")
      end
      return
    end
    if is_first then visible.write(show_replay.setting(state, o), "\n\n") end
    is_first = false
    print_symptoms(recording, list, state.turn)
  end)
  return 0
end

-- ---- budgets --------------------------------------------------------------------------------

local WINDOWS = { 8000, 16000, 32000, 64000, 128000, 200000, 400000, 1000000 }
local REGIONS = { "fixed", "task", "memory", "warm", "state", "hot" }

-- Tokens of every turn and region, and of every result, while everything is shown.
local function sizes_of(recording, o, sizes)
  o.on_account = function(account)
    table.insert(sizes.tokens, account.tokens)
    for _, name in ipairs(REGIONS) do
      table.insert(sizes[name], account.regions[name] or 0)
    end
    if account.growth then table.insert(sizes.growth, account.growth) end
  end
  local state = failure.check(replay.run(recording, o))
  for id = 1, state.session:entry_count() do
    local e = state.session:kind(id) == "result" and state.session:entry(id)
    if e then table.insert(sizes.results, e.full_tokens) end
  end
  replay.close(state)
end

-- What is to be set: the names are those of a policy's table and of the command line. No window:
-- there is none in which all that is shown would fit.
local function advice(p95, window)
  local fixed = p95.fixed + p95.task
  local list = { window and ("-w %d"):format(window) }
  if not window then
    window = WINDOWS[#WINDOWS]
    local text = "no usual window holds all of it; "
    list[1] = (text .. "neap compare TRACE… -w %d tells what policies lose"):format(window)
  end
  local limits = {}
  for _, name in ipairs({ "memory", "warm", "state" }) do
    if p95[name] > 0 then limits[#limits + 1] = ('{ "%s", max = %d }'):format(name, p95[name]) end
  end
  local hot = math.max(0, window - window // 8 - fixed)
  limits[#limits + 1] = ('{ "hot", min = %d }'):format(hot // 2)
  list[#list + 1] = "layout = { " .. table.concat(limits, ", ") .. " }"
  if p95.results > 0 then
    local text = "a result of more than %d tokens is one in twenty: trim it when it comes"
    list[#list + 1] = text:format(p95.results)
  end
  return list
end

-- The smallest of the usual windows in which 95 % of the prompts stay below 0.7; nil for none.
local function window_for(tokens)
  for _, window in ipairs(WINDOWS) do
    if tokens <= 0.7 * window then return window end
  end
end

local COUNTED = { "tokens", "growth", "results", table.unpack(REGIONS) }

local function budget(opts, args)
  if opts.policy or opts.option then
    failure.fail("--budget shows everything, and takes no policy; leave out -p and -o")
  end
  local o, sizes = session.options(opts), {}
  o.unbounded, o.policy = true, nil
  for _, name in ipairs(COUNTED) do
    sizes[name] = {}
  end
  local n = each_recording(opts, args, function(recording)
    sizes_of(recording, o, sizes)
  end)
  if #sizes.tokens == 0 then
    failure.fail("the recordings have no turn; one comes before each assistant message")
  end
  local p95, rows = {}, { { "tokens a turn", "p95", "most" } }
  for _, name in ipairs(COUNTED) do
    p95[name] = diagnose.p95(sizes[name])
    local most = 0
    for _, value in ipairs(sizes[name]) do
      most = math.max(most, value)
    end
    local label = name == "tokens" and "the whole prompt" or name == "results" and "one result"
      or name == "growth" and "growth" or name
    if most > 0 then
      rows[#rows + 1] = { label, grid.thousands(p95[name]), grid.thousands(most) }
    end
  end
  local window = window_for(p95.tokens)
  local list = advice(p95, window)
  if opts.json then
    local line = { recordings = n, turns = #sizes.tokens, p95 = p95, window = window }
    line.advice = json.array(list)
    local order = { "recordings", "turns", "p95", "window", "advice", table.unpack(COUNTED) }
    io.stdout:write(json.encode(line, order), "\n")
    return 0
  end
  local head = "%s, %s, everything shown\n\n"
  visible.write(
    head:format(grid.count(n, "recording"), grid.count(#sizes.tokens, "turn")),
    grid.format(rows, { "l", "r", "r" }),
    "\n",
    table.concat(list, "\n"),
    "\n"
  )
  return 0
end

--- neap diagnose
function M.diagnose(opts, args)
  return (opts.budget and budget or symptoms)(opts, args)
end

return M
