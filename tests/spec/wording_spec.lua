-- What stands for steps says nothing that they do not, whoever has written it: a policy's own
-- words, a host's text for a summary, a model's answer to a policy's question. What is refused
-- changes nothing, is told to the policy, the account and the log.
-- next: ../../core/policy/wording.c
local core = require("neap.core")
local neap = require("neap")
local scene = require("tests.support.scene")

local FORM = [[
return { api = 1, tools = { "recall", "read" },
  compact = function(ctx)
    local old = ctx:span { from = 1, before = ctx.step - 2 }
    if old.steps < 3 or ctx.state.done then return end
    %s
    local ok, why = ctx:fold(old, text, no)
    ctx.state.done = true
    ctx:log(tostring(ok) .. "|" .. tostring(why))
  end }
]]

local FILLER = (" and words that say nothing of it"):rep(30)

local function open(body, options)
  local all = { state_schema = [[{"type":"object","properties":{"order":{"type":"id"}}}]] }
  for name, value in pairs(options or {}) do
    all[name] = value
  end
  return scene.session(FORM:format(body), all)
end

local function act(s, i)
  local call = { name = "read", arguments = core.json.encode({ path = ("src/f%d.c"):format(i) }) }
  assert(s:add({
    role = "assistant",
    content = "I look.",
    tool_calls = { { id = "c" .. i, type = "function", ["function"] = call } },
  }))
  local text = ("LIMIT_%d is %d in core/pump_%d.c:88, 1,500 of 1,234.56"):format(i, 4000 + i, i)
  assert(s:add({ role = "tool", tool_call_id = "c" .. i, content = text .. FILLER }))
end

-- Plays until the policy has spoken: what it was told, and the account of that turn.
local function play(s, turns)
  assert(s:add({ role = "user", content = "Mend 77 leaks of valve_9." }))
  assert(s:propose("user", { order = "ORD-00981" }))
  for i = 1, turns or 9 do
    assert(s:prompt())
    local account = s:account()
    if account.log then return account.log[1], account end
    act(s, i)
  end
end

local function says(text, ...)
  local s <close> = open(("local text, no = %q"):format(text), ...)
  return play(s)
end

