-- How good the default policy is, on recordings that outgrow a window: at the cost of dropping
-- the oldest steps to half (hysteresis), what share of the way from what that misses to what tide
-- would miss if it were told the facts (or words) that will be cited.
--
--     make bench-tide                              the shared recordings, 8,000 and 16,000
--     make bench-tide ARGS="--fit 60"              refitted from nothing on each half first
--     make bench-tide ARGS="--fit 60 --half 1"     on the first alone, reported on the second
--     make bench-tide ARGS="--join 32000 64000"    recordings of one form end to end
--     make bench-tide ARGS="--others 8000"         and every other shipped policy
--
-- A half is reported with what the other half chose. Costs are those of the prompts, as shares of
-- sending everything; recalls are told apart. No figure is judged here. next: lab.lua, fit.lua
local fit = require("tests.bench.fit")
local grid = require("neap.report.grid")
local import = require("neap.import")
local join = require("neap.import.join")
local lab = require("tests.bench.lab")
local oracle = require("neap.report.oracle")
local paths = require("neap.paths")
local shared = require("tests.support.shared")

local FLOORS = { 0.1, 0.25, 0.4, 0.55, 0.7 } -- of the sweep; a fit does with every other

local TIDE, LINE = "policies/tide.lua", "policies/hysteresis.lua"
local DRAWS = 1000
local SAMPLE = 40000 -- tokens: a search leaves out what is longer, which takes most of the time

