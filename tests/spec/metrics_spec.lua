-- The measures of a replay: against numbers counted by hand (tests/cases/metrics/README.md), and
-- against a slow computation of its own (tests/support/slow_metrics.lua) on random sessions and
-- on the shipped recordings. next: compare_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local prices = require("neap.models.prices")
local replay = require("neap.report.replay")
local shared = require("tests.support.shared")
local slow = require("tests.support.slow_metrics")

local DIR = shared.scratch("metrics")

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

local function policy(name, body)
  local text = 'return { api = 1, name = "%s", %s }\n'
  return write(name .. ".lua", text:format(name, body))
end

local MASK = policy("mask", [[assemble = function(ctx)
  for e in ctx:entries { kind = "result", at = "full" } do
    if e.step < ctx.step - 1 then e:mask() end
  end
end]])
local DROP = policy("drop", [[assemble = function(ctx)
  for e in ctx:entries {} do
    if e.step < ctx.step - 1 then e:drop() end
  end
end]])
local FOLD = policy("fold", [[compact = function(ctx)
  if ctx.step == 6 then
    ctx:fold(ctx:span { from = 1, before = 4 }, "8081 and ERR_17 were seen.")
  end
end]])

local function load(path)
  return assert(import.load(path))[1]
end

local function run(name, file)
  local recording = load("tests/cases/metrics/" .. name .. ".jsonl")
  local state = assert(replay.run(recording, { policy = file, observe = true }))
  replay.close(state)
  return replay.summary(recording, state)
end