describe("the text of a fold", function()
  it("is what the steps, the user, the rules, notes and the state say", function()
    local fine = {
      "LIMIT_2 is 4002",
      "core/pump_1.c, pump_1.c, src/f2.c; 1,500",
      "- [step 1] read\n- [F3 v2 step 2; refuted 3] LIMIT_1",
      "1. the first\n2) another\n# steps 1-3, 2 and 3; step 1, step 3, Steps 1, 2",
      "第 2 步：LIMIT_2",
      "77 leaks of valve_9 for ORD-00981",
      "neap_recall finds it; neap_read(4), neap:3",
      "<analysis>LIMIT_1</analysis>\n<summary>the 88th line of core/pump_1.c</summary>",
      "1,234.56 in all, off-by-one, a user-facing 1,500",
      "nothing of note",
    }
    for _, text in ipairs(fine) do
      assert.equal("true|nil", (says(text)), text)
    end
  end)

  it("invents no number, name or path", function()
    local invented = {
      ["LIMIT_9 is 4002"] = "LIMIT_9",
      ["LIMIT_2 is 4009"] = "4009",
      ["LIMIT_2 is 4,002"] = "4,002",
      ["500 of it"] = "500",
      ["234.56 in all"] = "234.56",
      ["use left-pad"] = "left-pad",
      ["<a>/etc</a>"] = "/etc",
      ["</etc/passwd>"] = "/etc/passwd",
      ["core/pump_1.cc"] = "core/pump_1.cc",
      ["src/pump_1.c"] = "src/pump_1.c",
      ["- [F3 step 2; refuted 3] 12 times"] = "12",
      ["it took 3 minutes"] = "3",
      ["- [X 4711 step 2] LIMIT_2"] = "4711",
      ["step 400 has shown it"] = "400",
      ["neap_read(4000)"] = "4000",
      ["１２ 个"] = "１２",
      ["五百个"] = "五百",
      ["第 400 步"] = "400",
    }
    for text, value in pairs(invented) do
      local told, account = says(text)
      local why = "false|the text says what neither its steps nor the notes hold: "
      assert.equal(why .. '"' .. value .. '"', told, text)
      assert.equal(1, account.checks.refused)
      local fault = account.checks.faults[1]
      assert.equal("policy", fault.rung)
      assert.equal("invented", fault.code)
      assert.equal(value, fault.value)
    end
  end)

  it("may be made of what was there before: notes, maps, answers that were verified", function()
    local bodies = {
      "local text = ctx:summarize(old) .. '\\n' .. (ctx:map(1000, old) or '') local no",
      "local map = ctx:map(1000, old) local text = ctx:summarize(old) .. '\\n' .. map local no",
      "local text, no = ctx:summarize(old)",
      "local text = 'Done so far:\\n' .. ctx:summarize(old, { mode = 'facts' }) local no",
    }
    for _, body in ipairs(bodies) do
      local s <close> = open(body)
      assert.equal("true|nil", (play(s)), body)
    end
  end)

  it("may be a model's answer to a question, of what it was given to read", function()
    local form = "local text, no = ctx:ask { prompt = 'Sum up: ' .. (%s) }"
    local cases = {
      { "'as it is'", "LIMIT_2 is 4002", "true|nil" },
      { "'as it is'", "LIMIT_2 is about 4050", "false|" },
      { "'leaks_17 of 31'", "leaks_17 of 31", "true|nil" },
    }
    for _, case in ipairs(cases) do
      local s <close> = open(form:format(case[1]), {
        summarize = function()
          return case[2]
        end,
      })
      local told = play(s)
      assert.equal(case[3], told:sub(1, #case[3]), case[2])
    end
  end)

  it("is taken as it is where the host says so, and the account says that", function()
    local told, account = says("LIMIT_9 is 9", { unchecked = true })
    assert.equal("true|nil", told)
    assert.is_true(account.checks.unchecked)
    assert.equal(0, account.checks.refused)
    local _, other = says("LIMIT_2 is 4002")
    assert.is_nil(other.checks)
  end)

  it("is refused in the log, too, once; reopened and replayed it is the same", function()
    local store = os.tmpname()
    local s = open("local text, no = 'LIMIT_9 is 9'", { store = store, name = "run" })
    play(s)
    act(s, 8)
    local body = assert(s:prompt())
    act(s, 9)
    s:close()
    local list <close> = assert(neap.store({ store = store }))
    local checks = 0
    for _, ev in ipairs(assert(list:events("run"))) do
      if ev.kind == "check" then
        checks = checks + 1
        local head = core.json.decode(ev.head)
        assert.equal(0, head.ask)
        assert.equal("LIMIT_9", head.faults[1].value)
      end
    end
    assert.equal(1, checks)
    local replayed = assert(list:replay("run"))
    assert.is_nil(replayed.turn, replayed.cause)
    list:close()
    local again <close> = open("local text, no = 'LIMIT_9 is 9'", { store = store, name = "run" })
    local later = assert(again:prompt())
    assert.equal(body:match('"messages":%[(.*)%]'), later:match('"messages":%[(.*)%]')
      :sub(1, #body:match('"messages":%[(.*)%]')))
    assert.equal(1, again:account().checks.refused)
    assert.same({}, again:account().checks.faults)
    os.remove(store)
  end)

  it("takes time by its length and that of its steps alone", function()
    local many = {}
    for i = 1, 3000 do
      many[i] = "LIMIT_2 is 4002 in pump_1.c " .. (i % 7 == 0 and "step 1, 2 and 3" or "- [[[")
    end
    local body = ("local text, no = %q"):format(table.concat(many, "\n"):sub(1, 60000))
    local s <close> = open(body)
    assert.truthy(play(s):find("not cheaper", 1, true)) -- it was looked at, and found to be fine
  end)
end)

describe("a host's own text for a summary", function()
  local BODY = "local text, no = ctx:summarize(old)"

  it("is looked at when it is given, asked for once more, and then given up (T5, T8)", function()
    local asked, complaints = 0, {}
    local s <close> = open(BODY, {
      notes = false,
      summarize = function(ask)
        asked = asked + 1
        complaints[asked] = ask.complaint
        return "LIMIT_9 is 9"
      end,
    })
    local told, account = play(s)
    assert.equal("false|LIMIT_9 does not stand in the steps", told)
    assert.equal(2, asked)
    assert.is_nil(complaints[1])
    local text = "LIMIT_9 does not stand in the steps; ask once more"
    assert.truthy(complaints[2]:find(text, 1, true), complaints[2])
    assert.equal(2, account.checks.refused)
    assert.equal("host", account.checks.faults[1].rung)
  end)

  it("is taken when the complaint has helped", function()
    local s <close> = open(BODY, {
      notes = false,
      summarize = function(ask)
        return ask.complaint and "LIMIT_2 is 4002" or "LIMIT_9 is 9"
      end,
    })
    assert.equal("true|nil", (play(s)))
  end)

  it("is taken as it is with unchecked = true", function()
    local s <close> = open(BODY, {
      notes = false,
      unchecked = true,
      summarize = function()
        return "LIMIT_9 is 9"
      end,
    })
    local told, account = play(s)
    assert.equal("true|nil", told)
    assert.is_true(account.checks.unchecked)
  end)
end)
