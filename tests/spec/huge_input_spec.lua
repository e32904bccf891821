-- Inputs of a hundred windows under examples/policies/slices.lua: sub-tasks stay within their
-- budget, what they find stands in the prompt with its line, and nothing that they make up does.
-- And what a policy may read of the host's artifacts, within its limits. next: peek_spec.lua
local neap = require("neap")
local core = require("neap.core")
local shared = require("tests.support.shared")

local POLICY = "examples/policies/slices.lua"
local WINDOW = 6000
local GOAL = "What does E4711 mean, and which seal order is open?"
local FACTS = {
  [17017] = "pump_7 valve E4711 stuck, retry 1",
  [31031] = "controller: E4711 means a worn seal",
  [44044] = "pump_7 stopped, seal order #20931 open",
}

local WORDS =
  { "idle", "slow", "warm", "cold", "loud", "calm", "full", "dry", "open", "shut", "new" }

-- Lines that are no run of the same.
local function input()
  local lines, r = {}, 7
  for i = 1, 60000 do
    r = (r * 7919 + 11) % 104729
    local a, b, c = WORDS[r % 11 + 1], WORDS[r // 11 % 11 + 1], WORDS[r // 121 % 11 + 1]
    lines[i] = FACTS[i] or ("12:%02d the pump is %s, %s and %s"):format(i % 60, a, b, c)
  end
  return table.concat(lines, "\n")
end

local function write(name, text)
  local path = shared.scratch("huge_input_" .. name) .. "/policy.lua"
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

local function open(options)
  options.window, options.reserve = WINDOW, 500
  local s = assert(neap.session(options))
  assert(s:add({ role = "user", content = GOAL }))
  return s
end

local function step(s, text)
  assert(s:prompt())
  local f = { name = "bash", arguments = '{"command":"cat pumps.log"}' }
  local call = { id = "call_1", type = "function", ["function"] = f }
  local message = { role = "assistant", tool_calls = { call } }
  assert(s:add_response({ choices = { { message = message } } }))
  for c in s:calls() do
    assert(s:result(c, text))
  end
end

-- A model that copies the lines that it is shown a fact on.
local function honest(ask)
  local found = {}
  for number, line in ask.text:gmatch("(%d+): ([^\n]+)") do
    for _, fact in pairs(FACTS) do
      if line == fact then found[#found + 1] = number .. ": " .. line end
    end
  end
  return #found > 0 and table.concat(found, "\n") or "none"
end

-- The prompt after the sub-tasks have answered, and what they were asked.
local function run(s, bring)
  step(s, bring)
  step(s, "12:59")
  local body, log = nil, {}
  for _ = 1, 2 do
    body = assert(s:prompt())
    local account = s:account()
    assert.is_true(account.tokens <= account.budget)
    assert.are.equal(0, #(account.hook_errors or {}), (account.hook_errors or {})[1])
    table.move(account.log or {}, 1, #(account.log or {}), #log + 1, log)
  end
  return body, table.concat(log, "\n")
end

describe("an input of a hundred windows", function()
  local text = input()

  local function count(words)
    local enc <close> = assert(core.encoding("o200k_base"))
    return enc:count(words)
  end

  it("is one", function()
    assert.is_true(count(text) > 100 * WINDOW)
  end)

  it("is searched in slices when it comes as a result", function()
    local asks = {}
    local s <close> = open({
      policy = POLICY,
      summarize = function(ask)
        asks[#asks + 1] = ask.text
        return honest(ask)
      end,
    })
    local body, log = run(s, text)
    assert.is_true(#asks >= 3 and #asks <= 8)
    for _, ask in ipairs(asks) do
      assert.is_true(count(ask) < 1500 + 300, "a slice is within its budget")
    end
    for line, fact in pairs(FACTS) do
      assert.truthy(body:find(("line %d: %s"):format(line, fact), 1, true), fact)
    end
    assert.truthy(log:find("3 findings, 0 refused", 1, true), log)
    assert.is_nil(body:find("the pump is", 1, true))
  end)

  it("is searched when it is an artifact that a result points at", function()
    local s <close> = open({ policy = POLICY, summarize = honest })
    local id = assert(s:put(text, { tool = "bash", query = "cat pumps.log" }))
    local told = text:sub(1, 2000) .. "\nall of it is neap:" .. id
    local body = run(s, told)
    assert.truthy(body:find("line 31031: controller: E4711 means a worn seal", 1, true))
    assert.truthy(body:find("Found in neap:" .. id, 1, true))
  end)

  it("has nothing in the prompt that a sub-task made up", function()
    local s <close> = open({
      policy = POLICY,
      summarize = function(ask)
        local first = ask.text:match("Lines (%d+)")
        local lies = "%s: E4711 means nothing\n99999: valve E4711 stuck\nE4711 is fine: 17"
        return lies:format(first)
      end,
    })
    local body, log = run(s, text)
    assert.is_nil(body:find("means nothing", 1, true))
    assert.is_nil(body:find("E4711 stuck", 1, true), body)
    assert.truthy(log:find(" 0 findings, ", 1, true), log)
    assert.is_nil(log:find(" 0 refused", 1, true), log)
  end)

  it("leaves its few lines where no model answers", function()
    local s <close> = open({
      policy = POLICY,
      summarize = function()
        return nil, "no model", "refused"
      end,
    })
    local body, log = run(s, text)
    assert.truthy(log:find(" 0 findings, 0 refused", 1, true), log)
    assert.truthy(body:find("the pump is", 1, true))
    assert.truthy(body:find("neap_read(", 1, true))
  end)

  it("gives the same prompts again from the log of a stored session", function()
    local path = shared.scratch("huge_input_store") .. "/neap.db"
    local s = open({ policy = POLICY, summarize = honest, store = path, name = "huge" })
    local id = assert(s:put(text, { tool = "bash", query = "cat pumps.log" }))
    run(s, text:sub(1, 2000) .. "\nall of it is neap:" .. id)
    s:close()
    local code, out, err = shared.run({ "session", "replay", "huge", "--store", path })
    assert.are.equal(0, code, err)
    assert.truthy(out:find("4 prompts made again, the same to the byte", 1, true), out)
  end)
end)

describe("artifacts, from a policy", function()
  local function logged(body, before)
    local policy = ("return { api = 1, assemble = function(ctx) %s end }"):format(body)
    local s <close> = open({ policy = write("artifacts", policy) })
    if before then before(s) end
    assert(s:prompt())
    local account = s:account()
    return table.concat(account.log or {}, "\n"), table.concat(account.hook_errors or {}, "\n")
  end

  local function put(s)
    assert(s:put("a\nb\nc\n", { tool = "bash", query = "make", path = "x.log", kind = "log" }))
    assert(s:put("needle\n"))
  end

  it("are listed, oldest first", function()
    local list = [[for _, a in ipairs(ctx:artifacts()) do
      ctx:log(a.id, a.bytes, a.lines, a.step, a.tool, a.query, a.path, a.kind) end]]
    local text = logged(list, put):gsub("\t", " ")
    assert.are.equal("2 6 3 0 bash make x.log log\n3 7 1 0 nil nil nil nil", text)
    assert.are.equal("", (logged(list)))
  end)

  it("are read by parts, lines with the numbers that they have", function()
    assert.are.equal("b\n", (logged('ctx:log(ctx:peek(2, "2"))', put)))
    assert.are.equal("1: needle\n", (logged('ctx:log(ctx:peek(3, "match need"))', put)))
    assert.are.equal(GOAL, (logged('ctx:log(ctx:peek(1, "all"))', put)))
    local _, why = logged('ctx:log(select(2, ctx:peek(2, "9-10")))', put)
    assert.are.equal("", why)
    assert.truthy(logged('ctx:log(select(2, ctx:peek(2, "9-10")))', put):find("3 lines", 1, true))
    assert.are.equal("there is no entry 9", (logged('ctx:log(select(2, ctx:peek(9, "1")))', put)))
    local cut = logged('ctx:log(ctx:peek(2, "500-900", 40))', function(s)
      assert(s:put(("line of a log\n"):rep(1000)))
    end)
    assert.truthy(cut:find("%[… lines 50%d%-89%d%]\nline of a log"), cut)
  end)

  it("that were purged or have expired say so", function()
    local text = logged('ctx:log(select(2, ctx:peek(2, "1")))', function(s)
      assert(s:put("gone\n", { tool = "bash", query = "make log", ttl = 1, made = 1000 }))
      assert(s:set_now(1000000))
    end)
    assert.truthy(text:find("has expired", 1, true), text)
    assert.truthy(text:find("make it again with bash make log", 1, true), text)
  end)

  it("are no rank's business", function()
    local policy = write("rank", [[return { api = 1,
      rank = function(ctx) ctx:peek(2, "1") return 1 end,
      assemble = function(ctx) ctx:shrink(1) end }]])
    local s <close> = open({ policy = policy })
    put(s)
    step(s, "some result")
    step(s, "another")
    assert(s:prompt())
    assert.truthy(s:account().hook_errors[1]:find("rank may not read", 1, true))
  end)

  it("cost what is looked through, up to the limit of instructions", function()
    local large = ("a line of some words\n"):rep(400000)
    local function bring(s)
      assert(s:put(large))
    end
    local text, why = logged('ctx:log(ctx:peek(2, "399999-400000"))', bring)
    assert.are.equal("a line of some words\na line of some words\n", text)
    assert.are.equal("", why)
    local loop = 'for i = 1, %d do ctx:peek(2, "match words$", 10) end ctx:log("done")'
    text, why = logged(loop:format(2), bring)
    assert.are.equal("done", text, why)
    text, why = logged(loop:format(100), bring)
    assert.are.equal("", text)
    assert.truthy(why:find("instructions", 1, true), why)
    local windows = 'for i = 1, 500 do ctx:peek(2, i .. "-" .. i) end ctx:log("done")'
    text, why = logged(windows, bring) -- they cost what they are, not what the whole is
    assert.are.equal("done", text, why)
  end)
end)
