-- neap sessions: what agents keep is found, told by short ids, and those are taken for traces.
-- next: cli_cases_spec.lua
local core = require("neap.core")
local shared = require("tests.support.shared")

local HOME = shared.scratch("cli_sessions")
if HOME:sub(1, 1) ~= "/" then HOME = require("lfs").currentdir() .. "/" .. HOME end
local CASES = "tests/cases/import/"

-- Runs the program with the folders of one home and no other; `set` are more variables.
local function run(words, set)
  local parts = { "env -u CLAUDE_CONFIG_DIR -u CODEX_HOME -u COPILOT_HOME -u PI_CODING_AGENT_DIR" }
  parts[2] = "HOME=" .. shared.quote(HOME)
  for name, value in pairs(set or {}) do
    parts[#parts + 1] = name .. "=" .. shared.quote(value)
  end
  parts[#parts + 1] = shared.quote(shared.program())
  for _, word in ipairs(words) do
    parts[#parts + 1] = shared.quote(word)
  end
  local out, err = HOME .. "/../sessions.out", HOME .. "/../sessions.err"
  local form = "%s >%s 2>%s </dev/null"
  local command = form:format(table.concat(parts, " "), shared.quote(out), shared.quote(err))
  local _, _, code = os.execute(command)
  return code, shared.read(out), shared.read(err)
end

local function put(case, path, date)
  local to = HOME .. "/" .. path
  local form = "mkdir -p %s && cp %s %s && touch -d %s %s"
  local dir, quoted = shared.quote(to:match("^(.*)/")), shared.quote(to)
  assert(os.execute(form:format(dir, CASES .. case, quoted, date, quoted)))
  return to
end

local function rows(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do
    list[#list + 1] = core.json.decode(line)
  end
  return list
end

describe("neap sessions", function()
  local claude, codex
  setup(function()
    claude = put("claude_conversation.jsonl", ".claude/projects/demo/a.jsonl", "2025-03-01")
    codex = put("codex.jsonl", ".codex/sessions/2025/02/03/rollout-7.jsonl", "2025-02-03")
    put("gemini_cli.json", ".gemini/tmp/abc/chats/s.json", "2025-01-03")
    put("pi.jsonl", ".pi/agent/sessions/--src--/p.jsonl", "2025-01-02")
    put("copilot.jsonl", ".copilot/session-state/u1/events.jsonl", "2025-01-01T23:59:59Z")
    put("not_json.txt", ".claude/projects/demo/torn.jsonl", "2024-12-31")
    put("pi.jsonl", ".codex/sessions/2025/02/03/other.jsonl", "2025-02-03") -- no rollout
  end)

  it("lists what each agent keeps, the newest first, and reads the titles", function()
    local code, out, err = run({ "sessions" })
    assert.are.equal(0, code, err)
    assert.are.equal("", err)
    local agents = {}
    for agent in out:gmatch("\n%x+  %d%d%d%d%-%d%d%-%d%d  (%S+)") do
      agents[#agents + 1] = agent
    end
    local want = "claude-code codex gemini-cli pi copilot claude-code"
    assert.are.equal(want, table.concat(agents, " "))
    local first = "2025-03-01  claude-code  6 KB      4  Fix the build in src/main.c"
    assert.truthy(out:find(first, 1, true))
    assert.truthy(out:find("2025-01-01  copilot", 1, true))
    assert.truthy(out:find("(cannot be read: ", 1, true))
    assert.is_nil(out:find("tokens", 1, true))
  end)

  it("gives each as a JSON line, with tokens when asked", function()
    local code, out = run({ "sessions", "--json", "--tokens" })
    assert.are.equal(0, code)
    local list = rows(out)
    assert.are.equal(6, #list)
    assert.are.equal(claude, list[1].path)
    assert.are.equal("2025-03-01", list[1].date)
    assert.is_true(list[1].tokens > 10)
    assert.are.equal(core.sha256(claude):sub(1, 6), list[1].id)
    assert.is_string(list[6].fault)
    assert.is_nil(list[6].turns)
  end)

  it("honours the agents' own variables", function()
    local set = { CLAUDE_CONFIG_DIR = HOME .. "/nowhere", CODEX_HOME = HOME .. "/.codex" }
    local _, out = run({ "sessions", "--json" }, set)
    assert.are.equal(codex, rows(out)[1].path)
    assert.are.equal(4, #rows(out))
    set.PI_CODING_AGENT_DIR = HOME .. "/.pi/agent"
    _, out = run({ "sessions", "--json" }, set)
    assert.are.equal(4, #rows(out))
    set.PI_CODING_AGENT_DIR, set.COPILOT_HOME = HOME, HOME
    _, out = run({ "sessions", "--json" }, set)
    assert.are.equal(2, #rows(out))
  end)

  it("takes what the user wrote for a title, not what agents put before it", function()
    local function line(content)
      return core.json.encode({ role = "user", content = content }, { "role" }) .. "\n"
    end
    local text = line("<note>\nnot this") .. line("# AGENTS.md instructions\nnor this")
    text = text .. line("[Request interrupted]") .. line("/mode")
    text = text .. line("<now>1</now>\n<at>x</at>\n\n  Mend it.\nNow.")
    local dir = HOME .. "/titles/projects/p"
    os.execute("mkdir -p " .. shared.quote(dir))
    local f = assert(io.open(dir .. "/t.jsonl", "wb"))
    f:write(text, '{"role":"assistant","content":"Yes."}\n')
    f:close()
    local _, out = run({ "sessions", "--json" }, { CLAUDE_CONFIG_DIR = HOME .. "/titles" })
    for _, row in ipairs(rows(out)) do
      if row.path == dir .. "/t.jsonl" then assert.are.equal("Mend it.", row.title) end
    end
    assert.truthy(out:find('"title":"Mend it."', 1, true))
  end)

  it("counts turns as replay does, and replay, show and import take an id", function()
    local _, out = run({ "sessions", "--json" })
    local one = rows(out)[2]
    local code, line, err = run({ "replay", one.id:sub(1, 4), "--json" })
    assert.are.equal(0, code, err)
    local list = rows(line)
    assert.are.equal(one.turns, list[#list].turns)
    assert.are.equal("rollout-7", list[1].trace)
    assert.are.equal(0, run({ "show", one.id, "--turn", "1" }))
    local _, native = run({ "import", one.id })
    local _, same = run({ "import", codex })
    assert.are.equal(same, native)
  end)

  it("refuses an id that is none", function()
    local code, _, err = run({ "replay", "abcdef99" })
    assert.are.equal(2, code)
    assert.truthy(err:find("abcdef99: is no file, and no session's id begins with it", 1, true))
  end)

  it("lists the matches of the beginning of several ids", function()
    -- So many that two share four digits.
    local first, word = {}, nil
    for i = 1, 2000 do
      local path = ("%s/many/projects/p/%d.jsonl"):format(HOME, i)
      local id = core.sha256(path):sub(1, 4)
      if first[id] then
        word = id
        for _, n in ipairs({ first[id], i }) do
          put("claude_conversation.jsonl", ("many/projects/p/%d.jsonl"):format(n), "2025-01-01")
        end
        break
      end
      first[id] = i
    end
    assert.is_string(word)
    local code, _, err = run({ "replay", word }, { CLAUDE_CONFIG_DIR = HOME .. "/many" })
    assert.are.equal(2, code)
    assert.truthy(err:find(word .. ": is the beginning of 2 ids; give more of it: ", 1, true))
    assert.are.equal(2, select(2, err:gsub("/many/projects/p/%d+%.jsonl", "")))
    local _, out = run({ "sessions", "--json" }, { CLAUDE_CONFIG_DIR = HOME .. "/many" })
    for _, row in ipairs(rows(out)) do
      assert.are.equal(0, run({ "show", row.id, "--turn", "1" }, {
        CLAUDE_CONFIG_DIR = HOME .. "/many",
      }))
    end
  end)

  it("takes a file before an id of the same name", function()
    put("pi.jsonl", "abcd", "2025-01-01")
    local form = "cd %s && %s replay abcd >/dev/null 2>&1"
    local program = shared.program()
    if program:sub(1, 1) ~= "/" then program = require("lfs").currentdir() .. "/" .. program end
    assert.is_true(os.execute(form:format(shared.quote(HOME), shared.quote(program))))
  end)

  it("says so when there is nothing", function()
    local code, out, err = run({ "sessions" }, { HOME = HOME .. "/empty" })
    assert.are.equal(0, code)
    assert.are.equal("", out)
    assert.truthy(err:find("no recordings are found of claude-code, codex", 1, true))
  end)
end)
