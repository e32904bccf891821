-- neap probe and neap diagnose: questions whose answers the recording holds, symptoms that a
-- recording was made to show. next: odd_recordings_spec.lua
local core = require("neap.core")
local diagnose = require("neap.report.diagnose")
local shared = require("tests.support.shared")
local json = core.json

local DIR = shared.scratch("probe")
local FACTS = "tests/cases/metrics/facts.jsonl"

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

local function rows(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do
    list[#list + 1] = assert(json.decode(line))
  end
  return list
end

local MASK = write(
  "mask.lua",
  [[
return { api = 1, name = "mask", assemble = function(ctx)
  for e in ctx:entries { kind = "result", at = "full" } do
    if e.step < ctx.step - 1 then e:mask() end
  end
end }
]]
)

describe("neap probe", function()
  local function probe(...)
    return shared.run({ "probe", FACTS, ... })
  end

  it("asks for what the recording later uses, with the place and the state", function()
    local code, out, err = probe("--turn", "14", "-p", MASK, "--json")
    assert.are.equal(0, code, err)
    local by = {}
    for _, one in ipairs(rows(out)) do
      by[one.expected[1]] = one
    end
    assert.are.equal("What is the task?", by["Find the port. You must keep pool 80."].question)
    assert.are.equal("present", by["Never edit e.conf."].state)
    local port = by["8081"]
    assert.are.same({ "pointed", 4 }, { port.state, port.entry })
    local where = "What stands in the gap? listen ____ (the result of read a.conf, step 1)"
    assert.are.equal(where, port.question)
    assert.are.equal("present", by["ERR_17"].state) -- in the text of step 3
    assert.is_nil(by["b.conf"])
    local _, earlier = probe("--turn", "12", "--json")
    for _, one in ipairs(rows(earlier)) do
      if one.question:find("Which tool", 1, true) then assert.are.same({ "read" }, one.expected) end
    end
  end)

  it("hides the answer in its question", function()
    for _, file in ipairs({ "english", "chinese", "planted" }) do
      local path = ("examples/recordings/%s.jsonl"):format(file)
      local how = { "--turn", "20", "-w", "12000", "-p", "tide", "--json" }
      local _, out = shared.run({ "probe", path, table.unpack(how) })
      local n = 0
      for _, one in ipairs(rows(out)) do
        local gap = one.question:match("gap%? (.*) %(.-%)$")
        if gap then
          n = n + 1
          local whole = gap:gsub("____", (one.expected[1]:gsub("%%", "%%%%")), 1)
          assert.truthy(whole:find(one.expected[1], 1, true))
        end
      end
      assert.is_true(n >= 3, file)
    end
  end)

  it("judges answers, and exits 1 when one is wrong", function()
    local _, out = probe("--turn", "14", "--json")
    local right, wrong = {}, {}
    for i, one in ipairs(rows(out)) do
      local answer = "It is " .. table.concat(one.expected, " and ")
      right[i] = json.encode({ id = one.id, answer = answer:upper() }, { "id" })
      wrong[i] = i == 2 and json.encode({ id = one.id, answer = "no idea" }, { "id" }) or right[i]
    end
    local code, text = probe("--turn", "14", "--answers", write("r", table.concat(right, "\n")))
    assert.are.equal(0, code)
    assert.truthy(text:find(("%d of %d right"):format(#right, #right), 1, true))
    code, text = probe("--turn", "14", "--answers", write("w", table.concat(wrong, "\n")))
    assert.are.equal(1, code)
    assert.truthy(text:find(("%d of %d right"):format(#right - 1, #right), 1, true))
    code, _, text = probe("--turn", "14", "--answers", write("b", "\n{\"id\":1}\n"))
    assert.are.equal(2, code)
    assert.truthy(text:find("b:2: is no answer", 1, true), text)
  end)

  it("tells a question that is not answered from a wrong answer, and takes no other", function()
    local code, text = probe("--turn", "14", "--answers", write("n", '{"id":"q1","answer":"no"}\n'))
    assert.are.equal(1, code)
    assert.truthy(text:find("\n\nq2 .-\n    not answered\n"), text)
    local n = select(2, text:gsub("\n    wrong\n", "")) + select(2, text:gsub("\n    right\n", ""))
    assert.are.equal(1, n)
    local right, count, without = text:match("\n(%d+) of (%d+) right, (%d+) not answered\n$")
    assert.are.same({ 0, count - 1 }, { right + 0, without + 0 })
    for lines, why in pairs({
      ['{"id":"q1","answer":"a"}\n{"id":"q99","answer":"b"}\n'] = ":2: there is no question q99; "
        .. "they are q1 to q" .. count,
      ['\n{"id":"q1","answer":"a"}\n{"id":"q1","answer":"a"}\n'] = ":3: q1 is answered twice",
    }) do
      local out, err
      code, out, err = probe("--turn", "14", "--answers", write("o", lines))
      assert.are.same({ 2, "" }, { code, out })
      assert.truthy(err:find(why, 1, true), err)
    end
  end)

  it("says when there is no such turn, or it was not sent", function()
    local code, out, err = probe("--turn", "40")
    assert.are.same({ 2, "" }, { code, out })
    assert.truthy(err:find("has 14 turns, there is no turn 40", 1, true), err)
    code, out, err = probe("--turn", "3", "-w", "30", "-r", "1")
    assert.are.same({ 1, "" }, { code, out })
    assert.truthy(err:find("does not fit", 1, true), err)
  end)
end)

-- ---- diagnose -------------------------------------------------------------------------------

local function call(i, arguments)
  local f = { name = "run", arguments = arguments }
  local one = { id = "c" .. i, type = "function", ["function"] = f }
  return { role = "assistant", content = "x", tool_calls = json.array({ one }) }
end

local function result(i, text)
  return { role = "tool", tool_call_id = "c" .. i, content = text }
end

local function recording(name, list)
  local lines = {}
  for i, message in ipairs(list) do
    lines[i] = json.encode(message, { "role" })
  end
  return write(name .. ".jsonl", table.concat(lines, "\n") .. "\n")
end

local USER = { role = "user", content = "Never stop the pump." }

local function symptoms(path, ...)
  local code, out, err = shared.run({ "diagnose", path, "--json", ... })
  assert.are.equal(0, code, err)
  local by = {}
  for _, one in ipairs(rows(out)) do
    by[one.symptom] = one
  end
  return by
end

describe("neap diagnose", function()
  it("finds nothing where nothing is", function()
    local path = recording("well", { USER, { role = "assistant", content = "Fine." } })
    local code, out = shared.run({ "diagnose", path })
    assert.are.equal(0, code)
    assert.truthy(out:find("well: no symptom", 1, true))
  end)

  it("calls nothing healthy that has no turn, and advises nothing where there is none", function()
    local path = recording("none", { USER })
    local code, out, err = shared.run({ "diagnose", path })
    assert.are.equal(0, code, err)
    assert.truthy(out:find("none: has no turn", 1, true), out)
    code, out, err = shared.run({ "diagnose", "--budget", path })
    assert.are.same({ 2, "" }, { code, out })
    assert.truthy(err:find("have no turn; one comes before each assistant", 1, true), err)
    path = recording("well", { USER, { role = "assistant", content = "Fine." } })
    code, out = shared.run({ "diagnose", "--budget", path })
    assert.are.equal(0, code)
    assert.is_nil(out:find("a result of", 1, true))
  end)

  it("sees each symptom in a recording that was made to have it", function()
    local same, bad = { USER }, { USER }
    for i = 1, 4 do
      same[#same + 1], same[#same + 2] = call(i, '{"n":1}'), result(i, "fail")
      bad[#bad + 1] = call(i, i == 2 and "[1]" or '{"n":' .. i .. "}")
      bad[#bad + 1] = result(i, "ok")
    end
    local found = symptoms(recording("same", same))
    local over = found["the same call over and over"].evidence
    assert.truthy(over:find("4 times in a row: run", 1, true))
    found = symptoms(recording("bad", bad))
    assert.are.equal("1 of 4 calls", found["arguments that are no JSON object"].evidence)
    assert.is_nil(found["the same call over and over"])
    found = symptoms(FACTS, "-p", MASK)
    assert.is_nil(found["facts are lost"])
    assert.are.equal(1, found["done, and done again"].value)
    local drop = write("drop.lua", [[return { api = 1, name = "drop", assemble = function(ctx)
      for e in ctx:entries {} do if e.step < ctx.step - 1 then e:drop() end end end }]])
    found = symptoms(FACTS, "-p", drop)
    assert.are.equal(1, found["facts are lost"].value)
    assert.truthy(found["a constraint was not shown"].evidence:find("9 of 24", 1, true))
    assert.is_not_nil(found["slow and dear: rewritten too often"])
    found = symptoms(FACTS, "-w", "100", "-r", "1")
    assert.is_not_nil(found["turns do not fit"] or found["the window is nearly full"])
  end)

  it("advises no policy what it has, nor two things that undo each other", function()
    local text = [[return { api = 1, name = "made", options = { floor = { default = 0.25 },
      giant = { default = 0.5 } }, tools = { %s }, assemble = function(ctx, o)
      local f = o.floor + o.giant
      for e in ctx:entries {} do if e.step < ctx.step - 1 then e:drop() end end end }]]
    local offers = write("offers.lua", text:format('"recall", "read"'))
    local silent = write("silent.lua", text:format(""))
    local memory, room = "facts are lost", "the window is nearly full"
    local with, without = symptoms(FACTS, "-p", offers), symptoms(FACTS, "-p", silent)
    assert.is_nil(with[memory].advice:find("offer recall", 1, true))
    assert.truthy(without[memory].advice:find("offer recall", 1, true))
    for _, one in ipairs({ with, without }) do
      assert.truthy(one[memory].advice:find("a floor above the 0.25 it has (-o floor=", 1, true))
    end
    local changed = symptoms(FACTS, "-p", offers, "-o", "floor=0.75")
    assert.truthy(changed[memory].advice:find("a floor above the 0.75 it has", 1, true))
    local seen = diagnose.new()
    local line = { turns = 10, epochs = 1, overflow = 0, watermark_p95 = 0.9, hook_errors = 0,
      repeats = 0, calls_again = 0, density = 1, cached_tokens = 1, input_tokens = 1,
      facts = { by_distance = {} } }
    for _, name in ipairs({ "1-3", "4-10", "11-20", "21-50", "51+" }) do
      line.facts.by_distance[name] = { cited = 10, present = 10, noted = 0, pointed = 0, gone = 0 }
    end
    local policy = { options = '{"floor":{"value":0.25}}' }
    local function advice()
      local by = {}
      for _, one in ipairs(diagnose.symptoms(line, seen, policy)) do
        by[one.symptom] = one.advice
      end
      return by
    end
    local both = "a larger window, or a floor below the 0.25 it has (-o floor=…)"
    assert.are.equal(both, advice()[room])
    line.facts.by_distance["51+"].gone = 10
    assert.are.equal("a larger window", advice()[room])
    assert.is_nil(advice()[memory]:find("floor", 1, true))
    line.watermark_p95 = 0.8
    assert.truthy(advice()[memory]:find("floor above the 0.25", 1, true))
  end)

  it("names no window where none holds all that is shown", function()
    local list = { USER }
    for i = 1, 12 do
      list[#list + 1], list[#list + 2] = call(i, "{}"), result(i, ("a b c d "):rep(20000))
    end
    local code, out, err = shared.run({ "diagnose", "--budget", "--json", recording("vast", list) })
    assert.are.equal(0, code, err)
    local line = rows(out)[1]
    assert.is_true(line.p95.tokens > 700000)
    assert.is_nil(line.window)
    assert.truthy(line.advice[1]:find("no usual window holds all of it", 1, true))
  end)

  it("takes no policy with --budget, which shows everything", function()
    for _, words in ipairs({ { "-p", MASK }, { "-o", "keep=1" } }) do
      local code, out, err = shared.run({ "diagnose", "--budget", FACTS, table.unpack(words) })
      assert.are.same({ 2, "" }, { code, out })
      assert.truthy(err:find("--budget shows everything, and takes no policy", 1, true), err)
    end
  end)

  it("sees what a summary lost", function()
    local fold = write("fold.lua", [[return { api = 1, name = "fold", compact = function(ctx)
      if ctx.step == 6 then ctx:fold(ctx:span { from = 1, before = 4 }, "8081 was seen.") end
    end }]])
    local one = symptoms(FACTS, "-p", fold)["a summary lost them"]
    assert.truthy(one.evidence:find("2 facts", 1, true), one.evidence) -- ERR_17 and pump.c
  end)

  it("derives window and shares from tokens a turn", function()
    local words = { "diagnose", "--budget", "examples/recordings/english.jsonl", "--json" }
    local code, out, err = shared.run(words)
    assert.are.equal(0, code, err)
    local line = rows(out)[1]
    local tokens = {}
    local _, turns = shared.run({ "replay", "examples/recordings/english.jsonl", "-p", "full", "-w",
      "1000000", "--json" })
    for _, turn in ipairs(rows(turns)) do
      if turn.turn then tokens[#tokens + 1] = turn.tokens end
    end
    table.sort(tokens)
    assert.are.equal(tokens[math.ceil(#tokens * 0.95)], line.p95.tokens)
    assert.is_true(line.p95.tokens <= 0.7 * line.window)
    assert.are.equal("-w " .. line.window, line.advice[1])
    assert.are.equal(#tokens, line.turns)
  end)
end)
