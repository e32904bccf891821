-- neap replay, show, explain, check on recordings made here: shapes of their lines, sums that add
-- up, exit codes, the same output on every run. next: cli_compare_spec.lua
local core = require("neap.core")
local recordings = require("tests.support.recordings")
local shared = require("tests.support.shared")
local json = core.json
local recording, rows = recordings.recording, recordings.rows

local DIR = shared.scratch("cli_replay")
local write = recordings.writer(DIR)
local TRACE = write("trace.jsonl", recording(20, 40))
local SMALL = write("small.jsonl", recording(3, 5))
local MASK = write("mask.lua", recordings.MASK)
local THROWS = write("throws.lua", recordings.THROWS)

local function keys(row)
  local list = {}
  for name in pairs(row) do
    list[#list + 1] = name
  end
  table.sort(list)
  return list
end

-- A recording in which the model has asked for what was gone, twice.
local function dangling()
  local lines = { '{"role":"user","content":"Look again."}' }
  local told = { "Gone: entry 4 was purged by its owner.", "Not read: no store.", "Gone" }
  for i, text in ipairs(told) do
    local f = { name = i == 3 and "other" or "neap_read", arguments = '{"id":"4"}' }
    local call = { id = "c" .. i, type = "function", ["function"] = f }
    local asks = { role = "assistant", content = "Next.", tool_calls = json.array({ call }) }
    lines[#lines + 1] = json.encode(asks, { "role" })
    local result = { role = "tool", tool_call_id = "c" .. i, content = text }
    lines[#lines + 1] = json.encode(result, { "role" })
  end
  lines[#lines + 1] = '{"role":"assistant","content":"Done."}'
  return table.concat(lines, "\n") .. "\n"
end

describe("readings of what was gone", function()
  local trace = write("dangling.jsonl", dangling())

  it("are counted in each turn's line and the trace's", function()
    local code, out, err = shared.run({ "replay", trace, "-p", MASK, "--json" })
    assert.are.equal(0, code, err)
    local list = rows(out)
    local counts = {}
    for i, row in ipairs(list) do
      counts[i] = row.dangling or "none"
    end
    assert.are.same({ "none", 1, 2, 2, 2 }, counts)
    local _, none = shared.run({ "replay", SMALL, "-p", MASK, "--json" })
    assert.is_nil(none:find("dangling", 1, true))
  end)

  it("stand in the head of neap show", function()
    local code, out = shared.run({ "show", trace, "--turn", "3", "-p", MASK })
    assert.are.equal(0, code)
    assert.truthy(out:find("\ndangling: 2 readings of what was gone\n\n", 1, true), out)
    local _, first = shared.run({ "show", trace, "--turn", "1", "-p", MASK })
    assert.is_nil(first:find("dangling", 1, true))
  end)
end)

describe("neap replay", function()
  it("prints a line for each turn and one for the trace", function()
    local code, out, err = shared.run({ "replay", TRACE, "-p", MASK, "--json" })
    assert.are.equal(0, code, err)
    assert.are.equal("", err)
    local list = rows(out)
    assert.are.equal(22, #list)
    for i = 1, 21 do
      local turn = list[i]
      local want = { "budget", "cached", "changed", "epoch", "exact", "regions", "step" }
      local more = { "billed_cached", "rungs", "tokens", "trace", "turn", "written" }
      table.move(more, 1, #more, #want + 1, want)
      table.sort(want)
      if turn.steps_left then
        table.move({ "growth", "steps_left" }, 1, 2, #want + 1, want)
        table.sort(want)
        assert.are.equal((turn.budget - turn.tokens) // turn.growth, turn.steps_left)
      end
      assert.are.same(want, keys(turn))
      assert.are.equal(i, turn.turn)
      assert.is_true(turn.exact)
      assert.are.equal(192000, turn.budget)
      local sum = 0
      for _, n in pairs(turn.regions) do
        sum = sum + n
      end
      assert.are.equal(turn.tokens, sum)
      local shown = 0
      for _, n in pairs(turn.rungs) do
        shown = shown + n
      end
      assert.is_true(shown > 0 and shown <= turn.tokens) -- the rest frames messages
      assert.is_true(i == 1 or shown >= turn.regions.hot * 9 // 10)
      assert.are.equal(i > 4, turn.rungs.masked ~= nil)
      assert.is_true(turn.cached <= turn.tokens)
    end
    local last = list[22]
    assert.are.equal("mask", last.policy)
    assert.are.equal(64, #last.policy_sha256)
    assert.are.equal(21, last.turns)
    assert.is_nil(last.pollution)
    assert.is_true(last.steps_left > 0)
    assert.are.equal(list[21].steps_left, last.steps_left)
    local facts = last.facts
    assert.are.equal(8, facts.cited)
    assert.are.equal(facts.cited, facts.present + facts.noted + facts.pointed + facts.gone)
    assert.are.equal(8, facts.by_distance["11-20"].cited)
    assert.are.equal(0, facts.present)
  end)

  it("names the line of the policy that changed an entry", function()
    local _, out = shared.run({ "replay", TRACE, "-p", MASK, "--json" })
    local change = rows(out)[5].changed[1]
    assert.are.equal("full", change.from)
    assert.are.equal("masked", change.to)
    assert.are.equal("old", change.why)
    assert.are.equal("mask.lua:6", change.by)
  end)

  it("writes the exact bodies, with the members of --body", function()
    local body = write("body.json", '{"model":"m-1","temperature":0.50}')
    local dir = DIR .. "/requests"
    local code, out =
      shared.run({ "replay", SMALL, "--json", "--requests", dir, "--body", body })
    assert.are.equal(0, code)
    local list = rows(out)
    for i = 1, 4 do
      local name = ("%04d.json"):format(i)
      assert.are.equal(name, list[i].request)
      local request = assert(shared.read(dir .. "/small/" .. name))
      assert.are.equal("m-1", assert(json.decode(request)).model)
      assert.truthy(request:find('"temperature":0.50', 1, true))
    end
    code = shared.run({ "replay", SMALL, "-f", "text", "--requests", dir })
    assert.are.equal(0, code)
    assert.is_table(core.stat(dir .. "/small/0001.txt"))
  end)

  it("does not write two recordings of one name over each other", function()
    assert(core.mkdir(DIR .. "/other"))
    local other = write("other/" .. SMALL:match("[^/]+$"), shared.read(SMALL))
    local code, _, err = shared.run({ "replay", SMALL, other, "--requests", DIR .. "/twice" })
    assert.are.equal(2, code)
    assert.truthy(err:find("a trace before it is named small too", 1, true))
  end)

  it("gives the same bodies for a foreign recording and its native form", function()
    local _, text = shared.run({ "import", "tests/cases/import/mini.traj.json" })
    local native = write("mini.traj.jsonl", text)
    for i, path in ipairs({ "tests/cases/import/mini.traj.json", native }) do
      local code, _, err = shared.run({ "replay", path, "--requests", DIR .. "/form" .. i })
      assert.are.equal(0, code, err)
    end
    local names = core.list(DIR .. "/form1/mini.traj")
    assert.are.equal(4, #names)
    for _, name in ipairs(names) do
      local a = shared.read(DIR .. "/form1/mini.traj/" .. name)
      assert.are.equal(a, shared.read(DIR .. "/form2/mini.traj/" .. name))
    end
  end)

  it("says of one turn that it does not fit", function()
    local text = '{"role":"system","content":"%s"}\n{"role":"user","content":"a"}\n'
      .. '{"role":"assistant","content":"b"}\n'
    local one = write("one.jsonl", text:format(("rule "):rep(300)))
    local code, _, err = shared.run({ "replay", one, "-w", "200", "-r", "20" })
    assert.are.equal(1, code)
    assert.truthy(err:find("1 turn did not fit its budget", 1, true), err)
  end)

  it("counts turns that cannot fit, sends nothing for them, and exits 1", function()
    local big = write("big.jsonl", recording(2, 5):gsub("Be brief%.", ("rule "):rep(300)), nil)
    local dir = DIR .. "/overflow"
    local code, out, err =
      shared.run({ "replay", big, "-w", "200", "-r", "20", "--json", "--requests", dir })
    assert.are.equal(1, code)
    assert.truthy(err:find("3 turns did not fit", 1, true))
    local list = rows(out)
    assert.are.equal(3, list[4].overflow)
    assert.are.equal(0, list[4].input_tokens)
    for i = 1, 3 do
      assert.is_true(list[i].overflow.short > 0)
      assert.is_nil(list[i].request)
      assert.is_nil(list[i].cached)
    end
    assert.are.same({}, core.list(dir .. "/big"))
  end)

  it("counts as gone what a turn that was not sent would have shown", function()
    local code, out = shared.run({ "replay", TRACE, "-w", "60", "-r", "1", "--json" })
    assert.are.equal(1, code)
    local last = rows(out)[22]
    assert.are.equal(20, last.overflow)
    assert.are.equal(8, last.facts.cited)
    assert.are.equal(8, last.facts.gone)
    assert.are.equal(8, last.facts.by_distance["11-20"].gone)
    assert.are.equal(0, last.words.present)
  end)

  it("passes options by their type, and refuses those that do not exist", function()
    local _, many = shared.run({ "replay", TRACE, "-p", MASK, "--json", "-o", "keep=15" })
    local _, few = shared.run({ "replay", TRACE, "-p", MASK, "--json" })
    assert.are.equal(8, rows(few)[22].facts.pointed)
    assert.are.equal(0, rows(many)[22].facts.pointed)
    for _, word in ipairs({ "keep=many", "keep=0", "kept=1" }) do
      local code, out, err = shared.run({ "replay", TRACE, "-p", MASK, "-o", word })
      assert.are.equal(2, code)
      assert.are.equal("", out)
      assert.truthy(err:find(word:match("^%a+"), 1, true), err)
    end
  end)

  it("says each hook error once and counts them all", function()
    local code, out, err = shared.run({ "replay", SMALL, "-p", THROWS, "--json" })
    assert.are.equal(0, code)
    assert.are.equal(1, select(2, err:gsub("\n", "")), err)
    assert.truthy(err:find("throws.lua:2", 1, true))
    assert.are.equal(4, rows(out)[5].hook_errors)
  end)

  it("prints a row per trace for people", function()
    local code, out = shared.run({ "replay", TRACE, SMALL, "-p", MASK })
    assert.are.equal(0, code)
    assert.truthy(out:find("\ntrace +%d+"))
    assert.truthy(out:find("\nsmall +4 "))
    assert.truthy(out:find("\nall 2 +25 "))
    assert.is_nil(out:find("overflow", 1, true))
    code, out = shared.run({ "replay", SMALL, "-p", THROWS })
    assert.are.equal(0, code)
    assert.truthy(out:find(" words  errors\n", 1, true), out)
  end)

  it("prints the same on every run", function()
    local _, one = shared.run({ "replay", TRACE, "-p", MASK, "-w", "4000", "--json" })
    local _, two = shared.run({ "replay", TRACE, "-p", MASK, "-w", "4000", "--json" })
    assert.are.equal(one, two)
  end)

  it("tells how many lines --lenient skipped", function()
    local path = write("half.jsonl", recording(3, 5) .. "{broken\n")
    local code, _, err = shared.run({ "replay", path })
    assert.are.equal(2, code)
    assert.truthy(err:find("half.jsonl:10: ", 1, true), err)
    code, _, err = shared.run({ "replay", path, "--lenient" })
    assert.are.equal(0, code)
    assert.truthy(err:find("half.jsonl: 1 line was skipped", 1, true), err)
  end)

  it("skips files that cannot be read with --lenient, one warning each", function()
    local bad, none = write("bad.jsonl", "{broken\n"), DIR .. "/none.jsonl"
    local code, out, err = shared.run({ "replay", bad, SMALL, none, "--lenient" })
    assert.are.equal(0, code)
    assert.truthy(out:find("\nsmall ", 1, true), out)
    assert.truthy(err:find("bad.jsonl", 1, true), err)
    assert.truthy(err:find("none.jsonl", 1, true), err)
    assert.are.equal(2, select(2, err:gsub("%(skipped%)\n", "")))
    code, out, err = shared.run({ "replay", bad, none, "--lenient" })
    assert.are.same({ 2, "" }, { code, out })
    assert.truthy(err:find("none of the recordings could be read", 1, true), err)
    assert.are.equal(2, (shared.run({ "replay", SMALL, none })))
  end)

  it("so does compare, in one process as in two, side chains or not", function()
    local bad = write("bad.jsonl", "{broken\n")
    local chains = "tests/cases/import/claude_conversation.jsonl"
    local words = { "compare", SMALL, bad, chains, "-p", "full", "--lenient", "--json" }
    local plain = {}
    for _, jobs in ipairs({ "1", "2" }) do
      local some = table.move({ "-j", jobs }, 1, 2, #words + 1, { table.unpack(words) })
      local code, out, err = shared.run(some)
      assert.are.equal(0, code, err)
      assert.truthy(err:find("bad.jsonl[^\n]*%(skipped%)\n"), err)
      some[#some + 1] = "--branches"
      local _, more = shared.run(some)
      plain[#plain + 1] = out
      plain[jobs] = more
    end
    assert.are.equal(plain[1], plain[2])
    assert.are.equal(plain["1"], plain["2"])
    assert.is_true(#plain["1"] > #plain[1])
    local code, out, err = shared.run({ "compare", bad, "-p", "full", "--lenient" })
    assert.are.same({ 2, "" }, { code, out })
    assert.truthy(err:find("none of the recordings could be read", 1, true), err)
    assert.are.equal(2, (shared.run({ "compare", SMALL, bad, "-p", "full" })))
  end)

  it("names the file of a policy that was given without its ending", function()
    local code, _, err = shared.run({ "replay", SMALL, "-p", DIR .. "/mask" })
    assert.are.equal(2, code)
    assert.truthy(err:find(("there is a file %s; give that"):format(MASK), 1, true), err)
  end)

  it("says what a text of no known form was taken for", function()
    local one = '{"type":"meta","payload":{"role":"user","content":"a"}}\n'
    local code, _, err = shared.run({ "replay", write("foreign.jsonl", one .. one) })
    assert.are.equal(2, code)
    assert.truthy(err:find("(taken for the form openai; neap import --list", 1, true), err)
  end)

  it("names file and line of a message that a session refuses", function()
    local bad = '{"role":"user","content":[{"type":"text","text":7}]}'
    local path = write("odd.jsonl", '{"role":"user","content":"a"}\n' .. bad .. "\n")
    local code, _, err = shared.run({ "replay", path })
    assert.are.equal(2, code)
    assert.truthy(err:find("odd.jsonl:2: ", 1, true))
  end)
end)

describe("neap show", function()
  it("prints each part with region, entry, rung and tokens", function()
    local code, out, err = shared.run({ "show", TRACE, "--turn", "6", "-p", MASK })
    assert.are.equal(0, code, err)
    assert.truthy(out:find("turn 6: ", 1, true))
    assert.truthy(out:find("; policy mask, window 200,000\n", 1, true))
    assert.truthy(out:find("\nhot +5  result +masked +%d+ of %d+  read\n"))
    assert.truthy(out:find("\ntask +2  user +full +%d+\n     │ Find the fault"))
  end)

  it("shows the parts that the account counts", function()
    local _, out = shared.run({ "show", TRACE, "--turn", "6", "-p", MASK, "--json" })
    local _, turns = shared.run({ "replay", TRACE, "-p", MASK, "--json" })
    local account = rows(turns)[6]
    local masked = 0
    for _, part in ipairs(rows(out)) do
      assert.is_string(part.text)
      if part.rung == "masked" then masked = masked + 1 end
    end
    assert.are.equal(2, masked)
    assert.is_true(account.regions.hot > 0)
  end)

  it("says when there is no such turn, or no prompt", function()
    local code, _, err = shared.run({ "show", SMALL, "--turn", "99" })
    assert.are.equal(2, code)
    assert.truthy(err:find("has 4 turns, there is no turn 99", 1, true))
    local none = write("none.jsonl", '{"role":"user","content":"Hello."}\n')
    code, _, err = shared.run({ "show", none, "--turn", "1" })
    assert.are.equal(2, code)
    assert.truthy(err:find("has no turn; one comes before each assistant message", 1, true))
    code, _, err = shared.run({ "show", SMALL, "--turn", "1", "-w", "20", "-r", "1" })
    assert.are.equal(1, code)
    assert.truthy(err:find("turn 1 does not fit", 1, true))
  end)
end)

describe("neap explain", function()
  it("tells an entry's life", function()
    local code, out, err = shared.run({ "explain", TRACE, "5", "-p", MASK })
    assert.are.equal(0, code, err)
    assert.truthy(out:find("entry 5: result of read src/f1.c, step 1", 1, true), out)
    assert.truthy(out:find("turn 2: first in a prompt", 1, true))
    assert.truthy(out:find("full → masked: old  mask.lua:6", 1, true))
    assert.truthy(out:find("step 13: entry %d+ cites ERR_1001"))
    assert.truthy(out:find("at the end: shown as masked", 1, true))
    assert.truthy(out:find("\npolicy mask, window 200,000\n", 1, true))
    local masked, cited = out:find("turn 5: full", 1, true), out:find("step 13: ", 1, true)
    assert.is_true(masked < cited, "in the order in which it happened")
    assert.truthy(out:find("cites ERR_1001 (this was masked)", 1, true))
  end)

  it("says which turns were not sent, and claims nothing of their prompts", function()
    local _, _, err = shared.run({ "explain", TRACE, "5", "-w", "60" })
    assert.truthy(err:find("turns did not fit and were not sent, the first is turn ", 1, true), err)
    local words = { "diff", TRACE, "--turn", "3", "--turn", "4", "-w", "60", "-p", MASK }
    local code, out, why = shared.run(words)
    assert.are.same({ 1, "" }, { code, out })
    assert.truthy(why:find("turn 3 does not fit under mask and was not sent", 1, true), why)
  end)

  it("names a window that is enough, the reserve that grows with it counted in", function()
    local _, _, err = shared.run({ "show", TRACE, "--turn", "4", "-w", "60" })
    local window = err:match("it would with a window of ([%d,]+)"):gsub(",", "")
    local code = shared.run({ "show", TRACE, "--turn", "4", "-w", window })
    assert.are.equal(0, code)
    code = shared.run({ "show", TRACE, "--turn", "4", "-w", tostring(tonumber(window) - 2) })
    assert.are.equal(1, code)
  end)

  it("finds the entries that hold words, shown or not", function()
    local code, out = shared.run({ "explain", TRACE, "ERR_1001", "-p", MASK })
    assert.are.equal(0, code)
    assert.truthy(out:find("\n +5 +1  result  read +%d+  masked +src/f1.c\n"), out)
    assert.truthy(out:find("\n +%d+ +13  text +%d+  full\n"), out)
    local err
    code, out, err = shared.run({ "explain", TRACE, "ERR_9", "-p", MASK })
    assert.are.same({ 1, "" }, { code, out })
    assert.truthy(err:find('no entry holds "ERR_9"', 1, true))
  end)

  it("knows what stands for an entry when its summary is in another, or dropped", function()
    local function policy(name, second)
      return write(name .. ".lua", ([[return { api = 1, name = "%s", compact = function(ctx)
        if ctx.step == 3 then
          ctx:fold(ctx:span { from = 1, before = 3 }, "The first summary.")
        elseif ctx.step == 6 then
          %s
        end
      end }]]):format(name, second))
    end
    local last = "for e in ctx:entries { kind = 'summary' } do %s end"
    for second, want in pairs({
      [""] = "not shown; the summary %d stands for it",
      [last:format("e:drop('old')")] = "not shown, nor is the summary %d that stood for it",
      ["ctx:fold(ctx:span { from = 1, before = 6, merge = true }, 'The second one.')"] =
        "not shown; the summary %d stands for it",
    }) do
      local words = { "explain", TRACE, "5", "-p", policy("folds", second) }
      local _, out = shared.run(words)
      local id = tonumber(out:match("summary (%d+)"))
      assert.truthy(id and out:find("at the end: " .. want:format(id) .. "\n", 1, true), out)
      words[3] = tostring(id)
      _, out = shared.run(words)
      local is_shown = want:find("stands", 1, true) ~= nil
      assert.are.equal(is_shown, out:find("at the end: shown in full", 1, true) ~= nil, out)
    end
  end)

  it("says of what has come after the last turn that it is in no prompt", function()
    local text = '{"role":"user","content":"Go on with main.c."}\n'
      .. '{"role":"assistant","content":"I go on with main.c."}\n'
    local path = write("last.jsonl", text)
    local _, out = shared.run({ "explain", path, "main.c" })
    assert.truthy(out:find("\n +1 +0  user +%d+  full\n"), out)
    assert.truthy(out:find("\n +2 +1  text +–  in no prompt yet\n"), out)
    _, out = shared.run({ "explain", path, "2" })
    assert.truthy(out:find("entry 2: text, step 1, region hot\n", 1, true), out)
    _, out = shared.run({ "explain", path, "main.c", "--json" })
    assert.are.equal(false, rows(out)[2].listed)
  end)

  it("says when there is no such entry", function()
    local code, _, err = shared.run({ "explain", SMALL, "999" })
    assert.are.equal(2, code)
    assert.truthy(err:find("has entries 1 to %d+, there is no 999"))
  end)
end)

describe("neap check", function()
  it("prints what a policy is and its options", function()
    local code, out, err = shared.run({ "check", MASK })
    assert.are.equal(0, code, err)
    assert.truthy(out:find("mask: Masks all but the newest.", 1, true))
    assert.truthy(out:find("keep  3  results shown", 1, true))
  end)

  it("exits 1 with the place of the fault", function()
    for text, want in pairs({
      ["return {"] = "bad.lua:1: ",
      ["return 7"] = "bad.lua",
      ['return { api = 1,\nassemble = function(ctx) ctx:entrys() end }'] = "bad.lua:2: ",
      ['return { api = 1,\nrank = function(ctx, e) return e.tokns end }'] = "bad.lua:2: ",
      ['return { api = 1,\nadmit = function(ctx, e) e:hide() end }'] = "bad.lua:2: ",
      ['return { api = 1, name = "x", assemble = 7 }'] = "assemble",
      ['return { api = 1, name = "x", selftest = function() return false end }'] = "selftest",
    }) do
      local code, _, err = shared.run({ "check", write("bad.lua", text) })
      assert.are.equal(1, code, text)
      assert.truthy(err:find(want, 1, true), err)
    end
  end)

  it("exits 1 when the example of the head comment fails", function()
    local text = "-- Wrong.\n--\n-- example: window=4000\n--   user 20 -> masked\n\n"
    local path = write("wrong.lua", text .. 'return { api = 1, name = "wrong" }\n')
    local code, _, err = shared.run({ "check", path })
    assert.are.equal(1, code)
    assert.truthy(err:find("wrong.lua:4", 1, true), err)
  end)
end)
