-- The oracle: a reference that is given what no policy can know, the list of later citations.
-- A first replay without a window collects it; then a policy that holds it ranks each entry by
-- the facts still to be cited from it, and trims giants on arrival as tide does. Budget, validity
-- and the price of rewrites bind it as they bind every other policy. It weighs entries, not
-- the bytes within them, and is greedy: a strong reference, no bound. next: compare.lua
local replay = require("neap.report.replay")

local M = {}

-- %s: entry id -> the steps at which a fact of it is cited.
local POLICY = [[
local CITED = {%s}

return {
  api = 1,
  name = "oracle",
  about = "Given every later citation: a reference, no policy.",
  tools = { "recall", "read" },
  order = "value",

  admit = function(ctx, e)
    if e.kind == "result" and e.tokens > 0.25 * ctx.budget then
      e:trim { tokens = 1000, keep = "dense", why = "a giant on arrival" }
    end
  end,

  rank = function(ctx, e)
    local worth = 0.01 / e.age
    for _, step in ipairs(CITED[e.id] or {}) do
      if step >= ctx.step then worth = worth + 1 end
    end
    return worth
  end,

  assemble = function(ctx)
    if ctx.tokens > ctx.economy.height then ctx:shrink(ctx.economy.floor, "oracle") end
  end,
}
]]

local function write(text)
  local path = os.tmpname()
  local f, why = io.open(path, "wb")
  if not f then return nil, why end
  f:write(POLICY:format(text))
  f:close()
  return path
end

-- A fact was first shown by a result or a later user message.
local function is_fact(session, first)
  local e = session:entry(first)
  return e ~= nil and e.region == "hot" and (e.kind == "result" or e.kind == "user")
end

-- The facts that an entry is cited for, as the steps of those who cite it.
local function steps_of(session, id)
  local steps = {}
  for _, c in ipairs(session:citations(id)) do
    if c.credited == id and is_fact(session, c.first) then steps[#steps + 1] = c.step end
  end
  table.sort(steps)
  return #steps > 0 and ("[%d]={%s}"):format(id, table.concat(steps, ",")) or nil
end

--- Writes the oracle for one recording to a temporary file, which the caller removes.
---@param recording neap.Recording
---@param options neap.ReplayOptions
---@return string? path, string? message
function M.policy(recording, options)
  local blind, why = write("")
  if not blind then return nil, why end
  local o = { policy = blind, unbounded = true }
  for _, name in ipairs({ "format", "encoding", "model", "lenient" }) do
    o[name] = options[name]
  end
  local state, message = replay.run(recording, o)
  os.remove(blind)
  if not state then return nil, message end
  local rows = {}
  for id = 1, state.session:entry_count() do
    rows[#rows + 1] = steps_of(state.session, id)
  end
  replay.close(state)
  return write("\n  " .. table.concat(rows, ",\n  ") .. "\n")
end

return M
