-- Summaries that cannot lie: a host that answers what a policy asks a model. The model here is made
-- up and gets it wrong once, as models do: it rounds a number. Code does not take that, and asks
-- again with the complaint. What stands in the prompt in the end is data, merged by code.
--     make && lua5.4 examples/summaries.lua
-- next: custom_policy.lua
package.path = package.path .. ";lua/?.lua;lua/?/init.lua"
package.cpath = package.cpath .. ";build/lua/?.so"

local neap = require("neap")

-- In your program: send ask.prompt to a model and return what it says; or nil, why and "error".
local function call_model(ask)
  local step = ask.parts[#ask.parts].step
  if not ask.prompt:find("was not taken", 1, true) then
    return ("ADD facts %d: the pump gives about %d"):format(step, 4000 + step)
  end
  return ("ADD facts %d: the pump gives %d\nADD open %d: is that enough?"):format(
    step, 4000 + step, step)
end

local s <close> = assert(neap.session({
  policy = "policies/three_tier.lua",
  options = { hot = 2, every = 3, merge = true },
  window = 16000,
  summarize = call_model,
}))

assert(s:add({ role = "user", content = "Find out what the pump does." }))
for step = 1, 10 do
  assert(s:prompt())
  local call = { name = "measure", arguments = "{}" }
  assert(s:add({
    role = "assistant",
    content = "I measure.",
    tool_calls = { { id = "c" .. step, type = "function", ["function"] = call } },
  }))
  local text = ("the pump gives %d\n"):format(4000 + step) .. ("all else is as before\n"):rep(60)
  assert(s:add({ role = "tool", tool_call_id = "c" .. step, content = text }))
  if step == 3 then
    assert(s:add({ role = "user", content = "Order ORD-00981 must not cost more than 500." }))
  elseif step == 5 then
    assert(s:add({ role = "user", content = "Go on." }))
  end
end
assert(s:prompt())

local notes, checks = s:notes(), s:checks()
print(("steps %d to %d, %d notes:"):format(notes.from, notes.to, #notes.items))
for _, item in ipairs(notes.items) do
  print(("  %s, %s, step %d: %s"):format(item.key, item.section, item.step, item.text))
end
print(("asks %d; taken after a complaint %d"):format(checks.asks, checks.again))
for _, fault in ipairs(checks.last) do
  print(("  %s: %s"):format(fault.code, fault.what))
end
