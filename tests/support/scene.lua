-- What specs of a session say again and again: a policy written to a file, a part that a text has
-- or has not, a step of the model with its result. next: ../spec/refute_spec.lua
local json = require("neap.core").json
local neap = require("neap")

local M = {}

--- Writes a policy and gives its path.
---@param dir string
---@param name string
---@param text string
---@return string
function M.policy(dir, name, text)
  local path = dir .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

--- A session of 60,000 tokens with the text of a policy.
---@param text string
---@param options table? of neap.session, which count before those here
---@return table
function M.session(text, options)
  local path = os.tmpname()
  local f = assert(io.open(path, "w"))
  f:write(text)
  f:close()
  local all = { policy = path, window = 60000, reserve = 1000 }
  for name, value in pairs(options or {}) do
    all[name] = value
  end
  local s = assert(neap.session(all))
  os.remove(path)
  return s
end

function M.has(text, part)
  assert(text:find(part, 1, true), part .. " is not in " .. text)
end

function M.has_not(text, part)
  assert(not text:find(part, 1, true), part .. " is in " .. text)
end

local function message(n, text, name, arguments)
  local call = { id = "c" .. n, type = "function" }
  call["function"] = { name = name or "sh", arguments = arguments or "{}" }
  return { role = "assistant", content = text, tool_calls = json.array({ call }) }
end

--- Appends a step: what the model says with a call, and the call's result.
function M.step(s, n, text, result)
  assert(s:add(message(n, text)))
  assert(s:add({ role = "tool", tool_call_id = "c" .. n, content = result }))
end

--- The same as a provider's response; calls of neap's own tools are answered by the engine.
function M.respond(s, n, text, result, name, arguments)
  local choice = { message = message(n, text, name, arguments) }
  assert(s:add_response(json.encode({ choices = json.array({ choice }) })))
  for one in s:calls() do
    assert(s:result(one, result))
  end
end

return M
