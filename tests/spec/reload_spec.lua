-- Policies changed while a session runs: taken over at the next turn, or not at all. The
-- recall hook. next: policies_spec.lua
local core = require("neap.core")
local shared = require("tests.support.shared")

local function write(path, text)
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
end

local function session(path, name)
  local engine = assert(core.engine({ fixed_secret = true, data = core.data_dir() }))
  local options = { name = name or "reload", policy = path, window = 8000, no_reload = true }
  return assert(engine:session(options)), engine
end

local function user(s, text)
  assert(s:append(core.json.encode({ role = "user", content = text })))
end

local function answer(s, text)
  assert(s:append(core.json.encode({ role = "assistant", content = text })))
end

local function account(s)
  return core.json.decode(s:account())
end

local function changed(s)
  local list = {}
  for _, c in ipairs(account(s).changed) do
    list[#list + 1] = c.entry .. ":" .. c.to .. " by " .. c.by
  end
  return table.concat(list, ", ")
end

local DROP = [[
return { api = 1, assemble = function(ctx)
  for e in ctx:entries { kind = "text" } do
    e:drop("old")
  end
end }
]]

describe("a policy that is changed between two turns", function()
  local path

  before_each(function()
    path = shared.scratch("reload") .. "/policy.lua"
    write(path, "return { api = 1 }\n")
  end)

  local function start()
    local s, engine = session(path)
    user(s, "task")
    assert(s:prompt())
    answer(s, ("an answer of some length. "):rep(30))
    user(s, "go on")
    assert(s:prompt())
    answer(s, "second")
    user(s, "on")
    return s, engine
  end

  it("takes effect at the next turn", function()
    local s, engine = start()
    write(path, DROP)
    assert(s:reload())
    assert(s:prompt())
    assert.are.equal("2:dropped by policy.lua:3", changed(s))
    engine:close()
  end)

  it("changes nothing when it does not compile, and the error names the line", function()
    local s, engine = start()
    write(path, "return { api = 1,\n  assemble = function(ctx) ctx:shrink( end }\n")
    local ok, why, code = s:reload()
    assert.is_nil(ok)
    assert.are.equal("policy", code)
    assert.is_truthy(why:find("policy.lua:2:", 1, true), why)
    assert(s:prompt())
    assert.are.equal("", changed(s))
    engine:close()
  end)

  it("gives the turn back to the version before when a hook fails in its first turn", function()
    write(path, DROP)
    local s, engine = start()
    local before = s:policy().sha256
    write(path, [[
return { api = 1, assemble = function(ctx)
  for e in ctx:entries { kind = "text" } do e:drop() end
  error("not this one")
end }
]])
    assert(s:reload())
    assert.are_not.equal(before, s:policy().sha256)
    local body = assert(s:prompt())
    assert.are.equal(before, s:policy().sha256)
    local errors = account(s).hook_errors
    assert.are.equal(1, #errors)
    assert.is_truthy(errors[1]:find("policy.lua:3:", 1, true), errors[1])
    assert.is_truthy(body:find("not shown", 1, true))
    engine:close()
  end)

  it("serves on after its first turn, whatever fails later", function()
    local s, engine = start()
    write(path, [[
return { api = 1, assemble = function(ctx)
  if ctx.step > 3 then error("later") end
end }
]])
    assert(s:reload())
    local new = s:policy().sha256
    assert(s:prompt())
    answer(s, "third")
    assert(s:prompt())
    assert.are.equal(1, #account(s).hook_errors)
    assert.are.equal(new, s:policy().sha256)
    engine:close()
  end)
end)

describe("the recall hook", function()
  local function recalled(policy, query)
    local path = shared.scratch("recall") .. "/policy.lua"
    write(path, policy)
    local s, engine = session(path, "recall")
    user(s, "remember E4711 in core/pump.c")
    assert(s:prompt())
    local arguments = core.json.encode({ query = query })
    local call = { id = "a", type = "function" }
    call["function"] = { name = "neap_recall", arguments = arguments }
    local message = { role = "assistant", content = core.json.null, tool_calls = { call } }
    assert(s:append_response(core.json.encode(message)))
    local c = assert(s:next_call())
    assert.is_false(s:handle(c))
    assert(s:prompt())
    local text, errors = s:text(3), account(s).hook_errors
    engine:close()
    return text, errors
  end

  local FORM = "return { api = 1, tools = { 'recall', 'read' },\n"
    .. "  recall = function(ctx, query) %s end }"

  it("decides what is found, best first", function()
    local text = recalled(FORM:format("return { 1 }"), "nothing like it")
    assert.are.equal("[step 0, entry 1]\nremember E4711 in core/pump.c", text)
  end)

  it("may look, not change anything", function()
    local _, errors = recalled(FORM:format("ctx:shrink(10) return {}"), "E4711")
    assert.is_truthy(errors[1]:find("recall may look", 1, true), errors[1])
  end)

  it("that fails leaves the answer to the words, and is told", function()
    local text, errors = recalled(FORM:format("return 7"), "E4711")
    assert.is_truthy(text:find("E4711 in core/pump.c", 1, true))
    assert.are.equal(1, #errors)
  end)
end)

describe("a fact that is cited", function()
  -- The measure of the step that cites E4711, which stood in entry 3 and is masked by then.
  local function measured(message)
    local path = shared.scratch("facts") .. "/policy.lua"
    write(path, "return { api = 1, assemble = function(ctx)\n"
      .. "for e in ctx:entries { kind = { 'user', 'result' } } do e:mask() end end }\n")
    local s, engine = session(path, "facts")
    user(s, "task")
    for _, text in ipairs(message) do
      assert(s:append(text))
    end
    assert(s:prompt())
    s:measure()
    answer(s, "nothing yet")
    assert(s:prompt())
    s:measure()
    answer(s, "it was E4711")
    local facts = s:measure().facts
    engine:close()
    return facts
  end

  local FACT = ("a line of words that says little. "):rep(20) .. "E4711"

  it("is pointed at by the mark of a result, which names the call", function()
    local call = '{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",'
      .. '"function":{"name":"read","arguments":"{\\"path\\":\\"log.txt\\"}"}}]}'
    local result = core.json.encode({ role = "tool", tool_call_id = "c", content = FACT })
    local facts = measured({ call, result })
    assert.are.equal(1, facts.pointed)
    assert.are.equal(0, facts.gone)
  end)

  it("is gone with a masked message, whose mark names nothing", function()
    local said = core.json.encode({ role = "assistant", content = "go on" })
    local facts = measured({ said, core.json.encode({ role = "user", content = FACT }) })
    assert.are.equal(0, facts.pointed)
    assert.are.equal(1, facts.gone)
  end)
end)
