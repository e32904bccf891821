-- Importers of agents' own session files on small recordings of every oddity: what comes out,
-- byte for byte, that every record became a message, was merged or kept aside, and that each
-- form is told apart. next: import_providers_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")
local json = core.json

local DIR = "tests/cases/import/"

local CASES = {
  { "codex.jsonl", "codex" },
  { "copilot.jsonl", "copilot_cli" },
  { "gemini_cli.json", "gemini_cli" },
  { "pi.jsonl", "pi" },
  { "pi_old.jsonl", "pi" },
  { "cline.json", "cline" },
  { "inspect.json", "inspect_eval" },
  { "opencode.json", "opencode" },
}

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

local function sum(counts)
  local n = 0
  for _, m in pairs(counts) do
    n = n + m
  end
  return n
end

describe("an agent's session file", function()
  for _, case in ipairs(CASES) do
    local name, form = case[1], case[2]

    it("is found out and is what is expected: " .. name, function()
      local session = load(name)[1]
      assert.are.equal(form, session.format)
      assert.are.equal(assert(shared.read(DIR .. name .. ".native")), import.native(session))
    end)

    it("reads back to itself: " .. name, function()
      local text = import.native(load(name)[1])
      local again = assert(import.load_text("again.jsonl", text))
      assert.are.equal("native", again[1].format)
      assert.are.equal(text, import.native(again[1]))
    end)

    it("says the same when lean: " .. name, function()
      local whole, lean = decoded(load(name)[1]), decoded(load(name, { lean = true })[1])
      for i, m in ipairs(lean) do
        assert.is_nil(m.meta)
        whole[i].meta = nil
        assert.are.equal(json.encode(whole[i]), json.encode(m))
      end
    end)
  end

  it("has each of its records as a message, merged or aside", function()
    for _, name in ipairs({ "codex.jsonl", "copilot.jsonl", "pi.jsonl", "pi_old.jsonl" }) do
      local s = load(name)[1]
      local c = s.counts
      assert.are.equal(c.records, #s.messages + c.merged + sum(c.aside), name)
      assert.are.equal(sum(c.aside), #s.meta.aside)
    end
  end)
end)

describe("Codex rollouts", function()
  local session = load("codex.jsonl")[1]
  local m = decoded(session)

  it("merge what one response wrote, with its parallel calls together", function()
    assert.are.equal("I look at both.", m[4].content)
    assert.are.equal("Look first.", m[4].reasoning)
    assert.are.same({ "c1", "c2" }, { m[4].tool_calls[1].id, m[4].tool_calls[2].id })
  end)

  it("end a response where the tokens are counted", function()
    assert.are.equal("Done.", m[#m - 1].content)
    assert.are.equal("Anything else?", m[#m].content)
  end)

  it("keep arguments as the bytes the model wrote", function()
    local call = m[4].tool_calls[1]["function"]
    assert.are.equal('{"cmd": "cat caf\\u00e9.c", "n": 1.0}', call.arguments)
  end)

  it("give a tool of free text its text as one argument", function()
    local arguments = json.decode(m[7].tool_calls[1]["function"].arguments)
    assert.are.equal('*** Begin Patch\n+"x"\n*** End Patch', arguments.input)
  end)

  it("keep an item of an unknown type aside as its whole record", function()
    for _, entry in ipairs(session.meta.aside) do
      if entry.kind == "response_item/ghost_snapshot" then
        assert.truthy(entry.record.raw:find('"timestamp"', 1, true))
        return
      end
    end
    error("no ghost_snapshot was kept aside")
  end)
end)

describe("Copilot CLI event logs", function()
  local m = decoded(load("copilot.jsonl")[1])

  it("say what the model was given, and keep what the user typed", function()
    assert.are.equal("<now>1</now>\n\nlist", m[2].content)
    assert.are.equal("list", m[2].meta.records[1].content)
  end)

  it("have the reason of a failed tool as its result", function()
    assert.are.equal("no such file", m[5].content)
    assert.is_true(m[5].is_error)
  end)
end)

describe("Gemini CLI sessions", function()
  local session = load("gemini_cli.json")[1]
  local m = decoded(session)

  it("pair calls with their results and show an error as one", function()
    assert.are.same({ "w1", "r1" }, { m[3].tool_call_id, m[4].tool_call_id })
    assert.is_true(m[4].is_error)
    assert.are.equal(1, session.counts.notes["calls without a result"])
  end)

  it("show a picture beside the result it came with", function()
    assert.are.equal("data:image/png;base64,AAAA", m[6].content[2].image_url.url)
    assert.truthy(m[6].content[1].text:find('"total": 2', 1, true))
  end)
end)

describe("pi sessions", function()
  local session = load("pi.jsonl")[1]

  it("are the branch that was current at the end; others are kept aside", function()
    assert.falsy(table.concat(session.messages):find("a path not taken", 1, true))
    assert.are.equal(2, session.counts.aside["other branch"])
  end)

  it("take the model's own bytes as arguments where they are logged", function()
    local calls = decoded(session)[2].tool_calls
    assert.are.equal('{"path": "a", "n": 1.0}', calls[1]["function"].arguments)
    assert.are.equal('{"path":"b"}', calls[2]["function"].arguments)
  end)

  it("end at a parent that is not there or that comes round again", function()
    local line = '{"type":"message","id":%q,"parentId":%q,"timestamp":"t","message":'
      .. '{"role":"user","content":"x"}}\n'
    local head = '{"type":"session","id":"s","timestamp":"t","cwd":"/"}\n'
    local round = head .. line:format("a", "b") .. line:format("b", "a")
    assert.are.equal(2, #assert(import.load_text("x", round))[1].messages)
    local gone = assert(import.load_text("x", head .. line:format("a", "none")))[1]
    assert.are.equal(1, gone.counts.notes["parents that are not there"])
  end)
end)

describe("Cline sessions", function()
  it("show a file that came along, and results that are no parts as their JSON", function()
    local m = decoded(load("cline.json")[1])
    assert.are.equal("let a = 1;\n", m[2].content[2].text)
    assert.are.equal("1 | let a", json.decode(m[5].content)[1].result)
    assert.is_true(m[5].is_error)
  end)
end)

describe("Inspect logs", function()
  local sessions = load("inspect.json")

  it("are one session a sample, with texts that stand elsewhere put in", function()
    assert.are.equal(2, #sessions)
    assert.are.equal("A long question…", decoded(sessions[1])[1].content)
    assert.is_false(sessions[1].tools_inferred)
  end)

  it("say why a tool failed", function()
    local m = decoded(sessions[1])
    assert.are.equal("too slow", m[4].content)
    assert.is_true(m[4].is_error)
  end)
end)

describe("opencode exports", function()
  it("make each step a response with its results behind it", function()
    local roles = load("opencode.json")[1].roles
    assert.are.same({ "user", "assistant", "tool", "tool", "assistant" }, roles)
  end)
end)

describe("the shared recordings", function()
  local FORMS = {
    ["aider-chat-md"] = "aider",
    ["claude-code-console-md"] = "claude_console",
    ["claude-code-jsonl"] = "claude_code",
    ["cline-messages-json"] = "cline",
    ["codex-rollout-jsonl"] = "codex",
    ["copilot-cli-events-jsonl"] = "copilot_cli",
    ["crosswoz-zh"] = "crosswoz",
    ["gemini-cli-session-json"] = "gemini_cli",
    ["inspect-eval-json"] = "inspect_eval",
    ["mini-swe-agent"] = "mini_swe_agent",
    ["openhands-llm-log"] = "openai",
    ["openhands-output-jsonl"] = "openhands",
    ["pi-session-jsonl"] = "pi",
    ["swe-agent-traj"] = "swe_agent",
    ["tau-bench"] = "openai",
    ["tau2-bench"] = "tau2",
    ["toolbench-answer-json"] = "toolbench",
    ["vcr-cassette-yaml"] = "vcr",
    ["webvoyager-messages-json"] = "webvoyager",
    ["who-and-when"] = "who_and_when",
  }
  for folder, form in pairs(FORMS) do
    it("of " .. folder .. " are told to be " .. form, function()
      local dir, why = shared.path("traces/" .. folder)
      if not dir then return pending(why) end
      for _, name in ipairs(core.list(dir)) do
        local text = assert(shared.read(dir .. "/" .. name))
        local found = assert(import.detect(name, text), name)
        assert.are.equal(form, found.name, name)
      end
    end)
  end

  for _, case in ipairs({
    { "codex-rollout-jsonl", 9 },
    { "copilot-cli-events-jsonl", 1 },
    { "gemini-cli-session-json", 1 },
    { "pi-session-jsonl", 1 },
    { "cline-messages-json", 1 },
    { "inspect-eval-json", 1 },
  }) do
    it("of " .. case[1] .. " import whole", function()
      local dir, why = shared.path("traces/" .. case[1])
      if not dir then return pending(why) end
      local names = core.list(dir)
      assert.are.equal(case[2], #names)
      for _, name in ipairs(names) do
        local session = assert(import.load(dir .. "/" .. name))[1]
        assert.is_true(#session.messages >= 10)
        assert.are.equal(0, session.counts.skipped)
        assert.is_nil(session.counts.notes["results without a call"])
        local text = import.native(session)
        assert.are.equal(text, import.native(assert(import.load_text("again", text))[1]))
      end
    end)
  end

  it("of Codex, Copilot and pi account for every record", function()
    local folders = { "codex-rollout-jsonl", "copilot-cli-events-jsonl", "pi-session-jsonl" }
    for _, folder in ipairs(folders) do
      local dir, why = shared.path("traces/" .. folder)
      if not dir then return pending(why) end
      for _, name in ipairs(core.list(dir)) do
        local s = assert(import.load(dir .. "/" .. name))[1]
        local c = s.counts
        assert.are.equal(c.records, #s.messages + c.merged + sum(c.aside), name)
      end
    end
  end)
end)
