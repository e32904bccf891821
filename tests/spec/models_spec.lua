-- Models on the command line and in Lua: what a name decides, and what is said of estimates.
local core = require("neap.core")
local neap = require("neap")

local RECORDING = "examples/recordings/chinese.jsonl"

local function run(words)
  local command = ("'%s' %s 2>&1; echo $?"):format(os.getenv("NEAP_BIN"), words)
  local f = assert(io.popen(command))
  local out = f:read("a")
  f:close()
  local body, code = out:match("^(.-)(%d+)\n$")
  return tonumber(code), body
end

local function turns(words)
  local code, out = run(("replay %s --json %s"):format(RECORDING, words))
  assert.equal(0, code, out)
  local list = {}
  for line in out:gmatch("[^\n]+") do
    local one = core.json.decode(line)
    if one.turn then list[#list + 1] = one end
  end
  return list
end

describe("a model on the command line", function()
  it("that has no public vocabulary makes an estimate within its budget", function()
    local row = core.model("claude-opus-5")
    for _, t in ipairs(turns("-m claude-opus-5 -w 12000 -r 1000")) do
      assert.is_false(t.exact)
      assert.equal(tostring(row.factor), tostring(t.factor))
      assert.equal(11000, t.budget + t.margin)
      assert.is_true(t.estimate >= t.tokens * row.factor and t.estimate <= t.budget)
      -- with the whole stated error it is still within the window
      assert.is_true(t.tokens * row.factor * (1 + row.bound) <= 11000)
    end
  end)

  it("with a public vocabulary is exact, and says no factor", function()
    local one, other = turns("-m gpt-4o -w 12000"), turns("-w 12000")
    assert.same(other, one)
    assert.is_nil(one[1].factor)
    assert.is_true(one[1].exact)
  end)

  it("is counted exactly by an encoding that is named", function()
    local t = turns("-m claude-opus-5 -e o200k_base -w 12000")[1]
    assert.is_true(t.exact)
    assert.equal(12000 - 1500, t.budget)
  end)

  it("brings its window", function()
    assert.equal(128000 - 8000, turns("-m gpt-4o")[1].budget)
  end)

  it("that is not known is refused by name", function()
    local code, out = run("replay " .. RECORDING .. " -m tide-9")
    assert.equal(2, code)
    assert.truthy(out:find("tide-9", 1, true) and out:find("-e", 1, true))
  end)
end)

describe("a session's model", function()
  it("learns from what responses report", function()
    local s = assert(neap.session({ model = "claude-opus-5", window = 50000 }))
    s:add({ role = "user", content = ("the moon pulls "):rep(2000) })
    local factor
    for _ = 1, 12 do
      assert(s:prompt())
      local account = assert(s:account())
      factor = account.factor
      local response = {
        choices = { { message = { role = "assistant", content = "yes" } } },
        usage = { prompt_tokens = math.floor(account.tokens * 1.3) },
      }
      assert(s:add_response(core.json.encode(response)))
      s:add({ role = "user", content = "and now?" })
    end
    assert.is_true(math.abs(factor / 1.3 - 1) < 0.01, factor)
    assert(s:prompt())
    assert.is_true(math.abs(assert(s:account()).drift) < 0.01)
    s:close()
  end)

  it("must be known, or its encoding named", function()
    local s, why, code = neap.session({ model = "tide-9" })
    assert.is_nil(s)
    assert.equal("config", code)
    assert.truthy(why:find("tide-9", 1, true))
    s = assert(neap.session({ model = "tide-9", encoding = "cl100k_base" }))
    s:close()
  end)
end)

describe("the table of models", function()
  it("says for each how it is counted, by whom and when", function()
    local known = {}
    for _, info in ipairs(core.encodings()) do
      known[info.name] = true
    end
    for _, m in ipairs(core.models()) do
      assert.truthy(known[m.encoding], m.name)
      assert.equal(m.exact, m.bound == 0)
      assert.truthy(m.date:match("^%d%d%d%d%-%d%d%-%d%d$"))
      assert.equal(m.name, core.model(m.name).name)
    end
    assert.is_nil(core.model("tide-9"))
  end)
end)
