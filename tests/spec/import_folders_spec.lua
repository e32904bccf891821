-- Recordings that are not one file of one session: opencode's storage folders, Claude Code's side
-- chains. next: import_table_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")
local json = core.json

local ROOT = shared.scratch("import_folders")

local function write(path, text)
  local dir = path:match("^(.*)/")
  os.execute("mkdir -p " .. shared.quote(dir))
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
end

-- opencode's export as the files that the same session is kept in; the session's file.
local function scatter(root, export)
  local text = assert(shared.read(export))
  local whole = json.decode(text, { info = true, parts = true })
  local storage = root .. "/opencode/storage/"
  local id = json.decode(whole.info).id
  local file = storage .. "session/global/" .. id .. ".json"
  write(file, whole.info.raw)
  for i, message in ipairs(whole.messages) do
    local name = ("msg_%03d"):format(i)
    write(("%smessage/%s/%s.json"):format(storage, id, name), message.info.raw)
    for k, part in ipairs(json.items(message.parts)) do
      write(("%spart/%s/prt_%03d.json"):format(storage, name, k), part.raw)
    end
  end
  return file, storage
end

local EXPORT = "tests/cases/import/opencode.json"

local function messages(session)
  return table.concat(session.messages, "\n")
end

describe("opencode's folders", function()
  local file, storage = scatter(ROOT .. "/one", EXPORT)

  it("say what the export says", function()
    local folder = assert(import.load(file))
    local export = assert(import.load(EXPORT))
    assert.are.equal("opencode", folder[1].format)
    assert.are.equal(messages(export[1]), messages(folder[1]))
    assert.are.same(export[1].counts, folder[1].counts)
    assert.are.equal(file:match("([^/]+)%.json$"), folder[1].name)
  end)

  it("name a file that cannot be read, or skip and count it", function()
    local bad = storage .. "part/msg_001/prt_001.json"
    local kept = assert(shared.read(bad))
    for text, want in pairs({ ["{"] = "member name", ["[]"] = "no object", [""] = "ends early" }) do
      write(bad, text)
      local none, why = import.load(file)
      assert.is_nil(none)
      assert.are.equal(bad .. ":1: ", why:sub(1, #bad + 4))
      assert.truthy(why:find(want, 1, true), why)
      local sessions = assert(import.load(file, { lenient = true }))
      assert.are.equal(1, sessions[1].counts.skipped)
    end
    write(bad, kept)
  end)

  it("are listed and named by neap sessions", function()
    local function run(words)
      local out = ROOT .. "/out"
      local form = "env -u CLAUDE_CONFIG_DIR HOME=%s XDG_DATA_HOME=%s %s %s >%s 2>&1"
      local home, data = shared.quote(ROOT .. "/home"), shared.quote(ROOT .. "/one")
      local program = shared.quote(shared.program())
      local line = form:format(home, data, program, words, shared.quote(out))
      local ok = os.execute(line)
      return ok, shared.read(out)
    end
    local _, text = run("sessions --json")
    local row = json.decode(text)
    assert.are.equal("opencode", row.agent)
    assert.are.equal(file, row.path)
    assert.is_true(row.bytes > #assert(shared.read(file)))
    assert.is_true(row.turns > 0)
    assert.is_true((run("replay " .. row.id)))
  end)
end)

-- ---- side chains ---------------------------------------------------------------------------

local function record(uuid, parent, role, text, extra)
  local message = { role = role, content = text, id = role == "assistant" and "m" .. uuid or nil }
  local value = { type = role, uuid = uuid, parentUuid = parent, sessionId = "s" }
  value.message, value.isSidechain = message, false
  for key, v in pairs(extra or {}) do
    value[key] = v
  end
  return json.encode(value)
end

local SIDE = { isSidechain = true }
local LOG = table.concat({
  record("u1", json.null, "user", "Find the leak."),
  record("a1", "u1", "assistant", "I will ask."),
  record("s1", json.null, "user", "Look in src.", SIDE),
  record("s2", "s1", "assistant", "Nothing in src.", SIDE),
  record("t1", json.null, "user", "Look in lib.", { isSidechain = true, agentId = "b" }),
  record("s3", "s2", "user", "Look again.", SIDE),
  record("t2", "gone", "assistant", "It is in lib.", { isSidechain = true, agentId = "b" }),
  record("a2", "a1", "assistant", "It is in lib, I am told."),
}, "\n")

local function texts(session)
  local list = {}
  for i, message in ipairs(session.messages) do
    list[i] = json.decode(message).content
  end
  return list
end

describe("Claude Code's side chains", function()
  it("are kept aside, each record, and counted", function()
    local list = assert(import.load_text("log.jsonl", LOG))
    assert.are.equal(1, #list)
    assert.are.same({ "Find the leak.", "I will ask.", "It is in lib, I am told." }, texts(list[1]))
    assert.are.equal(5, list[1].counts.aside.sidechain)
    assert.are.equal(5, #list[1].meta.aside)
  end)

  it("are sessions of their own when asked for, whatever lies between their records", function()
    local list = assert(import.load_text("log.jsonl", LOG, { branches = true }))
    assert.are.equal(3, #list)
    assert.are.same({ "Look in src.", "Nothing in src.", "Look again." }, texts(list[2]))
    assert.are.same({ "Look in lib.", "It is in lib." }, texts(list[3]))
    assert.are.equal("log#3", list[3].name)
    assert.are.equal("b", list[3].meta.branch.agent)
    assert.is_nil(list[1].counts.aside.sidechain)
    assert.are.equal(2, list[1].counts.notes["side chains read as sessions"])
    assert.are.equal(8, list[1].counts.messages)
  end)

  it("are the session where a file holds nothing else: a sub-agent's own file", function()
    local own = {}
    for line in LOG:gmatch("[^\n]+") do
      if line:find('"agentId":"b"', 1, true) then own[#own + 1] = line end
    end
    local list = assert(import.load_text("agent-b.jsonl", table.concat(own, "\n")))
    assert.are.equal(1, #list)
    assert.are.same({ "Look in lib.", "It is in lib." }, texts(list[1]))
    assert.are.equal(2, list[1].counts.records)
  end)

  it("are named by the program", function()
    write(ROOT .. "/side/log.jsonl", LOG)
    local path = ROOT .. "/side/log.jsonl"
    local code, out = shared.run({ "import", path, "--branches", "--session", "2" })
    assert.are.equal(0, code)
    assert.truthy(out:find("Nothing in src.", 1, true))
    code, out = shared.run({ "replay", path, "--branches", "--json" })
    assert.are.equal(0, code)
    assert.truthy(out:find('"trace":"log#2"', 1, true))
  end)
end)