local function options()
  local o = { windows = {}, fit = 0 }
  local at = 1
  while arg[at] do
    local word = arg[at]
    if word == "--fit" or word == "--half" then
      at = at + 1
      o[word:sub(3)] = assert(tonumber(arg[at]), word .. ": a number is expected")
    elseif word == "--join" or word == "--others" then
      o[word:sub(3)] = true
    else
      o.windows[#o.windows + 1] = assert(tonumber(word), word .. ": a window is expected")
    end
    at = at + 1
  end
  if #o.windows == 0 then o.windows = { 8000, 16000 } end
  return o
end

-- ---- recordings ----------------------------------------------------------------------------

local function recordings()
  local dir = shared.path("traces")
  local where = dir and shared.quote(dir) .. "/[a-z]*/*" or "examples/recordings/*.jsonl"
  local list, files = {}, assert(io.popen("ls -d " .. where))
  for path in files:lines() do
    for _, one in ipairs(import.load(path, {}) or {}) do
      if #one.messages > 0 then list[#list + 1] = one end
    end
  end
  files:close()
  return list
end

-- The recordings of each form and half as one; a half stays a half.
local function joined(cases)
  local groups, order = {}, {}
  for _, c in ipairs(cases) do
    local key = c.recording.format .. c.half
    if not groups[key] then
      groups[key] = { half = c.half }
      order[#order + 1] = key
    end
    table.insert(groups[key], c.recording)
  end
  local out = {}
  for _, key in ipairs(order) do
    local list = groups[key]
    local text = import.native(assert(join.join(list)))
    local c = lab.case(assert(import.load_text(key .. ".jsonl", text, {}))[1])
    c.half = list.half
    out[#out + 1] = c
  end
  return out
end

-- Those that outgrow the window, cite something, and fit at every turn.
local function in_window(cases, window, half, most)
  local budget, out, over = window - math.min(8000, window // 8), {}, 0
  for _, c in ipairs(cases) do
    local is_sized = c.most > budget and c.most <= (most or math.huge)
    if is_sized and c.full.cited > 0 and (not half or c.half == half) then
      c.line = c.line or {}
      c.line[window] = c.line[window] or lab.run(c.recording, { path = LINE }, window)
      if c.line[window].overflow > 0 then over = over + 1
      else out[#out + 1] = c end
    end
  end
  return out, over
end

-- ---- curves --------------------------------------------------------------------------------

local function with_floor(settings, floor)
  local o = { floor = floor }
  for name, value in pairs(settings or {}) do
    o[name] = value
  end
  return o
end

-- Sums by setting of the sweep and by case. `settings_of` a case: those its half is given; `told`:
-- what the policy is told, nothing, the `told` facts or the `words`.
local function curve(cases, window, settings_of, told, every)
  local source = told and assert(shared.read(TIDE))
  local out = {}
  for f = 1, #FLOORS, every or 1 do
    local floor, i = FLOORS[f], #out + 1
    out[i] = {}
    for k, c in ipairs(cases) do
      local path = told and lab.write(oracle.told(c[told], source)) or TIDE
      local set = with_floor(settings_of(c), floor)
      out[i][k] = lab.run(c.recording, { path = path, options = set }, window)
      if told then os.remove(path) end
    end
  end
  return out
end

local function line_of(cases, window)
  local out = {}
  for k, c in ipairs(cases) do
    out[k] = c.line[window]
  end
  return out
end

-- The share of the way from hysteresis to what is told, at hysteresis's cost.
local function closed(s, axis, pooled, draw)
  local cost = lab.share(s.line, s.cases, "cost", pooled, draw)
  local line = lab.share(s.line, s.cases, axis, pooled, draw)
  local tide = lab.curve_at(s.tide, s.cases, axis, cost, pooled, draw)
  local knows = axis == "words" and s.words or s.told
  local told = lab.curve_at(knows, s.cases, axis, cost, pooled, draw)
  local share = tide and told and line > told and (line - tide) / (line - told) or nil
  return share, line, tide, told
end

-- ---- the tables ----------------------------------------------------------------------------

local function percent(v)
  return v and ("%.1f"):format(100 * v) or "–"
end

local function gap_row(s, name, axis, pooled)
  local share, line, tide, told = closed(s, axis, pooled)
  local low, high = lab.interval(#s.cases, function(draw)
    return (closed(s, axis, pooled, draw))
  end, DRAWS)
  local range = low and ("%.0f to %.0f"):format(100 * low, 100 * high) or "–"
  return { name, percent(line), percent(tide), percent(told), percent(share), range }
end

local function print_gap(s)
  local rows = { { "missing, % of citations", "hysteresis", "tide", "told", "closed %", "95 %" } }
  for _, axis in ipairs({ { "missing", "facts" }, { "far", "facts, over 10 steps" },
    { "words", "words" } }) do
    rows[#rows + 1] = gap_row(s, axis[2] .. ", mean", axis[1], false)
    rows[#rows + 1] = gap_row(s, axis[2] .. ", pooled", axis[1], true)
  end
  io.write(grid.format(rows, { "l", "r", "r", "r", "r", "r" }))
end

-- As it ships, the model able to recall: what that adds to the cost, and what is gone.
local function print_shipped(s, window)
  local sums = {}
  for k, c in ipairs(s.cases) do
    sums[k] = lab.run(c.recording, { path = TIDE, options = s.settings_of(c) }, window)
  end
  local rows = { { "as it ships", "cost", "recalls add", "missing", "gone" } }
  for _, pooled in ipairs({ false, true }) do
    local cost = lab.share(sums, s.cases, "cost", pooled)
    local recalls = lab.share(sums, s.cases, "recalls", pooled)
    rows[#rows + 1] = {
      pooled and "pooled" or "mean", percent(cost), percent(recalls / cost),
      percent(lab.share(sums, s.cases, "missing", pooled)),
      percent(lab.share(sums, s.cases, "gone", pooled)),
    }
  end
  io.write("\n", grid.format(rows, { "l", "r", "r", "r", "r" }))
  return sums
end

-- Every other shipped policy, with its recalls: is one both cheaper and does it lose less?
local function print_others(s, window, shipped)
  local rows = { { "policy", "cost with recalls", "missing", "gone", "" } }
  local function add(name, sums, than)
    local cost = lab.share(sums, s.cases, "cost") + lab.share(sums, s.cases, "recalls")
    local gone = lab.share(sums, s.cases, "gone")
    local beats = than and cost < than[1] and gone < than[2]
    rows[#rows + 1] = { name, percent(cost), percent(lab.share(sums, s.cases, "missing")),
      percent(gone), beats and "both lower" or "" }
    return { cost, gone }
  end
  local tide = add("tide", shipped)
  for _, name in ipairs(paths.shipped()) do
    local path, sums = assert(paths.policy(name)), {}
    for k, c in ipairs(s.cases) do
      sums[k] = lab.run(c.recording, { path = path }, window)
    end
    if not name:find("tide") then add(name, sums, tide) end
  end
  io.write("\n", grid.format(rows, { "l", "r", "r", "r", "l" }))
end

local function report(cases, window, chosen, o)
  local set, over = in_window(cases, window, o.half and 3 - o.half)
  local function settings_of(c)
    return chosen and chosen[3 - c.half] -- what the other half chose
  end
  local count = { 0, 0 }
  for _, c in ipairs(set) do
    count[c.half] = count[c.half] + 1
  end
  io.write(("\nwindow %s: %d recordings outgrow it (halves %d and %d); "):format(
    grid.thousands(window), #set, count[1], count[2]
  ))
  io.write(("%d more do not fit it at every turn and are left out\n"):format(over))
  if #set == 0 then return end
  local s = { cases = set, settings_of = settings_of, line = line_of(set, window) }
  s.tide, s.told = curve(set, window, settings_of), curve(set, window, settings_of, "told")
  s.words = curve(set, window, settings_of, "words")
  io.write("at hysteresis's cost, ", percent(lab.share(s.line, set, "cost")), " % (pooled ",
    percent(lab.share(s.line, set, "cost", true)), " %)\n\n")
  print_gap(s)
  local shipped = print_shipped(s, window)
  if o.others then print_others(s, window, shipped) end
end

-- What of hysteresis's missing facts a setting still misses at its cost: mean and pooled, over the
-- windows; the less the better.
local function objective(cases, windows, half)
  local sets = {}
  for i, window in ipairs(windows) do
    sets[i] = in_window(cases, window, half, SAMPLE)
  end
  return function(settings)
    local sum = 0
    for i, window in ipairs(windows) do
      local set = sets[i]
      local line = line_of(set, window)
      local tide = curve(set, window, function()
        return settings
      end, nil, 2)
      for _, pooled in ipairs({ false, true }) do
        local cost = lab.share(line, set, "cost", pooled)
        local value = lab.curve_at(tide, set, "missing", cost, pooled) or 1
        sum = sum + value / lab.share(line, set, "missing", pooled)
      end
    end
    return sum / (2 * #windows)
  end
end

local o = options()
local cases = {}
for i, one in ipairs(recordings()) do
  cases[i] = lab.case(one)
end
lab.split(cases)
if o.join then cases = joined(cases) end
local chosen
if o.fit > 0 then
  chosen = {}
  for half = o.half or 1, o.half or 2 do
    local best, value, tried = fit.search(objective(cases, o.windows, half), o.fit)
    chosen[half] = best
    io.write(("half %d chose, of %d settings (%.3f): %s\n"):format(half, tried, value,
      fit.text(best)))
  end
end
for _, window in ipairs(o.windows) do
  report(cases, window, chosen, o)
end
