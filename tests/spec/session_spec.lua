-- Stored sessions: neap session and neap.store, on stores that the specs make. next: store_spec.lua
local core = require("neap.core")
local neap = require("neap")
local shared = require("tests.support.shared")

local POLICY = [[return { api = 1, tools = { "read" },
  assemble = function(ctx)
    for e in ctx:entries { kind = "result", before = ctx.step - 1 } do e:mask() end
  end }]]

local function turn(s, i)
  local body = assert(s:prompt())
  local call = '{"id":"c%d","type":"function","function":{"name":"bash","arguments":"{}"}}'
  local answer = '{"choices":[{"message":{"role":"assistant","content":"look","tool_calls":[%s]}}]}'
  assert(s:add_response(answer:format(call:format(i))))
  for c in s:calls() do
    assert(s:result(c, ("line %d of src/file.c\n"):format(i):rep(40)))
  end
  return body
end

local function open(path, name, policy)
  return assert(neap.session({ store = path, name = name, policy = policy, window = 20000 }))
end

-- A store with a session of five turns, and the policy's file.
local function make(name)
  local folder = shared.scratch(name)
  local path, policy = folder .. "/neap.db", folder .. "/policy.lua"
  local file = assert(io.open(policy, "w"))
  file:write(POLICY)
  file:close()
  local s = open(path, "run", policy)
  assert(s:add({ role = "user", content = "mend it" }))
  for i = 1, 5 do
    turn(s, i)
  end
  s:close()
  return path, policy, folder
end

