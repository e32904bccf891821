-- Fits a policy's options to recordings from nothing: a start where every weight says nothing,
-- then one option at a time the value that a measure likes best: each once, then as a seed draws.
-- next: lab.lua
local M = {}

-- Values to try of each option, the first being where the search starts.
M.SPACE = {
  { "giant", { 0.5, 0.15, 0.2, 0.3 } },
  { "excerpt", { 0.2, 0.15 } },
  { "spread", { 0, 0.5, 0.75, 1 } },
  { "fresh", { 0, 0.3, 0.6, 1 } },
  { "front", { 0, 0.3, 1 } },
  { "held", { 0.1, 0.04, 0.02 } },
  { "user", { 1, 3 } },
  { "base", { 1, 0.3 } },
  { "repeated", { 1, 0.1 } },
}

local SEED = 7

local function start()
  local settings = {}
  for _, one in ipairs(M.SPACE) do
    settings[one[1]] = one[2][1]
  end
  return settings
end

--- The settings as one line, in the order of the space.
function M.text(settings)
  local words = {}
  for i, one in ipairs(M.SPACE) do
    words[i] = ("%s=%g"):format(one[1], settings[one[1]])
  end
  return table.concat(words, " ")
end

local function with(settings, name, value)
  local out = {}
  for k, v in pairs(settings) do
    out[k] = v
  end
  out[name] = value
  return out
end

--- The settings that `measure` likes best of those that were tried; the less the better.
---@param measure fun(settings: table): number
---@param tries integer
---@return table settings, number value, integer tried
function M.search(measure, tries)
  local best = start()
  local value, tried, known = measure(best), 1, {}
  known[M.text(best)] = true
  local x, turn, quiet = SEED, 0, 0
  while tried < tries and quiet < 3 * #M.SPACE do
    turn = turn + 1
    x = (x * 1103515245 + 12345) % 2147483648
    -- each once, in the order of the list; then as the seed draws them
    local one = M.SPACE[turn <= #M.SPACE and turn or (x >> 16) % #M.SPACE + 1]
    local better = false
    for _, v in ipairs(one[2]) do
      local next = with(best, one[1], v)
      if tried < tries and not known[M.text(next)] then
        known[M.text(next)], tried = true, tried + 1
        local got = measure(next)
        if got < value then
          best, value, better = next, got, true
        end
      end
    end
    quiet = better and 0 or quiet + 1
  end
  return best, value, tried
end

return M
