-- Sums the lines of many traces into one row per policy: cost against what was gone, with
-- intervals from resampling whole recordings, and marks on the rows no other beats.
-- next: ../cli/compare.lua
local core = require("neap.core")
local tally = require("neap.report.tally")

local M = {}

local SUMMED = {
  "turns",
  "input_tokens",
  "cached_tokens",
  "billed_cached_tokens",
  "cost",
  "epochs",
  "overflow",
  "refused",
  "hook_errors",
}

--- JSON keeps decimals as they were written; sums need numbers.
---@param value any
---@return number?
function M.number(value)
  if core.json.is_raw(value) then return tonumber(value.raw) end
  return value
end

local function add_states(into, facts)
  for _, state in ipairs(tally.STATES) do
    into[state] = (into[state] or 0) + facts[state]
  end
end

-- A generator of our own, so that the intervals are the same on every machine (xorshift).
local function generator(seed)
  local x = seed
  return function(n)
    x = x ~ (x << 13)
    x = x ~ (x >> 7)
    x = x ~ (x << 17)
    return (x >> 1) % n + 1
  end
end

local RESAMPLES = 1000

-- The 2.5 % and 97.5 % places of part/whole over resampled recordings; nil when there are too
-- few of them to say anything.
local function interval(parts, wholes)
  local n = #parts
  if n < 5 then return nil end
  local random, ratios = generator(1), {}
  for r = 1, RESAMPLES do
    local part, whole = 0, 0
    for _ = 1, n do
      local i = random(n)
      part, whole = part + parts[i], whole + wholes[i]
    end
    ratios[r] = whole > 0 and part / whole or 0
  end
  table.sort(ratios)
  local function round(v)
    return math.floor(v * 10000 + 0.5) / 10000
  end
  return { round(ratios[RESAMPLES // 40]), round(ratios[RESAMPLES - RESAMPLES // 40]) }
end

--- One row for a policy from its traces' lines. `base` are the same traces without a window.
---@param lines table[]
---@param base table[]
---@return table
function M.row(lines, base)
  local row = { traces = #lines, facts = {}, facts_far = {}, words = { cited = 0, present = 0 } }
  local gone, cited, cost, full = {}, {}, {}, {}
  for i, line in ipairs(lines) do
    for _, name in ipairs(SUMMED) do
      local value = M.number(line[name])
      if value then row[name] = (row[name] or 0) + value end
    end
    local far = tally.far(line.facts)
    add_states(row.facts, line.facts)
    add_states(row.facts_far, far)
    row.words.cited = row.words.cited + line.words.cited
    row.words.present = row.words.present + line.words.present
    gone[i], cited[i] = far.gone, far.cited
    cost[i], full[i] = M.number(line.cost), M.number(base[i].cost)
  end
  row.currency = lines[1].currency
  row.cost = tally.round(row.cost, row.currency ~= nil)
  row.gone_interval = interval(gone, cited)
  row.cost_interval = interval(cost, full)
  return row
end

local function beats(a, b)
  local cost_a, cost_b = a.cost, b.cost
  local gone_a, gone_b = a.facts_far.gone, b.facts_far.gone
  return cost_a <= cost_b and gone_a <= gone_b and (cost_a < cost_b or gone_a < gone_b)
end

-- What no policy can be: without a window, or knowing what comes.
local function is_bound(row)
  return row.unbounded or row.oracle
end

-- A row of turns that were not sent, or that a failing policy had no part in, says nothing of
-- the policy: cheap because nothing was asked.
local function failed(row)
  return (row.overflow or 0) > 0 or (row.hook_errors or 0) > 0
end

--- Marks the policies that no other row beats on both cost and gone. Bounds and rows that failed
--- take no part; a reference beats but is not marked.
---@param rows table[]
function M.mark_best(rows)
  for _, row in ipairs(rows) do
    row.best = not row.reference and not failed(row)
    for _, other in ipairs(rows) do
      local counts = not is_bound(other) and not failed(other)
      if counts and beats(other, row) then row.best = false end
    end
  end
end

M.ROW_ORDER = {
  "policy",
  "policy_sha256",
  "reference",
  "unbounded",
  "oracle",
  "best",
  "traces",
  "turns",
  "input_tokens",
  "cached_tokens",
  "billed_cached_tokens",
  "cost",
  "currency",
  "cost_interval",
  "epochs",
  "facts",
  "facts_far",
  "gone_interval",
  "words",
  "cited",
  "present",
  "noted",
  "pointed",
  "gone",
}

return M
