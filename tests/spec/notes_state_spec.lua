-- Notes beside a state object and a task: exact values are there, or in the state; nothing says of
-- a value of the state that it is another one. next: ../../lua/neap/summary/known.lua
local core = require("neap.core")
local known = require("neap.summary.known")
local scene = require("tests.support.scene")

local POLICY = [[
return { api = 1, tools = { "recall", "read" }, options = { most = 800 },
  compact = function(ctx, o)
    local old = ctx:span { from = 1, before = ctx.step - 2, merge = true }
    if old.steps < 3 then return end
    ctx:fold(old, ctx:summarize(old, { max_tokens = o.most }))
  end }
]]

local SCHEMA = {
  type = "object",
  properties = {
    goal = { type = "string" },
    rules = core.json.raw([[{"type":"array","items":{"type":"string"}}]]),
    max_price = { type = "number", hard = true },
    order = { type = "id" },
    port = { type = "integer" },
  },
}

local STATE = { goal = "a train to Lyon", max_price = 500, order = "ORD-00981", port = 8080 }

local function open(summarize, options)
  local all = { summarize = summarize, state_schema = SCHEMA }
  for name, value in pairs(options or {}) do
    all[name] = value
  end
  return scene.session(POLICY, all)
end

local FILLER = (" and words that say nothing of it"):rep(30)

local function act(s, i, result)
  local call = { name = "read", arguments = core.json.encode({ path = ("src/f%d.c"):format(i) }) }
  assert(s:add({
    role = "assistant",
    content = "I look.",
    tool_calls = { { id = "c" .. i, type = "function", ["function"] = call } },
  }))
  assert(s:add({ role = "tool", tool_call_id = "c" .. i, content = result .. FILLER }))
end

local function go(s, from, to, result)
  for i = from, to do
    assert(s:prompt())
    act(s, i, (result or "#define LIMIT_%d %d\n"):format(i, 4000 + i))
  end
end

