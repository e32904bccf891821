-- What is measured of a replay besides tokens and facts: density, repeated calls, constraints,
-- and against the plan of a recording that has one. It looks at a session and changes nothing.
-- next: compare.lua
local density = require("neap.report.density")
local repeats = require("neap.report.repeats")
local truth = require("neap.report.truth")

local M = {}

---@class neap.Observer
local Observer = {}
Observer.__index = Observer

---@param recording neap.Recording
---@return neap.Observer
function M.new(recording)
  return setmetatable({
    recording = recording,
    density = density.new(),
    repeats = repeats.new(),
    truth = truth.new(recording),
    is_sent = false,
  }, Observer)
end

--- A session's shadow as what the measures look at.
---@param session table
---@return table
function M.shadow(session)
  return setmetatable({}, {
    __index = function(_, name)
      local method = session["shadow_" .. name]
      return function(_, ...)
        return method(session, ...)
      end
    end,
  })
end

--- Takes in the prompt of a turn, before the step's message `i` is appended.
---@param session table
---@param account table
---@param i integer
function Observer:turn(session, account, i)
  self.is_sent = account.overflow == nil
  if self.is_sent then self.density:turn(session, account.step) end
  self.truth:turn(session, self.is_sent)
  self.truth:need(session, i, self.is_sent)
  self.repeats:step(session, false) -- what came between two steps are no calls of a step
end

--- Takes in the step that was appended as message `i`.
---@param session table
---@param i integer
function Observer:step(session, i)
  self.repeats:step(session, true)
  self.truth:step(i)
end

local function round(share)
  return share and math.floor(share * 10000 + 0.5) / 10000
end

--- What was measured, as members of a trace's line.
---@param session table at the end of the replay
---@param tokens integer of all prompts
---@return table
function Observer:result(session, tokens)
  local line = {}
  local words, rare = self.density:shares(session, self.recording, tokens)
  line.density, line.density_rare = round(words), round(rare)
  line.repeats, line.calls_again = self.repeats.hidden, self.repeats.again
  for name, value in pairs(self.truth:result()) do
    line[name] = type(value) == "number" and round(value) or value
  end
  return line
end

return M
