-- The policies that reproduce a public source do what it does: which results are cleared, cut or
-- summarized in which turn, by cases with the source's own numbers. Where a source's package is
-- installed (`make bench NPM=1` does so; nothing is installed here), its own code is asked about
-- the same messages and has to say what the cases say. next: ../support/sources.lua
local sources = require("tests.support.sources")
local peers = require("tests.support.policy_peers")

local cases = sources.read()

describe("a policy does what its source does", function()
  for _, case in ipairs(cases) do
    it(("%s: %s"):format(case.policy, case.name), function()
      local shown, account = sources.play(case)
      assert.same(case.shown, shown)
      if case.epochs then assert.equal(case.epochs, account.epoch) end
    end)
  end

  it("has a case for every policy that is not of our own making", function()
    local known = { "full", "hysteresis", "mask_observations", "priority_queue", "sliding_window" }
    for _, name in ipairs({ "three_tier", "tide", "two_scales", table.unpack(known) }) do
      known[name] = true
    end
    for _, case in ipairs(cases) do
      known[case.policy] = true
    end
    for _, name in ipairs(require("neap.paths").shipped()) do
      assert.is_true(known[name], name)
    end
  end)
end)

describe("the source's own code does the same", function()
  for _, case in ipairs(cases) do
    if case.peer then
      it(("%s, %s: %s"):format(case.peer, case.policy, case.name), function()
        local shown, why = peers.shown(case)
        if not shown then return pending(why) end
        assert.same(case.shown, shown)
      end)
    end
  end
end)

-- ---- the numbers ----------------------------------------------------------------------------

-- As the sources document them; where a source counts characters, four are a token.
local NUMBERS = {
  clear_tool_uses = { trigger = 100000, keep = 3, at_least = 0, exclude = "", inputs = false },
  langchain_clear = { trigger = 100000, keep = 3, exclude = "", inputs = false },
  last_n_observations = { n = 5, polling = 1 },
  trim_then_clear = {
    soft = 0.3, hard = 0.5, long = 4000 / 4, kept = (1500 + 1500) / 4, least = 50000 / 4,
    turns = 3, ttl = 5 * 60,
  },
  openhands = { max_size = 80, keep_first = 4 },
  codex = { limit = 0.9, users = 20000 },
  claude_code = {
    idle = 60, keep = 5, answer = 20000, buffer = 13000, least = 10000, texts = 5, most = 40000,
    tools = "Read,Bash,Grep,Glob,WebSearch,WebFetch,Edit,Write",
  },
  pi = { reserve = 16384, keep = 20000 },
  opencode = {
    protect = 40000, minimum = 20000, turns = 2, spare = "skill", buffer = 20000, tail = 15000,
  },
  gemini_cli = { protect = 50000, minimum = 30000, limit = 0.5, preserve = 0.3 },
  hybrid = { keep = 10, every = 43, keep_steps = 10 },
  tool_cache = { inline = 2000 / 4, recent = 2 },
  excerpt_hysteresis = { long = 4000 / 4, kept = 2000 / 4, floor = 0.5 },
}

describe("the source's numbers are the defaults", function()
  for policy, numbers in pairs(NUMBERS) do
    it("of " .. policy, function()
      local options = sources.options(policy)
      for name, value in pairs(numbers) do
        assert.equal(value, options[name], name)
      end
    end)
  end
end)

-- ---- what stands there ----------------------------------------------------------------------

local function play(policy, history, options)
  return sources.play({ policy = policy, history = history, options = options })
end

describe("what stands there", function()
  it("trim_then_clear: the two ends of a long result, of 3,000 characters together", function()
    local case = { policy = "trim_then_clear", options = { ttl = 0 } }
    case.history = { "user 20", "read 60000", "read 100", "read 100", "read 100" }
    local shown, _, body = sources.play(case)
    assert.equal("TFFF", shown[5])
    local text = sources.text(60000, 2)
    assert.is_truthy(body:find(text:sub(1, 1200), 1, true))
    assert.is_truthy(body:find(text:sub(-1200), 1, true))
    assert.is_nil(body:find(text:sub(1, 1600), 1, true))
  end)

  it("codex: the user's words stand word for word before the summary, the newest 20,000", function()
    local history = { "user 20" }
    for _ = 1, 12 do
      table.insert(history, "user 1000")
      table.insert(history, "read 15000")
    end
    table.insert(history, "read 100")
    local _, _, body = play("codex", history)
    local from = assert(body:find("The user said:", 1, true))
    for i = 2, 24, 2 do
      assert.is_truthy(body:find(sources.text(1000, i), from, true), i)
    end
    _, _, body = play("codex", history, { users = 2500 })
    from = assert(body:find("The user said:", 1, true))
    assert.is_truthy(body:find(sources.text(1000, 22), from, true))
    assert.is_truthy(body:find(sources.text(1000, 20):sub(1, 1900), from, true))
    assert.is_nil(body:find(sources.text(1000, 20), from, true))
    assert.is_nil(body:find(sources.text(1000, 18):sub(1, 400), from, true))
  end)

  it("clear_tool_uses: with `inputs` the calls' arguments too", function()
    local core = require("neap.core")
    for inputs, rung in pairs({ [true] = "trimmed", [false] = "full" }) do
      local engine = assert(core.engine({ data = core.data_dir(), fixed_secret = true }))
      local s = assert(engine:session({
        name = "inputs",
        policy = "policies/clear_tool_uses.lua",
        options = core.json.encode({ trigger = 100, keep = 1, inputs = inputs, per = 1 }),
        window = 200000,
        no_reload = true,
      }))
      local messages = sources.messages({ "user 20", "4x write 300" })
      for i, m in ipairs(messages) do
        for _, call in ipairs(m.message and m.message.tool_calls or {}) do
          call["function"].arguments = core.json.encode({ text = sources.text(200, i) })
        end
        if m.message then assert(s:append(core.json.encode(m.message))) end
      end
      assert(s:prompt())
      assert.equal(rung, s:entry(2).rung)
      assert.equal("full", s:entry(8).rung) -- of the newest result
      s:close()
      engine:close()
    end
  end)
end)
