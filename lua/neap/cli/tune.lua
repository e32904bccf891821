-- neap tune: which settings of a policy no other beats in both cost and facts gone. Fitted on one
-- half of the recordings, reported on the other, both ways round. next: ../report/tune.lua
local core = require("neap.core")
local grid = require("neap.report.grid")
local replay = require("neap.report.replay")
local tally = require("neap.report.tally")
local terminal = require("neap.report.terminal")
local tune = require("neap.report.tune")
local visible = require("neap.report.visible")
local compare = require("neap.report.compare")
local session = require("neap.cli.session")
local shards = require("neap.cli.shards")
local show_replay = require("neap.cli.replay")
local failure = require("neap.cli.fail")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

local TRIES = 40 -- settings for each half

-- A session in which nothing has come yet: does the policy load, with these options?
local function opened(recording, o)
  return replay.run({
    name = recording.name, path = recording.path, messages = {}, lines = {}, roles = {}, times = {},
  }, o)
end

-- The policy's options, by name: { value, min, max }.
local function defaults(recording, o)
  local state = check(opened(recording, o))
  local options = json.decode(state.policy.options or "{}")
  local name = state.policy.name
  replay.close(state)
  for _, one in pairs(options) do
    for _, member in ipairs({ "value", "min", "max" }) do
      one[member] = compare.number(one[member])
    end
  end
  return options, name
end

local function place_of(list, value)
  for i, one in ipairs(list) do
    if one == value then return i end
  end
end

-- Values as they were written: numbers and flags as such, the rest as text.
local function swept(words)
  local lists = {}
  for _, word in ipairs(words) do
    local name, values = word:match("^([%a_][%w_]*)=(.+)$")
    if not name then fail(("--sweep %s: NAME=V1,V2,… is expected"):format(word)) end
    if lists[name] then
      fail(("--sweep %s: %s is swept twice; give all its values once"):format(word, name))
    end
    lists[name] = {}
    for value in values:gmatch("[^,]+") do
      local read = json.decode(value)
      if read == nil then read = value end
      table.insert(lists[name], compare.number(read))
    end
  end
  return lists
end

-- A value such as 1 is of an option that takes whole numbers alone, or of one that takes others
-- too: which, tells a value between two of them.
local function as_kind(name, one, takes)
  local value = one.value
  if math.type(value) ~= "integer" then return value end
  local between = value + 0.5
  if one.max and between > one.max then between = value - 0.5 end
  if one.min and between < one.min then return value end
  return takes(name, between) and value + 0.0 or value
end

