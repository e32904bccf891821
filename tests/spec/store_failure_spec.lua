-- Stores that cannot be opened: each is told in one line with what to do, through the library and
-- on the command line, and left as it is. next: store_spec.lua
local neap = require("neap")
local shared = require("tests.support.shared")

local folder = shared.scratch("store_failure")

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

-- The bytes of a store with one session.
local function sound()
  local path = folder .. "/sound.db"
  os.remove(path)
  local s = assert(neap.session({ store = path, name = "run" }))
  assert(s:add({ role = "user", content = "a text that is kept" }))
  assert(s:prompt())
  s:close()
  return assert(shared.read(path))
end

local function patched(bytes, at, text)
  return bytes:sub(1, at) .. text .. bytes:sub(at + #text + 1)
end

local ROWS = {
  { "a text file", "foreign", "no neap store; give another path", function()
    return "not a database at all, but a text of some length\n"
  end },
  { "a file of one byte", "foreign", "no neap store; give another path", function()
    return "x"
  end },
  { "another program's file", "foreign", "another program's SQLite file", function(b)
    return patched(b, 68, "GPKG")
  end },
  { "a newer neap's", "newer", "update neap", function(b)
    return patched(b, 60, "\0\0\0\99")
  end },
  { "a damaged page", "corrupt", "restore a copy", function(b)
    return b:sub(1, 100) .. ("\xEE"):rep(4096 - 100) .. b:sub(4097)
  end },
}

describe("a store that cannot be opened", function()
  local bytes = sound()
  for i, row in ipairs(ROWS) do
    it("is told as " .. row[1] .. ", and left as it is", function()
      local path = ("%s/%d.db"):format(folder, i)
      local text = row[4](bytes)
      write(path, text)
      local s, why, code = neap.session({ store = path, name = "run" })
      assert.is_nil(s)
      assert.are.equal(row[2], code)
      assert.is_truthy(why:find(row[3], 1, true), why)
      assert.is_truthy(why:find(path, 1, true), why)
      assert.is_nil(why:find("\n"))
      local exit, out, err = shared.run({ "session", "list", "--store", path })
      assert.are.equal(2, exit)
      assert.are.equal("", out)
      assert.is_truthy(err:find(row[3], 1, true), err)
      assert.are.equal(1, select(2, err:gsub("\n", "")))
      assert.are.equal(text, assert(shared.read(path)))
    end)
  end

  it("is told as a folder, and as one in a folder that is not there", function()
    local _, why, code = neap.session({ store = folder, name = "run" })
    assert.are.equal("io", code)
    assert.is_truthy(why:find("a folder; give the path of a file in it", 1, true), why)
    _, why, code = neap.session({ store = folder .. "/none/x.db", name = "run" })
    assert.are.equal("io", code)
    assert.is_truthy(why:find("make the folder first", 1, true), why)
  end)

  it("is waited for where the host says so; a close tells what is lost", function()
    local place = folder .. "/later"
    local options = { store = place .. "/x.db", name = "run", on_store_failure = "hold" }
    local s = assert(neap.session(options))
    assert(s:add({ role = "user", content = "a text that waits" }))
    assert(s:prompt())
    assert.are.equal("io", s:account().store.code)
    local ok, why, code = s:close()
    assert.is_nil(ok)
    assert.are.equal("io", code)
    assert.is_truthy(why:find("make the folder first", 1, true), why)
    s = assert(neap.session(options))
    assert(s:add({ role = "user", content = "a text that waits" }))
    assert(require("lfs").mkdir(place))
    assert.is_true(s:close())
    local store <close> = assert(neap.store({ store = place .. "/x.db" }))
    assert.are.equal("run", assert(store:sessions())[1].name)
    assert.are.same({}, assert(store:check()))
  end)

  it("is made where the file is empty", function()
    write(folder .. "/empty.db", "")
    local s = assert(neap.session({ store = folder .. "/empty.db", name = "run" }))
    s:close()
  end)

  it("is never read past a damaged body: the event is named", function()
    local path = folder .. "/body.db"
    write(path, (bytes:gsub("a text that is kept", "a text that is kepT")))
    local s, why, code = neap.session({ store = path, name = "run" })
    assert.is_nil(s)
    assert.are.equal("corrupt", code)
    assert.is_truthy(why:find("event %d+ of session 'run' has a damaged body"), why)
    local exit = shared.run({ "store", "check", "--store", path })
    assert.are.equal(1, exit)
  end)
end)
