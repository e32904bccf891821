-- Importers on small recordings of every oddity: what comes out, byte for byte, and that
-- nothing was lost or counted wrongly. next: import_faults_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local mini = require("neap.import.mini_swe_agent")
local shared = require("tests.support.shared")
local json = core.json

local DIR = "tests/cases/import/"

local function load(name, options)
  return assert(import.load(DIR .. name, options))
end

local function decoded(session)
  local list = {}
  for i, message in ipairs(session.messages) do
    list[i] = json.decode(message)
  end
  return list
end

describe("a recording in the native form", function()
  for _, name in ipairs({
    "claude_conversation.jsonl",
    "claude_two_on_a_line.jsonl",
    "openai_list.json",
    "openai_log.json",
    "tau_runs.json",
    "mini.traj.json",
    "native.jsonl",
  }) do
    it("is what is expected for " .. name, function()
      local want = assert(shared.read(DIR .. name .. ".native"))
      assert.are.equal(want, import.native(load(name)[1]))
    end)

    it("reads back to itself for " .. name, function()
      local text = import.native(load(name)[1])
      local again = assert(import.load_text("again.jsonl", text))
      assert.are.equal("native", again[1].format)
      assert.are.equal(text, import.native(again[1]))
    end)
  end

  it("keeps messages as the bytes they came in", function()
    local session = load("native.jsonl")[1]
    assert.are.equal('{ "role" : "user", "content":"caf\\u00e9 1.0" }', session.messages[2])
    assert.are.same({ 2, 3, 4, 5 }, session.lines)
    assert.is_false(session.tools_inferred)
  end)
end)

