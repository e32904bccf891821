-- Finding again: neap recall on a store, hits in Lua, what a policy's hooks search.
-- next: reload_spec.lua
local core = require("neap.core")
local neap = require("neap")
local shared = require("tests.support.shared")

local function make_store(name)
  local path = shared.scratch(name) .. "/neap.db"
  local engine = assert(core.engine({ store = path, fixed_secret = true }))
  local s = assert(engine:session({ name = "run-1" }))
  assert(s:append('{"role":"user","content":"Why does the upload fail?"}'))
  assert(s:append('{"role":"assistant","tool_calls":[{"id":"a","type":"function",'
    .. '"function":{"name":"bash","arguments":"{\\"command\\":\\"cat server.log\\"}"}}]}'))
  assert(s:append('{"role":"tool","tool_call_id":"a","content":"E4711: quota of bucket_alpha"}'))
  s:close()
  local t = assert(engine:session({ name = "run-2" }))
  assert(t:append('{"role":"user","content":"E4711 came again"}'))
  t:close()
  engine:close()
  return path
end

describe("a store given as a recording", function()
  local function refused(path, form)
    for _, words in ipairs({
      { "import", path },
      { "import", path, "--from", "native" },
      { "replay", path },
      { "show", path, "--turn", "1" },
    }) do
      local code, out, err = shared.run(words)
      assert.are.equal(2, code)
      assert.are.equal("", out)
      assert.are.equal(("neap: %s: %s\n"):format(path, form), err)
    end
  end

  it("is named as what it is, with what can be done with it", function()
    refused(
      make_store("recall_store_as_trace"),
      "is neap's store, no recording; neap session list --store FILE names what it holds, neap "
        .. "session replay runs one again, neap recall finds words in it"
    )
  end)

  it("is told from another program's SQLite file", function()
    local path = make_store("recall_other_as_trace")
    local file = assert(io.open(path, "r+b"))
    file:seek("set", 68)
    file:write("GPKG")
    file:close()
    refused(
      path,
      "is another program's SQLite file, no recording; neap import --list names the forms"
    )
  end)
end)

describe("neap recall", function()
  local store
  setup(function()
    store = make_store("recall_verb")
  end)

  local function run(...)
    return shared.run({ "recall", "--store", store, ... })
  end

  it("prints id, step and a line of each hit, best first", function()
    local code, out, err = run("E4711")
    assert.are.equal("", err)
    assert.are.equal(0, code)
    assert.are.equal(
      "run-2/1\tstep 0\tE4711 came again\nrun-1/3\tstep 1\tE4711: quota of bucket_alpha\n",
      out
    )
  end)

  it("gives bare ids within a session, and objects with --json", function()
    local code, out = run("--session", "run-1", "--json", "alpha", "quota")
    assert.are.equal(0, code)
    local hit = core.json.decode(out)
    assert.are.equal("3", hit.id)
    assert.are.equal("run-1", hit.session)
    assert.are.equal(1, hit.step)
    assert.are.equal("E4711: quota of bucket_alpha", hit.snippet)
    assert.is_true(tonumber(tostring(hit.score)) > 0)
  end)

  it("gives at most -k hits", function()
    local _, out = run("-k", "1", "E4711")
    assert.are.equal(1, select(2, out:gsub("\n", "")))
    local code, _, err = run("-k", "101", "E4711")
    assert.are.equal(2, code)
    assert.truthy(err:find("at most 100", 1, true))
  end)

  it("says that nothing is found, and exits 1", function()
    local code, out, err = run("nowhere")
    assert.are.equal(1, code)
    assert.are.equal("", out)
    assert.truthy(err:find("no entry matches; try other words", 1, true))
  end)

  it("takes any text as a query", function()
    for _, query in ipairs({ '"', "C++ AND (", "a-b:*", "\xFF\xFE" }) do
      local code, _, err = run(query)
      assert.is_true(code <= 1, query .. ": " .. err)
    end
  end)

  it("knows no other tenant's sessions", function()
    local code = run("--tenant", "other", "E4711")
    assert.are.equal(1, code)
    local named, _, err = run("--tenant", "other", "--session", "run-1", "E4711")
    assert.are.equal(2, named)
    assert.truthy(err:find("no session run-1", 1, true))
  end)

  it("marks what was rolled back", function()
    local path = shared.scratch("recall_void") .. "/neap.db"
    local s = assert(neap.session({ name = "back", store = path }))
    assert(s:add({ role = "user", content = "find the pump" }))
    assert(s:checkpoint("m"))
    assert(s:add({ role = "user", content = "it is in hall_nine" }))
    assert(s:rollback("m", "a mix-up"))
    s:close()
    local code, out = shared.run({ "recall", "--store", path, "hall_nine" })
    assert.are.equal(0, code)
    assert.are.equal("back/2\tstep 0\t(rolled back) it is in hall_nine\n", out)
    local _, json = shared.run({ "recall", "--store", path, "--json", "hall_nine" })
    assert.is_true(core.json.decode(json).void)
    local _, fact = shared.run({ "recall", "--store", path, "--json", "pump" })
    assert.is_nil(fact:find('"void"', 1, true))
  end)

  it("does not make a store that is not there", function()
    local path = store .. ".none"
    local code, _, err = shared.run({ "recall", "--store", path, "x" })
    assert.are.equal(2, code)
    assert.truthy(err:find("there is no such store", 1, true))
    assert.is_nil(core.stat(path))
  end)
end)

