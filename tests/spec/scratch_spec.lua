-- The scratchpad (S0.30b) and phases (S3.7, S2.15): what is not verified is in no prompt, what is
-- passed has its source, who may decide; by host, policy and model; resumed, copied, rolled back,
-- exported, run again. next: refute_spec.lua
local neap = require("neap")
local core = require("neap.core")
local scene = require("tests.support.scene")
local shared = require("tests.support.shared")
local json = core.json

local DIR = shared.scratch("scratch")
local has, has_not, step = scene.has, scene.has_not, scene.respond

local function policy(name, text)
  return scene.policy(DIR, name, text)
end

local SCHEMA = { type = "object", properties = {
  port = { type = "integer", minimum = 1 },
  goal = { type = "string", hard = true },
} }

local function begin(options, task)
  options.name = options.name or "run"
  local s = assert(neap.session(options))
  assert(s:add({ role = "user", content = task or "Why does the upload fail?" }))
  assert(s:prompt())
  step(s, 1, "I look.", "the server listens on port 8451")
  return s
end

describe("the scratchpad", function()
  it("keeps what is not verified out of every prompt (S0.30b)", function()
    local s <close> = begin({})
    assert.are.equal(1, s:scratch("model", "the port is surely 9999", { source = 4 }))
    has_not(assert(s:prompt()), "9999")
    assert.are.same({
      id = 1, who = "model", source = 4, step = 1, text = "the port is surely 9999",
      status = "waiting",
    }, s:scratchpad()[1])
    local _, why = s:scratch("model", "")
    has(why, "1 to 4096 bytes")
    _, why = s:scratch("model", "x", { source = 99 })
    has(why, "is no entry")
    _, why = s:scratch("model", "x", { patch = { port = 1 } })
    has(why, "has no state object")
    _, why = s:scratch("nobody", "x")
    has(why, "who concludes?")
    assert.has_error(function() s:scratch("model", "x", { sauce = 1 }) end)
  end)

  it("shows what was passed, with its source and who verified it", function()
    local s <close> = begin({})
    local id = assert(s:scratch("model", "the port is 8451", { source = 4 }))
    local entry = assert(s:pass(id, "it stands there"))
    has(assert(s:prompt()), "Verified by controller from entry 4: the port is 8451")
    assert.are.same({ "passed", "controller", entry, "it stands there" }, {
      s:scratchpad()[1].status, s:scratchpad()[1].by, s:scratchpad()[1].entry,
      s:scratchpad()[1].reason,
    })
    has(assert(s:text(entry)), "8451")
    local _, why, code = s:pass(id)
    has(why, "nothing of number 1 waits on the scratchpad any more")
    assert.are.equal("notfound", code)
    assert.are.same({}, s:scratchpad("waiting"))
    id = assert(s:scratch("model", "端口是 8451"))
    assert(s:pass(id, nil, "memory"))
    local t <close> = begin({ name = "zh" }, "为什么上传失败？请检查服务器的端口。")
    assert(t:pass(assert(t:scratch("model", "端口是 8451", { source = 4 }))))
    has(assert(t:prompt()), "已核实（controller，条目 4）：端口是 8451")
  end)

  it("rejects with a reason, and neither model nor tool decides", function()
    local s <close> = begin({})
    local id = assert(s:scratch("model", "the port is 9999"))
    local _, why = s:reject(id, "")
    has(why, "a reason is 1 to 400 bytes")
    for _, who in ipairs({ "model", "tool" }) do
      local ok, text = s.raw:scratch_pass(id, who, "sure")
      assert.is_nil(ok)
      has(text, "is user, controller or policy")
    end
    assert(s:reject(id, "no entry says so"))
    has_not(assert(s:prompt()), "9999")
    assert.are.equal("no entry says so", s:scratchpad("rejected")[1].reason)
  end)

  it("does not pass what rests on what is refuted", function()
    local s <close> = begin({})
    local id = assert(s:scratch("model", "the port is 8451", { source = 4 }))
    assert(s:refute({ entry = 4 }, "another machine"))
    local ok, why, code = s:pass(id)
    assert.are.same({ nil, "refused" }, { ok, code })
    has(why, "rests on entry 4, which is refuted")
    assert.are.equal("waiting", s:scratchpad()[1].status)
  end)

  it("makes a version of the state, with the rights of who concluded it", function()
    local s <close> = begin({ state_schema = SCHEMA })
    assert(s:propose("user", { goal = "uploads work", port = 1 }))
    local id = assert(s:scratch("model", "the port", { source = 4, patch = { port = 8451 } }))
    local hard = assert(s:scratch("model", "the goal", { patch = { goal = "a party" } }))
    assert.are.equal(1, s:state().port)
    local entry = assert(s:pass(id))
    assert.are.equal(8451, s:state().port)
    local last = s:state_history()[2]
    assert.are.same({ "model", 4, entry }, { last.who, last.source, last.entry })
    local ok, why, code = s:pass(hard)
    assert.are.same({ nil, "refused" }, { ok, code })
    has(why, "is a hard constraint")
    assert.are.equal("waiting", s:scratchpad("waiting")[1].status)
    assert.are.equal(0, assert(s:pass(assert(s:scratch("model", "again",
      { patch = { port = 8451 } })))))
  end)

  it("is gone through by a function of the host", function()
    local s <close> = begin({ state_schema = SCHEMA })
    assert(s:scratch("model", "8451", { source = 4 }))
    assert(s:scratch("model", "9999", { source = 4 }))
    assert(s:scratch("model", "no source"))
    assert(s:scratch("model", "the goal", { source = 4, patch = { goal = "x" } }))
    local passed, rejected = s:verify(function(one)
      if one.source == 0 then return nil end
      if one.patch then return true end
      return s:text(one.source):find(one.text, 1, true) ~= nil, "entry 4 does not say so"
    end)
    assert.are.same({ 1, 2 }, { passed, rejected })
    local all = {}
    for i, one in ipairs(s:scratchpad()) do
      all[i] = one.status
    end
    assert.are.same({ "passed", "rejected", "waiting", "rejected" }, all)
    has(s:scratchpad("rejected")[2].reason, "hard constraint")
  end)

  it("is passed by true alone, and rejected for a reason that says something", function()
    local s <close> = begin({ state_schema = SCHEMA })
    local id = assert(s:scratch("model", "8451", { source = 4 }))
    for _, said in ipairs({ "not so", 1, {} }) do
      local ok, why = pcall(s.verify, s, function()
        return said
      end)
      assert.is_false(ok)
      has(why, "return true, or false and why")
    end
    for _, blank in ipairs({ "", " ", "\t\n\r" }) do
      assert.is_nil((s:reject(id, blank)))
      assert.is_nil((s:scratch("model", blank)))
      assert.is_nil((s:phase(blank)))
      assert.is_nil((s:refute({ entry = 4 }, blank)))
      assert.is_nil((s:rollback(1, blank)))
    end
    assert.are.equal(1, #s:scratchpad("waiting"))
  end)

  it("takes what the model notes, and tells it that this is no fact yet", function()
    local s <close> = begin({
      policy = policy("tool.lua", [[return { api = 1, tools = { "scratch" } }]]),
    })
    has(assert(s:prompt()), [["name":"neap_scratch"]])
    step(s, 2, "So.", "", "neap_scratch", [[{"text":"the port is 8451","source":"#4"}]])
    has(assert(s:prompt()), "Noted as 1, not verified: no fact of this session")
    assert.are.same({ "model", 4, "the port is 8451" }, {
      s:scratchpad()[1].who, s:scratchpad()[1].source, s:scratchpad()[1].text,
    })
    step(s, 3, "So.", "", "neap_scratch", [[{"source":"999"}]])
    has(assert(s:prompt()), "Not noted: a text on the scratchpad is 1 to 4096 bytes")
    step(s, 4, "So.", "", "neap_scratch", "no JSON")
    has(assert(s:prompt()), "Not noted: ")
    assert.are.equal(1, #s:scratchpad())
  end)

  it("has a tool that speaks Chinese where the task does", function()
    local s <close> = begin({
      policy = policy("zh.lua", [[return { api = 1, tools = { "scratch", "state" } }]]),
      state_schema = SCHEMA,
    }, "为什么上传失败？请检查服务器的端口。")
    local text = s:prompt()
    has(text, "记下尚未核实的结论")
    has(text, "提议修改本会话的状态")
  end)

  local VALIDATOR = [[
    return { api = 1, assemble = function(ctx)
      for _, one in ipairs(ctx:scratchpad()) do
        local seen = false
        for e in ctx:entries { kind = "result" } do
          seen = seen or (e.id == one.source and e.text:find(one.text, 1, true) ~= nil)
        end
        if seen then assert(ctx:pass(one.id, "its source says so"))
        else assert(ctx:reject(one.id, "its source does not say so")) end
        local again, why = ctx:pass(one.id)
        ctx:log(again, why)
      end
      if ctx.step == 4 then
        assert(ctx:scratch("port 8451", { source = 4 }))
        ctx:log(ctx:scratch("x", { source = 99 }))
      end
    end }]]

  it("is gone through by a policy, at the turn's end", function()
    local s <close> = begin({ policy = policy("validator.lua", VALIDATOR) })
    assert(s:scratch("model", "8451", { source = 4 }))
    assert(s:scratch("model", "9999", { source = 4 }))
    has_not(assert(s:prompt()), "Verified by")
    has(s:account().log[1], "number 1 is decided in this turn already")
    local text = assert(s:prompt())
    has(text, "Verified by policy from entry 4: 8451")
    has_not(text, "9999")
    step(s, 2, "a", "b")
    assert(s:prompt())
    step(s, 3, "a", "b")
    assert(s:prompt())
    assert.are.same({ "port 8451", "policy", "waiting" }, {
      s:scratchpad()[3].text, s:scratchpad()[3].who, s:scratchpad()[3].status,
    })
    assert.are.same({}, s:account().hook_errors or {})
  end)

  it("changes nothing when the hook fails, or in rank", function()
    local s <close> = begin({ policy = policy("fails.lua", [[
      return { api = 1, assemble = function(ctx)
        assert(ctx:pass(1)) ctx:phase("x") error("after") end }]]) })
    assert(s:scratch("model", "8451", { source = 4 }))
    assert(s:prompt())
    assert.are.equal("waiting", s:scratchpad()[1].status)
    assert.is_nil(s:account().phase)
    local t <close> = begin({ policy = policy("rank.lua", [[
      return { api = 1, rank = function(ctx) ctx:scratch("x") return 1 end,
        assemble = function(ctx) ctx:shrink(10) end }]]) })
    step(t, 2, "a", "b")
    assert(t:prompt())
    has(t:account().hook_errors[1], "rank may look")
  end)

  it("is the same after resuming, copying and exporting, and a rollback takes it back", function()
    local store = DIR .. "/kept.db"
    local s = begin({ store = store, policy = policy("validator.lua", VALIDATOR) })
    assert(s:scratch("tool", 'a "9999"\nline', { source = 4 }))
    assert(s:checkpoint("here"))
    assert(s:phase("wrong"))
    assert(s:scratch("model", "gone", { source = 4 }))
    assert(s:pass(1, "too early"))
    assert(s:rollback("here", "no"))
    assert.are.equal(3, s:scratch("model", "8451", { source = 4 }))
    local function look(one)
      local list = one:scratchpad()
      assert.are.equal(2, #list)
      assert.are.same({ 1, "waiting", 'a "9999"\nline' }, {
        list[1].id, list[1].status, list[1].text,
      })
      assert.are.equal(3, list[2].id)
    end
    look(s)
    assert.is_nil(s:account().phase)
    s:close()
    s = assert(neap.session({ store = store, name = "run" }))
    look(s)
    s:close()
    local kept = assert(core.engine({ store = store }))
    assert(kept:fork("run", "copy"))
    local out = assert(io.tmpfile())
    assert(kept:export("run", out))
    out:seek("set")
    assert(kept:import(out:read("a"), "again"))
    kept:close()
    for _, name in ipairs({ "copy", "again" }) do
      local t <close> = assert(neap.session({ store = store, name = name }))
      look(t)
    end
    local code, text = shared.run({ "session", "scratch", "run", "--store", store })
    assert.are.equal(0, code)
    has(text, "waiting")
    has(text, 'a "9999"')
    code, text = shared.run({ "session", "scratch", "run", "--json", "--store", store })
    assert.are.equal(0, code)
    assert.are.equal("8451", json.decode(text:match("[^\n]*\n$")).text)
    code, text = shared.run({ "session", "show", "run", "--store", store })
    assert.are.equal(0, code)
    has(text, "put 3 by model: 8451")
  end)

  it("is run again from the log", function()
    local store = DIR .. "/again.db"
    local s = begin({
      store = store,
      policy = policy("validator.lua", VALIDATOR),
      state_schema = SCHEMA,
    })
    for i = 2, 6 do
      local patch = i % 2 == 0 and { port = 8451 + i // 4 } or nil
      assert(s:scratch("model", i == 3 and "nine" or "8451", { source = 4, patch = patch }))
      if i == 4 then assert(s:phase("second")) end
      assert(s:prompt())
      step(s, i, "a", "r" .. i)
    end
    s:close()
    local code, text = shared.run({ "session", "replay", "run", "--store", store })
    assert.are.same({ 0, "run: 6 prompts made again, the same to the byte\n" }, { code, text })
  end)

  it("holds 256 at most", function()
    local s <close> = begin({})
    for i = 1, 256 do
      assert.are.equal(i, s:scratch("model", "x"))
    end
    local _, why, code = s:scratch("model", "x")
    assert.are.equal("limit", code)
    has(why, "256 texts wait")
    assert(s:reject(1, "no"))
    assert.are.equal(257, s:scratch("model", "x"))
  end)
end)

describe("a phase", function()
  it("is named by the host or the policy, and seen by the policy (S3.7, S2.15)", function()
    local s <close> = begin({ policy = policy("phase.lua", [[
      return { api = 1, assemble = function(ctx)
        ctx:log(ctx:phase())
        if ctx.step == 3 then assert(ctx:phase("test")) end
      end }]]) })
    assert(s:prompt())
    assert.are.equal("nil", s:account().log[1])
    assert(s:phase("build"))
    assert(s:phase("build"))
    step(s, 2, "a", "b")
    assert(s:prompt())
    assert.are.equal("build 2", s:account().log[1])
    step(s, 3, "a", "b")
    assert(s:prompt())
    assert.are.equal("test 3 build 2", s:account().log[1])
    assert.are.same({ name = "test", from = 3 }, s:account().phase)
    local _, why = s:phase("")
    has(why, "1 to 200 bytes")
  end)
end)

describe("a trigger of two parts", function()
  local FOLDS = [[
    return { api = 1, compact = function(ctx)
      local why = ctx:due { usage = 0.5, phase = true, drift = 0.9, turns = 4 }
      ctx:log(why)
      local old = ctx:span { before = ctx.step - 1 }
      if why and old.steps > 0 then assert(ctx:fold(old, "folded: " .. why)) end
    end }]]

  local function turns(s, from, to, words)
    local seen = {}
    for i = from, to do
      assert(s:prompt())
      seen[#seen + 1] = s:account().log[1]
      step(s, i, "I look at upload_" .. i, ("word "):rep(words or 5))
    end
    return table.concat(seen, " ")
  end

  it("fires at the end of a sub-task, once, and not before enough turns (S1.16)", function()
    local s <close> = begin({ policy = policy("due.lua", FOLDS) })
    assert(s:phase("first"))
    assert.are.equal("nil nil nil phase nil", turns(s, 2, 6))
    assert(s:phase("second"))
    assert.are.equal("nil nil nil phase nil", turns(s, 7, 11))
  end)

  it("fires by usage, and not at every turn (S1.15, S1.16)", function()
    local s <close> = begin({ window = 2000, reserve = -1, policy = policy("due.lua", FOLDS) })
    local seen = turns(s, 2, 14, 100)
    has(seen, "usage")
    local _, times = seen:gsub("usage", "")
    assert.is_true(times <= 4, seen)
    has_not(seen, "usage usage")
  end)

  it("fires by drift (S3.7)", function()
    local s <close> = begin({ policy = policy("due.lua", FOLDS) },
      "Mend src/upload.c and the quota of bucket_alpha.")
    has(turns(s, 2, 14), "drift")
  end)

  it("takes a phase by its name, and turns alone; and says what it does not know", function()
    local s <close> = begin({ policy = policy("names.lua", [[
      return { api = 1, assemble = function(ctx)
        ctx:log(ctx:due { phase = "handover" }, ctx:due { turns = 3 },
          pcall(ctx.due, ctx, { useage = 1 }))
      end }]]) })
    assert(s:prompt())
    has(s:account().log[1], "nil nil false")
    has(s:account().log[1], "usage")
    assert(s:phase("other"))
    assert(s:prompt())
    has(s:account().log[1], "nil nil")
    assert(s:phase("handover"))
    assert(s:prompt())
    has(s:account().log[1], "handover" and "phase turns")
  end)
end)
