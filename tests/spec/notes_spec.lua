-- Structured notes: changes that a model writes are checked by code and merged by code; what fails
-- changes nothing and the next rung is taken. next: notes_session_spec.lua
local core = require("neap.core")
local delta = require("neap.summary.delta")
local desk = require("neap.summary.desk")
local disguise = require("neap.summary.disguise")
local notes = require("neap.summary.notes")
local verify = require("neap.summary.verify")

local SEED = tonumber(os.getenv("NEAP_SEED") or "") or 7

-- ---- by hand --------------------------------------------------------------------------------

local function part(kind, step, text)
  return { kind = kind, step = step, text = text }
end

local function span_of(parts)
  local span = { text = "", parts = parts, steps = {}, acted = {} }
  for _, one in ipairs(parts) do
    span.steps[one.step] = true
    if one.kind == "result" then span.acted[one.step] = true end
    span.text = span.text .. one.text .. "\n"
  end
  return span
end

local PARTS = {
  part("thought", 3, "I suspect port 5432 and the lock_table."),
  part("call", 3, '{"action": "read", "args": {"path": "core/pump.c"}}'),
  part("result", 3, "#define MAX_FLOW 4711 and 1,000 of 500.00 at 12:30, -5 or 5%, src/valve.c:88"),
  part("user", 3, "Keep max_price <= 500 for ORD-00981. Never delete the branch."),
  part("call", 4, '{"action": "bash", "args": {"command": "make test"}}'),
  part("result", 4, "all 212 tests pass; Alice merged it about 30 minutes ago"),
  part("thought", 5, "So it goes."),
}

local EARLIER = notes.parse(table.concat({
  "- [F1 step 1] the pump is in core/pump.c",
  "- [O1 step 2] run the tests",
  "- [C1 step 1] Never touch main.c",
  "- [F2 step 2; refuted 2] it is the valve → the log was old",
}, "\n"))

local function faults_of(text)
  local changes, wrong = delta.parse(text)
  assert.same({}, wrong)
  return verify.changes(changes, verify.grounds(span_of(PARTS), EARLIER))
end

local function code_of(text)
  local faults = faults_of(text)
  return faults[1] and faults[1].code or "fine"
end