describe("the tool neap_recall", function()
  local function asked(arguments)
    local s <close> = assert(neap.session({ window = 20000 }))
    assert(s:add({ role = "user", content = "mend it" }))
    for i, name in ipairs({ "shell", "neap_recall" }) do
      assert(s:prompt())
      local call = { id = "c" .. i, type = "function" }
      call["function"] = { name = name, arguments = i == 2 and arguments or "{}" }
      local message = { role = "assistant", content = "look", tool_calls = { call } }
      assert(s:add_response(neap.json.encode({ choices = { { message = message } } })))
      for c in s:calls() do
        assert(s:result(c, "the linker says E4711, in 4711 words"))
      end
    end
    local list = neap.json.decode(assert(s:prompt())).messages
    return list[#list].content
  end

  it("asks for words where there are none, and takes a number for one", function()
    for _, arguments in ipairs({ "{}", '{"query":""}', '{"query":" \\n"}', '{"query":null}' }) do
      local want = 'Give words in "query": names, error codes, file names.'
      assert.are.equal(want, asked(arguments))
    end
    assert.is_truthy(asked('{"query":4711}'):find("the linker says", 1, true))
    assert.is_truthy(asked('{"query":"zzzz"}'):find("No earlier step matches", 1, true))
  end)
end)

describe("ctx:search", function()
  local function session(policy)
    local path = shared.scratch("search") .. "/policy.lua"
    local f = assert(io.open(path, "wb"))
    f:write(policy)
    f:close()
    local engine = assert(core.engine({ fixed_secret = true }))
    local s = assert(engine:session({ policy = path, no_log = true, no_reload = true }))
    assert(s:append('{"role":"user","content":"begin"}'))
    assert(s:append('{"role":"assistant","content":"looking"}'))
    assert(s:append('{"role":"user","content":"the code is E4711"}'))
    for i = 1, 5 do
      assert(s:append('{"role":"assistant","content":"I see"}'))
      assert(s:append(('{"role":"user","content":"go on, %d"}'):format(i)))
    end
    return s, engine
  end

  local function logged(policy)
    local s, engine = session(policy)
    assert(s:prompt())
    local account = core.json.decode(s:account())
    s:close()
    engine:close()
    return table.concat(account.log or {}, "\n"), account.hook_errors
  end

  it("finds ids, best first, in assemble", function()
    local text = logged([[return { api = 1, assemble = function(ctx)
      local ids = ctx:search("E4711 nowhere", 5)
      ctx:log(#ids, ids[1])
      ctx:log(#ctx:search("nowhere"))
    end }]])
    assert.truthy(text:find("^1%s3\n0$"), text)
  end)

  it("is refused in rank, and for what is no query", function()
    local _, errors = logged([[return { api = 1, rank = function(ctx) ctx:search("x") return 1 end,
      assemble = function(ctx) ctx:shrink(1) end }]])
    assert.truthy(errors and errors[1]:find("rank may not search", 1, true))
    _, errors = logged([[return { api = 1, assemble = function(ctx) ctx:search(7) end }]])
    assert.truthy(errors and errors[1]:find("string expected", 1, true))
    _, errors = logged([[return { api = 1, assemble = function(ctx) ctx:search("x", 21) end }]])
    assert.truthy(errors and errors[1]:find("between 1 and 20", 1, true))
  end)
end)

describe("ctx:map", function()
  it("says what there is that is not shown in full", function()
    local path = shared.scratch("map") .. "/policy.lua"
    local f = assert(io.open(path, "wb"))
    f:write([[return { api = 1, assemble = function(ctx)
      ctx:log(ctx:map())
      for e in ctx:entries { kind = "result" } do e:mask() end
      ctx:log(ctx:map())
      ctx:log(#ctx:map(100) <= 100)
    end }]])
    f:close()
    local engine = assert(core.engine({ fixed_secret = true }))
    local s = assert(engine:session({ policy = path, no_log = true, no_reload = true }))
    assert(s:append('{"role":"user","content":"begin"}'))
    for i = 1, 3 do
      local call = '{"role":"assistant","tool_calls":[{"id":"a%d","type":"function","function":'
        .. '{"name":"read","arguments":"{\\"path\\":\\"src/f%d.c\\"}"}}]}'
      assert(s:append(call:format(i, i)))
      local text = ("E470%d: is here, %s"):format(i, ("words "):rep(60))
      local result = { role = "tool", tool_call_id = "a" .. i, content = text }
      assert(s:append(core.json.encode(result)))
      assert(s:append(('{"role":"assistant","content":"E470%d it is"}'):format(i)))
      assert(s:append('{"role":"user","content":"go on"}'))
    end
    assert(s:prompt())
    local account = core.json.decode(s:account())
    s:close()
    engine:close()
    assert.are.equal(0, #(account.hook_errors or {}))
    assert.are.equal(
      "nil\nNot shown in full: 3 entries of steps 1-5\nResults: read 3\n"
        .. "Files: src/f3.c (11), src/f2.c (7), src/f1.c (3)\n"
        .. "Names: E4703 (11), E4702 (7), E4701 (3)\ntrue",
      table.concat(account.log, "\n")
    )
  end)

  -- A history under three_tier, in which early files are named and cited; the prompt at its end.
  local function prompt(options)
    local o = { policy = "policies/three_tier.lua", options = options, window = 9000 }
    o.reserve = 0
    local s <close> = assert(neap.session(o))
    assert(s:add({ role = "user", content = "mend the pump" }))
    for i = 1, 8 do
      assert(s:prompt())
      local f = { name = "read", arguments = ('{"path":"src/f%d.c"}'):format(i) }
      local call = { id = "c" .. i, type = "function", ["function"] = f }
      local said = i > 2 and ("as E470%d says"):format(i - 2) or "look"
      assert(s:add({ role = "assistant", content = said, tool_calls = { call } }))
      local text = ("E470%d: is here, %s"):format(i, ("words of a file "):rep(100))
      assert(s:add({ role = "tool", tool_call_id = "c" .. i, content = text }))
    end
    return assert(s:prompt())
  end

  it("of a span ends the summary that stands for it, where the policy's option says so", function()
    local options = { hot = 2, every = 2 }
    assert.is_nil(prompt(options):find("Of these: ", 1, true))
    options.map = 400
    local body, maps = prompt(options), {}
    for map in body:gmatch("Of these: (.-)\"") do
      maps[#maps + 1] = map
    end
    assert.is_true(#maps >= 2)
    local first = "entries of steps 1-2\\nResults: read 2\\nFiles: src/f2.c"
    assert.truthy(maps[1]:find(first, 1, true))
    assert.truthy(maps[1]:find("Names: ", 1, true))
    assert.truthy(maps[1]:find("E4702", 1, true) and maps[1]:find("E4701", 1, true))
    assert.is_nil(maps[1]:find("src/f3.c", 1, true), "what another summary stands for")
    assert.truthy(maps[2]:find("src/f3.c", 1, true))
    for _, map in ipairs(maps) do
      assert.is_true(#map < 400)
    end
  end)
end)
