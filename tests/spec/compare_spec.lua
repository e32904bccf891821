-- neap compare: means over recordings and over forms, intervals, reach, the references, sweeps of
-- several names, the same output for any number of processes. next: tune_spec.lua
local core = require("neap.core")
local compare = require("neap.report.compare")
local shared = require("tests.support.shared")
local json = core.json

local DIR = shared.scratch("compare")

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

local function rows(text)
  local list, traces = {}, {}
  for line in text:gmatch("[^\n]+") do
    local row = assert(json.decode(line))
    table.insert(row.trace and traces or list, row)
  end
  return list, traces
end

local SHIPPED = { "english", "planted", "chinese" }
for i, name in ipairs(SHIPPED) do
  SHIPPED[i] = ("examples/recordings/%s.jsonl"):format(name)
end

local function number(value)
  return compare.number(value)
end

-- A recording whose model reads files and comes back to the codes in them later.
local function recording(steps, seed)
  local lines = { '{"role":"user","content":"Find the fault."}' }
  for i = 1, steps do
    local back = i > 12 and ("It says ERR_%d."):format(seed * 1000 + i - 12) or "Next."
    local f = { name = "read", arguments = ('{"path":"f%d.c"}'):format(i) }
    local call = { id = "c" .. i, type = "function", ["function"] = f }
    local message = { role = "assistant", content = back, tool_calls = json.array({ call }) }
    lines[#lines + 1] = json.encode(message, { "role" })
    local text = ("ERR_%d "):format(seed * 1000 + i) .. ("some words go here\n"):rep(60)
    local result = { role = "tool", tool_call_id = "c" .. i, content = text }
    lines[#lines + 1] = json.encode(result, { "role" })
  end
  return table.concat(lines, "\n") .. "\n"
end

local SIX = {}
for i = 1, 6 do
  SIX[i] = write(("r%d.jsonl"):format(i), recording(14 + i, i))
end

local function with(list, ...)
  local words = { "compare" }
  table.move(list, 1, #list, 2, words)
  return table.move({ ... }, 1, select("#", ...), #words + 1, words)
end

describe("resampling", function()
  -- The same draw in Lua.
  local function slow(parts, wholes, sizes, times)
    local x, means = 1, {}
    for r = 1, times do
      local sum, used, from = 0, 0, 0
      for _, n in ipairs(sizes) do
        local part, whole = 0, 0
        for _ = 1, n do
          x = x ~ (x << 13)
          x = x ~ (x >> 7)
          x = x ~ (x << 17)
          local i = from + (x >> 1) % n + 1
          part, whole = part + parts[i], whole + wholes[i]
        end
        from = from + n
        if whole > 0 then
          sum, used = sum + part / whole, used + 1
        end
      end
      means[r] = used > 0 and sum / used or 0
    end
    table.sort(means)
    return means[times // 40], means[times - times // 40]
  end

  it("draws as said, with groups and with members that have no value", function()
    local parts, wholes = { 1, 0, 3, 2, 5, 0, 1 }, { 4, 0, 3, 2, 9, 1, 0 }
    for _, sizes in ipairs({ { 7 }, { 3, 4 }, { 1, 1, 5 } }) do
      local low, high = core.resample(parts, wholes, sizes, 400)
      local a, b = slow(parts, wholes, sizes, 400)
      assert.are.same({ a, b }, { low, high })
    end
  end)

  it("refuses what does not add up", function()
    assert.has_error(function()
      core.resample({ 1, 2 }, { 1, 1 }, { 3 }, 400)
    end)
    assert.has_error(function()
      core.resample({ 1, 2 }, { 1 }, { 2 }, 400)
    end)
    assert.has_error(function()
      core.resample({}, {}, {}, 400)
    end)
  end)
end)

describe("a row", function()
  local function line(form, cost, cited, gone)
    local far = { cited = cited, present = cited - gone, noted = 0, pointed = 0, gone = gone }
    local facts = { cited = cited, present = cited - gone, noted = 0, pointed = 0, gone = gone }
    facts.by_distance = { ["11-20"] = far }
    local words = { cited = 0, present = 0 }
    return { form = form, cost = cost, facts = facts, words = words, turns = 1, overflow = 0,
      input_tokens = 10, cached_tokens = 5, epochs = 1 }
  end

  it("has means over recordings, and over forms first: by hand", function()
    local base = { line("a", 100, 0, 0), line("b", 100, 0, 0), line("a", 200, 0, 0) }
    local lines = { line("a", 50, 10, 5), line("b", 80, 4, 0), line("a", 50, 0, 0) }
    local row = compare.row(lines, base)
    -- cost: .5 .8 .25; gone: .5, 0, and the third cited nothing
    assert.are.equal(0.5167, row.means.cost.mean)
    assert.are.equal(0.5875, row.balanced.cost.mean) -- a: .375, b: .8
    assert.are.equal(0.25, row.means.gone.mean)
    assert.are.same({ 0.25, 2 }, { row.balanced.gone.mean, row.means.gone.traces })
    assert.are.equal(2, row.forms)
    assert.is_nil(row.means.words)
    assert.is_nil(row.means.cost.interval)
  end)

  it("tells what share of the possible it reaches", function()
    local list = {
      { policy = "p", facts_far = { gone = 40 } },
      { policy = "random", reference = true, facts_far = { gone = 50 } },
      { policy = "oracle", reference = true, oracle = true, facts_far = { gone = 10 } },
    }
    compare.mark_reach(list)
    assert.are.same({ 0.25, 0, 1 }, { list[1].reach, list[2].reach, list[3].reach })
    list[3].facts_far.gone, list[1].reach = 50, nil
    compare.mark_reach(list)
    assert.is_nil(list[1].reach)
  end)
end)

describe("neap compare", function()
  it("has intervals where there are five recordings", function()
    local code, out, err = shared.run(with(SIX, "-p", "full", "-p", "tide", "-w", "4000", "--json"))
    assert.are.equal(0, code, err)
    local list = rows(out)
    for _, row in ipairs(list) do
      for _, name in ipairs({ "cost", "gone" }) do
        local one = row.means[name]
        local low, high = number(one.interval[1]), number(one.interval[2])
        local mean = number(one.mean)
        assert.is_true(low <= mean and mean <= high, row.policy .. " " .. name)
        assert.are.equal(6, one.traces)
        assert.are.same(one, row.balanced[name])
      end
    end
    local _, text = shared.run(with(SIX, "-p", "tide", "-w", "4000"))
    assert.truthy(text:find("\npolicy +cost +95 %% +gone +95 %%"), text)
    assert.truthy(text:find("means of the recordings' shares", 1, true))
  end)

  it("prints the same whatever the number of processes, means and sweeps included", function()
    local words = { "-p", "tide", "-w", "4000", "--sweep", "floor=0.5,0.6" }
    table.move({ "--sweep", "user=0,1" }, 1, 2, #words + 1, words)
    for _, how in ipairs({ "--json", "--lenient" }) do
      local _, one = shared.run(with(SIX, how, table.unpack(words)))
      for _, jobs in ipairs({ "2", "5", "9" }) do
        local code, more, err = shared.run(with(SIX, how, "-j", jobs, table.unpack(words)))
        assert.are.equal(0, code, err)
        assert.are.equal(one, more)
      end
    end
  end)

  it("sweeps every combination of several names", function()
    local code, out, err = shared.run(with({ SIX[1] }, "-p", "tide", "-w", "4000", "--json",
      "--sweep", "floor=0.5,0.6", "--sweep", "user=0,1,2"))
    assert.are.equal(0, code, err)
    local names = {}
    for _, row in ipairs((rows(out))) do
      if not row.reference then names[#names + 1] = row.policy end
    end
    assert.are.equal(6, #names)
    assert.are.equal("tide floor=0.5 user=0", names[1])
    assert.are.equal("tide floor=0.6 user=2", names[6])
  end)

  it("says of a sweep what is wrong with it", function()
    for word, why in pairs({ ["floor"] = "NAME=V1,V2", ["floor=,"] = "NAME=V1,V2" }) do
      local code, out, err = shared.run(with({ SIX[1] }, "-p", "tide", "--sweep", word))
      assert.are.same({ 2, "" }, { code, out })
      assert.truthy(err:find(why, 1, true), err)
    end
    local code, _, err =
      shared.run(with({ SIX[1] }, "-p", "tide", "--sweep", "floor=1", "--sweep", "floor=0"))
    assert.are.equal(2, code)
    assert.truthy(err:find("swept twice", 1, true), err)
  end)

  it("takes settings of several policies in one table, each behind its -p", function()
    local words = { "-w", "4000", "--json", "-p", "tide", "-o", "base=0", "-o", "fresh=0.5", "-p",
      "tide", "-p", "hysteresis", "-o", "floor=0.4", "--sweep", "held=0.01,0.02" }
    local code, _, why = shared.run(with({ SIX[1] }, table.unpack(words)))
    assert.are.equal(2, code) -- hysteresis has no such option
    assert.truthy(why:find("'held' is not known", 1, true), why)
    words[#words], words[#words - 1] = nil, nil
    local _, out, err = shared.run(with({ SIX[1], SIX[2] }, table.unpack(words)))
    local names, costs = {}, {}
    for i, row in ipairs((rows(out))) do
      names[i], costs[row.policy] = row.policy, number(row.cost)
    end
    assert.are.same({ "tide base=0 fresh=0.5", "tide", "hysteresis floor=0.4", "full", "random",
      "oracle" }, names, err)
    local _, two = shared.run(with({ SIX[1], SIX[2] }, "-j", "2", table.unpack(words)))
    assert.are.equal(out, two)
    local _, alone = shared.run(with({ SIX[1], SIX[2] }, "-w", "4000", "--json", "-p", "hysteresis",
      "--sweep", "floor=0.4"))
    local row = rows(alone)[1]
    assert.are.equal(row.policy, "hysteresis floor=0.4")
    assert.are.equal(costs["hysteresis floor=0.4"], number(row.cost))
  end)

  it("says of settings what is wrong with them", function()
    for _, case in ipairs({
      { "whose option is it", "-o", "floor=1", "-p", "tide" },
      { "floor is set twice", "-p", "tide", "-o", "floor=1", "-o", "floor=0" },
      { "--sweep gives floor its values", "-p", "tide", "-o", "floor=1", "--sweep", "floor=1,0" },
      { "NAME=VALUE is expected", "-p", "tide", "-o", "floor" },
      { "is given twice", "-p", "tide", "-o", "floor=1", "-p", "tide", "-o", "floor=1" },
      { "is given twice", "-p", "tide", "-o", "floor=0.5", "-p", "tide", "-o", "floor=0.50" },
      { "oracle: is no policy but a reference", "-p", "oracle" },
      { "random: is no policy but a reference", "-p", "random" },
    }) do
      local code, out, err = shared.run(with({ SIX[1] }, table.unpack(case, 2)))
      assert.are.same({ 2, "" }, { code, out })
      assert.truthy(err:find(case[1], 1, true), err)
    end
  end)

  it("has an oracle that no policy misses less than, and is not below random", function()
    for _, window in ipairs({ "8000", "16000" }) do
      local _, out = shared.run(with(SHIPPED, "-w", window, "--json"))
      local list, gone = rows(out), {}
      for _, row in ipairs(list) do
        gone[row.policy] = row.facts_far.gone
      end
      for _, row in ipairs(list) do
        if not row.unbounded then
          local text = ("window %s: %s has %d gone, the oracle %d"):format(
            window, row.policy, row.facts_far.gone, gone.oracle)
          assert(row.facts_far.gone >= gone.oracle, text)
        end
      end
      assert.is_true(gone.random > gone.oracle)
    end
  end)
end)
