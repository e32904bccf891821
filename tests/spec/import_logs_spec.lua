-- Importers of agents' logs: what comes out of small recordings of every oddity, byte for
-- byte; that every record is a message, merged, kept aside or skipped; that no text is
-- lost; that no form is taken for another. next: import_yaml_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")
local swe = require("neap.import.swe_agent")
local web = require("neap.import.webvoyager")
local json = core.json

local DIR = "tests/cases/import/"

-- Cases, their forms, and how many messages come from no record (system texts).
local CASES = {
  { "swe_calls.traj", "swe_agent", 0 },
  { "swe_text.traj", "swe_agent", 0 },
  { "openhands.jsonl", "openhands", 0 },
  { "openhands_old.jsonl", "openhands", 0 },
  { "tau2.json", "tau2", 2 },
  { "who.json", "who_and_when", 0 },
  { "toolbench.json", "toolbench", 0 },
  { "webvoyager.json", "webvoyager", 0 },
  { "crosswoz.json", "crosswoz", 0 },
  { "aider.md", "aider", 0 },
  { "claude_console.md", "claude_console", 0 },
  { "cassette.yaml", "vcr" },
  { "toolbench_tree.json", "toolbench" },
}

local SHARED = {
  ["swe-agent-traj"] = { "swe_agent", 6, 163 },
  ["openhands-output-jsonl"] = { "openhands", 3, 159 },
  ["tau2-bench"] = { "tau2", 6, 250 },
  ["who-and-when"] = { "who_and_when", 11, 680 },
  ["toolbench-answer-json"] = { "toolbench", 3, 32 },
  ["webvoyager-messages-json"] = { "webvoyager", 1, 25 },
  ["crosswoz-zh"] = { "crosswoz", 4, 126 },
  ["aider-chat-md"] = { "aider", 8, 65 },
  ["claude-code-console-md"] = { "claude_console", 2, 654 },
  ["vcr-cassette-yaml"] = { "vcr", 6, 48 },
}

local function load(name, options)
  return assert(import.load(DIR .. name, options))
end

local function all_native(sessions)
  local list = {}
  for i, session in ipairs(sessions) do
    list[i] = import.native(session)
  end
  return table.concat(list)
end

local function decoded(session)
  local list = {}
  for i, message in ipairs(session.messages) do
    list[i] = json.decode(message)
  end
  return list
end

local function sum(counts)
  local total = 0
  for _, n in pairs(counts) do
    total = total + n
  end
  return total
end

