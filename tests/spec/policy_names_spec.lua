-- meta.lua and the guide name what policies find, no more and no less: compared with a running
-- sandbox, whose environment and handles say what they have.
local core = require("neap.core")
local neap = require("neap")
local shared = require("tests.support.shared")

local json = core.json
local META = assert(shared.read("lua/neap/meta.lua"))
  .. assert(shared.read("lua/neap/meta_sandbox.lua"))
  .. assert(shared.read("lua/neap/meta_state.lua"))
local NAMES = json.decode(core.policy_names())

local function set(...)
  local out = {}
  for _, list in ipairs({ ... }) do
    for _, name in ipairs(list) do
      out[name] = true
    end
  end
  return out
end

-- Fields of a class of meta.lua, and the methods of the table of that name behind it.
local function documented(class, receiver)
  local names = {}
  local body = META:match("%-%-%-@class neap%." .. class .. "\n(.-)\n[^-]")
    or META:match("%-%-%-@class neap%." .. class .. "\n(.-)\n\n")
  for name in ("\n" .. body):gmatch("\n%-%-%-@field ([%w_]+)%??%s") do
    names[name] = true
  end
  if receiver then
    for name in META:gmatch("\nfunction " .. receiver .. ":([%w_]+)%(") do
      names[name] = true
    end
  end
  return names
end

-- What a hook says by raising, in a real session that has some history.
local function raised(hook, body)
  local path = os.tmpname()
  local f = assert(io.open(path, "wb"))
  f:write(("return { api = 1, %s = function(ctx) %s end }"):format(hook, body))
  f:close()
  local tool = { type = "function" }
  tool["function"] = { name = "read", parameters = { type = "object" } }
  local s = assert(neap.session({ policy = path, window = 8000, tools = { tool } }))
  s:add({ role = "system", content = "Be careful." })
  s:add({ role = "user", content = "Look at src/a.c." })
  local call = { id = "c1", type = "function" }
  call["function"] = { name = "read", arguments = '{"path":"src/a.c"}' }
  s:add({ role = "assistant", tool_calls = { call } })
  s:add({ role = "tool", tool_call_id = "c1", content = "int main;" })
  s:add({ role = "assistant", content = "Done." })
  assert(s:prompt())
  local account = s:account()
  s:close()
  os.remove(path)
  return account.hook_errors[1], account
end

