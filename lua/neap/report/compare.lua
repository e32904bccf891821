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
  "rewritten_tokens",
  "recalls",
  "recalled_tokens",
  "repeats",
  "calls_again",
  "refutations",
  "polluted_steps",
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

local FEW = 5 -- recordings: an interval over fewer says nothing
local RESAMPLES = 1000

local function round(value)
  return math.floor(value * 10000 + 0.5) / 10000
end

-- The interval of the mean over groups of part/whole; nil when there are too few recordings.
local function interval(parts, wholes, sizes)
  if #parts < FEW then return nil end
  local low, high = core.resample(parts, wholes, sizes, RESAMPLES)
  return { round(low), round(high) }
end

local function share_of(name)
  return function(line)
    return line[name]
  end
end

-- What is averaged over recordings: each recording's own share, or nil where it has none.
local MEASURES = {
  { "cost", function(line, base)
    local full = M.number(base.cost)
    return full > 0 and M.number(line.cost) / full or nil
  end },
  { "present", function(_, _, far)
    return far.cited > 0 and far.present / far.cited or nil
  end },
  { "gone", function(_, _, far)
    return far.cited > 0 and far.gone / far.cited or nil
  end },
  { "words", function(line)
    return line.words.cited > 0 and line.words.present / line.words.cited or nil
  end },
  { "cached", function(line)
    return line.input_tokens > 0 and line.cached_tokens / line.input_tokens or nil
  end },
  { "density", share_of("density") },
  { "density_rare", share_of("density_rare") },
  { "watermark_p95", share_of("watermark_p95") },
  { "usage_p95", share_of("usage_p95") },
  { "constraints", function(line)
    local c = line.constraints
    return c and c.due > 0 and (c.present + c.noted) / c.due or nil
  end },
  { "needs_gone", function(line)
    return line.needs and line.needs.gone / line.needs.needed
  end },
  { "pollution", share_of("pollution") },
  { "exposed", share_of("exposed") },
  { "repeats", function(line)
    return (line.calls_again or 0) > 0 and line.repeats / line.calls_again or nil
  end },
}

-- Places of the lines, those of one form together, and how many each form has.
local function by_form(lines)
  local places, sizes, forms = {}, {}, {}
  for i, line in ipairs(lines) do
    local form = line.form or ""
    forms[form] = forms[form] or {}
    table.insert(forms[form], i)
  end
  local names = {}
  for name in pairs(forms) do
    names[#names + 1] = name
  end
  table.sort(names)
  for g, name in ipairs(names) do
    sizes[g] = #forms[name]
    table.move(forms[name], 1, #forms[name], #places + 1, places)
  end
  return places, sizes
end

-- The mean over groups of the mean of their values; nil when there is no value at all.
local function mean_of(values, sizes)
  local sum, used, from = 0, 0, 0
  for _, size in ipairs(sizes) do
    local part, n = 0, 0
    for i = from + 1, from + size do
      if values[i] then
        part, n = part + values[i], n + 1
      end
    end
    from = from + size
    if n > 0 then
      sum, used = sum + part / n, used + 1
    end
  end
  return used > 0 and sum / used or nil
end

local function one_mean(values, n, sizes)
  local mean = mean_of(values, sizes)
  if not mean then return nil end
  local parts, wholes, count = {}, {}, 0
  for i = 1, n do
    parts[i], wholes[i] = values[i] or 0, values[i] and 1 or 0
    count = count + wholes[i]
  end
  local range = count >= FEW and interval(parts, wholes, sizes) or nil
  return { mean = round(mean), interval = range, traces = count }
end

-- Means over recordings, and over forms of the means of their recordings.
local function means(lines, base)
  local places, sizes = by_form(lines)
  local plain, balanced = {}, {}
  for _, measure in ipairs(MEASURES) do
    local name, of, values = measure[1], measure[2], {}
    for k, i in ipairs(places) do
      local value = of(lines[i], base[i], tally.far(lines[i].facts))
      values[k] = M.number(value)
    end
    plain[name] = one_mean(values, #lines, { #lines })
    balanced[name] = one_mean(values, #lines, sizes)
  end
  return plain, balanced, #sizes
end

-- Tokens of each region in the mean prompt, over all recordings.
local function region_means(lines)
  local sums, turns, any = {}, 0, false
  for _, line in ipairs(lines) do
    local sent = line.turns - line.overflow
    turns = turns + sent
    for name, tokens in pairs(line.region_tokens or {}) do
      sums[name], any = (sums[name] or 0) + tokens * sent, true
    end
  end
  for name, sum in pairs(sums) do
    sums[name] = (2 * sum + turns) // (2 * turns)
  end
  return any and sums or nil
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
  row.gone_interval = interval(gone, cited, { #lines })
  row.cost_interval = interval(cost, full, { #lines })
  row.region_tokens = region_means(lines)
  if row.rewritten_tokens and row.epochs > #lines then
    row.rewritten_per_rewrite = (row.rewritten_tokens / (row.epochs - #lines) + 0.5) // 1 | 0
  end
  row.means, row.balanced, row.forms = means(lines, base)
  return row
end

--- Tells of each row how much of what knowing the future is worth over chance it reaches: of
--- the way from what `random` has gone to what `oracle` has.
---@param rows table[]
function M.mark_reach(rows)
  local random, oracle
  for _, row in ipairs(rows) do
    if row.oracle then oracle = row.facts_far.gone end
    if row.reference and row.policy == "random" then random = row.facts_far.gone end
  end
  if not random or not oracle or random <= oracle then return end
  for _, row in ipairs(rows) do
    row.reach = round((random - row.facts_far.gone) / (random - oracle))
  end
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
  "rewritten_tokens",
  "rewritten_per_rewrite",
  "recalls",
  "recalled_tokens",
  "region_tokens",
  "facts",
  "facts_far",
  "gone_interval",
  "reach",
  "words",
  "repeats",
  "calls_again",
  "refutations",
  "polluted_steps",
  "refutations",
  "polluted_steps",
  "forms",
  "means",
  "balanced",
  "cost",
  "mean",
  "interval",
  "cited",
  "present",
  "noted",
  "pointed",
  "gone",
}

return M