describe("a log in the native form", function()
  for _, case in ipairs(CASES) do
    local name, form, extra = table.unpack(case)
    it("is what is expected for " .. name, function()
      local sessions = load(name)
      assert.are.equal(form, sessions[1].format)
      local want = assert(shared.read(DIR .. name .. ".native"))
      assert.are.equal(want, all_native(sessions))
    end)

    it("reads back to itself for " .. name, function()
      for _, session in ipairs(load(name)) do
        local text = import.native(session)
        local again = assert(import.load_text("again.jsonl", text))
        assert.are.equal("native", again[1].format)
        assert.are.equal(text, import.native(again[1]))
      end
    end)

    it("holds each record of " .. name .. " once", function()
      local sessions = load(name)
      local counts, aside = sessions[1].counts, 0
      for _, session in ipairs(sessions) do
        aside = aside + #(session.meta and session.meta.aside or {})
      end
      assert.are.equal(sum(counts.aside), aside)
      if not extra then return end
      local held = counts.messages - extra + counts.merged + aside + counts.skipped
      assert.are.equal(counts.records, held)
    end)

    it("is the same conversation when lean for " .. name, function()
      local full, lean = load(name), load(name, { lean = true })
      assert.are.equal(#full, #lean)
      for i, session in ipairs(full) do
        for k, m in ipairs(decoded(session)) do
          local l = json.decode(lean[i].messages[k])
          m.meta, l.meta = nil, nil
          assert.are.equal(json.encode(m), json.encode(l))
        end
      end
    end)
  end
end)

describe("logs of agents", function()
  it("keep arguments as the bytes they had", function()
    local function arguments(name, at, call)
      return decoded(load(name)[1])[at].tool_calls[call or 1]["function"].arguments
    end
    assert.are.equal('{"command": "ls -F", "n": 1.0}', arguments("swe_calls.traj", 3))
    assert.are.equal('{"why" : "done"}', arguments("swe_calls.traj", 5))
    assert.are.equal('{"command": "ls", "n": 1.0}', arguments("openhands.jsonl", 3))
    local user = '{"user_id": "anna_vogel_31", "n": 1.0}'
    assert.are.equal(user, arguments("tau2.json", 4))
    assert.are.equal('{\n  "query": "phone", "n": 1.0\n}', arguments("toolbench.json", 3))
    assert.are.equal('{"city": "Oslo", "n": 1.0}', arguments("cassette.yaml", 2))
  end)

  it("keep lone surrogates as they came", function()
    local swe_message = load("swe_calls.traj")[1].messages[2]
    assert.truthy(swe_message:find("caf\\u00e9 \\ud83d.", 1, true))
    local hands_message = load("openhands_old.jsonl")[1].messages[1]
    assert.truthy(hands_message:find("fix \\ud83d it", 1, true))
  end)

  it("merge the events of one response and keep parallel calls together", function()
    local session = load("openhands.jsonl")[1]
    local m = decoded(session)
    assert.are.equal(2, #m[3].tool_calls)
    assert.are.same({ "t1", "t2" }, { m[4].tool_call_id, m[5].tool_call_id })
    assert.is_nil(m[4].is_error)
    assert.is_true(m[5].is_error)
    assert.are.equal("2025-04-30T16:32:57", m[3].ts)
    assert.are.equal(1, session.counts.merged)
    assert.is_false(session.tools_inferred)
  end)

  it("show pictures as data URLs", function()
    local url = "data:image/png;base64,iVBORw0KGgo="
    assert.are.equal(url, decoded(load("openhands.jsonl")[1])[2].content[2].image_url.url)
    assert.are.equal(url, decoded(load("webvoyager.json")[1])[4].content[2].image_url.url)
  end)

  it("read a chain from the tree when its messages are missing", function()
    local m = decoded(load("toolbench_tree.json")[1])
    assert.are.equal("I know it.", m[4].content)
    assert.are.equal("Finish", m[4].tool_calls[1]["function"].name)
  end)

  it("put every text with a command together again", function()
    local original = json.decode(assert(shared.read(DIR .. "swe_text.traj"))).history
    local m = decoded(load("swe_text.traj")[1])
    for _, i in ipairs({ 4, 6 }) do
      local command = json.decode(m[i].tool_calls[1]["function"].arguments).command
      local text = swe.restore(m[i].content, m[i].meta.fence, command)
      assert.are.equal(original[i].content, text)
    end
    original = json.decode(assert(shared.read(DIR .. "webvoyager.json")))
    m = decoded(load("webvoyager.json")[1])
    for _, i in ipairs({ 3, 5, 9 }) do
      local action = json.decode(m[i].tool_calls[1]["function"].arguments).action
      local text = web.restore(m[i].content, m[i].meta.fence, action)
      assert.are.equal(original[i].content, text)
    end
  end)
end)

describe("a log of several agents", function()
  it("is seen from the one that says most", function()
    local session = load("who.json")[1]
    assert.are.equal("Orchestrator", session.meta.as)
    local roles = "user assistant assistant user assistant assistant user"
    assert.are.equal(roles, table.concat(session.roles, " "))
    assert.are.equal("File_Surfer", decoded(session)[7].name)
  end)

  it("is seen from any speaker, who does not hear the thoughts of others", function()
    local session = load("who.json", { as = "WebSurfer" })[1]
    assert.are.same({ "user", "user", "assistant", "user", "user" }, session.roles)
    assert.are.equal("Orchestrator", decoded(session)[2].name)
    assert.are.equal(2, session.counts.aside["thought of Orchestrator"])
  end)

  it("is refused for a speaker it does not have, and --as for other logs", function()
    local none, why, code = import.load(DIR .. "who.json", { as = "Nobody" })
    assert.is_nil(none)
    assert.are.equal("arg", code)
    local text = DIR .. "who.json: no speaker Nobody; they are human, Orchestrator, "
    assert.are.equal(text, why:sub(1, #text))
    none, why = import.load(DIR .. "tau2.json", { as = "user" })
    assert.is_nil(none)
    assert.truthy(why:find("has one speaker", 1, true))
  end)

  it("is replayed with --as", function()
    local words = { "replay", "--json", "--as", "WebSurfer", DIR .. "who.json" }
    local code, out, err = shared.run(words)
    assert.are.equal(0, code, err)
    assert.are.equal(2, select(2, out:gsub("\n", "")))
  end)
end)

describe("the logs of the shared data", function()
  for folder, want in pairs(SHARED) do
    it("of " .. folder .. " all import", function()
      local dir, why = shared.path("traces/" .. folder)
      if not dir then return pending(why) end
      local names, messages = core.list(dir), 0
      assert.are.equal(want[2], #names)
      for _, name in ipairs(names) do
        local sessions = assert(import.load(dir .. "/" .. name))
        assert.are.equal(want[1], sessions[1].format)
        assert.are.equal(0, sessions[1].counts.skipped)
        messages = messages + sessions[1].counts.messages
      end
      assert.are.equal(want[3], messages)
    end)
  end

  it("of SWE-agent lose no byte of any message", function()
    local dir, why = shared.path("traces/swe-agent-traj")
    if not dir then return pending(why) end
    for _, name in ipairs(core.list(dir)) do
      local original = json.decode(assert(shared.read(dir .. "/" .. name))).history
      for i, m in ipairs(decoded(assert(import.load(dir .. "/" .. name))[1])) do
        local text = m.content
        if m.meta.fence then
          local command = json.decode(m.tool_calls[1]["function"].arguments).command
          text = swe.restore(text, m.meta.fence, command)
        end
        assert.are.equal(original[i].content, text)
      end
    end
  end)
end)

-- Each form's score for a text: the best, the form it is of, and the next best.
local function scores(path, text)
  local best, second, found = 0, 0, nil
  for _, form in ipairs(import.forms()) do
    local importer = require("neap.import." .. form.name)
    local score = importer.detect(path, text:sub(1, 65536), text:sub(-4096))
    if score > best then
      best, second, found = score, best, form.name
    elseif score > second then
      second = score
    end
  end
  return found, best, second
end

describe("the form of a log", function()
  for _, case in ipairs(CASES) do
    it("is plain for " .. case[1], function()
      local text = assert(shared.read(DIR .. case[1]))
      local found, best, second = scores(case[1], text)
      assert.are.equal(case[2], found)
      assert.is_true(best > second, ("%d, next %d"):format(best, second))
    end)
  end

  it("is plain for every shared recording", function()
    local dir, why = shared.path("traces")
    if not dir then return pending(why) end
    for folder, want in pairs(SHARED) do
      for _, name in ipairs(core.list(dir .. "/" .. folder)) do
        local text = assert(shared.read(dir .. "/" .. folder .. "/" .. name))
        local found, best, second = scores(name, text)
        assert.are.equal(want[1], found, name)
        assert.is_true(best > second, name)
      end
    end
  end)
end)