-- Names in order, the values of each, and the place of its default. `takes(name, value)`: does the
-- policy take it?
local function space_of(options, sweeps, takes)
  local given = sweeps and swept(sweeps)
  local names, lists, start = {}, {}, {}
  for name in pairs(given or options) do
    local one = options[name]
    if not one then
      fail(("--sweep %s=…: the policy has no such option; neap check lists them"):format(name))
    end
    if given or tune.values_of(one.value) then names[#names + 1] = name end
  end
  table.sort(names)
  for i, name in ipairs(names) do
    local one = options[name]
    local list = given and given[name]
      or tune.values_of(as_kind(name, one, takes), one.min, one.max)
    if not place_of(list, one.value) then table.insert(list, 1, one.value) end
    lists[i], start[i] = list, place_of(list, one.value)
  end
  return names, lists, start
end

local function word_of(value)
  return type(value) == "string" and value or json.encode(math.tointeger(value) or value)
end

-- Fails at a value given with --sweep that the policy does not take, as compare does.
local function check_swept(space, recording, opts)
  for i, name in ipairs(space.names) do
    for place, value in ipairs(space.lists[i]) do
      if place ~= space.start[i] then
        local o = session.options(opts, { name .. "=" .. word_of(value) })
        replay.close((check(opened(recording, o))))
      end
    end
  end
end

-- The words of a setting, defaults left out: { "floor=0.6" }.
local function words_of(space, places)
  local words = {}
  for i, name in ipairs(space.names) do
    if places[i] ~= space.start[i] then
      words[#words + 1] = name .. "=" .. word_of(space.lists[i][places[i]])
    end
  end
  return words
end

-- Runs a setting on a recording; nil when the policy does not take the values.
local function run_one(job, recording, words)
  local o = session.options(job.opts, words)
  o.policy, o.progress = job.path, nil
  o.on_account = function(account)
    session.hook_errors(account, ("%s, %s"):format(job.name, recording.name), job.seen)
  end
  local state, why, code = replay.run(recording, o)
  if not state then
    if #words > 0 and code == "policy" then return nil end
    fail(why)
  end
  replay.close(state)
  local line = replay.summary(recording, state)
  return { cost = compare.number(line.cost), far = tally.far(line.facts), overflow = line.overflow,
    failed = line.overflow + line.hook_errors }
end

-- What a recording costs without a window.
local function full_cost(job, recording)
  local o = session.options(job.opts)
  o.policy, o.progress, o.unbounded = nil, nil, true
  local state = check(replay.run(recording, o))
  replay.close(state)
  return compare.number(replay.summary(recording, state).cost)
end

-- Cost and gone of a setting over one half, as shares, how many turns did not fit or hooks
-- failed, and how many did not fit; kept by recording. nil: the policy does not take the values.
local function measure(job, half, places)
  local words = words_of(job.space, places)
  local key, cost, full, gone, cited, over = table.concat(words, " "), 0, 0, 0, 0, 0
  local failed = 0
  job.known[key] = job.known[key] or {}
  for i, recording in ipairs(job.recordings) do
    if job.halves[i] == half then
      local known = job.known[key][i]
      if known == nil then
        job.count = job.count + 1
        job.progress(job.count, job.most)
        known = run_one(job, recording, words) or false
        job.known[key][i] = known
      end
      if not known then return nil end
      cost, full, over = cost + known.cost, full + job.full[i], over + known.overflow
      gone, cited = gone + known.far.gone, cited + known.far.cited
      failed = failed + known.failed
    end
  end
  local function round(x)
    return math.floor(x * 10000 + 0.5) / 10000
  end
  job.cited[half], job.cost[half] = cited, full
  local lost = round(cited > 0 and gone / cited or 0)
  return round(full > 0 and cost / full or 0), lost, failed, over
end

-- Measures for the search. Passed by is a setting under which more turns fail than without it: it
-- is cheap because less was sent.
local function trial(job, half)
  local most -- failures of the first that is tried, the policy as it is
  return function(places)
    local cost, gone, failed, over = measure(job, half, places)
    if not cost then return nil end
    if not most then
      most, job.overflow = failed, job.overflow + over
    end
    if failed <= most then return cost, gone end
    job.failed = job.failed + 1
    return nil
  end
end

-- Is the point one that no other of its front beats on the half it was not fitted on?
local function holds(point, front)
  if point.other_fails or not point.other_cost then return false end
  for _, other in ipairs(front) do
    if other.other_fails or not other.other_cost then goto continue end
    local no_worse = other.other_cost <= point.other_cost and other.other_gone <= point.other_gone
    local better = other.other_cost < point.other_cost or other.other_gone < point.other_gone
    if no_worse and better then return false end
    ::continue::
  end
  return true
end

-- The front of a half, each point with what it comes to on the other.
local function fit(job, half)
  local before, try = job.failed, trial(job, half)
  local points, refused = tune.search(job.space.lists, job.space.start, job.tries, try)
  local front = tune.front(points)
  local _, _, usual = measure(job, 3 - half, job.space.start)
  for _, point in ipairs(front) do
    point.half, point.words = half, words_of(job.space, point.places)
    local failures
    point.other_cost, point.other_gone, failures = measure(job, 3 - half, point.places)
    point.other_fails = failures and failures > usual or nil
  end
  for _, point in ipairs(front) do
    point.holds = holds(point, front)
  end
  local failed = job.failed - before
  job.tried = job.tried + #points + failed
  job.refused = job.refused + refused - failed
  for _, point in ipairs(front) do
    if job.cited[half] == 0 then point.gone = nil end
    if job.cited[3 - half] == 0 then point.other_gone = nil end
    if job.cost[half] == 0 then point.cost = nil end
    if job.cost[3 - half] == 0 then point.other_cost = nil end
  end
  return front
end

-- The command that gives the point's numbers, without the recordings.
local function command_of(job, point)
  local words = { "neap", "replay", "-p", job.opts.policy }
  for _, word in ipairs(point.words) do
    table.move({ "-o", word }, 1, 2, #words + 1, words)
  end
  for _, name in ipairs(shards.PASSED) do
    if job.opts[name] then
      table.move({ "--" .. name, tostring(job.opts[name]) }, 1, 2, #words + 1, words)
    end
  end
  return words
end

local ORDER = { "policy", "half", "setting", "cost", "gone", "other_cost", "other_gone",
  "other_fails", "holds", "command", "settings", "refused", "failed", "overflow" }

-- A shard says in a last line what the table's head tells.
local function print_json(job, fronts)
  for _, front in ipairs(fronts) do
    for _, point in ipairs(front) do
      local line = {
        policy = job.name,
        half = point.half,
        setting = json.array(point.words),
        cost = point.cost,
        gone = point.gone,
        other_cost = point.other_cost,
        other_gone = point.other_gone,
        other_fails = point.other_fails,
        holds = point.holds,
        command = json.array(command_of(job, point)),
      }
      io.stdout:write(json.encode(line, ORDER), "\n")
    end
  end
  if not job.opts.half then return end
  local last = { settings = job.tried, refused = job.refused, failed = job.failed }
  last.overflow = job.overflow
  io.stdout:write(json.encode(last, ORDER), "\n")
end

-- The front that a shard printed.
local function read_front(job, text)
  local front = {}
  for row in text:gmatch("[^\n]+") do
    local line = check(json.decode(row))
    if line.settings then
      job.tried, job.refused = job.tried + line.settings, job.refused + line.refused
      job.failed, job.overflow = job.failed + line.failed, job.overflow + line.overflow
    else
      for _, name in ipairs({ "cost", "gone", "other_cost", "other_gone" }) do
        line[name] = compare.number(line[name])
      end
      line.words = line.setting
      front[#front + 1] = line
    end
  end
  return front
end

-- Each half in a process of its own: what is tried on one does not depend on the other.
local function fit_beside(job, args)
  local opts, words = job.opts, { "--json", "-p", shards.quote(job.opts.tuned) }
  if opts.tries then table.move({ "--tries", opts.tries }, 1, 2, #words + 1, words) end
  for _, word in ipairs(opts.tried or {}) do
    table.move({ "--sweep", shards.quote(word) }, 1, 2, #words + 1, words)
  end
  local fronts = {}
  for i, text in ipairs(shards.run("tune", opts, words, args, 2)) do
    fronts[i] = read_front(job, text)
  end
  return fronts
end

-- Here: both halves, or that of a shard.
local function fit_here(job)
  local half_of, fronts = job.opts.half, {}
  for i, recording in ipairs(job.recordings) do
    job.full[i] = full_cost(job, recording)
  end
  for half = 1, 2 do
    if not half_of or half_of[1] == half then fronts[#fronts + 1] = fit(job, half) end
  end
  job.progress()
  return fronts
end

local function quoted(words)
  local out = {}
  for i, word in ipairs(words) do
    local is_plain = word:find("^[%w_./=:+-]+$")
    out[i] = is_plain and word or "'" .. word:gsub("'", "'\\''") .. "'"
  end
  return table.concat(out, " ")
end

-- A dash where nothing was cited, or there was no turn.
local function percent(share)
  return share and ("%.1f"):format(100 * share) or "–"
end

local function print_table(job, fronts, o)
  local rows, commands = { { "fit on", "cost", "gone", "other cost", "gone", "", "setting" } }, {}
  local said, any_fails = {}, false
  for _, front in ipairs(fronts) do
    for _, p in ipairs(front) do
      any_fails = any_fails or p.other_fails
      rows[#rows + 1] = {
        "half " .. p.half,
        percent(p.cost),
        percent(p.gone),
        percent(p.other_cost),
        percent(p.other_gone),
        p.holds and "holds" or p.other_fails and "fails" or "",
        #p.words > 0 and table.concat(p.words, " ") or "(as it is)",
      }
      local command = quoted(command_of(job, p)) .. " TRACE…\n"
      if not said[command] then commands[#commands + 1] = command end
      said[command] = true
    end
  end
  local head = "policy %s, window %s: %d settings tried on %d recordings\n"
    .. "cost: share of what no window costs; gone: of the facts cited more than 10 steps later; "
    .. "in %%\n"
    .. "each row was chosen on its half alone; the columns behind it are the other half's;\n"
    .. "holds: nor does another of these rows beat it there%s\n\n"
  local fails = any_fails and "; fails: more turns fail there than as it is" or ""
  visible.write(
    head:format(job.name, grid.thousands(o.window), job.tried, #job.recordings, fails),
    grid.format(rows, { "l", "r", "r", "r", "r", "l", "l" }),
    "\n",
    table.concat(commands)
  )
  if job.refused > 0 then
    visible.write(grid.count(job.refused, "setting"), " that the policy does not take\n")
  end
  if job.failed > 0 then
    local text = " passed by: more turns did not fit or more hooks failed than as it is\n"
    visible.write(grid.count(job.failed, "setting"), text)
  end
end

local function load_all(opts, args)
  local list, names = {}, {}
  session.check_once(args)
  for _, path in ipairs(args) do
    for _, recording in ipairs(session.load_or_skip(path, opts)) do
      list[#list + 1] = recording
      names[#names + 1] = path:match("([^/]*)$") .. "#" .. recording.name
    end
  end
  session.check_any(#list)
  if #list < 2 then
    fail("one recording is not enough: settings are fitted on one half and reported on the other; "
      .. "give two at least")
  end
  return list, names
end

--- neap tune
function M.tune(opts, args)
  if opts.half and opts.half[2] ~= 2 then
    fail("--shard: recordings are split in two halves; give 1/2 or 2/2")
  end
  opts.policy = opts.tuned
  local o = session.options(opts)
  local recordings, names = load_all(opts, args)
  local options, name = defaults(recordings[1], session.options(opts))
  local space = {}
  space.names, space.lists, space.start = space_of(options, opts.tried, function(word, value)
    local with = session.options(opts, { word .. "=" .. json.encode(value) })
    local state = opened(recordings[1], with)
    if state then replay.close(state) end
    return state ~= nil
  end)
  if opts.tried then check_swept(space, recordings[1], opts) end
  if #space.names == 0 then
    local text = "policy %s has no option that is a number or a flag; name values with --sweep"
    fail(text:format(name))
  end
  local job = {
    opts = opts, path = o.policy, name = name, recordings = recordings, space = space, seen = {},
    halves = tune.split(names), known = {}, full = {}, count = 0, tried = 0, refused = 0,
    failed = 0, overflow = 0, cited = {}, cost = {},
    tries = opts.tries or TRIES,
    progress = opts.half and function() end or terminal.progress("replays"),
  }
  job.most = job.tries * #recordings
  local is_beside = (opts.fits or 1) > 1 and not opts.half
  local fronts = is_beside and fit_beside(job, args) or fit_here(job)
  if opts.json then
    print_json(job, fronts)
  else
    print_table(job, fronts, o)
  end
  if job.overflow == 0 then return 0 end
  if not opts.half then show_replay.warn_overflow(job.overflow) end
  return 1
end

return M
