-- A stored session removed for good: nothing of it is left in the file, what others hold stays,
-- and who was writing it is not let into a new session of the name. next: store_spec.lua
local core = require("neap.core")
local neap = require("neap")
local shared = require("tests.support.shared")

local SECRET = "zanzibar_4711_secret"
local LARGE = ("a long line about " .. SECRET .. "_large\n"):rep(20000) -- in pieces
local SHARED = ("what both sessions hold, shared_word_%d\n"):rep(60):format(
  table.unpack((function()
    local n = {}
    for i = 1, 60 do
      n[i] = i
    end
    return n
  end)())
)

local function make(name)
  local path = shared.scratch(name) .. "/neap.db"
  local n = assert(core.engine({ store = path, fixed_secret = true }))
  for _, session in ipairs({ "keep", "go" }) do
    local s = assert(n:session({ name = session }))
    assert(s:append(core.json.encode({ role = "user", content = "look into " .. session })))
    if session == "go" then
      assert(s:append(core.json.encode({ role = "user", content = SECRET .. " is here" })))
      for i = 1, 40 do
        local text = ("note %d of %s, %s"):format(i, SECRET, ("words "):rep(i * 20))
        assert(s:append(core.json.encode({ role = "assistant", content = text })))
        assert(s:append(core.json.encode({ role = "user", content = "go on " .. i })))
      end
    end
    s:close()
    if session == "go" then assert(n:put(session, LARGE, {})) end
    assert(n:put(session, SHARED, {}))
  end
  assert(n:recall(SECRET)) -- indexed
  return path, n
end

-- Whether the bytes stand in the file or in what lies beside it.
local function holds(path, text)
  for _, ending in ipairs({ "", "-wal" }) do
    local bytes = shared.read(path .. ending)
    if bytes and bytes:find(text, 1, true) then return true end
  end
  return false
end

describe("removing a session", function()
  it("leaves nothing of it in the file, and all of the others", function()
    local path, n = make("remove")
    assert.is_true(holds(path, SECRET))
    n:close()
    local store = assert(neap.store({ store = path }))
    local events, contents = store:remove("go")
    assert.is_true(events > 80, tostring(contents))
    assert.is_true(contents >= 1)
    assert.are.same({ { name = "keep", events = 3 } }, store:sessions())
    assert.are.same({}, store:check())
    store:close()
    assert.is_false(holds(path, SECRET))
    assert.is_false(holds(path, "zanzibar"))
    n = assert(core.engine({ store = path }))
    assert.are.same({}, n:recall(SECRET))
    assert.are.equal(1, #n:recall("keep"))
    assert.are.equal(SHARED, (n:get("keep", 2)))
    n:close()
  end)

  it("takes the words out of the index, of that session alone", function()
    local path, n = make("remove_words")
    assert.is_true(#n:recall("look") == 2)
    assert(n:remove_session("go"))
    local hits = n:recall("look")
    assert.are.equal(1, #hits)
    assert.are.equal("keep", hits[1].session)
    n:close()
    assert.is_false(holds(path, "zanzibar"))
  end)

  it("does not let an old writer into a new session of the name", function()
    local path, n = make("remove_fence")
    local other = assert(core.engine({ store = path, fixed_secret = true }))
    local writer = assert(other:session({ name = "go" }))
    assert(n:remove_session("go"))
    local ok, _, code = writer:append('{"role":"user","content":"late"}')
    assert.is_nil(ok)
    assert.are.equal("fenced", code)
    local fresh = assert(n:session({ name = "go" }))
    assert(fresh:append('{"role":"user","content":"anew"}'))
    local again, _, why = writer:append('{"role":"user","content":"later"}')
    assert.is_nil(again)
    assert.are.equal("fenced", why)
    assert.are.equal("anew", fresh:text(1))
    fresh:close()
    writer:close()
    other:close()
    n:close()
    local store = assert(neap.store({ store = path }))
    assert.are.same({}, store:check())
    store:close()
  end)

  it("is refused while it is open here, where there is none, and in memory", function()
    local _, n = make("remove_refused")
    local s = assert(n:session({ name = "go" }))
    local ok, why, code = n:remove_session("go")
    assert.is_nil(ok)
    assert.are.equal("misuse", code)
    assert.truthy(why:find("close it first", 1, true))
    s:close()
    assert(n:remove_session("go"))
    assert.are.equal("notfound", select(3, n:remove_session("go")))
    assert.are.equal("notfound", select(3, n:remove_session("nowhere")))
    n:close()
    local memory = assert(core.engine({}))
    assert.are.equal("misuse", select(3, memory:remove_session("x")))
    memory:close()
  end)

  it("of another tenant's is not found", function()
    local path, n = make("remove_tenant")
    n:close()
    local other = assert(core.engine({ store = path, tenant = "b" }))
    assert.are.equal("notfound", select(3, other:remove_session("go")))
    other:close()
  end)
end)

describe("neap session rm", function()
  it("does nothing without --yes where nobody can be asked", function()
    local path, n = make("remove_verb")
    n:close()
    local code, out, err = shared.run({ "session", "rm", "go", "--store", path })
    assert.are.equal(2, code)
    assert.are.equal("", out)
    assert.truthy(err:find("session go: %d+ events would be removed for good; give %-%-yes"), err)
    local _, list = shared.run({ "session", "list", "--store", path })
    assert.truthy(list:find("go", 1, true))
    code, out = shared.run({ "session", "rm", "go", "--yes", "--store", path, "--json" })
    assert.are.equal(0, code)
    local row = core.json.decode(out)
    assert.are.equal("go", row.name)
    assert.is_true(row.events > 80 and row.contents >= 1)
    _, list = shared.run({ "session", "list", "--store", path })
    assert.is_nil(list:find("go", 1, true))
    code, _, err = shared.run({ "session", "rm", "go", "--yes", "--store", path })
    assert.are.equal(1, code)
    assert.truthy(err:find("there is no session go", 1, true))
  end)
end)