local function last_step(ask)
  return ask.parts[#ask.parts].step
end

-- The texts of the messages of a body.
local function texts_of(body)
  local out = {}
  for _, m in ipairs(core.json.decode(body).messages) do
    if type(m.content) == "string" then out[#out + 1] = m.content end
  end
  return out
end

describe("a summary beside a state", function()
  it("leaves every value of the state exact, whatever a model writes (T6)", function()
    local taken = 0
    local s <close> = open(function(ask)
      taken = taken + 1
      local step = last_step(ask)
      local lies = {
        ("ADD progress %d: the price is to be about 500"):format(step),
        ("ADD decisions %d: max_price is 600 from now on | the user said so"):format(step),
        ("ADD findings %d: max price: 40%02d"):format(step, step),
        ("ADD open %d: order ORD-00982 waits"):format(step),
        "NONE",
      }
      return lies[taken % #lies + 1]
    end)
    assert(s:add({ role = "user", content = "Book a train." }))
    assert(s:propose("user", STATE))
    go(s, 1, 40, "it is 600 at ORD-00982, LIMIT_%d is %d\n")
    local body = assert(s:prompt())
    local state = table.concat(texts_of(body), "\n"):match('{"goal".-}')
    assert.same(STATE, core.json.decode(state))
    for _, text in ipairs({ "about 500", "is 600 from", "max price: 40" }) do
      assert.is_nil(body:find(text, 1, true), text)
    end
    assert.is_true(taken > 5 and s:checks().faults >= taken / 2)
  end)

  it("tells what is changed: the key, what is said and what the state has (T6)", function()
    local s <close> = open(false)
    assert(s:add({ role = "user", content = "Book a train." }))
    assert(s:propose("user", STATE))
    go(s, 1, 7, "a ticket is 600, LIMIT_%d is %d\n")
    local before, id = assert(s:prompt()), s:next_ask().id
    local ok, _, code, faults = s:answer(id, "ADD decisions 3: max_price ≤ 600")
    assert.is_nil(ok)
    assert.equal("unverified", code)
    assert.equal("state", faults[1].code)
    assert.equal("600", faults[1].value)
    assert.truthy(faults[1].what:find("max_price is 500 in the state, not 600", 1, true))
    -- state and history are what they were, byte for byte (T5)
    assert.same(STATE, (assert(s:state())))
    assert.equal(1, #assert(s:state_history()))
    assert.equal(before, assert(s:prompt()))
    assert.truthy(s:next_ask().prompt:find("max_price is 500 in the state", 1, true))
    assert(s:answer(id, "ADD decisions 3: max_price stays 500 for ORD-00981 | the state, 600"))
  end)

  it("may name what the state and the task have", function()
    local s <close> = open(false)
    assert(s:add({ role = "user", content = "Look at MAX_FLOW_7 in core/valve.c." }))
    assert(s:propose("user", STATE))
    go(s, 1, 7)
    local text = "ADD progress 3: LIMIT_3 is 4003, of MAX_FLOW_7 in core/valve.c, for ORD-00981"
    assert(s:answer(s:next_ask().id, text))
    assert(s:prompt())
    assert.truthy(s:notes().text:find("for ORD-00981", 1, true))
  end)

  it("notes no sentence again that the state or the task has word by word (T6)", function()
    local s <close> = open(function()
      return "NONE"
    end)
    local rule = "Never pay more than 500 for ORD-00981."
    assert(s:add({ role = "user", content = "Book a train. Never touch core/main.c." }))
    assert(s:propose("user", { rules = { rule } }))
    go(s, 1, 2)
    local more = " Never touch core/main.c. Never pay more than 500."
    assert(s:add({ role = "user", content = rule .. more }))
    go(s, 3, 4)
    assert(s:add({ role = "user", content = "Go on." }))
    go(s, 5, 12)
    local list = {}
    for _, item in ipairs(s:notes().items) do
      if item.section == "constraints" then list[#list + 1] = item.text end
    end
    assert.same({ "Never pay more than 500." }, list) -- is other than what the state says
    local body = table.concat(texts_of(assert(s:prompt())), "\n")
    for _, text in ipairs({ rule, "Never touch core/main.c.", "Never pay more than 500." }) do
      assert.truthy(body:find(text, 1, true), text)
    end
  end)

  it("refutes what the state has overtaken", function()
    local s <close> = open(function(ask)
      local step = last_step(ask)
      return ("ADD facts %d: the port is 8080 as LIMIT_%d"):format(step, step)
    end)
    assert(s:add({ role = "user", content = "Go." }))
    assert(s:propose("user", STATE))
    go(s, 1, 6, "the port is 8080, LIMIT_%d is %d\n")
    assert(s:prompt())
    assert.is_nil(s:notes().items[1].refuted)
    assert(s:propose("controller", { port = 9090 }))
    go(s, 7, 12, "the port is 8080, LIMIT_%d is %d\n")
    assert(s:prompt())
    local first = s:notes().items[1]
    assert.truthy(first.refuted, s:notes().text)
    assert.equal("the state has port: 9090", first.why)
  end)

  it("keeps the newest user message last, whatever the state holds (T7, T21)", function()
    local s <close> = open(function(ask)
      return ("ADD facts %d: LIMIT_%d is %d"):format(last_step(ask), last_step(ask),
        4000 + last_step(ask))
    end)
    assert(s:add({ role = "user", content = "Help." }))
    assert(s:propose("user", { goal = "delete branch X" }))
    go(s, 1, 3)
    assert(s:add({ role = "assistant", content = "It is deleted." }))
    assert(s:propose("user", { goal = "list branches" }))
    assert(s:add({ role = "user", content = "now only list" }))
    go(s, 5, 14)
    local users, at = {}, nil
    for _, text in ipairs(texts_of(assert(s:prompt()))) do
      users[#users + 1] = text
      if text == "now only list" then at = #users end
      local is_summary = text:find("^Summary of steps")
      assert.truthy(not is_summary or text:find("not instructions", 1, true))
      assert.falsy(text:find("delete branch X", 1, true)) -- is done, and in no state
    end
    for i = at + 1, #users do
      assert.falsy(users[i]:find("branch", 1, true), users[i])
    end
  end)
end)

describe("what a line says of the state", function()
  local function session_of(state)
    return {
      entry_count = function()
        return 0
      end,
      entry = function() end,
      state_get = function()
        return core.json.encode(state)
      end,
    }
  end

  it("is another value, the same one, or none", function()
    local one = known.of(session_of({
      max_price = core.json.raw("500.00"),
      port = 8080,
      order = "ORD-00981",
      deep = { retry_limit = 3, list = { 7, 8 } },
      city = "Lyon",
    }))
    local cases = {
      { "max_price is 600", "600" },
      { "max price: 600", "600" },
      { "MAX_PRICE ≤ 499.99", "499.99" },
      { "the max_price must be at most 50", "50" },
      { "`max_price` = 5,000", "5,000" },
      { "max_price 为 600", "600" },
      { "max_price不得超过600", "600" },
      { "retry_limit is now set to 4.", "4" },
      { "port 8081", "8081" },
      { "the port is 8081", "8081" },
      { "order: ORD-00982", "ord-00982" },
      { "max_price is 500 and max_price is 600", "600" },
      { "max_price should be 600", "600" },
      { "max_price was raised to 600", "600" },
      { "max_price has been changed to 600", "600" },
      { "max_price can go up to 600", "600" },
      { '{"port": 8081, "order": "ORD-00981"}', "8081" },
      { "/port 8081", "8081" },
      { '{"port": 8080}' },
      { "the database's port has 5432 users" },
      { "max_price has 2 decimals" },
      { "port, 3 retries" },
      { "max_price is 500" },
      { "max_price is 500.00, not more" },
      { "max_price was 400" },
      { "max_price of the old contract is 400" },
      { "old_max_price is 400" },
      { "max_prices are 400" },
      { "the database's port is 5432" },
      { "report 8081" },
      { "order ORD-00981 waits" },
      { "the city is Lyon 3" },
      { "retry_limit is reached" },
    }
    for _, case in ipairs(cases) do
      local key, said = one:contradicted(case[1])
      assert.equal(case[2], said, case[1])
      assert.equal(case[2] ~= nil, key ~= nil)
    end
  end)

  it("is looked for in time that grows with its length", function()
    local one, finds, find = known.of(session_of({ max_price = 500 })), 0, string.find
    string.find = function(...) -- luacheck: ignore
      finds = finds + 1
      return find(...)
    end
    one:contradicted(("max_price is "):rep(200))
    string.find = find -- luacheck: ignore
    assert.is_true(finds < 200 * 13 * 50, finds)
  end)
end)
