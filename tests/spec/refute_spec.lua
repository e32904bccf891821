-- Refutation (S0.28, S0.29, S0.40, T17): the correction, its line in a summary, uses of what is
-- refuted, what a policy sees, resuming. next: state_spec.lua
local neap = require("neap")
local scene = require("tests.support.scene")
local shared = require("tests.support.shared")

local DIR = shared.scratch("refute")
local has, step = scene.has, scene.step

local function policy(name, text)
  return scene.policy(DIR, name, text)
end

local function begin(options)
  options.name = "run"
  local s = assert(neap.session(options))
  assert(s:add({ role = "user", content = "Why does the upload fail?" }))
  step(s, 1, "I look.", "the quota of bucket_alpha is 4711")
  step(s, 2, "Further.", "the host is node_seven")
  return s
end

describe("a refutation", function()
  it("corrects the model in English and in Chinese (S0.29)", function()
    local s <close> = begin({})
    assert(s:refute({ step = 1 }, 'another "machine"\nwas read'))
    has(assert(s:prompt()), [[Correction: what step 1 has shown is refuted: ]])
    has(s:prompt(), [[another 'machine' was read]])
    local list = s:refutations()
    assert.are.equal(1, list[1].step)
    assert.are.equal(
      "- [step 1] Refuted: another 'machine' was read. Do not use its facts any more.",
      list[1].line
    )
    local t <close> = assert(neap.session({}))
    assert(t:add({ role = "user", content = "为什么上传失败？" }))
    assert(t:refute({ entry = 1 }, "读错了"))
    has(t:prompt(), "step 0 的结论已被推翻")
    has(t:refutations()[1].line, "- [step 0] 该步的结论已被推翻：读错了。后续推理不得再引用该步的事实。")
  end)

  it("is found where it is used later, and there alone (T17, S0.28, S0.40)", function()
    local store = DIR .. "/uses.db"
    local s = begin({ store = store })
    assert(s:add({ role = "assistant", content = "bucket_alpha has 4711 left" }))
    assert(s:prompt())
    assert.is_nil(s:account().pollution)
    assert(s:refute({ step = 1 }, "another machine"))
    assert(s:prompt())
    assert.are.same({ refuted = 1, steps = 0, uses = {} }, s:account().pollution)
    assert(s:add({ role = "assistant", content = "node_seven is up" }))
    assert(s:prompt())
    assert.are.equal(0, s:account().pollution.steps)
    assert(s:add({ role = "assistant", content = "so bucket_alpha is full" }))
    assert(s:prompt())
    local found = s:account().pollution
    assert.are.equal(1, found.steps)
    assert.are.equal("bucket_alpha", found.uses[1].text)
    s:close()
    s = assert(neap.session({ store = store, name = "run" }))
    assert(s:add({ role = "assistant", content = "and 4711 is its quota" }))
    assert(s:prompt())
    assert.are.equal(2, s:account().pollution.steps)
    s:close()
  end)

  it("is none of a fact that another source has shown, too", function()
    local s <close> = begin({})
    assert(s:refute({ step = 1 }, "another machine"))
    step(s, 3, "I look again.", "bucket_alpha is there")
    assert(s:add({ role = "assistant", content = "bucket_alpha is full" }))
    assert(s:prompt())
    assert.are.equal(0, s:account().pollution.steps)
  end)

  it("stays in a summary of what is refuted (S0.16, S0.29)", function()
    local s <close> = begin({
      policy = policy("fold.lua", [[return { api = 1, compact = function(ctx)
        local old = ctx:span { before = 3 }
        if ctx.step > 5 and old.steps > 0 then ctx:fold(old, "All is known.") end
      end }]]),
    })
    assert(s:refute({ entry = 4 }, "another machine"))
    for n = 3, 6 do
      step(s, n, "On.", ("plain words "):rep(60))
    end
    local body = assert(s:prompt())
    has(body, [[All is known.\n- [step 1] Refuted: another machine. Do not use]])
  end)

  it("is seen by a policy", function()
    local s <close> = begin({
      policy = policy("sees.lua", [[return { api = 1, assemble = function(ctx)
        for e in ctx:entries { kind = "result" } do ctx:log(e.id, e.refuted, ctx.pollution) end
      end }]]),
    })
    assert(s:prompt())
    assert.are.same({ "4 false nil", "7 false nil" }, { table.unpack(s:account().log) })
    assert(s:refute({ entry = 4 }, "r"))
    assert(s:add({ role = "assistant", content = "bucket_alpha" }))
    assert(s:prompt())
    assert.are.same({ "4 true 1", "7 false 1" }, { table.unpack(s:account().log) })
  end)

  it("goes with what was rolled back", function()
    local s <close> = begin({})
    assert(s:checkpoint("here"))
    assert(s:refute({ step = 1 }, "wrong"))
    assert(s:rollback("here", "it was right"))
    assert.are.equal(0, #s:refutations())
    assert.falsy(s:prompt():find("Correction", 1, true))
  end)

  it("is found the same after resuming, in a copy, read in, run again (S0.40)", function()
    local told = policy("told.lua", [[return { api = 1, assemble = function(ctx)
      ctx:log("used", ctx.pollution or "none")
    end }]])
    local store = DIR .. "/again.db"
    local function open(name)
      return assert(neap.session({ name = name, store = store, policy = told }))
    end
    local s = begin({ store = store, policy = told })
    assert(s:refute({ step = 1 }, "another machine"))
    step(s, 3, "So bucket_alpha is full.", "ok")
    assert(s:prompt())
    assert.are.equal(1, #s:account().pollution.uses)
    s:close()
    -- what was told before is not told again, and is counted
    s = open("run")
    assert(s:prompt())
    local p = s:account().pollution
    assert.are.same({ 1, 0, "used 1" }, { p.steps, #p.uses, s:account().log[1] })
    s:close()
    local st <close> = assert(neap.store({ store = store }))
    assert(st:fork("run", "copy"))
    local path = DIR .. "/again.jsonl"
    local f = assert(io.open(path, "wb"))
    assert(st:export("run", f))
    f:close()
    assert.are.equal("back", (st:import(shared.read(path), "back")))
    for _, name in ipairs({ "run", "copy", "back" }) do
      local t = open(name)
      step(t, 4, "The quota of bucket_alpha, 4711, it is.", "ok")
      assert(t:prompt())
      p = t:account().pollution
      assert.are.same({ 2, 2, "used 2" }, { p.steps, #p.uses, t:account().log[1] })
      assert.are.same({ 4, 4 }, { p.uses[1].step, p.uses[2].step })
      t:close()
      assert.is_nil(assert(st:replay(name)).turn)
      local code, out = shared.run({ "session", "show", name, "--store", store })
      assert.are.equal(0, code)
      has(out, "step 1: another machine")
      has(out, "; what is refuted is used: ")
    end
  end)

  it("says what is wrong with its arguments", function()
    local s <close> = begin({})
    for _, case in ipairs({
      { { step = 9 }, "r", "notfound" },
      { { entry = 99 }, "r", "notfound" },
      { { step = 1 }, "", "arg" },
      { { step = 1 }, ("x"):rep(401), "arg" },
      { { step = 1 }, "\xff", "arg" },
    }) do
      local ok, _, code = s:refute(case[1], case[2])
      assert.is_nil(ok)
      assert.are.equal(case[3], code)
    end
    assert.has_error(function()
      s:refute({}, "r")
    end)
  end)

  it("reaches what was folded, the state and what was passed from the scratchpad", function()
    local store = DIR .. "/stale.db"
    local s = begin({
      store = store,
      policy = policy("stale.lua", [[
        return { api = 1, compact = function(ctx)
            local old = ctx:span { before = 2 }
            if ctx.step == 3 and old.steps > 0 then
              assert(ctx:fold(old, "The quota of bucket_alpha is 4711."))
            end
          end,
          assemble = function(ctx)
            for _, one in ipairs(ctx:stale()) do ctx:log(one.path, one.source) end
          end }]]),
      state_schema = [[{"type":"object","additionalProperties":true}]],
    })
    assert(s:propose("model", { quota = 4711, node = "node_seven" }, { source = 4 }))
    assert(s:propose("model", { node = "node_8" }, { source = 7 }))
    assert(s:scratch("model", "4711 are left", { source = 4 }))
    local passed = assert(s:pass(1))
    assert(s:prompt())
    assert(s:refute({ entry = 4 }, "another machine"))
    assert(s:prompt())
    assert.are.equal("/quota 4", s:account().log[1])
    assert.are.equal(1, #s:account().log)
    assert.are.equal("/quota", s:account().pollution.state[1].path)
    assert.are.equal(0, s:account().pollution.steps)
    -- known from the notes, the state and what was passed: all rest on entry 4
    assert(s:add({ role = "assistant", content = "So bucket_alpha has 4711 left." }))
    assert(s:prompt())
    local uses = s:account().pollution.uses
    assert.are.equal(1, s:account().pollution.steps)
    assert.are.equal(2, #uses)
    assert.is_true(s.raw:entry(passed).listed)
    -- a value that no entry but the state's has, concluded from what is refuted
    assert(s:propose("controller", { zone = "eu-west-3" }, { source = 4 }))
    assert(s:prompt())
    assert(s:add({ role = "assistant", content = "I ask in eu-west-3." }))
    assert(s:prompt())
    uses = s:account().pollution.uses
    assert.are.same({ 1, "eu-west-3" }, { #uses, uses[1].text })
    assert.are.equal(2, s:account().pollution.steps)
    assert(s:add({ role = "user", content = "Yes, in eu-west-3." }))
    assert(s:add({ role = "assistant", content = "In eu-west-3, then." }))
    assert(s:propose("user", { zone = "us-east-1" }))
    assert(s:add({ role = "assistant", content = "Or us-east-1." }))
    assert(s:prompt())
    assert.are.equal(2, s:account().pollution.steps)
    -- set anew with a source that stands
    assert(s:propose("controller", { quota = 12 }, { source = 7 }))
    assert(s:prompt())
    assert.is_nil(s:account().pollution.state)
    local live = s:account().pollution.steps
    s:close()
    s = assert(neap.session({ name = "run", store = store }))
    assert(s:prompt())
    assert.are.equal(live, s:account().pollution.steps)
    s:close()
  end)
end)
