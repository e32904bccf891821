-- Importers of the providers' own shapes: lists, request bodies, logs of requests with their
-- responses; which requests are one session. next: import_faults_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")
local json = core.json

local DIR = "tests/cases/import/"

local CASES = {
  ["responses_items.json"] = "responses",
  ["responses_body.json"] = "responses",
  ["responses_log.jsonl"] = "responses",
  ["anthropic_list.json"] = "anthropic",
  ["anthropic_lines.jsonl"] = "anthropic",
  ["anthropic_body.json"] = "anthropic",
  ["anthropic_log.jsonl"] = "anthropic",
  ["gemini_list.json"] = "gemini",
  ["gemini_body.json"] = "gemini",
  ["gemini_log.jsonl"] = "gemini",
}

local function load(name)
  return assert(import.load(DIR .. name))
end

local function message(session, i)
  return json.decode(session.messages[i])
end

describe("a provider's own shape", function()
  for name, form in pairs(CASES) do
    it("is found out and is what is expected: " .. name, function()
      local session = load(name)[1]
      assert.are.equal(form, session.format)
      local text = import.native(session)
      assert.are.equal(assert(shared.read(DIR .. name .. ".native")), text)
      assert.are.equal(text, import.native(assert(import.load_text("again", text))[1]))
    end)
  end

  it("may be a list of exchanges as well as a line each", function()
    for _, name in ipairs({ "responses_log.jsonl", "anthropic_log.jsonl", "gemini_log.jsonl" }) do
      local lines = assert(shared.read(DIR .. name))
      local list = "[" .. lines:gsub("\n(.)", ",\n%1") .. "]"
      local sessions = assert(import.load_text("list.json", list))
      for i, session in ipairs(load(name)) do
        assert.are.same(session.messages, sessions[i].messages)
      end
    end
  end)

  it("may hold its bodies as objects or as texts", function()
    local body = '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}'
    for _, held in ipairs({ body, json.quote(body) }) do
      local log = '{"request":{"body":' .. held .. "}}"
      local session = assert(import.load_text("x", log, { from = "gemini" }))[1]
      assert.are.equal("hi", message(session, 1).content)
    end
  end)

  it("leaves plain chat messages to their own importer", function()
    local list = '[{"role":"user","content":"hi"},{"role":"assistant","content":"Hi."}]'
    assert.are.equal("openai", assert(import.load_text("x", list))[1].format)
    local body = '{"model":"m","messages":' .. list .. "}"
    assert.are.equal("openai", assert(import.load_text("x", body))[1].format)
    local lines = '{"role":"user","content":"say \\"type\\":\\"tool_use\\""}\n'
    assert.are.equal("native", assert(import.load_text("x", lines))[1].format)
  end)

  it("is refused with its line when it is of another provider", function()
    local text = '{"contents":[]}\n{"role":"user","content":"hi"}\n'
    local none, why = import.load_text("a.jsonl", text, { from = "gemini" })
    assert.is_nil(none)
    assert.truthy(why:find("a.jsonl:2: neither a message, a request nor", 1, true), why)
  end)
end)

describe("a log of requests", function()
  it("is one session where each begins with what was sent before", function()
    local sessions = load("anthropic_log.jsonl")
    assert.are.equal(2, #sessions)
    assert.are.equal(2, sessions[1].counts.merged)
    assert.are.equal("a title, please", message(sessions[2], 1).content)
  end)

  it("ends with the last response, and keeps aside one that no request repeats", function()
    local session = load("anthropic_log.jsonl")[1]
    assert.are.equal("Welcome.", message(session, #session.messages).content)
    assert.are.equal("Edited.", message(session, #session.messages - 2).content)
    assert.are.equal(1, session.counts.aside["response that no request repeats"])
    assert.are.equal(2, #session.meta.earlier)
  end)

  it("goes on with the response that a request only names", function()
    local session = load("responses_log.jsonl")[1]
    local n = #session.messages
    assert.are.equal("Sunny.", message(session, n - 2).content)
    assert.are.equal("thanks", message(session, n - 1).content)
    assert.are.equal("Welcome.", message(session, n).content)
  end)

  it("counts a request that was sent twice", function()
    local line = '{"request":{"contents":[{"parts":[{"text":"hi"}]}]}}\n'
    local sessions = assert(import.load_text("x", line .. line))
    assert.are.equal(1, #sessions)
    assert.are.equal(1, sessions[1].counts.merged)
  end)
end)

describe("Anthropic's messages", function()
  it("keep signed and hidden thinking in meta and errors as errors", function()
    local session = load("anthropic_body.json")[1]
    local m = message(session, 3)
    assert.are.equal("Ask twice.", m.reasoning)
    local kinds = { m.meta.parts[1].type, m.meta.parts[2].type }
    assert.are.same({ "thinking", "redacted_thinking" }, kinds)
    assert.are.equal('{"city": "Bern","n": 1.0}', m.tool_calls[1]["function"].arguments)
    assert.is_true(message(session, 5).is_error)
  end)

  it("keep tools of the provider's own in meta", function()
    local session = load("anthropic_body.json")[1]
    assert.are.equal(1, #json.decode(session.tools))
    assert.are.equal(2, session.counts.notes["tools kept in meta"])
  end)
end)

describe("Gemini's contents", function()
  local session = load("gemini_list.json")[1]

  it("give calls without an id one, and results answer in order", function()
    local calls = message(session, 2).tool_calls
    assert.are.same({ "call_1", "call_2", "k1" }, { calls[1].id, calls[2].id, calls[3].id })
    assert.are.equal("sunny", message(session, 3).content)
    assert.are.equal("call_2", message(session, 4).tool_call_id)
    assert.are.equal(2, session.counts.notes["calls without an id"])
    assert.is_nil(session.counts.notes["results without a call"])
  end)

  it("tell thoughts from texts and keep a signed part whole", function()
    local m = message(session, 2)
    assert.are.equal("Ask twice.", m.reasoning)
    assert.are.equal("I ask.", m.content)
    assert.are.equal("sg", m.meta.parts[1].thoughtSignature)
  end)
end)

describe("a log of chat requests", function()
  local function line(n)
    local all = {
      '{"role":"user","content":"one"}',
      '{"role":"assistant","content":"two"}',
      '{"role":"user","content":"three"}',
    }
    local form = '{"request":{"model":"m","messages":[%s]},'
      .. '"response":{"choices":[{"message":{"role":"assistant","content":"r%d"}}]}}'
    return form:format(table.concat(all, ",", 1, n), n)
  end

  it("is one session where a request goes on with the one before", function()
    local sessions = assert(import.load_text("log.jsonl", line(1) .. "\n" .. line(3) .. "\n"))
    assert.are.equal(1, #sessions)
    assert.are.equal("openai", sessions[1].format)
    local contents = {}
    for i, raw in ipairs(sessions[1].messages) do
      contents[i] = json.decode(raw).content
    end
    assert.are.same({ "one", "two", "three", "r3" }, contents)
    -- What came back for the first request is not what the second one repeats.
    local aside = sessions[1].counts.aside["response that no request repeats"]
    assert.are.equal(1, aside)
  end)
end)
