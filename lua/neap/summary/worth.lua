-- What lines are worth, and which are taken: for their length, those with the most names and
-- numbers that nothing taken before holds, and with some new words. The weights are rough on
-- purpose; that each name counts once does most of it. next: extract.lua
local core = require("neap.core")

local M = {}

-- By what a name is: of short numbers, hashes and paths fewer are used again than of other
-- names. Counted on half of the recordings of tests/bench/extract.lua.
local SHORT_NUMBER, NUMBER, HASH, PATH, CJK, NAME = 0.3, 0.6, 0.4, 0.8, 0.4, 1
-- ... and by how often it stands in the span.
local TWICE, OFTEN = 1.5, 2
local WORD = 0.3 -- a word of five and more letters, or two Chinese characters
local LINE = 10 -- tokens that a line costs beside its text: its step, and that it is to be read
local BYTES = 3 -- of a token

local function weight_of(name)
  if name:find("^%d+$") then return #name <= 3 and SHORT_NUMBER or NUMBER end
  if name:find("^[\x80-\xff]") then return CJK end
  if #name >= 7 and name:find("^%x+$") then return HASH end
  return name:find("/", 1, true) and PATH or NAME
end

local PAIR = "[\xE3-\xE9][\x80-\xBF][\x80-\xBF][\xE3-\xE9][\x80-\xBF][\x80-\xBF]"

-- Appends to `list` what of `found` is not in `seen`, and puts it there.
local function add_new(list, found, seen)
  for _, one in ipairs(found) do
    if not seen[one] then
      seen[one], list[#list + 1] = true, one
    end
  end
  return list
end

local function words_of(text)
  local list = {}
  for word in text:gmatch("%a%a%a%a%a+") do
    list[#list + 1] = word
  end
  if text:find("[\xE3-\xE9]") then
    for pair in text:gmatch(PAIR) do
      list[#list + 1] = pair
    end
  end
  return list
end

--- Reads an item: its names, its words that are no names, and what it costs.
---@param item table { text, base }
---@return table item
function M.read(item)
  local seen = {}
  item.all = core.cite_scan(item.text)
  item.names = add_new({}, item.all, seen)
  item.words = add_new({}, words_of(item.text), seen)
  item.size = LINE + #item.text / BYTES
  return item
end

-- What each name weighs, by what it is and how often it stands in the items.
local function weigh(items)
  local weight, count = {}, {}
  for _, item in ipairs(items) do
    for _, name in ipairs(item.is.all) do
      count[name] = (count[name] or 0) + 1
    end
  end
  for name, n in pairs(count) do
    local often = n >= 4 and OFTEN or n >= 2 and TWICE or 1
    weight[name] = weight_of(name) * often
  end
  return weight
end

-- What an item adds to what is seen, for its length.
local function value_of(one, weight, seen)
  local sum = one.base
  for _, name in ipairs(one.names) do
    if not seen[name] then sum = sum + weight[name] end
  end
  for _, word in ipairs(one.words) do
    if not seen[word] then sum = sum + WORD end
  end
  return sum / one.size
end

local function see(one, seen)
  for _, name in ipairs(one.names) do
    seen[name] = true
  end
  for _, word in ipairs(one.words) do
    seen[word] = true
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
  local weight, seen, queues = weigh(items), {}, {}
  for i = 1, #LEVELS + 1 do
    queues[i] = {}
  end
  for _, item in ipairs(items) do
    table.insert(queues[level_of(value_of(item.is, weight, seen))], item)
  end
  for i = 1, #LEVELS do
    local queue, k = queues[i], 1
    while k <= #queue do -- grows while it is gone through
      local item = queue[k]
      local now = level_of(value_of(item.is, weight, seen))
      local taken = now <= i and take(item)
      if taken == "full" then return end
      if now > i then table.insert(queues[now], item) end
      if taken then see(item.is, seen) end
      k = k + 1
    end
    queues[i] = {}
  end
end

return M
