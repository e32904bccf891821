-- Looking after a store: neap store check, backup, copy, vacuum, stats. next: recall_spec.lua
local core = require("neap.core")
local neap = require("neap")
local shared = require("tests.support.shared")

local BODY = ("a body that stands in the file as it is\n"):rep(60)

local function make(name)
  local folder = shared.scratch(name)
  local path = folder .. "/neap.db"
  for _, tenant in ipairs({ "", "acme" }) do
    for i = 1, 3 do
      local s = assert(neap.session({ store = path, tenant = tenant, name = "run-" .. i }))
      assert(s:add({ role = "user", content = BODY }))
      assert(s:prompt())
      s:close()
    end
  end
  return path, folder
end

-- The file with one byte of it changed wherever `text` stands: pages that are free may hold it too.
local function flip(path, text, to)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read("a")
  file:close()
  local changed, times = bytes:gsub(text, "#" .. text:sub(2))
  assert.is_true(times > 0)
  file = assert(io.open(to, "wb"))
  file:write(changed)
  file:close()
end

describe("neap store", function()
  local path, folder
  setup(function()
    path, folder = make("store_verb")
  end)

  local function verb(...)
    local words = { "store", ... }
    words[#words + 1] = "--store"
    words[#words + 1] = path
    return shared.run(words)
  end

  it("check finds nothing wrong with a sound store", function()
    local code, out, err = verb("check")
    assert.are.equal("", err)
    assert.are.equal(path .. ": no faults\n", out)
    assert.are.equal(0, code)
    code, out = verb("check", "--json")
    assert.are.equal(0, code)
    assert.are.equal(('{"store":"%s","faults":0}\n'):format(path), out)
  end)

  it("check names a damaged body, and exits 1", function()
    local bad = folder .. "/bad.db"
    flip(path, "a body that stands", bad)
    local code, out = shared.run({ "store", "check", "--store", bad })
    assert.are.equal(1, code)
    assert.is_truthy(out:find("content %x+… differs from its hash\n"), out)
    assert.is_truthy(out:find(bad .. ": 2 faults\n", 1, true), out)
    code, out = shared.run({ "store", "check", "--json", "--store", bad })
    assert.are.equal(1, code)
    assert.is_truthy(out:find('^{"fault":"content '), out)
  end)

  it("check takes a file that cannot be opened for the fault it is", function()
    local bytes = assert(shared.read(path))
    local file = assert(io.open(folder .. "/cut.db", "wb"))
    file:write(bytes:sub(1, 4096), ("\xAA"):rep(8192))
    file:close()
    local code, out, err = shared.run({ "store", "check", "--store", folder .. "/cut.db" })
    assert.are.equal("", err)
    assert.are.equal(1, code)
    assert.is_truthy(out:find("1 fault", 1, true), out)
  end)

  it("backup writes a sound copy, and over nothing", function()
    local to = folder .. "/backup.db"
    local code, out, err = verb("backup", to)
    assert.are.equal("", err)
    assert.are.equal(0, code)
    assert.is_truthy(out:find("%d+ bytes, no faults\n$"), out)
    assert.are.equal(0, (shared.run({ "store", "check", "--store", to })))
    local a = select(2, shared.run({ "session", "list", "--store", path }))
    local b = select(2, shared.run({ "session", "list", "--store", to }))
    assert.are.equal(a, b)
    code, out, err = verb("backup", to)
    assert.are.equal("", out)
    assert.are.equal(2, code)
    assert.is_truthy(err:find("is there already; give another", 1, true), err)
  end)

  it("copy puts a tenant's sessions, or one, into another store", function()
    local to = folder .. "/copy.db"
    local code, out = verb("copy", to, "--session", "run-2")
    assert.are.equal(0, code)
    assert.are.equal("run-2\n", out)
    local err
    code, out, err = verb("copy", to)
    assert.are.equal("", out)
    assert.are.equal(2, code)
    assert.is_truthy(err:find("there is a session 'run-2' already", 1, true), err)
    code, out = verb("copy", to, "--tenant", "acme", "--json")
    assert.are.equal(0, code)
    assert.are.equal('{"copied":"run-1"}\n{"copied":"run-2"}\n{"copied":"run-3"}\n', out)
    local function exported(at)
      return select(2, shared.run({
        "session", "export", "run-3", "--tenant", "acme", "--store", at,
      }))
    end
    local one, two = exported(path), exported(to)
    assert.are.equal(one, two)
    assert.are.equal(0, (shared.run({ "store", "check", "--store", to })))
  end)

  it("stats counts by tenant, and what sharing saves", function()
    local code, out = verb("stats", "--json")
    assert.are.equal(0, code)
    local lines = {}
    for line in out:gmatch("[^\n]+") do
      lines[#lines + 1] = core.json.decode(line)
    end
    assert.are.equal(3, #lines)
    assert.are.equal("acme", lines[3].tenant)
    assert.are.equal(3, lines[3].sessions)
    -- three sessions hold the same message: it is kept once
    assert.are.equal(1, lines[3].contents)
    assert.are.equal(3, lines[3].references)
    assert.is_truthy(out:find('"shared":3.00,"packed":1.00', 1, true), out)
    code, out = verb("stats", "--tenant", "acme")
    assert.are.equal(0, code)
    assert.is_truthy(out:find("\nacme ", 1, true))
    assert.is_falsy(out:find("\n(none)", 1, true))
  end)

  it("vacuum says what it has done, and changes nothing that is referred to", function()
    local to = folder .. "/vacuum.db"
    assert.are.equal(0, (verb("backup", to)))
    local before = select(2, shared.run({ "session", "export", "run-1", "--store", to }))
    local code, out = shared.run({ "store", "vacuum", "--store", to, "--json" })
    assert.are.equal(0, code)
    assert.is_truthy(out:find('^{"contents":0,"bytes":0,"before":%d+,"after":%d+}\n$'), out)
    local after = select(2, shared.run({ "session", "export", "run-1", "--store", to }))
    assert.are.equal(before, after)
  end)

  for _, row in ipairs({
    { { "cheque" }, "neap store has no cheque; there are check, backup" },
    { { "backup" }, "usage: neap store backup FILE" },
    { { "check", "x" }, "neap store check takes no FILE; give the store with --store x" },
    { { "check", "--session", "gone" }, "neap store check takes no --session" },
    { { "stats", "--session", "gone" }, "neap store stats takes no --session" },
    { { "vacuum", "--session", "gone" }, "neap store vacuum takes no --session" },
    { { "backup", "/nowhere/x.db", "--session", "run-1" }, "neap store backup takes no --session" },
    { { "check", "--tenant", "a" }, "neap store check takes no --tenant" },
    { { "backup", "/nowhere/x.db", "--tenant", "a" }, "neap store backup takes no --tenant" },
    { { "backup", "/nowhere/x.db" }, "/nowhere/x.db" },
      }) do
    it("says in one line what is wrong: " .. table.concat(row[1], " "), function()
      local code, out, err = verb(table.unpack(row[1]))
      assert.are.equal(2, code)
      assert.are.equal("", out)
      assert.is_truthy(err:find(row[2], 1, true), err)
      assert.are.equal(1, select(2, err:gsub("\n", "")))
    end)
  end
end)

describe("neap store copy", function()
  it("makes no store when there is nothing to copy", function()
    local path, folder = make("store_copy_none")
    local to = folder .. "/none.db"
    local function copy(...)
      return shared.run({ "store", "copy", to, "--store", path, ... })
    end
    local code, out, err = copy("--session", "no")
    assert.are.same({ 2, "" }, { code, out })
    assert.are.equal("neap: there is no session 'no'; check its name and tenant\n", err)
    code, out, err = copy("--tenant", "no")
    assert.are.same({ 1, "" }, { code, out })
    assert.are.equal("neap: the store has no sessions; --tenant names another's\n", err)
    assert.is_nil(core.stat(to))
    assert.are.equal(0, (copy()))
    assert.is_truthy(core.stat(to))
  end)
end)

describe("neap.store", function()
  it("checks, measures, copies and backs up", function()
    local path, folder = make("store_lua")
    local store <close> = assert(neap.store({ store = path }))
    assert.are.same({}, assert(store:check()))
    assert.are.equal(4, assert(store:stats()).version)
    assert(store:backup(folder .. "/b.db"))
    local other <close> = assert(neap.store({ store = folder .. "/c.db" }))
    assert(store:copy("run-1", other))
    assert.are.equal("run-1", assert(other:sessions())[1].name)
    assert.are.equal(0, assert(store:vacuum()).contents)
  end)
end)
