-- A search for the settings of a policy that no other beats in both cost and facts gone. From the
-- default on, each setting of the front is varied by one option at a time; what is tried is
-- decided by the recordings of one half alone. next: ../cli/tune.lua
local core = require("neap.core")

local M = {}

-- Factors of a number; where it is 0, parts of 1, and of what is whole small ones.
local FACTORS, PARTS, WHOLE = { 0.5, 1, 1.5, 2 }, { 0, 0.25, 0.5, 0.75 }, { 0, 2, 5, 10 }

--- Values to try for an option, in their order: half of it, one and a half, and twice, as far as
--- its bounds allow. An integer has integers alone.
---@param value any
---@param min number?
---@param max number?
---@return any[]? nil: one that is no number and no flag stays as it is
function M.values_of(value, min, max)
  if type(value) == "boolean" then return { false, true } end
  if type(value) ~= "number" then return nil end
  local list, seen = {}, {}
  local is_whole = math.type(value) == "integer"
  local zero = value == 0 and (is_whole and WHOLE or PARTS)
  for _, factor in ipairs(zero or FACTORS) do
    local one = zero and factor or value * factor
    if is_whole then one = math.floor(one + 0.5) end
    one = math.max(min or one, math.min(max or one, one))
    if not seen[one] then list[#list + 1] = one end
    seen[one] = true
  end
  return list
end

--- Halves of recordings by the hash of their file's name, so that a file stays in its half
--- whatever stands beside it; by turns where one half would be empty.
---@param names string[]
---@return integer[] halves 1 or 2 for each
function M.split(names)
  local halves, count = {}, { 0, 0 }
  for i, name in ipairs(names) do
    halves[i] = tonumber(core.sha256(name):sub(1, 2), 16) % 2 + 1
    count[halves[i]] = count[halves[i]] + 1
  end
  if count[1] == 0 or count[2] == 0 then
    for i = 1, #names do
      halves[i] = (i - 1) % 2 + 1
    end
  end
  return halves
end

---@class neap.TunePoint
---@field places integer[]   of the value of each option
---@field cost number
---@field gone number

local function by_cost(a, b)
  if a.cost ~= b.cost then return a.cost < b.cost end
  if a.gone ~= b.gone then return a.gone < b.gone end
  return a.order < b.order
end

--- Of points those that no other beats in both, the cheapest first. Of several that are the same
--- the first.
---@param points neap.TunePoint[]
---@return neap.TunePoint[]
function M.front(points)
  local sorted, out = table.move(points, 1, #points, 1, {}), {}
  table.sort(sorted, by_cost)
  for _, point in ipairs(sorted) do
    if #out == 0 or point.gone < out[#out].gone then out[#out + 1] = point end
  end
  return out
end

local function key_of(places)
  return table.concat(places, ",")
end

-- The next values up and down of each option.
local function neighbours(places, lists)
  local out = {}
  for i, list in ipairs(lists) do
    for _, step in ipairs({ -1, 1 }) do
      local at = places[i] + step
      if list[at] ~= nil then
        local one = table.move(places, 1, #places, 1, {})
        one[i] = at
        out[#out + 1] = one
      end
    end
  end
  return out
end

local function first_unexpanded(points)
  for _, point in ipairs(M.front(points)) do
    if not point.is_expanded then return point end
  end
end

--- Searches.
---@param lists any[][]  values of each option
---@param start integer[] places of the defaults
---@param tries integer  at most so many settings
---@param try fun(places: integer[]): number?, number? cost and gone; nil: not allowed
---@return neap.TunePoint[] points in the order in which they were tried, integer refused
function M.search(lists, start, tries, try)
  local points, seen, refused, count = {}, {}, 0, 0
  local function look(places)
    local key = key_of(places)
    if seen[key] or count >= tries then return end
    seen[key], count = true, count + 1
    local cost, gone = try(places)
    if not cost then
      refused = refused + 1
    else
      points[#points + 1] = { places = places, cost = cost, gone = gone, order = count }
    end
  end
  look(start)
  local point = first_unexpanded(points)
  while point and count < tries do
    point.is_expanded = true
    for _, places in ipairs(neighbours(point.places, lists)) do
      look(places)
    end
    point = first_unexpanded(points)
  end
  return points, refused
end

return M
