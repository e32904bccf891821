-- neap compare on recordings made here: its rows and references, what it tells once, shards and
-- what merges them. next: json_core_spec.lua
local recordings = require("tests.support.recordings")
local shared = require("tests.support.shared")
local recording, rows = recordings.recording, recordings.rows

local write = recordings.writer(shared.scratch("cli_compare"))
local TRACE = write("trace.jsonl", recording(20, 40))
local SMALL = write("small.jsonl", recording(3, 5))
local MASK = write("mask.lua", recordings.MASK)
local THROWS = write("throws.lua", recordings.THROWS)

describe("neap compare", function()
  local words = { "compare", TRACE, SMALL, "-p", MASK, "-w", "4000" }

  local function with(...)
    local list = table.move(words, 1, #words, 1, {})
    return table.move({ ... }, 1, select("#", ...), #list + 1, list)
  end

  it("has a row for each policy and three references", function()
    local code, out, err = shared.run(with("--json"))
    assert.are.equal(0, code, err)
    local list = rows(out)
    assert.are.equal(2 * 4 + 4, #list)
    local names = {}
    for i = 9, 12 do
      names[#names + 1] = list[i].policy
    end
    assert.are.same({ "mask", "full", "random", "oracle" }, names)
    assert.is_true(list[10].unbounded)
    assert.are.equal(0, list[10].facts.gone)
    assert.is_false(list[10].best)
    assert.is_true(list[12].oracle)
    assert.are.equal(25, list[9].turns)
  end)

  it("is read in a terminal of 120 columns, and tells once what all rows share", function()
    local _, out = shared.run(with())
    assert.truthy(out:find("2 recordings, 25 turns, window 4,000", 1, true))
    assert.truthy(out:find("facts: 8 identifiers", 1, true))
    for line in out:gmatch("[^\n]+") do
      assert.is_true(utf8.len(line) <= 120, line)
      assert.is_nil(line:find("turns  input", 1, true) or line:find("overflow", 1, true))
    end
  end)

  it("tells of turns that did not fit once, and does not add up the rows", function()
    local tail = { "-w", "60", "-r", "1" }
    local form = "neap: at most %d of 25 turns did not fit the budget, in 3 of 4 rows; "
      .. "give a larger window\n"
    for _, jobs in ipairs({ "1", "2" }) do
      local args = { "compare", TRACE, SMALL, "-p", MASK, "-j", jobs, table.unpack(tail) }
      local code, out, err = shared.run(args)
      assert.are.equal(1, code)
      local most = 0
      for n in out:gmatch("(%d+)\n") do
        most = math.max(most, tonumber(n))
      end
      assert.is_true(most > 0, out)
      assert.are.equal(form:format(most), err)
    end
    local code, _, err = shared.run({ "compare", TRACE, "-p", MASK, "--shard", "1/1", "-w", "60",
      "-r", "1" })
    assert.are.same({ 1, "" }, { code, err })
  end)

  it("says what reach is where a row has one", function()
    local said = "reach: the share of the way"
    for window, is_said in pairs({ ["200000"] = false, ["4000"] = true }) do
      local _, out = shared.run({ "compare", TRACE, "-p", MASK, "-w", window })
      assert.are.equal(is_said, out:find(said, 1, true) ~= nil, out)
      assert.are.equal(is_said, out:find("gone  reach", 1, true) ~= nil, out)
    end
  end)

  it("marks neither references nor policies that failed or did not fit", function()
    local args = { "compare", TRACE, "-p", MASK, "-p", THROWS, "-w", "4000", "--json" }
    local _, out = shared.run(args)
    local best = {}
    for _, row in ipairs(rows(out)) do
      if row.best ~= nil then best[row.policy] = row.best end
    end
    assert.are.same(
      { mask = true, throws = false, full = false, random = false, oracle = false },
      best
    )
    _, out = shared.run({ "compare", TRACE, "-p", MASK, "-w", "60", "-r", "1", "--json" })
    for _, row in ipairs(rows(out)) do
      assert.is_not_true(row.best)
    end
  end)

  it("prints the same whatever the number of processes", function()
    local _, one = shared.run(with())
    local _, two = shared.run(with("-j", "2"))
    assert.truthy(one:find("mask", 1, true))
    assert.are.equal(one, two)
  end)

  it("merges what shards printed, in any order", function()
    local _, whole = shared.run(with())
    local parts = {}
    for i = 1, 2 do
      local code, out = shared.run(with("--shard", i .. "/2"))
      assert.are.equal(0, code)
      parts[i] = write("shard" .. i, out)
    end
    for _, more in ipairs({ { "-w", "4000" }, {} }) do
      local args = { "compare", "--merge", parts[2], parts[1], table.unpack(more) }
      local _, merged = shared.run(args)
      assert.are.equal(whole, merged)
    end
  end)

  -- A merge adds up: what was not made in the same way must not be added.
  it("merges nothing but the shards of one comparison, each once", function()
    local function shard(name, ...)
      local code, out, err = shared.run({ "compare", ... })
      assert.are.equal(0, code, err)
      return write(name, out)
    end
    local one = shard("one", TRACE, SMALL, "-p", MASK, "-w", "4000", "--shard", "1/2")
    local two = shard("two", TRACE, SMALL, "-p", MASK, "-w", "4000", "--shard", "2/2")
    local wide = shard("wide", TRACE, SMALL, "-p", MASK, "-w", "8000", "--shard", "2/2")
    local function second(name, ...)
      return shard(name, TRACE, SMALL, "-w", "4000", "--shard", "2/2", ...)
    end
    local text = second("text", "-p", MASK, "-f", "text")
    local more = second("more", "-p", MASK, write("third.jsonl", shared.read(SMALL)))
    local full = second("full", "-p", "full")
    local both = second("both", "-p", MASK, "-p", "full")
    local swept = second("swept", "-p", MASK, "--sweep", "keep=2")
    local f = assert(io.open(two))
    local lines = f:read("a")
    f:close()
    local changed = write("changed", (lines:gsub('("policy_sha256":")%x%x', "%1zz")))
    for given, why in pairs({
      [{ one, wide }] = "one was made with %-%-window 4000, .*wide with 8000; merge the shards of",
      [{ one, text }] = "made with %-%-format none, .*text with text",
      [{ one, more }] = "is shard 1/2 of 2 files, .*more is 2/2 of 3",
      [{ one, full }] = "under full where .* under mask; merge shards of the same policies",
      [{ one, both }] = "has 5 rows, .* has 4; merge shards of the same policies",
      [{ one, swept }] = "under mask keep=2 where",
      [{ one, changed }] = "policy mask was another for .*; run its shards with the same file",
      [{ one, one }] = "are both shard 1/2; give each shard once",
      [{ one }] = "shard 2/2 is missing; give the outputs of all 2",
      [{ one, two, "-w", "5000" }] = "%-%-window 5000: the shards were made with 4000",
      [{ one, two, "-p", "tide" }] = "%-p: the shards have settled it",
      [{ TRACE }] = "is no output of neap compare %-%-shard",
      [{ write("odd", '{"shard":[1,1],"files":1,"options":{"window":"x"}}\n') }] = "is no output",
    }) do
      local code, out, err = shared.run({ "compare", "--merge", table.unpack(given) })
      assert.are.equal(2, code, why)
      assert.are.equal("", out)
      assert.matches(why, err)
      assert.matches("^neap: [^\n]+\n$", err)
    end
  end)

  it("tells policies of one name apart by what was given", function()
    local text = "return { api = 1, name = '%s', options = { a = 1 } }"
    local one, two = write("one.lua", text:format("tide")), write("two.lua", text:format("random"))
    local three = write("three.lua", text:format("mine"))
    local tail = { "-p", one, "-p", two, "-p", three, "-w", "4000", "--json" }
    local code, out, err = shared.run({ "compare", TRACE, "-p", "tide", table.unpack(tail) })
    assert.are.equal(0, code, err)
    local list, names = rows(out), {}
    for i = 1, #list do
      names[i] = list[i].policy
    end
    local expected = { "tide", one, two, "mine", "full", "random", "oracle" }
    assert.are.same(table.move(expected, 1, 7, 8, { table.unpack(expected) }), names)
    local swept = { "compare", TRACE, SMALL, "-j", "2", "--sweep", "a=1,2", table.unpack(tail) }
    code, out, err = shared.run(swept)
    assert.are.equal(0, code, err)
    assert.truthy(out:find('"policy":"mine a=2"', 1, true))
    assert.truthy(out:find('"policy":"' .. two .. ' a=1"', 1, true))
  end)

  it("counts one turn as one", function()
    local path = write("single.jsonl", '{"role":"user","content":"hi"}\n'
      .. '{"role":"assistant","content":"ho"}\n')
    local _, out = shared.run({ "compare", path, "-p", MASK })
    assert.truthy(out:find("1 recording, 1 turn, window", 1, true))
  end)

  it("has no row twice", function()
    for given, why in pairs({
      [{ "-p", MASK }] = "is given twice",
      [{ "--sweep", "keep=1,2,1" }] = "keep=1,2,1: 1 stands there twice",
      [{ "--sweep", "keep=1,2,1.0" }] = "keep=1,2,1.0: 1.0 stands there twice",
    }) do
      local code, out, err = shared.run(with(table.unpack(given)))
      assert.are.equal(2, code)
      assert.are.equal("", out)
      assert.truthy(err:find(why, 1, true), err)
    end
  end)

  it("reports the failure of a shard", function()
    local code, out, err = shared.run(with("none.jsonl", "-j2"))
    assert.are.equal(2, code)
    assert.are.equal("", out)
    assert.truthy(err:find("none.jsonl: No such file", 1, true))
  end)
end)
