-- Calls that were made again though they had succeeded: where the prompt no longer shows the
-- result, the policy may be why. next: truth.lua
local M = {}

local NEWEST = 16 -- of the earlier calls are looked at: a call in a loop costs no more

---@class neap.Repeats
---@field again integer   calls with the tool and arguments of one that succeeded
---@field hidden integer  of these, where none of the results stood in the prompt
local Repeats = {}
Repeats.__index = Repeats

function M.new()
  return setmetatable({ calls = {}, seen = 0, again = 0, hidden = 0 }, Repeats)
end

-- The result of an earlier call: nothing when it failed, or none came.
local function success(session, call)
  local pair = session:entry(call).pair
  local result = pair and session:entry(pair)
  return result and not result.is_error and result or nil
end

local function is_shown(result)
  return result.listed and (result.rung == "full" or result.rung == "trimmed")
end

local function look(self, session, earlier)
  local any, shown = false, false
  for i = #earlier, math.max(1, #earlier - NEWEST + 1), -1 do
    local result = success(session, earlier[i])
    any = any or result ~= nil
    if result and is_shown(result) then
      shown = true
      break
    end
  end
  if not any then return end
  self.again = self.again + 1
  if not shown then self.hidden = self.hidden + 1 end
end

--- Takes in what has come since; `is_turn` says that a prompt was sent before it.
---@param session table
---@param is_turn boolean
function Repeats:step(session, is_turn)
  local from, fresh = self.seen + 1, {}
  self.seen = session:entry_count()
  for id = from, self.seen do
    if session:kind(id) == "call" then
      local key = session:entry(id).tool .. "\0" .. (session:text(id) or "")
      local earlier = self.calls[key]
      if earlier and is_turn then look(self, session, earlier) end
      fresh[#fresh + 1] = { key, id }
    end
  end
  for _, one in ipairs(fresh) do -- calls of one step do not repeat each other
    self.calls[one[1]] = self.calls[one[1]] or {}
    table.insert(self.calls[one[1]], one[2])
  end
end

return M
