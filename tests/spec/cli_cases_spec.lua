-- neap check --cases: the shipped cases hold, a wrong one is named by its line, and a file that
-- cannot be read says where. next: cli_watch_spec.lua
local core = require("neap.core")
local shared = require("tests.support.shared")

local DIR = shared.scratch("cli_cases")
local HEAD = "trace examples/recordings/english.jsonl\npolicy tide window=16000\n"

local NINTH = HEAD:gsub("jsonl", "%0 session=9")

local function run(text, ...)
  local path = DIR .. "/x.cases"
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  local code, out, err = shared.run({ "check", "--cases", path, ... })
  return code, out, err, path
end

describe("neap check --cases", function()
  it("finds the shipped policies as their cases say", function()
    local code, out, err = shared.run({ "check", "--cases", "tests/cases/policies.cases" })
    assert.are.equal("", err)
    assert.are.equal(0, code)
    assert.matches("policies%.cases: %d+ cases, 0 failed\n$", out)
  end)

  it("has a case for every shipped policy", function()
    local text = shared.read("tests/cases/policies.cases")
    for _, name in ipairs(require("neap.paths").shipped()) do
      assert.truthy(text:find("\npolicy " .. name, 1, true), name)
    end
  end)

  it("exits 1 and names each case that fails by its line", function()
    local code, out, err, path = run(
      HEAD
        .. 'turn 40 contains "no such words"\n'
        .. "turn 40 contains main.c   # holds\n"
        .. 'turn 40 lacks "main.c"\n'
        .. "turn 40 entry 43 is full\n"
        .. "turn 40 entry 9999 is full\n"
        .. "turn 40 takes at most 10 tokens\n"
        .. "turn 4000 lacks x\n"
    )
    assert.are.equal(1, code)
    assert.are.equal(path .. ": 7 cases, 6 failed\n", out)
    for _, want in ipairs({
      ':3: turn 40 under tide: the prompt does not contain "no such words"',
      ':5: turn 40 under tide: the prompt contains "main.c"',
      ":6: turn 40 under tide: entry 43 is dropped, not full",
      ":7: turn 40 under tide: there is no entry 9999 yet",
      ":8: turn 40 under tide: the prompt takes ",
      ":9: turn 4000 under tide: the recording has 105 turns",
    }) do
      assert.truthy(err:find("neap: " .. path .. want, 1, true), want .. "\n" .. err)
    end
  end)

  it("prints an object for each case with --json", function()
    local code, out = run(HEAD .. "turn 40 contains main.c\nturn 40 entry 43 is full\n", "--json")
    assert.are.equal(1, code)
    local list = {}
    for line in out:gmatch("[^\n]+") do
      list[#list + 1] = core.json.decode(line)
    end
    assert.are.equal(2, #list)
    assert.is_true(list[1].ok)
    assert.are.equal(4, list[2].line)
    assert.are.equal("entry 43 is dropped, not full", list[2].fault)
    assert.are.equal("turn 40 entry 43 is full", list[2].case)
  end)

  it("counts one case as one", function()
    local text = "trace examples/recordings/english.jsonl\nturn 40 contains main.c\n"
    local _, out, _, path = run(text, "tide")
    assert.truthy(out:find(path .. ": 1 case, 0 failed\n", 1, true), out)
  end)

  it("runs cases without a policy under each that is given, and its options", function()
    local text = "trace examples/recordings/english.jsonl\nturn 40 contains main.c\n"
    local code, out, _, path = run(text, "tide", "full")
    assert.are.equal(0, code)
    assert.truthy(out:find(path .. ": 2 cases, 0 failed\n", 1, true))
    local with = "trace examples/recordings/planted.jsonl\npolicy mask_observations keep=%d\n"
      .. "turn 20 entry 14 is %s\n"
    assert.are.equal(0, (run(with:format(1, "masked"))))
    assert.are.equal(0, (run(with:format(100, "full"))))
  end)

  it("counts a turn that does not fit as failed", function()
    local text = "trace examples/recordings/english.jsonl\npolicy full window=300\n"
    local code, _, err = run(text .. "turn 10 lacks zebra\n")
    assert.are.equal(1, code)
    assert.truthy(err:find("turn 10 under full: the prompt does not fit, by ", 1, true))
  end)

  it("exits 2 with the line of what cannot be read", function()
    for want, text in pairs({
      [":1: a line begins with trace, policy, turn or #"] = "frob\n",
      [":1: a line `trace PATH` comes before"] = "turn 3 lacks x\n",
      [":3: turn 3 entry 4 is ful is no case"] = HEAD .. "turn 3 entry 4 is ful\n",
      [":3: turn x lacks y is no case"] = HEAD .. "turn x lacks y\n",
      [":3: turn 3 is no case"] = HEAD .. "turn 3\n",
      [":3: turn 3 is fine is no case"] = HEAD .. "turn 3 is fine\n",
      [":3: turn 3 contain KX is no case"] = HEAD .. "turn 3 contain KX\n",
      [":3: a text in double quotes"] = HEAD .. 'turn 3 lacks "y\n',
      [":1: trace PATH [session=N] is expected"] = "trace\n",
      [":2: window is a whole number"] = "trace x\npolicy tide window=big\n",
      [":2: no policy is named"] = "trace examples/recordings/english.jsonl\nturn 3 lacks y\n",
      [":3: nosuch: there is no such policy"] = HEAD:gsub("tide", "nosuch") .. "turn 3 lacks y\n",
      [":3: examples/recordings/english.jsonl has no session 9"] = NINTH .. "turn 3 lacks y\n",
      [": holds no case"] = "# nothing\n",
    }) do
      local code, _, err, path = run(text)
      assert.are.equal(2, code, want)
      assert.are.equal("neap: " .. path .. want, err:sub(1, 6 + #path + #want))
    end
  end)
end)
