-- neap artifact and the methods of sessions: what is put is read again, by lines; ids, exit codes
-- and messages. Expiry by the clock is tested in tests/core/test_artifact.c.
local core = require("neap.core")
local neap = require("neap")

local bin = os.getenv("NEAP_BIN") or "build/neap"

local function quote(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

describe("neap artifact", function()
  local dir, store

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(core.mkdir(dir))
    store = dir .. "/store.db"
  end)

  after_each(function()
    for _, name in ipairs({ "store.db", "store.db-wal", "store.db-shm", "in", "out", "err" }) do
      os.remove(dir .. "/" .. name)
    end
    os.remove(dir)
  end)

  local function read(name)
    local f = assert(io.open(dir .. "/" .. name, "rb"))
    local text = f:read("a")
    f:close()
    return text
  end

  local function write(text)
    local f = assert(io.open(dir .. "/in", "wb"))
    f:write(text)
    f:close()
  end

  -- Exit code, standard output, standard error.
  local function run(line)
    local command = ("%s artifact %s --store %s < %s/in > %s/out 2> %s/err"):format(
      quote(bin),
      line,
      quote(store),
      dir,
      dir,
      dir
    )
    local _, _, code = os.execute(command)
    return code, read("out"), read("err")
  end

  it("puts a file, prints its id alone, and reads it by lines", function()
    local lines = {}
    for i = 1, 40000 do
      lines[i] = ("line %d\n"):format(i)
    end
    write(table.concat(lines))
    assert.same({ 0, "files/1\n", "" }, { run("put - --tool bash --query 'make test' --kind log") })
    assert.same({ 0, "files/2\n", "" }, { run("put " .. dir .. "/in") })
    assert.same({ 0, "3\n", "" }, { run("put --session files -") })
    assert.same({ 0, "line 41\nline 42\n", "" }, { run("get files/1 --lines 41-42") })
    assert.same({ 0, "line 40000\n", "" }, { run("get 3 --session files --lines 40000") })
    local code, out = run("get files/1")
    assert.same(0, code)
    assert.is_true(out == table.concat(lines))
    code, out = run("list --json")
    assert.same(0, code)
    local rows = {}
    for line in out:gmatch("[^\n]+") do
      rows[#rows + 1] = core.json.decode(line)
    end
    assert.same(3, #rows)
    assert.same("files/1", rows[1].id)
    assert.same({ "bash", "make test", "log", 40000 }, {
      rows[1].tool,
      rows[1].query,
      rows[1].kind,
      rows[1].lines,
    })
    assert.same(dir .. "/in", rows[2].path)
    assert.same(core.sha256(table.concat(lines)), rows[1].sha256)
    code, out = run("list")
    assert.same(0, code)
    assert.truthy(out:find("files/1%s+428,894%s+40,000%s+log%s+bash%s+make test\n"))
  end)

  it("purges what is removed, and says so", function()
    write("a secret")
    run("put -")
    assert.same({ 0, "", "" }, { run("rm files/1") })
    local code, out, err = run("get files/1")
    assert.same({ 1, "" }, { code, out })
    assert.truthy(err:find("^neap: .*purged by its owner and cannot be restored; [^\n]+\n$"))
    code, out = run("list --json")
    assert.same(0, code)
    assert.same("purged", core.json.decode(out).state)
  end)

  it("refuses what makes no sense in one line", function()
    write("x")
    run("put -")
    local cases = {
      ["get 1"] = "SESSION/NUMBER",
      ["get files/1 --lines 5-2"] = "A%-B",
      ["get files/x"] = "is no id",
      ["put"] = "needs FILE",
      ["put no-such-file"] = "check the name",
      ["mend"] = "put, get, list or rm",
      ["list x"] = "one argument too many",
      ["get files/1 --ttl 5"] = "takes no %-%-ttl",
      ["put - --ttl 0"] = "from 1 on",
    }
    for line, want in pairs(cases) do
      local code, out, err = run(line)
      assert.same({ line, 2, "" }, { line, code, out })
      assert.truthy(err:find(want), line .. ": " .. err)
      assert.truthy(err:find("^neap: [^\n]+\n$"), err)
    end
    assert.same(1, (run("get files/7")))
    assert.same(1, (run("get none/1")))
  end)

  it("gives any bytes, but JSON only of text", function()
    write("a\0\xFFb")
    run("put -")
    assert.same({ 0, "a\0\xFFb", "" }, { run("get files/1") })
    local code, out, err = run("get files/1 --json")
    assert.same({ 2, "" }, { code, out })
    assert.truthy(err:find("is not UTF%-8"))
    write("text\n")
    run("put -")
    code, out = run("get files/2 --json")
    assert.same({ 0, "text\n" }, { code, core.json.decode(out).text })
  end)

  it("is there for what a session has put", function()
    write("")
    local s = assert(neap.session({ store = store, window = 20000, name = "run" }))
    assert(s:add({ role = "user", content = "Hello" }))
    local id = assert(s:put("one\ntwo\nthree\n", { tool = "cat", path = "a.txt" }))
    assert.same(2, id)
    assert.same("two\n", s:get(id, { first_line = 2, last_line = 2 }))
    assert.same("three\n", s:get(id, { first_line = 3 }))
    assert.same("ne", s:get(id, { from = 1, to = 3 }))
    assert.same("Hello", s:get(1))
    assert.same({ "notfound" }, { select(3, s:get(9)) })
    assert.same({ "arg" }, { select(3, s:put("x", { ttl = 1 })) })
    assert(s:set_now(5000))
    local short = assert(s:put("x", { ttl = 1, tool = "date" }))
    local text, why, code = s:get(short, { now = 6000 })
    assert.same({ nil, "expired" }, { text, code })
    assert.truthy(why:find("make it again with date"))
    assert.has_error(function()
      s:put("x", { ttl = "soon" })
    end, "option ttl must be a whole number")
    assert.is_nil(s:prompt():find("three", 1, true))
    s:close()
    assert.same({ 0, "one\ntwo\nthree\n", "" }, { run("get run/2") })
    assert.same({ 0, "Hello", "" }, { run("get run/1") })
  end)
end)