local function counts(facts)
  local out = {}
  for _, name in ipairs({ "cited", "present", "noted", "pointed", "gone" }) do
    out[#out + 1] = facts[name]
  end
  return out
end

describe("the measures, counted by hand", function()
  it("facts by distance, while all is shown", function()
    local line = run("facts")
    assert.are.same({ 5, 5, 0, 0, 0 }, counts(line.facts))
    assert.are.same({ 1, 1, 0, 0, 0 }, counts(line.facts.by_distance["1-3"]))
    assert.are.same({ 1, 1, 0, 0, 0 }, counts(line.facts.by_distance["4-10"]))
    assert.are.same({ 3, 3, 0, 0, 0 }, counts(line.facts.by_distance["11-20"]))
    assert.are.same({ 2, 2, 0, 0, 0 }, counts(line.facts.by_class.path)) -- pump.c, e.conf
    assert.are.same({ 2, 2, 0, 0, 0 }, counts(line.facts.by_class.code)) -- ERR_17, twice
    assert.are.same({ 1, 1, 0, 0, 0 }, counts(line.facts.by_class.number))
    assert.are.same({ cited = 1, present = 1 }, line.words)
    assert.are.same({ 0, 1 }, { line.repeats, line.calls_again })
    assert.are.same({ due = 24, present = 24, noted = 0 }, line.constraints)
    assert.is_nil(line.pollution)
    assert.is_nil(line.needs)
  end)

  it("facts that are masked", function()
    local line = run("facts", MASK)
    assert.are.same({ 5, 2, 0, 3, 0 }, counts(line.facts))
    assert.are.same({ cited = 1, present = 0 }, line.words)
    assert.are.same({ 1, 1 }, { line.repeats, line.calls_again })
  end)

  it("facts that are dropped", function()
    local line = run("facts", DROP)
    assert.are.same({ 5, 0, 0, 0, 5 }, counts(line.facts))
    assert.are.same({ cited = 1, present = 0 }, line.words)
    assert.are.same({ due = 24, present = 15, noted = 0 }, line.constraints)
  end)

  it("tokens by how entries are shown", function()
    local full, masked, folded = run("facts"), run("facts", MASK), run("facts", FOLD)
    assert.is_nil(full.rung_tokens.masked or full.rung_tokens.summary)
    assert.is_true(masked.rung_tokens.masked > 0 and folded.rung_tokens.summary > 0)
    assert.is_true(masked.rung_tokens.full < full.rung_tokens.full)
    assert.is_nil(folded.rung_tokens.masked)
  end)

  it("facts that are folded", function()
    local line = run("facts", FOLD)
    assert.are.same({ 5, 2, 2, 0, 1 }, counts(line.facts))
    assert.are.same({ 1, 1 }, { line.repeats, line.calls_again })
  end)

  it("what a plan names", function()
    local line = run("truth")
    assert.are.same({ planted = true, due = 5, present = 5, noted = 0 }, line.constraints)
    assert.are.same({ 0.2, 0 }, { line.pollution, line.exposed })
    assert.are.same({ needed = 5, present = 4, noted = 0, pointed = 0, gone = 1 }, line.needs)
    line = run("truth", MASK)
    assert.are.same({ 0.2, 0.6667 }, { line.pollution, line.exposed })
    assert.are.same({ needed = 5, present = 3, noted = 0, pointed = 1, gone = 1 }, line.needs)
  end)

  it("facts in Chinese", function()
    local line = run("chinese")
    assert.are.same({ 3, 3, 0, 0, 0 }, counts(line.facts))
    assert.are.same({ 3, 3, 0, 0, 0 }, counts(line.facts.by_distance["1-3"]))
  end)

  it("density: turns 2 and 3 carry the first result to some use", function()
    local recording = load("tests/cases/metrics/density.jsonl")
    local tokens
    local state = assert(replay.run(recording, {
      observe = true,
      on_turn = function(account, _, session)
        if account.turn == 2 then tokens = session:entry(4).tokens end
      end,
    }))
    replay.close(state)
    local line = replay.summary(recording, state)
    assert.is_true(tokens > 5)
    assert.are.equal(math.floor(2 * tokens / line.input_tokens * 10000 + 0.5) / 10000, line.density)
  end)
end)

-- ---- refutations that a recording holds -------------------------------------------------------

local function asks(i, say)
  return ('{"role":"assistant","content":"%s","tool_calls":[{"id":"c%d","type":"function",'
    .. '"function":{"name":"q","arguments":"{\\"n\\":%d}"}}]}'):format(say, i, i)
end

local function refuting(refutes)
  return table.concat({
    '{"role":"user","content":"Why does the upload fail?"}',
    asks(1, "I look."),
    '{"role":"tool","tool_call_id":"c1","content":"the quota of bucket_alpha is 4711"}',
    asks(2, "So bucket_alpha."),
    '{"role":"tool","tool_call_id":"c2","content":"the host is node_seven"}',
    ('{"role":"user","content":"Another machine.","meta":{"refutes":%s}}'):format(refutes),
    '{"role":"assistant","content":"node_seven is up"}',
    '{"role":"user","content":"And?"}',
    '{"role":"assistant","content":"so bucket_alpha is full"}',
    '{"role":"user","content":"Then?"}',
    '{"role":"assistant","content":"4711, and bucket_alpha again"}',
  }, "\n") .. "\n"
end

describe("refutations in a recording", function()
  local path = shared.scratch("refuting") .. "/run.jsonl"
  local function with(refutes, ...)
    local f = assert(io.open(path, "wb"))
    f:write(refuting(refutes))
    f:close()
    return shared.run({ select(1, ...), path, select(2, ...) })
  end

  it("are told to the engine, whose uses stand in replay and compare: by hand", function()
    for _, said in ipairs({ '{"step":1,"reason":"another"}', '[{"step":1,"reason":"another"}]' }) do
      local code, out, err = with(said, "replay", "-p", "tide", "--json")
      assert.are.equal(0, code, err)
      local lines = {}
      for line in out:gmatch("[^\n]+") do
        lines[#lines + 1] = core.json.decode(line)
      end
      assert.is_nil(lines[2].pollution) -- before it
      assert.are.equal(0, lines[3].pollution.steps)
      assert.are.same({ 1, "bucket_alpha" }, { lines[5].pollution.steps,
        lines[5].pollution.uses[1].text })
      local last = lines[6] -- five turns: the last two steps use what step 1 has shown
      assert.are.same({ 1, 2, 5 }, { last.refutations, last.polluted_steps, last.turns })
      assert.are.equal(0.4, tonumber(last.pollution.raw))
      local _, rows = with(said, "compare", "-p", "tide", "-p", "full", "--json")
      local row = core.json.decode(rows:match("[^\n]+\n$"))
      assert.are.same({ 1, 2 }, { row.refutations, row.polluted_steps })
      assert.are.equal(0.4, tonumber(row.means.pollution.mean.raw))
    end
  end)

  it("are refused with their line where they are none", function()
    for _, said in ipairs({ '{"step":1}', "[7]", '{"step":99,"reason":"x"}', '{"reason":"x"}' }) do
      local code, out, err = with(said, "replay", "-p", "tide", "--json")
      assert.are.equal(2, code)
      assert.truthy(err:find("run.jsonl:6: meta.refutes", 1, true), err .. out)
    end
  end)
end)

-- ---- against the slow computation -----------------------------------------------------------

local function round(x)
  return math.floor(x * 10000 + 0.5) / 10000
end

local function same_facts(want, got, where)
  for _, name in ipairs({ "cited", "present", "noted", "pointed", "gone" }) do
    local text = ("%s: %s: expected %d, got %d"):format(where, name, want[name], got[name])
    assert(want[name] == got[name], text)
  end
end

-- Replays with both at once; fails at the first step in which they differ.
local function check(recording, o, where)
  local price = prices.of(o)
  local other = slow.new({ window = o.window, price = price })
  local session
  o.observe = true
  o.on_turn = function(account, body, s)
    session = s
    other:turn(s, account, body)
  end
  o.on_measure = function(m, account)
    local want = other:step(session)
    local place = ("%s, step %d"):format(where, account.step)
    same_facts(want.facts, m.facts, place)
    for class, facts in pairs(want.by_distance) do
      same_facts(facts, m.facts.by_distance[class], place .. ", " .. class)
    end
    assert(want.words.cited == m.words.cited, place .. ": words cited")
    assert(want.words.present == m.words.present, place .. ": words present")
    assert(want.recalls == m.recalls, place .. ": recalls")
    assert(want.recalled == m.recalled, place .. ": recalled tokens")
    assert(m.facts.gone == #m.gone_list, place .. ": what is gone is listed")
    assert(m.facts.pointed == #m.pointed_list, place .. ": what is pointed at is listed")
  end
  local state = assert(replay.run(recording, o))
  if state.turn == 0 then return replay.close(state) end
  other:take_in(state.session) -- what came after the last step
  local words, rare = other:densities()
  local again, hidden = other:repeats(state.session)
  local sums = other:sums()
  replay.close(state)
  local line = replay.summary(recording, state)
  for _, name in ipairs({ "cited", "present", "noted", "pointed", "gone" }) do
    local sum = 0
    for _, facts in pairs(line.facts.by_class) do
      sum = sum + facts[name]
    end
    assert(sum == line.facts[name], where .. ": classes add up to all: " .. name)
  end
  local near = math.abs(rare - line.density_rare)
  assert(near <= 0.00011, ("%s: rare density %f, got %f"):format(where, rare, line.density_rare))
  assert.are.same(
    { round(words), again, hidden, sums.epochs, sums.rewritten, round(sums.p95) },
    { line.density, line.calls_again, line.repeats, line.epochs, line.rewritten_tokens,
      line.watermark_p95 },
    where
  )
  local cost_text = ("%s: cost: expected %f, got %f"):format(where, sums.cost, line.cost)
  assert(math.abs(sums.cost - line.cost) <= 0.01, cost_text)
end

local POLICIES = { "policies/tide.lua", "policies/three_tier.lua" }

describe("the measures agree with a slow computation", function()
  local pairs_of = {
    { "planted", POLICIES[1] },
    { "planted", POLICIES[2] },
    { "chinese", POLICIES[1] },
    { "chinese", "policies/sliding_window.lua" },
    { "planted", "policies/pointers.lua" },
  }
  for _, one in ipairs(pairs_of) do
    it(("on %s under %s"):format(one[1], one[2]), function()
      local recording = load(("examples/recordings/%s.jsonl"):format(one[1]))
      check(recording, { policy = one[2], window = 12000 }, table.concat(one, ", "))
    end)
  end
end)

-- A generator of our own: the seed that is printed gives the session again everywhere.
local function generator(seed)
  local x = seed * 2654435761 + 88172645463325252
  return function(n)
    x = x ~ (x << 13)
    x = x ~ (x >> 7)
    x = x ~ (x << 17)
    return (x >> 1) % n + 1
  end
end

local WORDS = {}
for word in ([[pump valve turbine ERR_17 8081 src/a.c ./src/b.c:12 parseConfig x-9 deadbeef01
  /usr/lib
  北京市 北京市朝阳区 总部大楼在北京市中心区域
  the of Größe ошибка a.b 42 foo:bars user_id --dry-run
  “quoted” e.g. harbour]]):gmatch("%S+") do
  WORDS[#WORDS + 1] = word
end

local function random_text(draw)
  local out = {}
  for i = 1, draw(14) do
    out[i] = WORDS[draw(#WORDS)]
  end
  local gaps = { " ", "\n", ", ", " (", ") " }
  return table.concat(out, gaps[draw(#gaps)])
end

local function random_session(draw)
  local lines = {}
  local function add(message)
    lines[#lines + 1] = core.json.encode(message, { "role" })
  end
  if draw(3) == 1 then add({ role = "system", content = random_text(draw) }) end
  add({ role = "user", content = random_text(draw) })
  for n = 1, draw(24) do
    local calls = core.json.array()
    for k = 1, draw(4) - 1 do
      local arguments = core.json.encode({ path = WORDS[draw(#WORDS)], n = draw(2) }, { "path" })
      local f = { name = draw(2) == 1 and "read" or "run_it", arguments = arguments }
      calls[k] = { id = ("c%d_%d"):format(n, k), type = "function", ["function"] = f }
    end
    local text = draw(4) > 1 and random_text(draw) or nil
    if #calls > 0 then
      add({ role = "assistant", content = text or core.json.null, tool_calls = calls })
    else
      add({ role = "assistant", content = text or "ok" })
    end
    for k = 1, #calls do
      local body = random_text(draw):rep(draw(6) == 1 and 30 or 1, "\n")
      add({ role = "tool", tool_call_id = ("c%d_%d"):format(n, k), content = body })
    end
    if draw(5) == 1 or #calls == 0 then add({ role = "user", content = random_text(draw) }) end
  end
  return table.concat(lines, "\n") .. "\n"
end

describe("the measures of random sessions", function()
  it("agree with a slow computation", function()
    local first = tonumber(os.getenv("NEAP_SEED") or "1")
    for seed = first, first + tonumber(os.getenv("NEAP_ROUNDS") or "20") - 1 do
      local draw = generator(seed)
      local path = write("random.jsonl", random_session(draw))
      local files = { MASK, DROP, POLICIES[1], POLICIES[2] }
      local o = { policy = files[draw(#files)], window = draw(2) == 1 and 900 or 100000 }
      check(load(path), o, ("seed %d, %s, window %d"):format(seed, o.policy, o.window))
    end
  end)
end)
