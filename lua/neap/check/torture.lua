-- A session in which everything comes that a session may hold: parallel calls, ids that come
-- twice, a call without a result, a giant, images, thoughts in the provider's own form, Chinese,
-- text that looks like a mark, errors, nothing at all. `neap check` plays it. Made, not recorded:
-- the same on every machine. next: dryrun.lua
local core = require("neap.core")

local M = {}
local json = core.json

-- A picture of one point.
local PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
  .. "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

local WORDS = {}
for word in
  ([[valve pressure meter garden river engine bolt signal paper harbor copper north window
  bridge water market corner winter summer island village mountain forest light]]):gmatch("%a+")
do
  WORDS[#WORDS + 1] = word
end

-- About `n` words in lines of nine, some with a number; another seed gives other lines.
local function filler(n, seed)
  local lines, state = {}, seed * 7919 + 1
  local function draw(limit)
    state = (state * 1103515245 + 12345) % 2147483648
    return (state >> 16) % limit + 1
  end
  for at = 1, n, 9 do
    local line = {}
    for i = 1, math.min(9, n - at + 1) do
      line[i] = WORDS[draw(#WORDS)]
    end
    lines[#lines + 1] = ("%s value_%d"):format(table.concat(line, " "), draw(5000))
  end
  return table.concat(lines, "\n")
end

-- ---- messages -----------------------------------------------------------------------------

local Session = {}
Session.__index = Session

function Session:add(message)
  self[#self + 1] = message
end

local function call(id, tool, arguments)
  local out = { id = id, type = "function" }
  out["function"] = { name = tool, arguments = json.encode(arguments) }
  return out
end

--- A response: a text, or none, and calls; `thought` is unsigned reasoning.
function Session:step(text, calls, thought)
  self:add({ role = "assistant", content = text, tool_calls = calls, reasoning = thought })
end

function Session:result(id, content)
  self:add({ role = "tool", tool_call_id = id, content = content })
end

-- One read and its result, `words` long, that names where it came from.
function Session:read(n, words)
  local path = ("src/part_%d.c"):format(n)
  local text = n % 3 == 0 and ("I look at src/part_%d.c again."):format(n - 2) or nil
  self:step(text, { call("r" .. n, "read", { path = path }) })
  self:result("r" .. n, ("%s:%d: fault E%d\n%s"):format(path, n * 7, 4000 + n, filler(words, n)))
end

-- ---- what a session may hold ----------------------------------------------------------------

function Session:opening()
  self:add({ role = "system", content = "You are careful. Never delete what you did not make." })
  local picture = { type = "image_url", image_url = { url = "data:image/png;base64," .. PNG } }
  local task = "Find out why src/pump.c reports E4711 at 3.5 bar, and repair it. 请不要改动接口。"
  self:add({ role = "user", content = { { type = "text", text = task }, picture } })
end

function Session:parallel()
  self:step("Three things at once.", {
    call("c1", "read", { path = "src/pump.c" }),
    call("c2", "bash", { command = "make test", timeout = 12.0 }),
    call("c3", "grep", { pattern = "E4711", path = "src" }),
  }, "The pump first.")
  self:result("c2", "error: E4711: pressure out of range\nmake: *** [test] Error 1")
  self:result("c1", filler(700, 1))
  self:result("c3", json.encode({ { file = "src/pump.c", line = 17 }, { file = "src/valve.c" } }))
end

-- The same id again, an empty text, an empty result, one of blanks.
function Session:odd()
  self:step("", { call("c1", "read", { path = "src/pump.c" }) })
  self:result("c1", filler(700, 1))
  self:step("Once more.", { call("c1", "bash", { command = "true" }) })
  self:result("c1", "")
  self:step(nil, { call("c9", "bash", { command = "echo ' '" }) })
  self:result("c9", " \n ")
  self:add({ role = "user", content = "" })
  self:step("Nothing came.")
  self:step("A second text without a call.")
end

function Session:giant()
  self:step("All of the log.", { call("g1", "bash", { command = "cat log/pump.log" }) })
  self:result("g1", filler(5200, 3))
end

function Session:chinese()
  self:add({ role = "user", content = "订单号是 KX-20931，成本中心 4410-12，别忘了。" })
  self:step("明白。我先查看水泵日志。", { call("z1", "grep", { pattern = "水泵" }) })
  local line = "水泵压力 3.5 bar，阀门编号 V-17，👩‍🔧 值班员记录正常。"
  self:result("z1", line:rep(120, "\n"))
end

-- What imitates neap's own marks, control characters, half a pair.
function Session:strange()
  self:step("[neap·abcd 17: 3,120 of 4,213 tokens cut]", {
    call("s1", "bash", { command = "printf '\\033[31m\\000'" }),
  })
  self:result("s1", "[neap·abcd steps 3–9 not shown]\n\27[31mred\27[0m\r\n\127" .. filler(60, 5))
end

-- Back to what was asked for, after many steps that named nothing of it.
function Session:back()
  for n = 1, 7 do
    self:step(nil, { call("b" .. n, "read", { path = "src/pump.c" }) })
    self:result("b" .. n, filler(20, 90 + n))
  end
end

-- ---- thinking loops, in the form of those who sign thoughts -----------------------------------

local LOOPS = {}

function LOOPS.anthropic(self, n)
  local id = "t" .. n
  local input = { path = "src/valve_" .. n .. ".c" }
  self:add({
    role = "assistant",
    content = {
      { type = "thinking", thinking = "Valve " .. n .. ".", signature = "c2lnbmVk" },
      { type = "tool_use", id = id, name = "read", input = input },
    },
  })
  local block = { type = "tool_result", tool_use_id = id, content = filler(300, 40 + n) }
  block.is_error = n == 2 or nil
  self:add({ role = "user", content = { block } })
end

function LOOPS.responses(self, n)
  local id, item = "t" .. n, { type = "reasoning", id = "rs_" .. n }
  item.summary, item.encrypted_content = json.array({}), "c2VhbGVk"
  self:add(item)
  local path = json.encode({ path = "src/valve_" .. n .. ".c" })
  self:add({ type = "function_call", call_id = id, name = "read", arguments = path })
  self:add({ type = "function_call_output", call_id = id, output = filler(300, 40 + n) })
end

function LOOPS.gemini(self, n)
  local part = { thoughtSignature = "c2lnbmVk" }
  part.functionCall = { name = "read", args = { path = "src/valve_" .. n .. ".c" } }
  self:add({ role = "model", parts = { { text = "Valve.", thought = true }, part } })
  local answer = { name = "read", response = { output = filler(300, 40 + n) } }
  self:add({ role = "user", parts = { { functionResponse = answer } } })
end

local function plain_loop(self, n)
  local id = "t" .. n
  local calls = { call(id, "read", { path = "src/valve_" .. n .. ".c" }) }
  self:step(nil, calls, "Valve " .. n .. ".")
  self:result(id, filler(300, 40 + n))
end

function Session:thinking(format)
  local loop = LOOPS[format] or plain_loop
  for n = 1, 4 do
    loop(self, n)
  end
end

-- ---- the whole ------------------------------------------------------------------------------

--- Schemas of the tools that the sessions call, as chat takes them.
---@return table[]
function M.tools()
  local list = {}
  for i, name in ipairs({ "bash", "edit", "grep", "read" }) do
    local property = { type = "string", description = "What to " .. name .. "." }
    local parameters = { type = "object", properties = { path = property, pattern = property } }
    local tool = { name = name, description = "To " .. name .. ".", parameters = parameters }
    list[i] = { type = "function", ["function"] = tool }
  end
  return list
end

--- The session as messages for that format.
---@param format string
---@return table[]
function M.messages(format)
  local s = setmetatable({}, Session)
  s:opening()
  s:parallel()
  for n = 1, 8 do
    s:read(n, 250)
  end
  s:odd()
  s:giant()
  s:chinese()
  s:thinking(format)
  s:strange()
  s:add({ role = "user", content = "Go on with src/part_3.c, value_205 matters." })
  for n = 9, 20 do
    s:read(n, 200)
  end
  s:back()
  s:read(3, 250) -- what stands above already, word for word
  s:step("Two calls, one of which is never answered.", {
    call("p1", "read", { path = "src/last.c" }),
    call("p2", "bash", { command = "sleep 100" }),
  })
  s:result("p1", filler(100, 77))
  s:add({ role = "user", content = "Stop waiting for it." })
  s:step("E4711 comes from value_205 in src/part_3.c.")
  return s
end

--- A plain session of so many entries or a few less, to see what hooks cost: a call, its result,
--- and with every third a text.
---@param entries integer
---@return table[]
function M.long(entries)
  local s = setmetatable({}, Session)
  s:opening()
  for n = 1, (entries - 3) * 3 // 7 do
    s:read(n, 60)
  end
  return s
end

return M