describe("what is taken", function()
  it("has every value as the steps have it, or not at all (T6, S2.19)", function()
    local cases = {
      { "ADD facts 3: MAX_FLOW is 4711 in core/pump.c", "fine" },
      { "ADD facts 3: pump.c defines MAX_FLOW", "fine" },
      { "ADD facts 3: MAX_FLOW is 000", "invented" }, -- of 1,000
      { "ADD facts 3: MAX_FLOW is not 1,000", "fine" },
      { "ADD facts 3: src/valve.c:88 and valve.c line 88", "fine" },
      { "ADD facts 3: it needs 1,000", "fine" },
      { "ADD facts 3: it needs 1000", "invented" },
      { "ADD facts 3: it needs 1 of them", "invented" },
      { "ADD facts 3: 500.00 is the price", "fine" },
      { "ADD facts 3: 500.0 is the price", "invented" },
      { "ADD facts 3: at 12:30", "fine" },
      { "ADD facts 3: at 12", "invented" },
      { "ADD facts 3: it is -5", "fine" },
      { "ADD facts 3: it is 5", "invented" },
      { "ADD facts 3: it is 5%", "fine" },
      { "ADD facts 3: MAX_FLOWS is 4711", "invented" },
      { "ADD facts 3: MAX_FLOW is 4711k", "invented" },
      { "ADD facts 3: src/pump.c has it", "invented" },
      { "ADD facts 3: MAX_FLOW is five hundred", "invented" },
      { "ADD facts 3: MAX_FLOW 为五百", "invented" },
      { "ADD facts 3: MAX_FLOW ４７１１", "invented" },
      { "ADD facts 3: about 500.00 for MAX_FLOW", "rounded" },
      { "ADD facts 3: MAX_FLOW ~4711", "rounded" },
      { "ADD facts 4: merged about 30 minutes ago", "fine" },
      { "ADD facts 4: merged by Alice", "fine" },
      { "ADD facts 4: merged by Carol", "invented" },
      { "ADD facts 4: in step 3 and 4 all 212 pass", "invented" },
      { "ADD facts 4: after step 3 all 212 pass", "fine" },
      { "ADD findings 3: 已经检查过了", "language" },
    }
    for _, case in ipairs(cases) do
      assert.equal(case[2], code_of(case[1]), case[1])
    end
  end)

  it("has no value in another form: digits and letters that pass for others (T6)", function()
    local invented = {
      "MAX_FLOW takes fifty", "it has twelve of them", "MAX_FLOW 百分之五", "壹佰 of MAX_FLOW",
      "1\u{200b}2 of them", "30\u{ad}3", "MAX\u{2060}_FLOW", "−88 is it", "88‰", "88½", "88²",
      "٤٧ of them", "४७", "\u{1D7D3}\u{1D7D2}", "Ⅻ of them", "⑫", "５００", "88\u{202e}3",
      "core/\u{440}ump.c has it", "с\u{43e}re/pump.c", "MAX\u{ff3f}FLOW", "ORD\u{2011}00981",
      "../core/pump.c", "~/core/pump.c", "core\\pump.c", "core/pump has it",
      "500.00 EUR", "$500.00",
      "MAX_FLOW or so: 4711 or so", "some 4711",
    }
    for _, text in ipairs(invented) do
      local code = code_of("ADD findings 3: " .. text)
      assert.is_true(code == "invented" or code == "rounded" or code == "language", text)
    end
  end)

  it("may be in any language, with signs and pictures, and repeat what the steps have", function()
    local seen = "Größe 5² of café-3, −7 °C, core/\u{440}ump.c; old-pump.c and a.org.uk; 30 €"
    local parts = { part("result", 3, seen) }
    local grounds = verify.grounds(span_of(parts), notes.new())
    local function code(text)
      local fault = verify.changes(delta.parse("ADD facts 3: " .. text), grounds)[1]
      return fault and fault.code or "fine"
    end
    for _, text in ipairs({
      "die Größe ist 5²", "in café-3", "−7 °C", "core/\u{440}ump.c", "ein gerät läuft über nacht",
      "насос работает", "η αντλία", "✅ done – “so” it is… → next", "⚠\u{fe0f} it is", "30 €",
      "old-pump.c is a file",
    }) do
      assert.equal("fine", code(text), text)
    end
    for _, text in ipairs({ "7 °C", "pump.c is it", "a.org is it", "core/pump.c", "$30" }) do
      assert.equal("invented", code(text), text)
    end
  end)

  it("knows each character as one kind", function()
    for _, ranges in ipairs(disguise.RANGES) do
      for i, one in ipairs(ranges) do
        assert.is_true(one[1] <= one[2])
        assert.is_true(i == 1 or ranges[i - 1][2] < one[1], ("%X"):format(one[1]))
      end
    end
  end)

  it("cites a step of the span, which holds what the line names (S0.17)", function()
    assert.equal("step", code_of("ADD facts 9: MAX_FLOW is 4711"))
    assert.equal("step", code_of("ADD facts 4: MAX_FLOW is 4711"))
    assert.equal("step", code_of("ADD facts 2: MAX_FLOW is 4711"))
  end)

  it("is a fact only where a result has shown it (S0.18, S0.21)", function()
    local function sections(text)
      local changes = delta.parse(text)
      local faults = verify.changes(changes, verify.grounds(span_of(PARTS), EARLIER))
      return faults[1] and faults[1].code or changes[1].section
    end
    assert.equal("facts", sections("ADD facts 3: MAX_FLOW is 4711"))
    assert.equal("findings", sections("ADD facts 3: the port is 5432"))
    assert.equal("findings", sections("ADD facts 3: 4711 of MAX_FLOW, and port 5432"))
    assert.equal("invented", sections("ADD facts 3: the port is 5432 or 5433"))
    assert.equal("open", sections("ADD open 3: is port 5432 the cause?"))
    assert.equal("unobserved", code_of("SUPERSEDE F1 3: the pump is behind lock_table"))
  end)

  it("makes no fact of what was suspected and noted (S0.18, S0.21)", function()
    local earlier = notes.parse(table.concat({
      "- [O1 step 1] is port 9999 the cause?",
      "- [N1 step 1] port 9998",
      "- [D1 step 1] take port 9997",
      "- [F1 step 1] port 9996",
      "- [F2 step 1; refuted 2] port 9995 → no",
      "- [C1 step 1] Never port 9994.",
    }, "\n"))
    local parts = {
      part("text", 3, "So it is port 9999, not 9998, 9997, 9996, 9995 or 9994."),
      part("state", 3, 'State changed to version 2 (by model, step 3: "port 9993")'),
      part("result", 3, "done"),
    }
    local grounds = verify.grounds(span_of(parts), earlier)
    for port = 9993, 9999 do
      local changes = delta.parse(("ADD facts 3: it is port %d"):format(port))
      assert.same({}, verify.changes(changes, grounds))
      local is_fact = port == 9996 or port == 9994
      assert.equal(is_fact and "facts" or "findings", changes[1].section, port)
    end
  end)

  it("may be put in words that are not those of the steps", function()
    local seen = "2024-03-22T02:00:07 [INFO] started; lines 298, 299 and 306 bad; three of 12.5%;\n"
      .. "document.body.classList.add('x'); balance $1,234.56; fee 30 €; 127.0.0.1:8080; 47万 行"
    local grounds = verify.grounds(span_of({ part("result", 3, seen) }), notes.new())
    local function code(text)
      local fault = verify.changes(delta.parse("ADD facts 3: " .. text), grounds)[1]
      return fault and fault.code or "fine"
    end
    for _, text in ipairs({
      "it began at 02:00:07 on 2024-03-22", "lines 298-306 are bad", "Three of 12.5%",
      "an off-by-one error, pre-existing and user-facing", "document.body.classList gets x",
      "the balance is $1,234.56, the fee €30", "host 127.0.0.1, port 8080", "47万 行",
      "double-check the fee, 30 €", "the 298th line <b>is</b> bad",
    }) do
      assert.equal("fine", code(text), text)
    end
    for _, text in ipairs({
      "it began at 00:07", "lines 306-298", "12.5 of it", "use left-pad", "document.body is it",
      "a balance of 234.56", "a balance of €1,234.56", "a fee of $30", "47 行", "298万 行",
      "298 万", "half of 298", "twice 298",
    }) do
      assert.equal("invented", code(text), text)
    end
  end)

  it("leaves goal and constraints to the user (S1.17, S3.9, T7)", function()
    assert.equal("user", code_of("ADD constraints 3: delete the branch"))
    assert.equal("user", code_of("ADD goal 3: all tests pass"))
    assert.equal("fine", code_of("ADD constraints 3: Keep max_price <= 500 for ORD-00981."))
    assert.equal("user", code_of("REFUTE C1 4: all pass"))
    assert.equal("user", code_of("SUPERSEDE C1 4: touch main.c"))
    assert.equal("user", code_of("DONE C1 4: all pass"))
  end)

  it("names keys that are there, once, and evidence for what is done", function()
    assert.equal("key", code_of("REFUTE F9 3: no"))
    assert.equal("key", code_of("REFUTE F2 3: no"))
    assert.equal("key", code_of("REFUTE F1 3: no\nSUPERSEDE F1 3: yes"))
    assert.equal("key", code_of("DONE F1 4: all pass"))
    assert.equal("fine", code_of("DONE O1 4: all 212 tests pass"))
    assert.equal("evidence", code_of("DONE O1 5: it goes"))
    assert.equal("step", code_of("REFUTE F1 1: no"))
    assert.equal("form", select(2, delta.parse("REFUTE F1 3:"))[1].code)
    assert.equal("form", select(2, delta.parse("ADD facts 3.5: no"))[1].code)
  end)

  it("says something of what was shown, and not too much", function()
    assert.equal("sections", code_of("NONE"))
    assert.equal("size", code_of("ADD findings 3: " .. ("so "):rep(300)))
  end)
end)

