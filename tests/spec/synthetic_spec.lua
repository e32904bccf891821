-- Made-up sessions and joined ones: what they promise, and the measures against the truth that they
-- tell. next: metrics_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local replay = require("neap.report.replay")
local synthetic = require("neap.report.synthetic")
local shared = require("tests.support.shared")
local json = core.json

local DIR = shared.scratch("synthetic")

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

local function decoded(text)
  local list, head = {}, nil
  for line in text:gmatch("[^\n]+") do
    local value = assert(json.decode(line))
    if value.neap then
      head = value
    else
      list[#list + 1] = value
    end
  end
  return head.meta.truth, list
end

-- What stands in a message: its text, or those of its parts.
local function text_of(message)
  if type(message.content) == "string" then return message.content end
  local out = {}
  for _, part in ipairs(message.content) do
    out[#out + 1] = part.text or ""
  end
  return table.concat(out, "\n")
end

local function run(text, o)
  o.observe = true
  local recording = assert(import.load_text("made.jsonl", text))[1]
  local state = assert(replay.run(recording, o))
  replay.close(state)
  return replay.summary(recording, state), state
end

describe("a made-up session", function()
  it("is the same for a seed, and another for another", function()
    assert.are.equal(synthetic.session(7), synthetic.session(7))
    assert.are_not.equal(synthetic.session(7), synthetic.session(8))
    local code, out = shared.run({ "import", "--synthetic", "7" })
    assert.are.same({ 0, synthetic.session(7) }, { code, out })
    local _, list = decoded(synthetic.session(9, 200))
    local steps = 0
    for _, message in ipairs(list) do
      if message.role == "assistant" then steps = steps + 1 end
    end
    assert.are.equal(200, steps)
  end)

  it("has what long sessions have", function()
    local has = { needs = 0, parallel = 0, pictures = 0, giants = 0, han = 0 }
    has.refuted, has.late = 0, 0
    for seed = 1, 8 do
      local truth, list = decoded(synthetic.session(seed))
      has.refuted = has.refuted + #truth.refuted
      has.late = has.late + #truth.constraints - 2
      for _, m in ipairs(list) do
        has.needs = has.needs + (m.meta and #m.meta.needs or 0)
        if m.tool_calls and #m.tool_calls > 1 then has.parallel = has.parallel + 1 end
        if type(m.content) ~= "string" then has.pictures = has.pictures + 1 end
        if #text_of(m) > 6000 then has.giants = has.giants + 1 end
        if text_of(m):find("仓库", 1, true) then has.han = has.han + 1 end
      end
    end
    for name, n in pairs(has) do
      assert(n >= 4, ("%s: %d in eight sessions"):format(name, n))
    end
  end)

  it("names needs, constraints and refutations that stand in it, in their order", function()
    for seed = 1, 5 do
      local truth, list = decoded(synthetic.session(seed))
      local said = ""
      for _, m in ipairs(list) do
        for _, need in ipairs(m.meta and m.meta.needs or {}) do
          assert(said:find(need, 1, true), ("seed %d: %s"):format(seed, need))
        end
        said = said .. text_of(m) .. "\n"
      end
      for _, text in ipairs(truth.constraints) do
        assert.truthy(said:find(text, 1, true))
      end
      for _, one in ipairs(truth.refuted) do
        local fact, by = said:find(one.fact, 1, true), said:find(one.by, 1, true)
        assert.is_true(fact < by)
      end
    end
  end)

  it("is taken by every format, and lacks nothing while all is shown", function()
    for _, format in ipairs({ "openai", "anthropic", "responses", "gemini", "text" }) do
      local line = run(synthetic.session(3), { format = format })
      assert.are.same({ 0, 0, 0 }, { line.refused, line.overflow, line.needs.gone }, format)
      assert.are.equal(line.needs.needed, line.needs.present)
      assert.are.equal(line.constraints.due, line.constraints.present)
      assert.are.same({ 0, 0 }, { line.pollution, line.exposed })
      assert.are.equal(line.facts.cited, line.facts.present)
    end
  end)
end)

-- Everything but the newest step goes.
local DROP = write(
  "drop.lua",
  [[
return { api = 1, name = "drop", assemble = function(ctx)
  for e in ctx:entries {} do
    if e.step < ctx.step - 1 then e:drop() end
  end
end }
]]
)

describe("the measures against the truth", function()
  -- What is shown when all but the newest step, the system text and the task are dropped: by
  -- the messages alone.
  local function expected(text)
    local truth, list = decoded(text)
    local step, of, first_user = 0, {}, nil
    for i, m in ipairs(list) do
      if m.role == "assistant" then step = step + 1 end
      if m.role == "user" then first_user = first_user or i end
      of[i] = step
    end
    local function shown(text_, turn)
      for i, m in ipairs(list) do
        local stays = m.role == "system" or i == first_user
        if of[i] < turn and (stays or of[i] >= turn - 1) and text_of(m):find(text_, 1, true) then
          return true
        end
      end
      return false
    end
    local function given(text_, turn)
      for i, m in ipairs(list) do
        if of[i] < turn and text_of(m):find(text_, 1, true) then return true end
      end
      return false
    end
    local out = { needed = 0, present = 0, due = 0, kept = 0, exposed = 0, refuted = 0 }
    local turn = 0
    for _, m in ipairs(list) do
      if m.role == "assistant" then
        turn = turn + 1
        for _, need in ipairs(m.meta and m.meta.needs or {}) do
          out.needed = out.needed + 1
          out.present = out.present + (shown(need, turn) and 1 or 0)
        end
        for _, one in ipairs(truth.constraints) do
          out.due = out.due + (given(one, turn) and 1 or 0)
          out.kept = out.kept + (shown(one, turn) and 1 or 0)
        end
        for _, one in ipairs(truth.refuted) do
          if given(one.by, turn) then
            out.refuted = out.refuted + 1
            local is_exposed = shown(one.fact, turn) and not shown(one.by, turn)
            out.exposed = out.exposed + (is_exposed and 1 or 0)
          end
        end
      end
    end
    return out
  end

  it("count what the messages say is shown", function()
    local lost = 0
    for seed = 1, 6 do
      local text = synthetic.session(seed)
      local want, line = expected(text), (run(text, { policy = DROP }))
      assert.are.equal(want.needed, line.needs.needed, "seed " .. seed)
      assert.are.equal(want.present, line.needs.present, "seed " .. seed)
      assert.are.same({ 0, 0 }, { line.needs.noted, line.needs.pointed })
      assert.are.same({ want.due, want.kept }, { line.constraints.due, line.constraints.present })
      if want.refuted > 0 then
        local share = math.floor(want.exposed / want.refuted * 10000 + 0.5) / 10000
        assert.are.equal(share, line.exposed)
      end
      lost = lost + line.needs.gone
    end
    assert.is_true(lost > 20)
  end)
end)

describe("neap import --join", function()
  it("makes one session of several, tools once, tasks in their order", function()
    local paths = {}
    for seed = 1, 3 do
      paths[seed] = write(("s%d.jsonl"):format(seed), synthetic.session(seed, 20))
    end
    local code, out, err = shared.run({ "import", "--join", table.unpack(paths) })
    assert.are.equal(0, code, err)
    assert.truthy(err:find("3 sessions joined", 1, true))
    local head = assert(json.decode(out:match("[^\n]+")))
    assert.are.equal(4, #head.tools)
    local truth, list = decoded(out)
    local system, sum = 0, 0
    for _, m in ipairs(list) do
      if m.role == "system" then system = system + 1 end
    end
    for seed = 1, 3 do
      local its, alone = decoded(synthetic.session(seed, 20))
      sum = sum + #alone
      local part = head.meta.joined[seed]
      local first = text_of(list[part.from + (seed == 1 and 1 or 0)])
      assert.are.equal(text_of(alone[2]), first)
      for _, one in ipairs(its.constraints) do
        local found = false
        for _, text in ipairs(truth.constraints) do
          found = found or text == one
        end
        assert.is_true(found)
      end
    end
    assert.are.same({ 1, sum - 2 }, { system, #list })
    local line = run(out, {})
    assert.are.same({ 60, 0, 0 }, { line.turns, line.refused, line.needs.gone })
  end)

  it("is for recordings of one form", function()
    local code, out, err = shared.run({ "import", "--join", "examples/recordings/planted.jsonl",
      "tests/cases/import/mini.traj.json" })
    assert.are.same({ 2, "" }, { code, out })
    assert.truthy(err:find("join recordings of one form", 1, true), err)
  end)
end)
