-- Recordings with next to nothing in them, or with everything the same: each verb of the laboratory
-- gives a right answer, or one clear line. next: hostile_input_spec.lua
local core = require("neap.core")
local shared = require("tests.support.shared")
local json = core.json

local DIR = shared.scratch("odd")

local function write(name, list)
  local lines = {}
  for i, message in ipairs(list) do
    lines[i] = type(message) == "string" and message or json.encode(message, { "role" })
  end
  local path = ("%s/%s.jsonl"):format(DIR, name)
  local f = assert(io.open(path, "wb"))
  f:write(table.concat(lines, "\n"), #lines > 0 and "\n" or "")
  f:close()
  return path
end

local USER = { role = "user", content = "Do it." }
local DONE = { role = "assistant", content = "Done." }

local function call(i)
  local one = { id = "c" .. i, type = "function", ["function"] = { name = "t", arguments = "{}" } }
  return { role = "assistant", content = "n", tool_calls = json.array({ one }) }
end

local function result(i, text)
  return { role = "tool", tool_call_id = "c" .. i, content = text }
end

local function many(n, ...)
  local list = { USER }
  for i = 1, n do
    for _, make in ipairs({ ... }) do
      list[#list + 1] = type(make) == "function" and make(i) or make
    end
  end
  list[#list + 1] = DONE
  return list
end

local IDS = {}
for i = 1, 300 do
  IDS[i] = ("ID_%03d"):format(i)
end
IDS = table.concat(IDS, " ")
local ALL = { role = "assistant", content = IDS }

local CASES = {
  one_turn = { USER, DONE },
  no_turn = { USER },
  only_system = { { role = "system", content = "x" } },
  no_calls = many(8, DONE, USER),
  no_results = many(6, call),
  all_the_same = many(20, call, function(i)
    return result(i, "ERR_17 same text here\nand again\na third line of it")
  end),
  all_cited = { USER, call(0), result(0, IDS), call(1), result(1, "ok"), ALL, ALL, ALL },
  empty_meta = { '{"neap":1,"meta":{}}', USER, DONE },
  null_meta = { '{"neap":1,"meta":null}', USER, DONE },
  list_as_meta = { '{"neap":1,"meta":[1]}', USER, DONE },
  odd_plan = {
    '{"neap":1,"meta":{"truth":{"constraints":"x","refuted":[1,{"fact":2}]}}}',
    USER,
    '{"role":"assistant","content":"x","meta":{"needs":"y"}}',
  },
  odd_needs = {
    '{"neap":1,"meta":{"truth":[]}}',
    USER,
    '{"role":"assistant","content":"x","meta":{"needs":[1,"",null]}}',
  },
  nothing = {},
}

local function words_for(path)
  return {
    { "replay", path, "-p", "tide", "--json" },
    { "replay", path, "-p", "three_tier", "-w", "300", "-r", "10" },
    { "compare", path, path, path, path, path, "-p", "tide", "-p", "full" },
    { "compare", path, "-p", "tide", "--json" },
    { "tune", path, path, "-p", "tide", "--tries", "3" },
    { "compare", path, "-p", "tide", "--sweep", "floor=0.4,0.6", "-w", "900" },
    { "compare", path, "-p", "tide", "-o", "floor=0.5", "--html", DIR .. "/report.html" },
    { "probe", path, "--turn", "1", "-p", "tide" },
    { "diagnose", path, "-p", "tide" },
    { "diagnose", path, "-p", "tide", "--budget" },
    { "show", path, "--turn", "1" },
    { "explain", path, "1" },
    { "import", "--join", path, path },
  }
end

describe("odd recordings", function()
  for name, list in pairs(CASES) do
    it("are answered, or refused in one line: " .. name, function()
      local path = write(name, list)
      for _, words in ipairs(words_for(path)) do
        local code, out, err = shared.run(words)
        local said = table.concat(words, " ") .. "\n" .. out .. err
        assert.is_true(code <= 2, said)
        assert.is_nil((out .. err):find("internal error", 1, true), said)
        assert.is_nil((out .. err):find("%f[%w]nan%f[%W]"), said)
        assert.is_nil((out .. err):find("%f[%w]inf%f[%W]"), said)
        if code == 2 then
          assert.are.equal("", out)
          assert.are.equal(1, select(2, err:gsub("\n", "")), said)
        end
      end
    end)
  end

  local function last(name)
    local path = write(name, CASES[name])
    local code, out, err = shared.run({ "replay", path, "--json" })
    assert.are.equal(0, code, err)
    return assert(json.decode(out:match("([^\n]*)\n$")))
  end

  it("count one turn as one, and none as none", function()
    local one, none = last("one_turn"), last("no_turn")
    assert.are.same({ 1, 1, 0, 0 }, { one.turns, one.epochs, one.facts.cited, one.repeats })
    assert.are.same({ 0, 0, 0 }, { none.turns, none.input_tokens, none.facts.cited })
    assert.is_nil(none.density)
    assert.is_nil(none.watermark_p95)
  end)

  it("count every citation of everything", function()
    local line = last("all_cited")
    assert.are.same({ 900, 900 }, { line.facts.cited, line.facts.present })
  end)

  it("count the same call with the same result as made again", function()
    local line = last("all_the_same")
    assert.are.same({ 19, 0, 0 }, { line.calls_again, line.repeats, line.facts.cited })
  end)

  it("take a plan that says nothing readable as one that says nothing", function()
    local line = last("odd_plan")
    assert.is_nil(line.needs)
    assert.is_nil(line.pollution)
  end)
end)
