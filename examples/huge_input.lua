-- An input a hundred times as large as the window: a log that the host keeps as an artifact. The
-- policy in policies/slices.lua searches it and hands eight slices to sub-tasks; here a function
-- that picks lines stands for their model. The prompt gets what was found, with the lines' numbers.
--     make && lua5.4 examples/huge_input.lua
-- next: ../docs/policies.md
package.path = package.path .. ";lua/?.lua;lua/?/init.lua"
package.cpath = package.cpath .. ";build/lua/?.so"

local neap = require("neap")

-- 60,000 lines, some 600,000 tokens; three of them matter.
local lines = {}
for i = 1, 60000 do
  lines[i] = ("12:%02d:%02d pump_%d idle, pressure normal"):format(i // 60 % 60, i % 60, i % 40)
end
lines[17017] = "12:43:37 pump_7 valve E4711 stuck, retry 1"
lines[31031] = "12:37:11 controller: E4711 means a worn seal"
lines[44044] = "12:14:04 pump_7 stopped, seal order #20931 open"

local asked = 0

-- A host's model: it copies the lines that speak of the code or the order. Once it makes one up.
local function model(ask)
  asked = asked + 1
  local found = {}
  for number, line in ask.text:gmatch("(%d+): ([^\n]+)") do
    if line:find("E4711 ", 1, true) or line:find("#20931", 1, true) then
      found[#found + 1] = number .. ": " .. line
    end
  end
  found[#found + 1] = asked == 1 and "17018: the seal was replaced in May" or nil
  return #found > 0 and table.concat(found, "\n") or "none"
end

local s = assert(neap.session({
  policy = "examples/policies/slices.lua",
  window = 6000,
  reserve = 500,
  summarize = model,
}))
assert(s:add({ role = "user", content = "What does E4711 mean, and which seal order is open?" }))
local id = assert(s:put(table.concat(lines, "\n"), { tool = "bash", query = "cat pumps.log" }))

local function step(name, arguments, text)
  assert(s:prompt())
  local f = { name = name, arguments = neap.json.encode(arguments) }
  local call = { id = "call_1", type = "function", ["function"] = f }
  local message = { role = "assistant", tool_calls = { call } }
  assert(s:add_response({ choices = { { message = message } } }))
  for c in s:calls() do
    assert(s:result(c, text))
  end
end

local first = table.concat(lines, "\n", 1, 30)
local told = ("%s\n… %d lines, all of them: neap:%d"):format(first, #lines, id)
step("bash", { command = "cat pumps.log" }, told)
step("bash", { command = "date" }, "12:59")
assert(s:prompt())
local body = assert(s:prompt()) -- and here are the answers
local account = s:account()

local all = 0
for _, line in ipairs(lines) do
  all = all + #line + 1
end
local told_of = "the input: %d bytes; the prompt: %d of %d tokens"
print(told_of:format(all, account.tokens, account.budget))
print(("%d sub-tasks"):format(asked))
for _, message in ipairs(neap.json.decode(body).messages) do
  if tostring(message.content):find("Found in", 1, true) then print(message.content) end
end
s:close()
