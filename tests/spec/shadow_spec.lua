-- Shadows in Lua and on the command line: what a replay says of a shadow is what it says of that
-- policy alone, and what it says of the live one is the same without it.
-- next: cli_replay_spec.lua
local core = require("neap.core")
local compare = require("neap.report.compare")
local neap = require("neap")
local shared = require("tests.support.shared")
local json = core.json

local function replay(args)
  local command = ("'%s' replay %s --json"):format(os.getenv("NEAP_BIN"), args)
  local pipe = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do
    lines[#lines + 1] = line
  end
  assert.is_true(pipe:close())
  return lines
end

local function without(line, ...)
  local t = json.decode(line)
  for _, name in ipairs({ ... }) do
    t[name] = nil
  end
  return t
end

local PAIRS = {
  { "tide", "mask_observations", "chinese" },
  { "mask_observations", "three_tier", "chinese" },
  { "three_tier", "tide", "planted" },
}

describe("replay --shadow", function()
  for _, pair in ipairs(PAIRS) do
    local live, other, trace = pair[1], pair[2], pair[3]
    it(("%s beside %s on %s"):format(other, live, trace), function()
      local form = "examples/recordings/%s.jsonl -w 16000 -p %s"
      local both = replay(form:format(trace, live) .. " --shadow " .. other)
      local alone = replay(form:format(trace, live))
      local as_live = replay(form:format(trace, other))
      assert.are.equal(#alone, #both)
      for i = 1, #both do
        assert.same(json.decode(alone[i]), without(both[i], "shadow"), "line " .. i)
      end
      local line = json.decode(both[#both]).shadow
      local expected = without(as_live[#as_live], "trace")
      local more = line.more
      line.more = nil
      assert.same(expected, line)
      local sum = 0
      for i = 1, #both - 1 do
        local turn, own = json.decode(both[i]), json.decode(as_live[i])
        local shadow = turn.shadow
        assert.are.equal(own.tokens, shadow.tokens)
        assert.are.equal(own.cached, shadow.cached)
        assert.are.equal(own.epoch, shadow.epoch)
        assert.are.equal(turn.tokens + shadow.tokens_more, shadow.tokens)
        sum = sum + shadow.tokens_more
      end
      assert.are.equal(sum, more.input_tokens)
    end)
  end

  it("has the same p95 in its table as a replay of it", function()
    local function p95(policy)
      local lines = replay("examples/recordings/english.jsonl -w 16000 -p " .. policy)
      local line = json.decode(lines[#lines])
      return ("%.1f"):format(100 * compare.number(line.watermark_p95))
    end
    local words = { "replay", "examples/recordings/english.jsonl", "-w", "16000", "-p", "tide" }
    words[#words + 1], words[#words + 2] = "--shadow", "pointers"
    local _, out = shared.run(words)
    for who, policy in pairs({ live = "tide", shadow = "pointers" }) do
      local row = out:match("\n" .. who .. " [^\n]+")
      assert.truthy(row and row:find(" " .. p95(policy) .. " ", 1, true), out)
    end
  end)

  it("refuses a policy that does not load", function()
    local bad = shared.scratch("shadow") .. "/bad.lua"
    local f = assert(io.open(bad, "w"))
    f:write("return {")
    f:close()
    local form = "'%s' replay examples/recordings/chinese.jsonl --shadow '%s' 2>&1"
    local pipe = assert(io.popen(form:format(os.getenv("NEAP_BIN"), bad)))
    local said = pipe:read("a")
    local _, _, code = pipe:close()
    assert.are.equal(2, code)
    assert.is_truthy(said:find("bad.lua:1:", 1, true), said)
  end)
end)

describe("session:shadow", function()
  local function talk(s, from, to)
    for i = from, to do
      assert(s:prompt())
      assert(s:add({ role = "assistant", content = "step " .. i .. " of src/f" .. i .. ".c" }))
      assert(s:add({ role = "user", content = ("words "):rep(60) .. i }))
    end
  end

  it("starts, tells and ends", function()
    local s <close> = assert(neap.session({ window = 8000, policy = "tide" }))
    assert(s:add({ role = "user", content = "task" }))
    talk(s, 1, 2)
    assert.is_nil(s:account().shadow)
    local totals, why, code = s:shadow_account()
    assert.is_nil(totals)
    assert.are.equal("notfound", code)
    assert.is_truthy(why)
    assert(s:shadow("mask_observations", { keep = 2 }))
    talk(s, 3, 6)
    local shadow = s:account().shadow
    assert.are.equal("mask_observations", shadow.policy)
    assert.is_number(shadow.cost)
    totals = assert(s:shadow_account())
    assert.are.equal(4, totals.turns)
    assert.is_number(totals.live.cost)
    assert(s:shadow())
    talk(s, 7, 7)
    assert.is_nil(s:account().shadow)
  end)

  it("has its asks answered by the summarizer, never by the host", function()
    local asked = 0
    local s <close> = assert(neap.session({
      window = 16000,
      shadow = "three_tier",
      summarize = function()
        asked = asked + 1
      end,
    }))
    assert(s:add({ role = "user", content = "task" }))
    talk(s, 1, 40)
    assert.are.equal(0, asked)
    local totals = assert(s:shadow_account())
    assert.is_true(totals.shadow.tokens < totals.live.tokens)
  end)

  it("says which policy is missing", function()
    local s, why, code = neap.session({ shadow = "no/such.lua" })
    assert.is_nil(s)
    assert.are.equal("policy", code)
    assert.is_truthy(why:find("no/such.lua", 1, true), why)
  end)
end)
