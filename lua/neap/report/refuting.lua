-- Refutations that a recording holds: `meta.refutes` of a message says, as a host would when it
-- comes, that what an earlier step or entry has shown is wrong. next: truth.lua
local core = require("neap.core")

local M = {}
local json = core.json

-- The message's refutations: { step | entry, reason } each; none when it says nothing of the kind.
local function of_message(raw)
  if not raw:find('"refutes"', 1, true) then return {} end
  local message = json.decode(raw)
  local meta = type(message) == "table" and message.meta
  local said = type(meta) == "table" and meta.refutes
  if type(said) ~= "table" then return {} end
  return #said == 0 and next(said) ~= nil and { said } or said
end

--- Tells the session what message `raw`, which has just been appended, refutes.
---@param session table
---@param raw string
---@return true? ok, string? why
function M.take(session, raw)
  for _, one in ipairs(of_message(raw)) do
    local step = type(one) == "table" and math.tointeger(one.step)
    local entry = type(one) == "table" and math.tointeger(one.entry)
    if (not step and not entry) or type(one.reason) ~= "string" then
      return nil, 'meta.refutes is no {"step":N,"reason":"…"}, nor one with an entry'
    end
    local ok, why = session:refute(step or 0, entry or 0, one.reason)
    if not ok then return nil, "meta.refutes: " .. why end
  end
  return true
end

--- At the end, what a line has of it: nothing unless something was refuted.
---@param session table
---@param steps integer of the recording
---@return table
function M.result(session, steps)
  local count, polluted = session:polluted()
  if count == 0 or steps == 0 then return {} end
  local share = math.floor(polluted / steps * 10000 + 0.5) / 10000
  return { refutations = count, polluted_steps = polluted, pollution = share }
end

return M
