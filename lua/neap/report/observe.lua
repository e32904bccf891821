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
    rungs = {},
    sent = 0,
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

-- What of the prompt is full, trimmed, a reference, a mark, a summary: into the account too.
function Observer:take_rungs(session, account)
  account.rungs = session:by_rung()
  self.sent = self.sent + 1
  for name, tokens in pairs(account.rungs) do
    self.rungs[name] = (self.rungs[name] or 0) + tokens
  end
end

--- Takes in the prompt of a turn, before the step's message `i` is appended.
---@param session table
---@param account table
---@param i integer
function Observer:turn(session, account, i)
  self.is_sent = account.overflow == nil
  if self.is_sent then self:take_rungs(session, account) end
  if self.is_sent then self.density:turn(session, account.step) end
  self.truth:turn(session, account)
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
  for name, sum in pairs(self.rungs) do
    line.rung_tokens = line.rung_tokens or {}
    line.rung_tokens[name] = (2 * sum + self.sent) // (2 * self.sent)
  end
  line.repeats, line.calls_again = self.repeats.hidden, self.repeats.again
  for name, value in pairs(self.truth:result()) do
    line[name] = type(value) == "number" and round(value) or value
  end
  return line
end

return M
