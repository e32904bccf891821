-- What a bench of policies needs: recordings that outgrow a window, one replay as a handful of
-- sums, and where a curve of cost against missing facts stands at a given cost, with intervals by
-- drawing whole recordings again. next: tide.lua
local core = require("neap.core")
local oracle = require("neap.report.oracle")
local prices = require("neap.models.prices")
local replay = require("neap.report.replay")

local M = {}

---@class bench.Sums
---@field cost number      units of the prompts alone
---@field recalls number   units of a recall for each fact that is only pointed at
---@field cited integer
---@field present integer
---@field noted integer
---@field pointed integer
---@field gone integer
---@field words integer    rare plain words that were cited
---@field seen integer     and of those, shown
---@field overflow integer

--- Writes a policy's text to a file of its own.
---@param text string
---@return string path
function M.write(text)
  local path = os.tmpname()
  local f = assert(io.open(path, "wb"))
  f:write(text)
  assert(f:close())
  return path
end

local function options_of(one)
  local any = next(one.options or {}) ~= nil
  return any and core.json.encode(one.options) or nil
end

local function sums_of(state)
  local s, cost = state.sums, state.paid
  local f = s.facts
  return {
    cost = cost, recalls = s.cost - cost, cited = f.cited, present = f.present, noted = f.noted,
    pointed = f.pointed, gone = f.gone, words = s.words.cited, seen = s.words.present,
    overflow = s.overflow, by = f.by_distance,
  }
end

--- One replay.
---@param recording neap.Recording
---@param one {path: string?, options: table?, unbounded: boolean?}
---@param window integer
---@return bench.Sums
function M.run(recording, one, window)
  local paid, price = 0, prices.of({})
  local state = assert(replay.run(recording, {
    policy = one.path,
    options = options_of(one),
    unbounded = one.unbounded,
    window = window,
    on_account = function(a)
      if not a.overflow then paid = paid + prices.cost(price, a) end
      for _, e in ipairs(a.hook_errors or {}) do
        error(("%s, %s: %s"):format(one.path, recording.name, core.json.encode(e)))
      end
    end,
  }))
  state.paid = paid
  replay.close(state)
  return sums_of(state)
end

-- ---- recordings ----------------------------------------------------------------------------

--- A recording with what any window needs of it: cost without one, and what will be cited.
---@class bench.Case
---@field recording neap.Recording
---@field half integer
---@field full bench.Sums
---@field most integer tokens of its longest prompt
---@field told string what a policy is told, of facts
---@field words string and of rare plain words

---@param recording neap.Recording
---@return bench.Case
function M.case(recording)
  local most = 0
  local one = { recording = recording }
  local state = assert(replay.run(recording, {
    unbounded = true,
    on_account = function(a)
      most = math.max(most, a.tokens)
    end,
  }))
  state.paid = state.sums.cost
  one.full, one.most = sums_of(state), most
  one.told, one.words = oracle.lists(state.session), oracle.lists(state.session, true)
  replay.close(state)
  return one
end

--- Halves by the hash of the file's name, within each form: the first half of the sorted hashes.
---@param cases bench.Case[]
function M.split(cases)
  local forms = {}
  for _, c in ipairs(cases) do
    local r = c.recording
    forms[r.format] = forms[r.format] or {}
    c.hash = core.sha256(r.path:match("[^/]*$") .. "#" .. r.name)
    table.insert(forms[r.format], c)
  end
  for _, list in pairs(forms) do
    table.sort(list, function(a, b)
      return a.hash < b.hash
    end)
    -- where the number is odd, the hash of the first says which half gets the one more
    local odd = tonumber(list[1].hash:sub(1, 2), 16) % 2
    for i, c in ipairs(list) do
      c.half = (i + odd) % 2 + 1
    end
  end
end

-- ---- curves --------------------------------------------------------------------------------

local AXES = {
  missing = function(s)
    return s.cited - s.present, s.cited
  end,
  gone = function(s)
    return s.gone, s.cited
  end,
  far = function(s)
    local missing, cited = 0, 0
    for _, class in ipairs({ "11-20", "21-50", "51+" }) do
      cited = cited + s.by[class].cited
      missing = missing + s.by[class].cited - s.by[class].present
    end
    return missing, cited
  end,
  words = function(s)
    return s.words - s.seen, s.words
  end,
  cost = function(s, c)
    return s.cost, c.full.cost
  end,
  recalls = function(s, c)
    return s.recalls, c.full.cost
  end,
}

--- The share of an axis over cases: as a mean over recordings that have one, or pooled.
---@param sums bench.Sums[] by case
---@param cases bench.Case[]
---@param axis string
---@param pooled boolean?
---@param draw integer[]? places of the cases that are taken, with repetition
---@return number?
function M.share(sums, cases, axis, pooled, draw)
  local of, part, whole = AXES[axis], 0, 0
  for k = 1, draw and #draw or #cases do
    local i = draw and draw[k] or k
    local a, b = of(sums[i], cases[i])
    if b > 0 and pooled then
      part, whole = part + a, whole + b
    elseif b > 0 then
      part, whole = part + a / b, whole + 1
    end
  end
  return whole > 0 and part / whole or nil
end

--- Of points (cost, value) those that no other beats, the cheapest first.
---@param points {cost: number, value: number}[]
function M.front(points)
  local sorted, out = table.move(points, 1, #points, 1, {}), {}
  table.sort(sorted, function(a, b)
    if a.cost ~= b.cost then return a.cost < b.cost end
    return a.value < b.value
  end)
  for _, p in ipairs(sorted) do
    if #out == 0 or p.value < out[#out].value then out[#out + 1] = p end
  end
  return out
end

--- The value at a cost, between the two neighbours on the front; nil where all are dearer.
---@param points {cost: number, value: number}[]
---@param cost number
---@return number?
function M.at(points, cost)
  local front = M.front(points)
  local before
  for _, p in ipairs(front) do
    if p.cost > cost then
      if not before then return nil end
      local t = (cost - before.cost) / (p.cost - before.cost)
      return before.value + t * (p.value - before.value)
    end
    before = p
  end
  return before and before.value
end

--- What a curve (settings of one policy, each with its sums by case) comes to at a cost.
function M.curve_at(curve, cases, axis, cost, pooled, draw)
  local points = {}
  for i, sums in ipairs(curve) do
    points[i] = {
      cost = M.share(sums, cases, "cost", pooled, draw),
      value = M.share(sums, cases, axis, pooled, draw),
    }
    if not points[i].value then return nil end
  end
  return M.at(points, cost)
end

-- A generator of its own: the same draws on every machine.
local function generator(seed)
  local x = seed
  return function(n)
    x = x ~ (x << 13)
    x = x ~ (x >> 7)
    x = x ~ (x << 17)
    return (x >> 1) % n + 1
  end
end

--- The interval that holds 95 % of `tries` values of f over recordings drawn with replacement.
---@param n integer recordings
---@param f fun(draw: integer[]): number?
---@return number? low, number? high
function M.interval(n, f, tries)
  local random, values = generator(88172645463325252), {}
  for _ = 1, tries or 1000 do
    local draw = {}
    for k = 1, n do
      draw[k] = random(n)
    end
    local value = f(draw)
    if value then values[#values + 1] = value end
  end
  if #values < 20 then return nil end
  table.sort(values)
  return values[#values * 25 // 1000 + 1], values[(#values * 975 + 999) // 1000]
end

return M
