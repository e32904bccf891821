-- The recorded sessions in examples/recordings: playing them again gives the same bytes, and
-- they are what they are meant to be: long, in two languages, with facts that are cited late.
-- next: ../../examples/agent_loop.lua
local core = require("neap.core")
local shared = require("tests.support.shared")

local NAMES = { "english", "chinese", "planted" }
local dir = shared.scratch("recordings")
local played -- the exit code of playing all of them, once

local function play()
  if played == nil then
    local lua = os.getenv("LUA") or "lua5.4"
    local command = ("%s examples/agent_loop.lua -o %s >%s/log 2>&1"):format(
      lua,
      shared.quote(dir),
      shared.quote(dir)
    )
    local _, _, code = os.execute(command)
    played = code
  end
  assert(played == 0, shared.read(dir .. "/log"))
end

-- The messages of a recording, its first line apart.
local function load(name)
  local head, list = nil, {}
  for line in io.lines(("examples/recordings/%s.jsonl"):format(name)) do
    local value = assert(core.json.decode(line))
    if not head then
      head = value
    else
      list[#list + 1] = value
    end
  end
  return head, list
end

local function count_steps(list)
  local n = 0
  for _, m in ipairs(list) do
    if m.role == "assistant" then n = n + 1 end
  end
  return n
end

-- The texts that the model wrote: what it said and its calls' arguments, with their steps.
local function written(list)
  local out, n = {}, 0
  for _, m in ipairs(list) do
    if m.role == "assistant" then
      n = n + 1
      local parts = { m.content }
      for _, c in ipairs(m.tool_calls or {}) do
        parts[#parts + 1] = c["function"].arguments
      end
      out[n] = table.concat(parts, "\n")
    end
  end
  return out
end

describe("the recordings", function()
  for _, name in ipairs(NAMES) do
    it("come out byte for byte when they are played again: " .. name, function()
      play()
      local want = assert(shared.read(("examples/recordings/%s.jsonl"):format(name)))
      local got = assert(shared.read(("%s/%s.jsonl"):format(dir, name)))
      if want ~= got then
        local i = 1
        while want:byte(i) == got:byte(i) do i = i + 1 end
        error(("byte %d: recorded %q, played %q"):format(
          i, want:sub(math.max(1, i - 60), i + 60), got:sub(math.max(1, i - 60), i + 60)))
      end
    end)

    it("are in the native form, calls and results paired: " .. name, function()
      local head, list = load(name)
      assert.equal(1, head.neap)
      assert.is_true(#head.tools >= 6)
      local open = {}
      for _, m in ipairs(list) do
        if m.role == "tool" then
          assert.is_true(open[m.tool_call_id])
          open[m.tool_call_id] = nil
        else
          assert.is_nil(next(open))
        end
        for _, c in ipairs(m.tool_calls or {}) do
          assert.is_truthy(core.json.decode(c["function"].arguments))
          open[c.id] = true
        end
      end
      assert.is_nil(next(open))
    end)

    it("name nothing of the machine they were made on: " .. name, function()
      local text = assert(shared.read(("examples/recordings/%s.jsonl"):format(name)))
      local here = os.getenv("PWD") or "/tmp"
      for _, trace in ipairs({ here, "/tmp", "/home", "/usr", "gcc", "clang" }) do
        assert.is_nil(text:find(trace, 1, true), trace)
      end
      assert.is_true(core.utf8_valid(text))
    end)
  end

  it("are long: more than 100 steps and 60,000 tokens in English", function()
    local _, list = load("english")
    assert.is_true(count_steps(list) > 100, tostring(count_steps(list)))
    local enc = assert(core.encoding("o200k_base"))
    local tokens = enc:count(assert(shared.read("examples/recordings/english.jsonl")))
    assert.is_true(tokens > 60000, tostring(tokens))
  end)

  it("hold Chinese in the task, in what the model says and in what the tools answer", function()
    local _, list = load("chinese")
    local han, all = { user = 0, assistant = 0, tool = 0 }, { user = 0, assistant = 0, tool = 0 }
    for _, m in ipairs(list) do
      if han[m.role] then
        all[m.role] = all[m.role] + 1
        if (m.content or ""):find("[\xE4-\xE9][\x80-\xBF][\x80-\xBF]") then
          han[m.role] = han[m.role] + 1
        end
      end
    end
    assert.equal(all.user, han.user)
    assert.equal(all.assistant, han.assistant)
    assert.is_true(han.tool >= 10, tostring(han.tool))
  end)

  it("cite the planted constraints late, exactly as they were given", function()
    local _, list = load("planted")
    local texts = written(list)
    local late = table.concat(texts, "\n", 36)
    for _, fact in ipairs({
      "PO-77346", "KX-20931", "4410-12", "3,980.00", "1,640.00", "SKU-1245", "RMA-3417",
      "2024-07-19", "2024-07-09", "16:30", "417", "402", "SUP-0710", "PO-77345",
    }) do
      assert.is_truthy(late:find(fact, 1, true), fact .. " is not cited late")
    end
    assert.is_true(#texts >= 40, tostring(#texts))
  end)
end)
