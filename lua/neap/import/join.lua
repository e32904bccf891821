-- Recordings of one form end to end, as one long session: each one's task is a sub-task, asked
-- for by the user when the one before is done. Nothing is said that was not said, and only
-- system texts behind the first are left out. next: init.lua
local core = require("neap.core")
local build = require("neap.import.build")

local M = {}
local json = core.json

local FIXED = { system = true, developer = true }

-- Schemas of all, each name once, as it came first.
local function join_tools(sessions)
  local out, seen, any = json.array(), {}, false
  for _, session in ipairs(sessions) do
    for _, tool in ipairs(json.items(session.tools or "[]")) do
      local value = json.decode(tool)
      local f = type(value) == "table" and (value["function"] or value)
      local name = type(f) == "table" and f.name
      if not name or not seen[name] then
        out[#out + 1], any = json.raw(tool), true
        if name then seen[name] = true end
      end
    end
  end
  return any and build.encode(out) or nil
end

-- The plans of those that have one, together: texts hold wherever they stand.
local function join_plans(sessions)
  local plan
  for _, session in ipairs(sessions) do
    local meta = json.is_raw(session.meta) and json.decode(session.meta.raw)
    local truth = type(meta) == "table" and meta.truth
    for _, name in ipairs(type(truth) == "table" and { "constraints", "refuted" } or {}) do
      plan = plan or { constraints = json.array(), refuted = json.array() }
      for _, one in ipairs(type(truth[name]) == "table" and truth[name] or {}) do
        table.insert(plan[name], one)
      end
    end
  end
  return plan
end

--- One session of several; nil and why when they are not of one form.
---@param sessions neap.Recording[]
---@return table? session what import.write takes, string? message
function M.join(sessions)
  local out = { messages = {}, format = sessions[1].format, tools = join_tools(sessions) }
  local joined = json.array()
  for i, session in ipairs(sessions) do
    if session.format ~= out.format then
      local text = "%s is of the form %s and %s of %s; join recordings of one form"
      return nil, text:format(sessions[1].name, out.format, session.name, session.format)
    end
    local from = #out.messages + 1
    for k, message in ipairs(session.messages) do
      if i == 1 or not FIXED[session.roles[k]] then out.messages[#out.messages + 1] = message end
    end
    joined[i] = { name = session.name, from = from, messages = #out.messages - from + 1 }
  end
  out.meta = { joined = joined, truth = join_plans(sessions) }
  return out
end

return M
