-- Sums over the turns of a replay: facts, words, tokens, percentiles. next: replay.lua
local prices = require("neap.models.prices")

local M = {}

M.STATES = { "cited", "present", "noted", "pointed", "gone" }
M.DISTANCES = { "1-3", "4-10", "11-20", "21-50", "51+" }
local FAR = { ["11-20"] = true, ["21-50"] = true, ["51+"] = true }

local function no_facts()
  return { cited = 0, present = 0, noted = 0, pointed = 0, gone = 0 }
end

local function add_facts(into, facts)
  for _, state in ipairs(M.STATES) do
    into[state] = into[state] + (facts[state] or 0)
  end
end

---@class neap.Tally
---@field turns integer
---@field sent integer    turns whose prompt fitted
---@field unsent boolean  the last turn's did not
---@field tokens integer
---@field cached integer
---@field billed integer
---@field cost number
---@field rewrites integer
---@field rewritten integer  tokens that the prompts of rewrites sent anew
---@field regions table<string, integer>
---@field overflow integer
---@field refused integer
---@field dangling integer? readings of what was gone
---@field hook_errors integer
---@field recalls integer   reads that bring what was only pointed at
---@field recalled integer  tokens that they fetch
local Tally = {}
Tally.__index = Tally

---@param price neap.Price
---@param window integer?
---@return neap.Tally
function M.new(price, window)
  local facts = no_facts()
  facts.by_distance, facts.by_class = {}, {}
  for _, class in ipairs(M.DISTANCES) do
    facts.by_distance[class] = no_facts()
  end
  return setmetatable({
    price = price,
    window = window,
    turns = 0,
    sent = 0,
    unsent = false,
    tokens = 0,
    cached = 0,
    billed = 0,
    cost = 0.0,
    rewrites = 0,
    rewritten = 0,
    regions = {},
    overflow = 0,
    refused = 0,
    hook_errors = 0,
    facts = facts,
    words = { cited = 0, present = 0 },
    watermark = {},
    usage = {},
    height = 0,
    recalls = 0,
    recalled = 0,
  }, Tally)
end

--- Adds a turn by its account.
---@param a table
function Tally:turn(a)
  self.turns = self.turns + 1
  self.refused = self.refused + (a.refused or 0)
  self.dangling = a.dangling -- of all turns so far; nil while there is none
  self.hook_errors = self.hook_errors + #(a.hook_errors or {})
  self.unsent = a.overflow ~= nil
  if self.unsent then
    self.overflow = self.overflow + 1
    return
  end
  self.sent = self.sent + 1
  self.tokens, self.cached = self.tokens + a.tokens, self.cached + a.cached
  self.billed = self.billed + a.billed_cached
  self.cost = self.cost + prices.cost(self.price, a)
  if a.rewrite then
    self.rewrites, self.rewritten = self.rewrites + 1, self.rewritten + a.tokens - a.cached
  end
  for name, tokens in pairs(a.regions) do
    self.regions[name] = (self.regions[name] or 0) + tokens
  end
  self.height = a.tokens
  local tokens = a.estimate or a.tokens -- window and budget are in the model's tokens
  if self.window then self.watermark[self.sent] = tokens / self.window end
  self.usage[self.sent] = tokens / a.budget
end

--- Tokens of each region in the mean prompt, rounded; nil when none was sent.
---@return table<string, integer>?
function Tally:region_means()
  if self.sent == 0 then return nil end
  local means = {}
  for name, tokens in pairs(self.regions) do
    means[name] = (2 * tokens + self.sent) // (2 * self.sent)
  end
  return means
end

-- Facts of which nothing was shown.
local function all_gone(facts)
  local none = no_facts()
  none.cited, none.gone = facts.cited or 0, facts.cited or 0
  return none
end

-- The same measure for a turn that sent nothing: nothing that the step used was to be seen.
local function nothing_shown(m)
  local facts = all_gone(m.facts)
  for _, by in ipairs({ "by_distance", "by_class" }) do
    facts[by] = {}
    for class, of_class in pairs(m.facts[by] or {}) do
      facts[by][class] = all_gone(of_class)
    end
  end
  return { facts = facts, words = { cited = m.words.cited, present = 0 } }
end

--- Adds what the step after that turn used. A fact that is only pointed at costs one recall;
--- facts of one step that stand in one entry share theirs.
---@param m table
function Tally:measure(m)
  if self.unsent then m = nothing_shown(m) end
  add_facts(self.facts, m.facts)
  for class, facts in pairs(m.facts.by_distance or {}) do
    add_facts(self.facts.by_distance[class], facts)
  end
  for class, facts in pairs(m.facts.by_class or {}) do
    local into = self.facts.by_class
    into[class] = into[class] or no_facts()
    add_facts(into[class], facts)
  end
  self.words.cited = self.words.cited + m.words.cited
  self.words.present = self.words.present + m.words.present
  self.recalls = self.recalls + (m.recalls or 0)
  self.recalled = self.recalled + (m.recalled or 0)
  self.cost = self.cost + self:recall_cost(m.recalls or 0, m.recalled or 0)
end

--- What a fact that is pointed at costs; nothing where another of the step brings its entry.
---@param one table of the measure's pointed_list
---@return number
function Tally:pointed_cost(one)
  return one.shared and 0 or self:recall_cost(1, one.tokens)
end

--- What reads cost: each a further turn at the current height, and the text it fetches.
---@param reads integer
---@param tokens integer
---@return number
function Tally:recall_cost(reads, tokens)
  return self.price.read * self.height * reads + self.price.write * tokens
end

--- The facts of more than 10 steps' distance.
---@param facts table
---@return table
function M.far(facts)
  local sum = no_facts()
  for class, of_class in pairs(facts.by_distance) do
    if FAR[class] then add_facts(sum, of_class) end
  end
  return sum
end

--- The value that 95 % of the list do not exceed (nearest rank), rounded to four places; nil
--- for an empty list.
---@param list number[]
---@return number?
function M.p95(list)
  if #list == 0 then return nil end
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  local rank = (#sorted * 95 + 99) // 100
  return math.floor(sorted[rank] * 10000 + 0.5) / 10000
end

--- A cost as printed, which hides how sums round: two decimals, or six of a dollar.
---@param cost number
---@param dollars boolean?
---@return number
function M.round(cost, dollars)
  local parts = dollars and 1000000 or 100
  local n = math.floor(cost * parts + 0.5)
  return n % parts == 0 and n // parts or n / parts
end

return M
