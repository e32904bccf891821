-- What must not drift: a sub-task ends and the policy folds it; conclusions wait on the scratchpad
-- until a function has looked at them; another session goes on with what was handed over.
--     make && lua5.4 examples/handover.lua
-- next: ../docs/state.md
package.path = package.path .. ";lua/?.lua;lua/?/init.lua"
package.cpath = package.cpath .. ";build/lua/?.so"

local neap = require("neap")

local POLICY = [[
return {
  api = 1,
  name = "by_phase",
  about = "Folds what is behind when a part of the work ends, or the prompt fills.",
  options = { turns = { default = 2, min = 0, help = "turns between two folds" } },

  compact = function(ctx, o)
    local why = ctx:due { usage = 0.8, phase = true, drift = 0.9, turns = o.turns }
    local old = ctx:span { before = ctx.step }
    if why and old.steps > 0 then ctx:fold(old, "The server listens on port 8451.", why) end
  end,
}
]]

local path = os.tmpname()
local f = assert(io.open(path, "w"))
f:write(POLICY)
f:close()

local store = os.tmpname()
os.remove(store)

local function step(s, text, result)
  assert(s:prompt())
  local call = { id = "c", type = "function" }
  call["function"] = { name = "sh", arguments = "{}" }
  assert(s:add_response(neap.json.encode({
    choices = neap.json.array({
      { message = { role = "assistant", content = text, tool_calls = neap.json.array({ call }) } },
    }),
  })))
  for one in s:calls() do
    assert(s:result(one, result))
  end
end

local first = assert(neap.session({
  name = "first",
  store = store,
  policy = path,
  state_schema = {
    type = "object",
    properties = {
      max_price = { type = "number", hard = true },
      port = { type = "integer" },
    },
  },
}))
assert(first:add({ role = "user", content = "Find out why uploads fail." }))
assert(first:propose("user", '{"max_price":500.00}'))
step(first, "I look.", "the server listens on port 8451")
step(first, "I look on.", "nothing else is there")

-- what the model concludes is no fact yet
assert(first:scratch("model", "8451", { source = 5, patch = { port = 8451 } }))
assert(first:scratch("model", "9999", { source = 5, patch = { port = 9999 } }))
print("passed, rejected:", first:verify(function(one)
  return first:text(one.source):find(one.text, 1, true) ~= nil, "its source does not say so"
end))
print("the state's port:", first:state().port)

-- the sub-task ends: the policy folds it, once
assert(first:phase("handover"))
assert(first:prompt())
for _, change in ipairs(first:account().changed) do
  if change.why == "phase" then print("folded, because of:", change.why) break end
end

local text = assert(first:handover())
first:close()
local second = assert(neap.session({ name = "second", store = store, handover = text }))
assert(second:add({ role = "user", content = "Go on." }))
print("the same digits:", (select(2, second:prompt():gsub("500%.00", ""))))
print("the hard constraint:", (select(2, second:propose("model", { max_price = 900 }))))
second:close()

os.remove(path)
for _, tail in ipairs({ "", "-wal", "-shm" }) do
  os.remove(store .. tail)
end
