-- The shipped policies: each loads, is documented, and does what its head comment shows; then
-- what each promises, on small generated histories. next: ../../policies/mask_observations.lua
local core = require("neap.core")
local example = require("neap.report.example")
local lfs = require("lfs")
local shared = require("tests.support.shared")

local NAMES = {}
for file in lfs.dir("policies") do
  local name = file:match("^(.*)%.lua$")
  if name then NAMES[#NAMES + 1] = name end
end
table.sort(NAMES)

-- ---- small sessions -----------------------------------------------------------------------

local function open(policy, o)
  o = o or {}
  local engine = assert(core.engine({ data = core.data_dir(), fixed_secret = true }))
  local s, why = engine:session({
    name = "spec",
    policy = policy,
    options = o.options and core.json.encode(o.options),
    window = o.window or 8000,
    reserve = o.reserve,
    no_reload = true,
  })
  assert(s, why)
  return s, engine
end

local function add(s, message)
  assert(s:append(core.json.encode(message)))
end

-- A step: one call with its result of about `words` words, whose first line is `first`.
local function step(s, n, words, first)
  local id = "c" .. n
  local arguments = core.json.encode({ path = ("src/f%d.c"):format(n) })
  add(s, {
    role = "assistant",
    tool_calls = {
      { id = id, type = "function", ["function"] = { name = "read", arguments = arguments } },
    },
  })
  local lines = { first or ("result %d"):format(n) }
  for i = 1, words // 8 do
    lines[#lines + 1] = ("some plain words of result in line number %d %d"):format(n, i)
  end
  add(s, { role = "tool", tool_call_id = id, content = table.concat(lines, "\n") })
end

local function start(s)
  add(s, { role = "system", content = "You mend programs." })
  add(s, { role = "user", content = "Mend the program." })
end

local function account(s)
  return core.json.decode(assert(s:account()))
end

-- Plays `steps` steps with a prompt before each; returns bodies and accounts.
local function play(s, steps, words)
  local bodies, accounts = {}, {}
  start(s)
  for n = 1, steps do
    bodies[n] = assert(s:prompt())
    accounts[n] = account(s)
    step(s, n, words)
  end
  bodies[steps + 1] = assert(s:prompt())
  accounts[steps + 1] = account(s)
  return bodies, accounts
end

local function rungs(s, kind)
  local out = {}
  for id = 1, s:entry_count() do
    local e = s:entry(id)
    if e.kind == kind then out[#out + 1] = e.rung end
  end
  return table.concat(out, " ")
end

-- ---- all of them --------------------------------------------------------------------------

describe("every shipped policy", function()
  for _, name in ipairs(NAMES) do
    local path = "policies/" .. name .. ".lua"

    it("loads, and is called like its file: " .. name, function()
      local s, engine = open(path)
      local p = s:policy()
      assert.equal(name, p.name)
      assert.is_truthy(p.about and #p.about > 20 and #p.about < 100)
      assert.is_truthy(p.source and #p.source > 0)
      for option, row in pairs(core.json.decode(p.options)) do
        if type(row) == "table" then
          assert.is_truthy(row.help and #row.help > 0, option .. " has no help")
        end
      end
      s:close()
      engine:close()
    end)

    it("does what the example in its head comment shows: " .. name, function()
      local ok, count = example.run(path)
      assert.is_true(ok, count)
      assert.is_true(count >= 1, "there is no example")
    end)

    it("is short enough to be read in a sitting: " .. name, function()
      local text = assert(shared.read(path))
      local _, lines = text:gsub("\n", "")
      assert.is_true(lines <= 100)
    end)

    it("fits forty steps into a small window: " .. name, function()
      local s, engine = open(path, { window = 4000, reserve = 500 })
      local _, accounts = play(s, 40, 300)
      for turn, a in ipairs(accounts) do
        assert.is_true(a.tokens <= a.budget, "turn " .. turn)
        assert.same({}, a.hook_errors or {})
      end
      s:close()
      engine:close()
    end)

    it("has no hook that fails, however small the window: " .. name, function()
      for window = 60, 300, 30 do
        local s, engine = open(path, { window = window, reserve = 10 })
        start(s)
        for n = 1, 6 do
          step(s, n, 60)
          s:prompt() -- there may be no room
          assert.same({}, account(s).hook_errors or {}, "window " .. window)
        end
        s:close()
        engine:close()
      end
    end)

    it("shows everything while everything is little: " .. name, function()
      local s, engine = open(path)
      play(s, 3, 40)
      assert.equal("full full full", rungs(s, "result"))
      assert.equal(1, account(s).epoch)
      s:close()
      engine:close()
    end)
  end
end)

-- ---- what each promises -------------------------------------------------------------------

describe("full", function()
  it("changes nothing until the prompt does not fit", function()
    local s, engine = open("policies/full.lua", { window = 200000 })
    local bodies, accounts = play(s, 30, 300)
    assert.equal(1, accounts[31].epoch)
    assert.is_truthy(bodies[31]:find("result 1\\n", 1, true))
    s:close()
    engine:close()
  end)
end)

describe("sliding_window", function()
  it("shows the last steps and the task, and says what is gone", function()
    local s, engine = open("policies/sliding_window.lua", { options = { steps = 2 } })
    local bodies = play(s, 5, 40)
    assert.equal("dropped dropped dropped full full", rungs(s, "result"))
    assert.is_truthy(bodies[6]:find("Mend the program", 1, true))
    assert.is_truthy(bodies[6]:find("not shown", 1, true))
    s:close()
    engine:close()
  end)

  it("rewrites every turn without slack, and rarely with it", function()
    local s, engine = open("policies/sliding_window.lua", { options = { steps = 2 } })
    local _, each = play(s, 12, 40)
    s:close()
    engine:close()
    s, engine = open("policies/sliding_window.lua", { options = { steps = 2, slack = 4 } })
    local _, batched = play(s, 12, 40)
    assert.equal(11, each[13].epoch)
    assert.equal(3, batched[13].epoch)
    s:close()
    engine:close()
  end)
end)

describe("mask_observations", function()
  it("masks older results and leaves their calls", function()
    local s, engine = open("policies/mask_observations.lua", { options = { keep = 2 } })
    play(s, 5, 40)
    assert.equal("masked masked masked full full", rungs(s, "result"))
    assert.equal("full full full full full", rungs(s, "call"))
    s:close()
    engine:close()
  end)

  it("masks in batches when there is slack", function()
    local options = { keep = 2, slack = 3 }
    local s, engine = open("policies/mask_observations.lua", { options = options })
    local _, accounts = play(s, 12, 40)
    assert.is_true(accounts[13].epoch <= 4)
    s:close()
    engine:close()
  end)
end)

describe("tide", function()
  it("only appends until the prompt is full, then ebbs in one rewrite", function()
    local s, engine = open("policies/tide.lua", { window = 4000, reserve = 500 })
    local _, accounts = play(s, 30, 200)
    local last = 1
    for turn, a in ipairs(accounts) do
      if a.epoch > last then
        assert.is_true(a.tokens < 0.75 * a.budget, "turn " .. turn)
        last = a.epoch
      end
    end
    assert.is_true(last > 1, "there was no ebb")
    assert.is_true(last < 12, "there were " .. last .. " epochs")
    s:close()
    engine:close()
  end)

  it("keeps what is cited again and again", function()
    local s, engine = open("policies/tide.lua", { window = 6000, reserve = 500 })
    start(s)
    for n = 1, 30 do
      assert(s:prompt())
      step(s, n, 150, n == 2 and "fault E4711 in core/pump_valve.c:88" or nil)
      assert(s:prompt())
      add(s, { role = "assistant", content = "As core/pump_valve.c:88 says, E4711. I go on." })
      assert(s:prompt())
    end
    local kept, others = 0, 0
    local order = { full = 4, trimmed = 3, reference = 2, masked = 1, dropped = 0 }
    local seen = 0
    for id = 1, s:entry_count() do
      local e = s:entry(id)
      if e.kind == "result" then
        seen = seen + 1
        if seen == 2 then kept = order[e.rung] end
        if seen == 1 or seen == 3 then others = others + order[e.rung] end
      end
    end
    assert.is_true(kept >= others / 2, ("%d against %d"):format(kept, others))
    s:close()
    engine:close()
  end)

  it("holds what the user says", function()
    local s, engine = open("policies/tide.lua", { window = 4000, reserve = 500 })
    start(s)
    for n = 1, 30 do
      assert(s:prompt())
      step(s, n, 200)
      if n == 3 then add(s, { role = "user", content = "Never spend more than 4,750.00." }) end
    end
    local body = assert(s:prompt())
    assert.is_truthy(body:find("Never spend more than 4,750.00.", 1, true))
    s:close()
    engine:close()
  end)
end)

describe("the guide to policies", function()
  it("shows a policy that loads and does what it says", function()
    local text = assert(shared.read("docs/policies.md")):match("```lua\n(.-)```")
    local path = shared.scratch("guide") .. "/newest.lua"
    local f = assert(io.open(path, "w"))
    f:write(text)
    f:close()
    local s, engine = open(path, { options = { keep = 1 } })
    play(s, 3, 40)
    assert.equal("masked masked full", rungs(s, "result"))
    s:close()
    engine:close()
  end)

  it("shows an example in the form that the runner reads", function()
    local text = assert(shared.read("docs/policies.md"))
    local block = text:match("\n    (%-%- example:.-)\n\n"):gsub("\n    ", "\n")
    local list = assert(example.parse(block .. "\n"))
    assert.equal(1, #list)
    assert.equal(7, #list[1].items)
    assert.equal("masked", list[1].items[3].rung)
    assert.equal("src/a.c:17", list[1].items[7].quoted)
  end)
end)

-- ---- the runner of examples ---------------------------------------------------------------

describe("an example in a head comment", function()
  local function run(text)
    local dir = shared.scratch("policy-example")
    local path = dir .. "/p.lua"
    local f = assert(io.open(path, "w"))
    f:write(text)
    f:close()
    return example.run(path)
  end

  it("fails with its line when a rung differs", function()
    local ok, why = run("-- Purpose.\n--\n-- example:\n--   user 5\n--   call read a\n"
      .. "--   result 9 -> masked\nreturn { api = 1 }\n")
    assert.is_nil(ok)
    assert.matches(":6: the example expects .* to be masked, but it is full", why)
  end)

  it("is refused when a line cannot be read", function()
    local ok, why = run("-- example:\n--   user 5\n--   reslut 9\nreturn { api = 1 }\n")
    assert.is_nil(ok)
    assert.matches("p%.lua:3: ", why)
  end)

  it("is refused when it names a rung that is none", function()
    local ok, why = run("-- example:\n--   user 5 -> maksed\nreturn { api = 1 }\n")
    assert.is_nil(ok)
    assert.matches("maksed", why)
  end)

  it("is refused when a result has no call", function()
    local ok, why = run("-- example:\n--   result 5\nreturn { api = 1 }\n")
    assert.is_nil(ok)
    assert.matches("without a call", why)
  end)

  it("may be missing", function()
    local ok, count = run("-- Purpose.\nreturn { api = 1 }\n")
    assert.is_true(ok)
    assert.equal(0, count)
  end)

  it("gives calls that follow one another as one batch", function()
    local ok, why = run("-- example: window=4000\n--   user 5\n--   call read a\n--   call read b\n"
      .. "--   result 9\n--   result 9\nreturn { api = 1 }\n")
    assert.is_true(ok, why)
  end)
end)