describe("changes", function()
  it("are read in the ways that models write them", function()
    local forms = {
      "ADD facts 12: x is y",
      "add Facts step 12: x is y",
      "- ADD facts [step 12]: x is y",
      "* ADD facts [step 12] x is y",
      "3. ADD facts 12 - x is y",
      "`ADD facts 12: x is y`",
      "ADD [facts] 12： x is y",
      "新增 事实 12：x is y",
      "ADD fact 12: x is y\r",
    }
    for _, form in ipairs(forms) do
      local changes, faults = delta.parse("Here you are:\n```\n" .. form .. "\n```\nDone.\n")
      assert.same({}, faults, form)
      assert.equal(1, #changes, form)
      local want = { verb = "add", section = "facts", step = 12, text = "x is y", line = 3 }
      assert.same(want, changes[1], form)
    end
    local changes = delta.parse("REFUTE F3 7: no | it\nDONE o2 8\nADD decisions 4: a | b")
    assert.same({ verb = "refute", key = "F3", step = 7, why = "no | it", line = 1 }, changes[1])
    assert.same({ verb = "done", key = "O2", step = 8, line = 2 }, changes[2])
    assert.equal("a", changes[3].text)
    assert.equal("b", changes[3].why)
  end)

  it("are none where nothing can be read as one (T5)", function()
    for _, odd in ipairs({ "", "All is well.", "## Confirmed facts\n- x", "\0\0", "NONEsuch" }) do
      local changes, faults = delta.parse(odd)
      assert.same({}, changes)
      assert.equal("form", faults[1].code)
    end
    assert.equal("utf8", select(2, delta.parse("ADD facts 3: \xFF"))[1].code)
    assert.equal("size", select(2, delta.parse(("x"):rep(10000000)))[1].code)
    assert.equal("form", select(2, delta.parse("ADD facts three: x"))[1].code)
    assert.equal("form", select(2, delta.parse("ADD rumours 3: x"))[1].code)
    assert.equal("size", select(2, delta.parse(("ADD facts 3: x\n"):rep(201)))[1].code)
    assert.same({}, select(2, delta.parse("NONE")))
  end)
end)

describe("odd text", function()
  it("is read in time that grows with its length: no pattern is given long lines", function()
    local odd = {
      "x" .. (" "):rep(60000) .. "|",
      "ADD facts 3: a" .. (" "):rep(65000) .. "b",
      "ADD " .. (","):rep(65000),
      "ADD facts " .. (" "):rep(65000) .. "x",
      ("ADD "):rep(16000),
      "ADD facts 3: " .. ("a | "):rep(16000),
    }
    for _, text in ipairs(odd) do
      local changes = delta.parse(text)
      assert.same({}, changes)
    end
    local spaces = notes.tidy("x" .. (" "):rep(1000000) .. "y")
    assert.equal(1000002, #spaces)
  end)

  it("of a user is kept in pieces that lose no byte but spaces", function()
    local spans = require("neap.summary.span")
    for _, text in ipairs({
      ("a1 must "):rep(3000),
      ("x"):rep(3000) .. "1",
      ("必须一1"):rep(900),
      (" "):rep(2000) .. "never",
    }) do
      local list = spans.sentences({ kind = "user", step = 1, text = text })
      for _, piece in ipairs(list) do
        assert.truthy(#piece <= spans.LINE and utf8.len(piece))
      end
      assert.equal((text:gsub("%s", "")), (table.concat(list):gsub("%s", "")))
    end
  end)
end)

describe("merging", function()
  it("keeps what is overturned as a field, with step and reason (S0.16, S0.19, S2.18)", function()
    local all = notes.apply(EARLIER, (delta.parse([[
ADD facts 3: MAX_FLOW is 4711
SUPERSEDE F1 4: the pump is in core/pump2.c
DONE O1 4: all pass
ADD decisions 4: read the cache | it is fast]])))
    local text = notes.render(all, "en")
    for _, line in ipairs({
      "## Confirmed facts\n- [F1 v2 step 4] the pump is in core/pump2.c\n- [F3 step 3] MAX_FLOW",
      "## Refuted\n- [F2 step 2; refuted 2] it is the valve → the log was old\n"
        .. "- [R1 step 1; refuted 4] the pump is in core/pump.c → F1",
      "## Done\n- [O1 step 2; done 4] run the tests → all pass",
      "## Decisions\n- [D1 step 4] read the cache → it is fast",
    }) do
      assert.truthy(text:find(line, 1, true), text)
    end
    local refuted = notes.find(all, "F2")
    assert.equal(2, refuted.refuted)
    assert.equal("facts", refuted.section)
  end)

  -- random notes, of odd text
  local function random_changes(n, keys)
    local verbs, out, used = { "add", "add", "supersede", "refute", "done" }, {}, {}
    local sections = { "facts", "open", "progress", "decisions", "handles" }
    local words = { "a → b", "[F1 step 2]", "## Done", "x", "(3 older)", "约 500", "- y", "|" }
    for i = 1, n do
      local verb = verbs[math.random(#verbs)]
      local key = keys[math.random(math.max(#keys, 1))]
      if not key or used[key] then verb = "add" end
      local text = notes.tidy(words[math.random(#words)] .. " " .. math.random(9) .. "\n")
      local change = { verb = verb, step = 10 + i, text = text, why = "w" }
      if verb == "add" then change.section = sections[math.random(#sections)] end
      if verb ~= "add" then
        used[key], change.key = true, key
      end
      out[i] = change
    end
    return out
  end

  it("is idempotent, deterministic, and reads back what it renders", function()
    math.randomseed(SEED)
    for round = 1, 300 do
      local all = notes.new()
      for _ = 1, 4 do
        local keys = {}
        for _, item in ipairs(all.items) do
          if not item.refuted then keys[#keys + 1] = item.key end
        end
        local changes = random_changes(6, keys)
        local before = core.json.encode(all)
        local once = notes.apply(all, changes)
        assert.equal(before, core.json.encode(all))
        assert.same(once, notes.apply(all, changes))
        assert.same(once, notes.apply(once, changes), "round " .. round .. " seed " .. SEED)
        for _, language in ipairs({ "en", "zh" }) do
          local back = notes.parse(notes.render(once, language))
          table.sort(back.items, function(a, b)
            return a.key < b.key
          end)
          local sorted = notes.copy(once)
          table.sort(sorted.items, function(a, b)
            return a.key < b.key
          end)
          assert.same(sorted, back)
        end
        all = once
      end
    end
  end)

  it("leaves out the oldest that can be spared, never what binds, and says how many", function()
    local changes = { { verb = "add", section = "constraints", step = 1, text = "Never go." } }
    for i = 1, 40 do
      table.insert(changes, { verb = "add", section = "facts", step = i, text = "fact " .. i })
    end
    local all = notes.apply(notes.new(), changes)
    local fitted, text = notes.fit(all, "en", 300, function(t)
      return #t // 3
    end)
    assert.truthy(#text // 3 <= 300)
    assert.truthy(text:find("Never go.", 1, true) and text:find("fact 40", 1, true))
    assert.falsy(text:find("fact 1\n", 1, true))
    assert.equal(41 - #fitted.items, fitted.left_out)
    assert.same(fitted.left_out, notes.parse(text).left_out)
    assert.is_nil(notes.fit(all, "en", 5, function(t)
      return #t // 3
    end))
  end)
end)

describe("an ask whose data is hostile", function()
  local function ask_of(text, earlier)
    local parts = { { kind = "result", step = 1, from = #"[step 1]\nX", to = #text } }
    local ask = { id = 1, kind = "summary", text = text, notes = earlier, parts = parts }
    ask.max_tokens = 500
    return ask
  end
  local session = {
    count = function(_, text)
      return #text // 3
    end,
    ask_faults = function() end,
  }

  it("makes no note of what a note says of steps", function()
    local earlier = "## Confirmed facts\n- [F1 step 1] see [step 99] for the key\n## Key handles\n"
      .. "- [H1 step 1] a.c: read [step 98]\n## Files touched\n- b.c: read [step 1]\n"
      .. "- c [step 97] d"
    local text = "[step 2]\nObservation: nothing of note\n" .. ("all is as before\n"):rep(80)
    local ask = ask_of(text, earlier)
    ask.parts[1].step = 2
    local items = notes.parse((desk.new(session, "en"):answer(ask))).items
    local found = {}
    for _, item in ipairs(items) do
      assert.is_true(item.step < 3, item.text)
      found[item.text] = item.step
    end
    assert.equal(1, found["b.c: read"])
    assert.equal(1, found["see [step 99] for the key"])
    assert.is_nil(found["c d"])
  end)

  it("finds a tag that the data does not hold, in linear time", function()
    local many = { "data data1 data23" }
    for i = 9000, 1, -1 do
      many[#many + 1] = "</data" .. i .. ">"
    end
    local text = "[step 1]\nObservation: " .. table.concat(many, " ")
    local finds, find = 0, string.find
    string.find = function(...) -- luacheck: ignore
      finds = finds + 1
      return find(...)
    end
    local prompt = desk.new(session, "en"):prepare(ask_of(text, "")).prompt
    string.find = find -- luacheck: ignore
    local tag = prompt:match("<(data%d*) kind=")
    assert.is_nil(text:find(tag, 1, true))
    assert.is_true(finds < 60000, finds)
  end)
end)
