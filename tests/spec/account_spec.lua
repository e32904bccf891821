-- docs/account.md names the fields of an account, and those alone. next: manual_spec.lua
local neap = require("neap")
local shared = require("tests.support.shared")

local function write(path, text)
  local f = assert(io.open(path, "w"))
  f:write(text)
  f:close()
end

local function add_keys(account, into)
  for key in pairs(account) do
    into[key] = true
  end
end

local function steps(session, n, into)
  for i = 1, n do
    assert(session:prompt())
    add_keys(session:account(), into)
    local call = { id = "c" .. i, type = "function" }
    call["function"] = { name = "bash", arguments = "{}" }
    session:add({ role = "assistant", content = "", tool_calls = { call } })
    local text = ("word %d "):format(i):rep(90)
    session:add({ role = "tool", tool_call_id = "c" .. i, content = text })
  end
end

local POLICY = "return { api = 1, assemble = function(ctx) ctx:log('y') error('x') end, "
  .. "layout = { 'warm', { 'hot', min = 20, max = 150, share = 0.5 } } }"

-- Every field that sessions of several kinds have shown.
local function seen()
  local keys, policy = {}, os.tmpname()
  write(policy, POLICY)
  for _, format in ipairs({ "openai", "anthropic" }) do
    local s = neap.session({ window = 3000, reserve = 200, format = format, name = format })
    s:add({ role = "system", content = "It is 12:05:33." })
    s:add({ role = "user", content = "go" })
    steps(s, 12, keys)
    if format == "anthropic" then
      assert(s:prompt())
      local usage = { input_tokens = s:account().estimate, output_tokens = 3 }
      local content = { { type = "text", text = "ok" } }
      local body = { type = "message", role = "assistant", content = content, usage = usage }
      s:add_response(neap.json.encode(body))
      s:add({ role = "user", content = "more" })
      steps(s, 1, keys)
    end
    s:close()
  end
  local s = neap.session({ window = 200, policy = policy, tools = "[]", no_tools = true })
  s:add({ role = "user", content = "go" })
  s:prompt()
  write(policy, POLICY .. " -- changed")
  local from = os.clock()
  repeat until os.clock() - from > 0.1 -- a file is read when it has been still for 50 ms
  s:prompt()
  add_keys(s:account(), keys)
  local account = s:account()
  local most = math.min(150, account.budget // 2)
  assert.same({ hot = { min = 20, max = most } }, account.limits)
  s:add({ role = "system", content = ("word "):rep(900) })
  s:add({ role = "assistant", content = "", reasoning = "hm" })
  s:prompt()
  add_keys(s:account(), keys)
  s:close()
  os.remove(policy)
  return keys
end

local function documented()
  local keys = {}
  local fields = assert(shared.read("docs/account.md")):match("^(.-)\n## ")
  for names in fields:gmatch("\n| (`[^|]+) |") do
    for name in names:gmatch("`(%w[%w_]*)`") do
      keys[name] = true
    end
  end
  return keys
end

-- shown by tests of their own
local RARE = { "tools", "left_out", "overflow", "drift", "shadow", "dangling", "checks" }
for _, name in ipairs({ "policy_failed", "policy_out_until" }) do
  RARE[#RARE + 1] = name
end

-- The words for repairs that the core has, and those that the page explains.
local function repairs()
  local has, named = {}, {}
  for word in assert(shared.read("core/render/repair.h")):gmatch('X%([A-Z]+, "(%l+)"%)') do
    has[#has + 1] = word
  end
  local page = assert(shared.read("docs/account.md")):match("\n## What is repaired\n(.*)$")
  for words in page:gmatch("\n| (`[^|]+) |") do
    for word in words:gmatch("`(%l+)`") do
      if word ~= "what" then named[#named + 1] = word end
    end
  end
  return has, named
end

describe("docs/account.md", function()
  it("explains every repair, in the order in which an account tells them", function()
    local has, named = repairs()
    assert.is_true(#has > 10)
    assert.same(has, named)
  end)

  it("names every field of an account and no other", function()
    local has, named = seen(), documented()
    for _, key in ipairs(RARE) do
      assert.is_true(named[key], key)
      has[key] = true
    end
    for key in pairs(has) do
      assert.is_true(named[key], key .. " is not documented")
    end
    for key in pairs(named) do
      assert.is_true(has[key], key .. " was not seen in any account")
    end
  end)
end)