describe("neap session", function()
  local path, policy, folder
  setup(function()
    path, policy, folder = make("session_verb")
  end)

  local function verb(...)
    local words = { "session", ... }
    words[#words + 1] = "--store"
    words[#words + 1] = path
    return shared.run(words)
  end

  it("lists what the store has", function()
    local code, out, err = verb("list")
    assert.are.equal("", err)
    assert.are.equal(0, code)
    assert.is_truthy(out:match("^session  events\nrun +%d+\n$"), out)
    code, out = verb("list", "--json")
    assert.are.equal(0, code)
    assert.is_truthy(out:match('^{"name":"run","events":%d+}\n$'), out)
    code, out, err = verb("list", "--tenant", "other")
    assert.are.equal(0, code)
    assert.are.equal("", out)
    assert.is_truthy(err:find("no sessions", 1, true))
  end)

  it("shows a session event by event, with steps, tokens and sizes", function()
    local code, out = verb("show", "run")
    assert.are.equal(0, code)
    assert.is_truthy(out:match("event  kind +step  tokens  bytes"), out)
    assert.is_truthy(out:find("user: mend it", 1, true))
    assert.is_truthy(out:find("turn 5, ", 1, true), out)
    local rows = {}
    code, out = verb("show", "run", "--json")
    assert.are.equal(0, code)
    for line in out:gmatch("[^\n]+") do
      rows[#rows + 1] = core.json.decode(line)
    end
    assert.are.equal("open", rows[1].kind)
    local turns, last = 0, 0
    for i, row in ipairs(rows) do
      assert.are.equal(i, row.seq)
      turns = turns + (row.kind == "turn" and 1 or 0)
      assert.are.equal(turns, row.step)
      last = row.kind == "turn" and row.tokens or last
    end
    assert.are.equal(5, turns)
    assert.is_true(last > 100)
  end)

  it("replays a session from its log, and says that its prompts are the same", function()
    local code, out, err = verb("replay", "run")
    assert.are.equal("", err)
    assert.are.equal(0, code)
    assert.are.equal("run: 5 prompts made again, the same to the byte\n", out)
    code, out = verb("replay", "run", "--json")
    assert.are.equal(0, code)
    assert.are.equal('{"session":"run","same":5,"unpinned":0}\n', out)
  end)

  it("copies a session at a turn, and the copy goes on as the origin did", function()
    local code, out = verb("fork", "run", "at3", "--turn", "3")
    assert.are.equal(0, code)
    assert.are.equal("at3\n", out)
    assert.are.equal(0, (verb("fork", "run", "whole")))
    local solo = folder .. "/solo.db"
    local a, b = open(path, "at3", policy), open(solo, "run", policy)
    assert(b:add({ role = "user", content = "mend it" }))
    turn(b, 1)
    turn(b, 2)
    assert(b:prompt())
    for _, s in ipairs({ a, b }) do
      assert(s:add({ role = "user", content = "stop and look" }))
    end
    local one, two = assert(a:prompt()), assert(b:prompt())
    -- each store has a secret of its own, and marks a key from it
    assert.are.equal((one:gsub("neap·%w+", "")), (two:gsub("neap·%w+", "")))
    a:close()
    b:close()
  end)

  it("exports and imports to the byte, and goes on with the same prompts", function()
    local file, again = folder .. "/out.jsonl", folder .. "/again.jsonl"
    assert.are.equal(0, (verb("export", "run", file)))
    local code, out, err = shared.run({
      "session", "import", file, "--store", folder .. "/new.db",
    })
    assert.are.equal("", err)
    assert.are.equal(0, code)
    assert.are.equal("run\n", out)
    code = shared.run({ "session", "export", "run", again, "--store", folder .. "/new.db" })
    assert.are.equal(0, code)
    local text = assert(shared.read(file))
    assert.are.equal(text, assert(shared.read(again)))
    code, out = verb("export", "run")
    assert.are.equal(0, code)
    assert.are.equal(text, out)
    assert.are.equal(0, (verb("fork", "run", "mine")))
    local a, b = open(path, "mine", policy), open(folder .. "/new.db", "run", policy)
    assert.are.equal(assert(a:prompt()), assert(b:prompt()))
    a:close()
    b:close()
  end)

  it("refuses what is damaged, with its line, and makes nothing of it", function()
    local file, bad = folder .. "/good.jsonl", folder .. "/bad.jsonl"
    local store = folder .. "/bad.db"
    assert.are.equal(0, (verb("export", "run", file)))
    local text = assert(shared.read(file)):gsub("mend it", "mend us", 1)
    local f = assert(io.open(bad, "w"))
    f:write(text)
    f:close()
    local code, out, err = shared.run({ "session", "import", bad, "--store", store })
    assert.are.equal(2, code)
    assert.are.equal("", out)
    local want = "neap: %s:%%d+: its body differs from its hash; export it again\n"
    assert.is_truthy(err:match(want:format(bad:gsub("%p", "%%%0"))), err)
    code, out = shared.run({ "session", "list", "--store", store })
    assert.are.equal(0, code)
    assert.are.equal("", out)
  end)

  it("is never written over a session", function()
    local file = folder .. "/twice.jsonl"
    assert.are.equal(0, (verb("export", "run", file)))
    local code, _, err = verb("import", file)
    assert.are.equal(2, code)
    assert.is_truthy(err:find("there is a session 'run' already; give another name", 1, true), err)
    local out
    code, out = verb("import", file, "--name", "second")
    assert.are.equal(0, code)
    assert.are.equal("second\n", out)
  end)

  it("is told from a recording by every verb that takes one", function()
    local file = folder .. "/told.jsonl"
    assert.are.equal(0, (verb("export", "run", file)))
    for _, words in ipairs({
      { "import", file },
      { "replay", file, "-p", policy },
      { "compare", file, "-p", policy },
      { "import", file, "--from", "native" },
    }) do
      local code, out, err = shared.run(words)
      assert.are.same({ 2, "" }, { code, out })
      local want = "told.jsonl:1: is a stored session that was exported, no recording; neap "
      assert.is_truthy(err:find(want .. "session import FILE puts it into a store", 1, true), err)
      assert.are.equal(1, select(2, err:gsub("\n", "")))
    end
  end)

  it("makes a session of another program's recording", function()
    local code, out, err = shared.run({
      "session", "import", "examples/recordings/english.jsonl", "--store", folder .. "/rec.db",
    })
    assert.are.equal("", err)
    assert.are.equal(0, code)
    assert.are.equal("english\n", out)
    local s = assert(neap.session({ store = folder .. "/rec.db", name = "english" }))
    assert.is_truthy(assert(s:prompt()):find('"messages":[', 1, true))
    s:close()
    local engine = assert(core.engine({ store = folder .. "/bare.db" }))
    local bare = assert(engine:session({ name = "bare" }))
    assert(bare:append('{"role":"user","content":"no prompt yet"}'))
    bare:close()
    local no, why = engine:fork("bare", "more", { turn = 1 })
    engine:close()
    assert.is_nil(no)
    assert.are.equal("session bare has no turns: no prompt was made of it; take events", why)
  end)

  local WRONG = {
    { { "lists" }, "neap session has no lists; there are list, show, replay" },
    { { "show" }, "usage: neap session show NAME" },
    { { "show", "gone" }, "there is no session 'gone'; check its name and tenant" },
    { { "fork", "run" }, "usage: neap session fork NAME NEW" },
    { { "fork", "run", "x", "--turn", "99" }, "session run has 5 turns, not 99; take fewer" },
    { { "fork", "run", "run" }, "there is a session 'run' already" },
    { { "export", "gone" }, "there is no session 'gone'" },
    { { "show", "run", "--turn", "1" }, "neap session show takes no --turn" },
    { { "show", "run", "--events", "1" }, "neap session show takes no --events" },
    { { "list", "--name", "x" }, "neap session list takes no --name" },
    { { "replay", "run", "--turn", "1" }, "neap session replay takes no --turn" },
    { { "fork", "run", "x", "--name", "y" }, "neap session fork takes no --name" },
    { { "export", "run", "--events", "2" }, "neap session export takes no --events" },
    { { "import", "/nowhere/x.jsonl", "--turn", "2" }, "neap session import takes no --turn" },
    { { "import", "/nowhere/x.jsonl" }, "/nowhere/x.jsonl: No such file" },
  }
  for _, row in ipairs(WRONG) do
    it("says in one line what is wrong: " .. table.concat(row[1], " "), function()
      local code, out, err = verb(table.unpack(row[1]))
      assert.are.equal(2, code)
      assert.are.equal("", out)
      assert.is_truthy(err:find(row[2], 1, true), err)
      assert.are.equal(1, select(2, err:gsub("\n", "")))
    end)
  end

  it("names a store that is not there", function()
    local code, _, err = shared.run({ "session", "list", "--store", folder .. "/none.db" })
    assert.are.equal(2, code)
    assert.is_truthy(err:find("there is no such store", 1, true))
    assert.is_nil(core.stat(folder .. "/none.db"))
  end)
end)

describe("neap session show", function()
  -- Heads that no neap writes, with the sums of their events.
  local ODD = {
    { "open", "5", "289b86469bae7766" },
    { "turn", '"x"', "7686afe989c55998" },
    { "usage", "[]", "0a25f4c661bd3f37" },
    { "policy", "true", "1042571b878573f3" },
    { "turn", '{"tokens":{"a":1},"changed":7,"turn":[]}', "78197662f167199a" },
    { "open", '{"neap":{},"format":[],"policy":1e400}', "ef01bc51898e8fbd" },
    { "usage", '{"counted":{},"reported":null}', "0fbc97124f4afac9" },
    { "policy", '{"result":[1],"sha256":{}}', "c55ab802fec66ada" },
  }

  it("shows heads that say anything", function()
    local folder = shared.scratch("session_odd")
    local lines = { ('{"neap_session":1,"name":"odd","events":%d}'):format(#ODD) }
    for i, one in ipairs(ODD) do
      local line = '{"seq":%d,"kind":"%s","version":1,"sum":"%s","head":%s}'
      lines[#lines + 1] = line:format(i, one[1], one[3], one[2])
    end
    local file = assert(io.open(folder .. "/odd.jsonl", "w"))
    file:write(table.concat(lines, "\n"), "\n")
    file:close()
    local store = { "--store", folder .. "/odd.db" }
    local code, out, err =
      shared.run({ "session", "import", folder .. "/odd.jsonl", table.unpack(store) })
    assert.are.equal("", err)
    assert.are.equal("odd\n", out)
    assert.are.equal(0, code)
    for _, json in ipairs({ false, "--json" }) do
      local words = { "session", "show", "odd", store[1], store[2], json or nil }
      code, out, err = shared.run(words)
      assert.are.equal("", err)
      assert.are.equal(0, code)
      assert.are.equal(#ODD + (json and 0 or 1), select(2, out:gsub("\n", "")))
      assert.is_nil(out:find("0x", 1, true)) -- no address of a table
    end
  end)
end)

describe("neap.store", function()
  it("lists, shows, copies, writes out and reads back", function()
    local path, _, folder = make("session_store")
    local store <close> = assert(neap.store({ store = path }))
    assert.are.equal("run", assert(store:sessions())[1].name)
    local seen, from = 0, 1
    while true do
      local page = assert(store:events("run", from))
      if #page == 0 then break end
      seen, from = seen + #page, page[#page].seq + 1
    end
    assert.are.equal(assert(store:sessions())[1].events, seen)
    assert(store:fork("run", "copy", { turn = 2 }))
    local out = assert(io.open(folder .. "/x.jsonl", "w+"))
    assert(store:export("copy", out))
    out:seek("set")
    assert.are.equal("third", assert(store:import(out:read("a"), "third")))
    out:close()
    local names = {}
    for i, one in ipairs(assert(store:sessions())) do
      names[i] = one.name
    end
    assert.are.same({ "copy", "run", "third" }, names)
    local ok, why, code = store:fork("gone", "x")
    assert.is_nil(ok)
    assert.are.equal("notfound", code)
    assert.is_truthy(why:find("gone", 1, true))
  end)

  it("raises on misuse, and tells what the world does", function()
    assert.has_error(function()
      neap.store({ storage = "x" })
    end)
    assert.has_error(function()
      neap.store({ store = "x", nothing = 1 })
    end)
    local store, _, code = neap.store({ store = "/nowhere/at/all.db" })
    assert.is_nil(store)
    assert.are.equal("io", code)
  end)
end)
