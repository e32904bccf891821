-- Pointers: results go from tool to tool without the model reading them. A workflow of four tools,
-- run twice: once the model writes each text into the next call, once it writes where it is.
--     make && lua5.4 examples/pointers.lua
-- Marks hold a key that every store draws anew, of one to four tokens: hence the round numbers.
-- next: custom_policy.lua
package.path = package.path .. ";lua/?.lua;lua/?/init.lua"
package.cpath = package.cpath .. ";build/lua/?.so"

local neap = require("neap")

-- ---- the host's tools: each takes a text and gives one ------------------------------------

local TOOLS = {}

function TOOLS.query()
  local rows = { "order,customer,euros" }
  for i = 1, 400 do
    rows[#rows + 1] = ("%d,customer %d,%d"):format(10000 + i, i * 37 % 90, i * 7919 % 500)
  end
  return table.concat(rows, "\n")
end

function TOOLS.large(arguments)
  local kept = {}
  for row in arguments.text:gmatch("[^\n]+") do
    local euros = tonumber(row:match(",(%d+)$"))
    if not euros or euros >= 50 then kept[#kept + 1] = row end
  end
  return table.concat(kept, "\n")
end

function TOOLS.sort(arguments)
  local rows = {}
  for row in arguments.text:gmatch("[^\n]+") do
    rows[#rows + 1] = row
  end
  local head = table.remove(rows, 1)
  table.sort(rows)
  return head .. "\n" .. table.concat(rows, "\n")
end

function TOOLS.report(arguments)
  local n, sum = 0, 0
  for euros in arguments.text:gmatch(",(%d+)\n?") do
    n, sum = n + 1, sum + tonumber(euros)
  end
  return ("%d orders of 50 euros and more, %d euros"):format(n, sum)
end

local schemas = {}
for _, name in ipairs({ "query", "large", "sort", "report" }) do
  local text = name ~= "query" and { text = { type = "string" } } or nil
  schemas[#schemas + 1] = {
    type = "function",
    ["function"] = { name = name, parameters = { type = "object", properties = text } },
  }
end

-- ---- a model that knows the workflow ------------------------------------------------------

local STEPS = { "query", "large", "sort", "report" }

local function answer(step, text)
  local arguments = neap.json.encode(step > 1 and { text = text } or {})
  local call = { name = STEPS[step], arguments = arguments }
  local made = { { id = "call_" .. step, type = "function", ["function"] = call } }
  local message = { role = "assistant", content = "", tool_calls = made }
  return { choices = { { message = message } } }
end

-- Runs it; `pointers`: the model gives the id of the last result, as its mark has it.
local function run(policy, pointers)
  local s = assert(neap.session({ policy = policy, window = 100000, tools = schemas }))
  assert(s:add({ role = "user", content = "Report the orders of 50 euros and more, sorted." }))
  local read, last = 0, nil
  for step = 1, #STEPS do
    local body = assert(s:prompt())
    read = read + s:account().tokens
    local id = body:match(".*%[neap·%w+ (%d+):")
    assert(s:add_response(answer(step, pointers and id and "neap:" .. id or last)))
    for call in s:calls() do
      local arguments = assert(s:resolve(call))
      last = TOOLS[call.name](neap.json.decode(arguments))
      assert(s:result(call, last))
    end
  end
  assert(s:prompt())
  read = read + s:account().tokens
  s:close()
  return read, last
end

local whole, said = run("policies/full.lua", false)
print(("the model writes each text: about %2.0f,000 tokens read; %s"):format(whole / 1000, said))
local few, also = run("policies/pointers.lua", true)
print(("the model writes pointers:  about %2.0f,000 tokens read; %s"):format(few / 1000, also))
assert(said == also, "both come to the same")
print(whole > 20 * few and "more than 20 times fewer" or ("%.1f times fewer"):format(whole / few))