describe("Claude Code sessions", function()
  local session = load("claude_conversation.jsonl")[1]
  local messages = decoded(session)

  it("are found out", function()
    assert.are.equal("claude_code", session.format)
  end)

  it("merge the records of one response, also around results that came in between", function()
    local m = messages[2]
    assert.are.equal("assistant", m.role)
    assert.are.equal("I will read them.", m.content)
    assert.are.equal('Look at "both" files first.', m.reasoning)
    assert.are.equal(2, #m.tool_calls)
    assert.are.equal(3, session.counts.merged)
  end)

  it("keep a call's input as the bytes it had", function()
    local args = messages[2].tool_calls[1]["function"].arguments
    assert.are.equal('{"path": "src/main.c", "limit": 1.0}', args)
  end)

  it("keep answers in the order they came, errors and empty texts", function()
    assert.are.equal("t2", messages[3].tool_call_id)
    assert.are.equal("t1", messages[4].tool_call_id)
    assert.is_true(messages[4].is_error)
    assert.is_nil(messages[3].is_error)
    assert.are.equal("", messages[8].content)
  end)

  it("turn pictures into data URLs and put results before what else was said", function()
    local url = messages[6].content[2].image_url.url
    assert.are.equal("data:image/png;base64,iVBORw0KGgo=", url)
    assert.are.equal("user", messages[7].role)
  end)

  it("count what does not pair and what is no conversation", function()
    assert.are.equal(1, session.counts.notes["results without a call"])
    assert.are.equal(1, session.counts.notes["calls without a result"])
    assert.are.equal(1, session.counts.notes["compact summaries"])
    assert.are.same({
      ["api error"] = 1,
      ["file-history-snapshot"] = 1,
      ["queue-operation"] = 1,
      ["system/turn_duration"] = 1,
      meta = 1,
      progress = 1,
      repeated = 1,
      sidechain = 1,
      summary = 1,
    }, session.counts.aside)
  end)

  it("keep each record aside whole, or merge it, or make it a message", function()
    local aside = 0
    for _, n in pairs(session.counts.aside) do
      aside = aside + n
    end
    assert.are.equal(aside, #session.meta.aside)
    local records = 0
    for _, m in ipairs(messages) do
      records = records + #(m.meta and m.meta.records or {})
    end
    assert.are.equal(session.counts.records, aside + records)
  end)

  it("read two records on one line and keep lone surrogates as they were", function()
    local two = load("claude_two_on_a_line.jsonl")[1]
    assert.are.equal(2, two.counts.notes["records that share a line"])
    assert.are.equal(4, #two.messages)
    assert.truthy(two.messages[4]:find("\\\\ud83d", 1, true))
    assert.truthy(two.messages[4]:find("12345678901234567890", 1, true))
  end)

  it("leave meta out of lean imports, with the same conversation", function()
    local lean = load("claude_conversation.jsonl", { lean = true })[1]
    for i, m in ipairs(decoded(lean)) do
      assert.is_nil(m.meta)
      messages[i].meta = nil
      assert.are.same(json.encode(messages[i]), json.encode(m))
    end
  end)
end)

describe("mini-swe-agent trajectories", function()
  local session = load("mini.traj.json")[1]
  local messages = decoded(session)
  local original = json.decode(assert(shared.read(DIR .. "mini.traj.json"))).messages

  it("make a fence a call and the observation its result", function()
    assert.are.equal("bash", messages[3].tool_calls[1]["function"].name)
    local args = json.decode(messages[3].tool_calls[1]["function"].arguments)
    assert.are.equal('ls -la "a b"', args.command)
    assert.are.equal("tool", messages[4].role)
    assert.are.equal(original[4].content, messages[4].content)
  end)

  it("leave a turn without exactly one fence as it was", function()
    assert.are.equal(original[5].content, messages[5].content)
    assert.is_nil(messages[5].tool_calls)
    assert.are.equal("user", messages[6].role)
    assert.are.equal(2, session.counts.notes["turns without one command"])
  end)

  it("lose no byte: every original text can be put together again", function()
    for i, m in ipairs(messages) do
      local text = m.content
      if m.tool_calls then
        local args = json.decode(m.tool_calls[1]["function"].arguments)
        text = mini.restore(m.content, m.meta.fence, args.command)
      end
      assert.are.equal(original[i].content, text)
    end
  end)
end)

describe("chat messages in one document", function()
  it("are read from lists, bodies, logs and runs", function()
    assert.are.equal(6, #load("openai_list.json")[1].messages)
    local log = load("openai_log.json")[1]
    assert.are.equal("assistant", log.roles[2])
    assert.is_false(log.tools_inferred)
    local runs = load("tau_runs.json")
    assert.are.same({ "tau_runs", "tau_runs#2" }, { runs[1].name, runs[2].name })
  end)

  it("get a minimal schema for each tool the history names, in order", function()
    local session = load("openai_list.json")[1]
    local tools = json.decode(session.tools)
    assert.is_true(session.tools_inferred)
    assert.are.equal("weather", tools[1]["function"].name)
    assert.are.equal("clock", tools[2]["function"].name)
    assert.truthy(tools[1]["function"].description:find("^inferred"))
  end)

  it("have arguments that were logged as objects as their text", function()
    local session = load("openai_list.json")[1]
    local call = json.decode(session.messages[3]).tool_calls[2]
    assert.are.equal("string", type(call["function"].arguments))
    assert.truthy(call["function"].arguments:find("1.0", 1, true))
    assert.are.equal(1, session.counts.notes["arguments that were objects"])
  end)
end)

describe("the recordings of the shared data", function()
  local FORMS = {
    ["claude-code-jsonl"] = { "claude_code", 20 },
    ["mini-swe-agent"] = { "mini_swe_agent", 26 },
    ["tau-bench"] = { "openai", 16 },
    ["openhands-llm-log"] = { "openai", 1 },
  }
  for folder, want in pairs(FORMS) do
    it("of " .. folder .. " all import", function()
      local dir, why = shared.path("traces/" .. folder)
      if not dir then return pending(why) end
      local names = core.list(dir)
      assert.are.equal(want[2], #names)
      for _, name in ipairs(names) do
        local sessions = assert(import.load(dir .. "/" .. name))
        assert.are.equal(want[1], sessions[1].format)
        assert.is_true(#sessions[1].messages > 5)
        assert.are.equal(0, sessions[1].counts.skipped)
      end
    end)
  end

  it("of mini-swe-agent lose no byte of any message", function()
    local dir, why = shared.path("traces/mini-swe-agent")
    if not dir then return pending(why) end
    for _, name in ipairs(core.list(dir)) do
      local path = dir .. "/" .. name
      local document = json.decode(assert(shared.read(path)), { extra = true, info = true })
      local original = document.messages
      for i, m in ipairs(decoded(assert(import.load(path))[1])) do
        local text = m.content
        if m.tool_calls then
          local args = json.decode(m.tool_calls[1]["function"].arguments)
          text = mini.restore(m.content, m.meta.fence, args.command)
        end
        assert.are.equal(original[i].content, text)
      end
    end
  end)
end)
