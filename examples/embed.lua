-- The loop in Lua, and a policy that is changed while the agent runs. The model is a script, so
-- that the program runs as it is; where call_model stands, a request to a provider would stand.
--     make && lua5.4 examples/embed.lua
-- next: agent_loop.lua
package.path = package.path .. ";lua/?.lua;lua/?/init.lua"
package.cpath = package.cpath .. ";build/lua/?.so"

local neap = require("neap")

-- ---- the model and its tool, both pretended -----------------------------------------------

local SAYS = { "Monday's log first.", "Tuesday's.", "Wednesday's.", "The valve stuck on Monday." }
local READS = { "monday.log", "tuesday.log", "wednesday.log" }

-- The body that a provider would send back.
local function call_model(turn, body)
  assert(body:sub(1, 1) == "{") -- a whole request body, ready to send
  local message = { role = "assistant", content = SAYS[turn] }
  if READS[turn] then
    local arguments = neap.json.encode({ path = READS[turn] })
    local call = { name = "read", arguments = arguments }
    message.tool_calls = { { id = "call_" .. turn, type = "function", ["function"] = call } }
  end
  return neap.json.encode({ choices = { { message = message } } })
end

local function run_tool(call)
  local path, lines = neap.json.decode(call.arguments).path, {}
  for i = 1, 40 do
    lines[i] = ("%s:%d: pressure %d kPa, valve open"):format(path, i, 272 + i)
  end
  return table.concat(lines, "\n")
end

-- ---- the policy, in a file of its own -----------------------------------------------------

local path = os.tmpname()

local function write_policy(text)
  local f = assert(io.open(path, "w"))
  f:write(text)
  f:close()
end

write_policy('return { api = 1, name = "keep_all" }')

-- ---- the loop -----------------------------------------------------------------------------

local s = assert(neap.session({ policy = path, window = 8000 }))
assert(s:add({ role = "system", content = "You watch a pump." }))
assert(s:add({ role = "user", content = "When did the valve stick?" }))

local turn = 0
repeat
  turn = turn + 1
  if turn == 4 then -- the policy is changed while the agent runs
    write_policy([[
      return {
        api = 1, name = "newest_only",
        assemble = function(ctx)
          for e in ctx:entries { kind = "result", at = "full", except_last = 1 } do e:mask() end
        end,
      }]])
    assert(s:reload()) -- or leave it to the engine, which looks before every prompt
  end
  local body = assert(s:prompt())
  assert(s:add_response(call_model(turn, body)))
  print(("turn %d under %s: %s"):format(turn, s:policy().name, SAYS[turn]))
  for call in s:calls() do
    assert(s:result(call, run_tool(call)))
  end
until not s:pending()

for _, change in ipairs(s:account().changed) do
  print(("  entry %d went from %s to %s"):format(change.entry, change.from, change.to))
end
s:close()
os.remove(path)
