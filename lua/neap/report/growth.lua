-- What made prompts grow: the height of each turn's prompt as a line of blocks, and the kinds of
-- entries that brought most of the tokens. next: ../cli/replay.lua
local grid = require("neap.report.grid")
local visible = require("neap.report.visible")

local M = {}

local WIDTH = 60 -- fits a terminal beside the words
local BLOCKS = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

-- The highest value of each of at most WIDTH runs of about one length.
local function columns(values)
  local out, n = {}, math.min(#values, WIDTH)
  for i = 1, n do
    local from, to = (i - 1) * #values // n + 1, i * #values // n
    out[i] = math.max(table.unpack(values, from, to))
  end
  return out
end

--- Values as one line of blocks; the highest is a whole one.
---@param values integer[]
---@return string
function M.sparkline(values)
  local out, most = {}, math.max(1, table.unpack(columns(values)))
  for i, value in ipairs(columns(values)) do
    out[i] = BLOCKS[math.max(1, (value * #BLOCKS + most - 1) // most)]
  end
  return table.concat(out)
end

--- "tokens ▁▂▄█▅  349 to 13,440, the most in turn 88"
---@param heights integer[] tokens of each turn
---@return string
function M.line(heights)
  local least, most, at = math.maxinteger, -1, 0
  for turn, tokens in ipairs(heights) do
    least = math.min(least, tokens)
    if tokens > most then
      most, at = tokens, turn
    end
  end
  local text = "tokens %s  %s to %s, the most in turn %d"
  return text:format(M.sparkline(heights), grid.thousands(least), grid.thousands(most), at)
end

local PLURAL = { summary = "summaries", memory = "memories", evidence = "evidence" }

-- "results of read", "calls of edit", "texts": what an entry is, in the plural.
local function cause(e)
  local kind = PLURAL[e.kind] or e.kind .. "s"
  return e.tool ~= "" and ("%s of %s"):format(kind, visible.line(e.tool)) or kind
end

--- Adds the full tokens of a session's entries by kind and tool.
---@param sums table<string, integer>
---@param session table
function M.add(sums, session)
  for id = 1, session:entry_count() do
    local e = session:entry(id)
    local tokens = e.full_tokens
    if tokens > 0 then
      local name = cause(e)
      sums[name] = (sums[name] or 0) + tokens
    end
  end
end

--- "grown by results of read 61.0 %, results of run 20.1 %, texts 9.9 %": the three largest.
---@param sums table<string, integer>
---@return string? nil when nothing was added
function M.causes(sums)
  local names, all = {}, 0
  for name, tokens in pairs(sums) do
    names[#names + 1], all = name, all + tokens
  end
  if all == 0 then return nil end
  table.sort(names, function(a, b)
    if sums[a] ~= sums[b] then return sums[a] > sums[b] end
    return a < b
  end)
  local parts = {}
  for i = 1, math.min(3, #names) do
    parts[i] = ("%s %s %%"):format(names[i], grid.share(sums[names[i]], all))
  end
  return "grown by " .. table.concat(parts, ", ")
end

-- The limit that the last line asks "what if" about: the default trim.
local LIMIT = 250
local RECENT = 8 -- turns over which the engine averages growth

---@class neap.Outlook
local Outlook = {}
Outlook.__index = Outlook

--- What the last turns grew by, and by how much less had results been cut when they came in.
---@return neap.Outlook
function M.outlook()
  return setmetatable({ seen = 0, recent = {} }, Outlook)
end

-- Tokens above LIMIT of the results that came since the last look, as they are shown: what a
-- policy has cut by itself is not cut once more.
function Outlook:above_limit(session)
  local sum, count = 0, session:entry_count()
  for id = self.seen + 1, count do
    if session:kind(id) == "result" then
      sum = sum + math.max(0, session:entry(id).tokens - LIMIT)
    end
  end
  self.seen = count
  return sum
end

--- Takes in a turn. Growth is of turns that only appended, as the engine counts it.
---@param account table
---@param session table
function Outlook:turn(account, session)
  if account.overflow then return end
  local above = self:above_limit(session)
  if self.last and not account.rewrite then
    table.insert(self.recent, account.tokens - self.last - above)
    if #self.recent > RECENT then table.remove(self.recent, 1) end
  end
  self.last = account.tokens
end

-- How many steps fit if each grows by the mean of what is left of the last turns.
function Outlook:steps(room)
  local sum, n = 0, #self.recent
  if n == 0 then return 0 end
  for _, tokens in ipairs(self.recent) do
    sum = sum + tokens
  end
  local mean = math.max(1, sum / n)
  return room // mean | 0
end

--- "room for 41 more steps of 2,310 tokens each before something must go; with results of at most
--- 250 tokens: for 120"
---@param account table  of the last turn
---@return string? nil while growth is not known
function Outlook:line(account)
  if not account.steps_left then return nil end
  local text = account.steps_left == 1
      and "room for %s more step of %s tokens before something must go"
    or "room for %s more steps of %s tokens each before something must go"
  local line = text:format(grid.thousands(account.steps_left), grid.thousands(account.growth))
  local left = self:steps(account.budget - account.tokens)
  if left <= account.steps_left then return line end
  local what_if = "%s; with results of at most %d tokens: for %s"
  return what_if:format(line, LIMIT, grid.thousands(left))
end

return M