-- The keys of a table that a policy is given, as the policy sees them.
local function keys_of(expression)
  local text = raised(
    "assemble",
    ([[local keys = {}
    for key in pairs(%s) do keys[#keys + 1] = key end
    error("keys: " .. table.concat(keys, " "))]]):format(expression)
  )
  local names = {}
  for name in assert(text):match("keys: (.*)$"):gmatch("%S+") do
    names[name] = true
  end
  return names
end

describe("meta.lua", function()
  for class, case in pairs({
    Ctx = { "context", "Ctx" },
    Entry = { "entry", "Entry" },
    Span = { "span" },
  }) do
    it("names what a policy finds in neap." .. class .. ", and no other", function()
      local has = NAMES[case[1]]
      assert.is_true(#has.fields > 3)
      assert.are.same(set(has.fields, has.methods), documented(class, case[2]))
    end)
  end

  for class, key in pairs({
    EntriesFilter = "entries",
    SpanRange = "span",
    Trim = "trim",
    ToolsWish = "tools",
    Question = "ask",
    OneOfMany = "ask_all",
    SummarizeOptions = "summarize",
    ProposeOptions = "propose",
  }) do
    it("names the arguments of neap." .. class .. ", and no other", function()
      assert.are.same(set(NAMES.keys[key]), documented(class))
    end)
  end

  it("names every field and hook of a policy, and no other", function()
    local names = documented("Policy")
    assert.are.same(set(NAMES.policy), names)
    for _, hook in ipairs(NAMES.hooks) do
      assert.is_true(names[hook], hook)
    end
  end)

  it("names every global of the sandbox, and no other", function()
    assert.are.same(set(NAMES.globals), documented("Globals"))
    local classes =
      { neap = "Helpers", math = "Math", string = "String", table = "Table", utf8 = "Utf8" }
    for library, names in pairs(NAMES.libraries) do
      assert.are.same(set(names), documented(assert(classes[library], library)))
    end
  end)

  it("names what the tables hold that a policy is given", function()
    assert.are.same(keys_of("ctx.economy"), documented("Economy"))
    local quote = keys_of("ctx.economy.quote { to = 10 }")
    quote.turns = true -- absent when it never pays
    assert.are.same(quote, documented("Quote"))
  end)

  it("names what a tool of ctx:tools() holds", function()
    assert.are.same(keys_of("ctx:tools()[1]"), documented("Tool"))
  end)

  it("describes what runs: each name answers in a session", function()
    local lines = {}
    for _, name in ipairs(NAMES.context.fields) do
      lines[#lines + 1] = ("local _ = ctx.%s"):format(name)
    end
    lines[#lines + 1] = "for e in ctx:entries() do"
    for _, name in ipairs(NAMES.entry.fields) do
      lines[#lines + 1] = ("local _ = e.%s"):format(name)
    end
    for _, name in ipairs(NAMES.entry.methods) do
      lines[#lines + 1] = ("assert(e.%s)"):format(name)
    end
    lines[#lines + 1] = "end"
    for _, name in ipairs(NAMES.span.fields) do
      lines[#lines + 1] = ("assert(ctx:span().%s)"):format(name)
    end
    assert.is_nil(raised("assemble", table.concat(lines, "\n")))
    assert.is_truthy(raised("assemble", "return ctx.wrong"):find("'wrong' is not known", 1, true))
  end)
end)

describe("docs/policies.md", function()
  local guide = assert(shared.read("docs/policies.md"))

  local function mentions(name, where)
    return assert.is_truthy(
      guide:find("[^%w_]" .. name .. "[^%w_]"),
      ("docs/policies.md does not name %s of %s"):format(name, where)
    )
  end

  it("names every field, method, argument, hook and helper", function()
    for _, part in ipairs({ "context", "entry", "span" }) do
      for _, list in pairs(NAMES[part]) do
        for _, name in ipairs(list) do
          mentions(name, part)
        end
      end
    end
    for key, list in pairs(NAMES.keys) do
      for _, name in ipairs(list) do
        mentions(name, key)
      end
    end
    for _, name in ipairs(NAMES.policy) do
      mentions(name, "a policy")
    end
    for _, name in ipairs(NAMES.libraries.neap) do
      mentions("neap%." .. name, "neap")
    end
  end)
end)

describe("ctx:log", function()
  it("is told by replay and, for its turn, by show", function()
    local dir = shared.scratch("policy_log")
    local path = dir .. "/talks.lua"
    local f = assert(io.open(path, "wb"))
    f:write("return { api = 1, assemble = function(ctx) ctx:log('at', ctx.step) end }")
    f:close()
    local trace = "examples/recordings/english.jsonl"
    local code, out, err = shared.run({ "replay", trace, "-p", path, "-w", "16000", "--json" })
    assert.are.equal(0, code)
    assert.is_truthy(err:find("neap: english, turn 7: log: at 7\n", 1, true), err)
    assert.are.same({ "at 1" }, json.decode(out:match("^[^\n]+")).log)
    code, out, err = shared.run({ "show", trace, "--turn", "7", "-p", path, "-w", "16000" })
    assert.are.equal(0, code)
    assert.is_true(#out > 0)
    assert.are.equal("neap: english, turn 7: log: at 7\n", err)
  end)

  it("puts lines into the account of its turn, as print joins them, at most 64 KiB", function()
    local _, account = raised("assemble", "ctx:log('usage', ctx.step, true, nil) neap.say('b')")
    assert.are.same({ "usage 3 true nil", "b" }, account.log)
    _, account = raised("admit", "for i = 1, 9 do ctx:log(('x'):rep(20000)) end")
    assert.are.equal("(more is left out)", account.log[#account.log])
    local bytes = 0
    for _, line in ipairs(account.log) do
      bytes = bytes + #line
    end
    assert.is_true(bytes <= 65536 + 100, bytes)
    _, account = raised("assemble", "")
    assert.is_nil(account.log)
  end)
end)
