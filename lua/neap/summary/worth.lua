-- What lines are worth, and which are taken: for their length, those with the most names and
-- numbers that nothing taken before holds, and with some new words. The weights are rough on
-- purpose; that each name counts once does most of it. next: extract.lua
local core = require("neap.core")
local lpeg = require("lpeg")

local M = {}

-- By what a name is: of short numbers, hashes and paths fewer are used again than of other
-- names. Counted on half of the recordings of tests/bench/extract.lua.
local SHORT_NUMBER, NUMBER, HASH, PATH, CJK, NAME = 0.3, 0.6, 0.4, 0.8, 0.4, 1
-- ... and by how often it stands in the span.
local TWICE, OFTEN = 1.5, 2
local WORD = 0.3 -- a word of five and more letters, or two Chinese characters
local LINE = 10 -- tokens that a line costs beside its text: its step, and that it is to be read
local KIN = 7 -- ... that is a name alone, which stands in a line with others
local ALONE = "^[`'\"]?[%w_./:@#+~=-]*[%w_/][`'\"]?,?$"
local BYTES = 3 -- of a token

local function weight_of(name)
  if name:find("^%d+$") then return #name <= 3 and SHORT_NUMBER or NUMBER end
  if name:find("^[\x80-\xff]") then return CJK end
  if #name >= 7 and name:find("^%x+$") then return HASH end
  return name:find("/", 1, true) and PATH or NAME
end

local PAIR = "[\xE3-\xE9][\x80-\xBF][\x80-\xBF][\xE3-\xE9][\x80-\xBF][\x80-\xBF]"

-- What of `found` is not in `seen`, which it is put into: the same table where all of it is new.
local function new_of(found, seen)
  local list, n = found, 0
  for i, one in ipairs(found) do
    if not seen[one] then
      seen[one], n = true, n + 1
      if list ~= found then list[n] = one end
    elseif list == found then
      list = table.move(found, 1, i - 1, 1, {})
    end
  end
  return list
end

local letter = lpeg.R("az", "AZ")
local long_words = lpeg.Ct((lpeg.C(letter ^ 5) + letter ^ 1 + (1 - letter) ^ 1) ^ 0)
local no_wide = (1 - lpeg.R("\xE3\xE9")) ^ 0 * -1

local function words_of(text)
  local list = long_words:match(text)
  if not no_wide:match(text) then
    for pair in text:gmatch(PAIR) do
      list[#list + 1] = pair
    end
  end
  return list
end

local NONE = {} -- never written to

--- Reads an item: its names, what they weigh, its words that are no names, and what it costs.
---@param item table { text, base }
---@return table item
function M.read(item)
  local seen, weights = {}, {}
  local all, words = core.cite_scan(item.text), words_of(item.text)
  local names = new_of(all, seen)
  for i, name in ipairs(names) do
    weights[i] = weight_of(name)
  end
  words = new_of(words, seen)
  if #all == 0 then
    all, names, weights = NONE, NONE, NONE
  end
  item.all, item.names, item.weights = all, names, weights
  item.words = #words > 0 and words or NONE
  item.alone = #names > 0 and #item.text <= 60 and item.text:find(ALONE) ~= nil
  item.size = (item.alone and KIN or LINE) + #item.text / BYTES
  return item
end

-- By name: what its weight is multiplied with, by how often it stands in the items.
local function factors_of(items)
  local of = {}
  for _, item in ipairs(items) do
    local all = item.is.all
    for i = 1, #all do
      local name = all[i]
      of[name] = (of[name] or 0) + 1
    end
  end
  for name, n in pairs(of) do
    of[name] = n >= 4 and OFTEN or n >= 2 and TWICE or 1
  end
  return of
end

-- What an item adds to what is seen, for its length. A name that was seen has the factor 0.
local function value_of(one, factors, seen)
  local sum, names, weights, words = one.base, one.names, one.weights, one.words
  for i = 1, #names do
    sum = sum + weights[i] * factors[names[i]]
  end
  for i = 1, #words do
    if not seen[words[i]] then sum = sum + WORD end
  end
  return sum / one.size
end

-- A name may be a word elsewhere.
local function see(one, factors, seen)
  for _, list in ipairs({ one.names, one.words }) do
    for i = 1, #list do
      local own = list[i]
      seen[own] = true
      if factors[own] then factors[own] = 0 end
    end
  end
end

-- Values by powers of 0.88, best first. An item is looked at when its level's turn comes and goes
-- down to where it then belongs, so that no order has to be kept and the work stays linear.
-- The last is 0.03: what is worth less, such as a closing bracket, is not noted.
local LEVELS = {}
for i = 1, 38 do
  LEVELS[i] = (LEVELS[i - 1] or 4) * 0.88
end

local function level_of(value)
  local low, high = 1, #LEVELS + 1
  while low < high do
    local middle = (low + high) // 2
    if value >= LEVELS[middle] then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

--- Offers items, best first, and of equal ones the first. What take(item) answers with true is
--- seen from then on; "full" ends it.
---@param items table[] `is` of each is what M.read() has read
---@param take fun(item: table): boolean|string
function M.choose(items, take)
  local factors, seen, queues = factors_of(items), {}, {}
  local function put(level, item)
    local queue = queues[level] or {}
    queues[level], queue[#queue + 1] = queue, item
  end
  for _, item in ipairs(items) do
    put(level_of(value_of(item.is, factors, seen)), item)
  end
  for i = 1, #LEVELS do
    for _, item in ipairs(queues[i] or NONE) do
      local value = value_of(item.is, factors, seen)
      local taken = value >= LEVELS[i] and take(item)
      if taken == "full" then return end
      if value < LEVELS[i] then put(level_of(value), item) end
      if taken then see(item.is, factors, seen) end
    end
    queues[i] = nil
  end
end

return M
