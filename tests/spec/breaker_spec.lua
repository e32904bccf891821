-- A policy that fails turn after turn, as people see it: in the account, and in neap doctor.
-- next: ../core/test_breaker.c
local neap = require("neap")
local shared = require("tests.support.shared")

local function doctor(store)
  local form = "NEAP_STORE='%s' '%s' doctor 2>&1"
  local pipe = assert(io.popen(form:format(store, os.getenv("NEAP_BIN"))))
  local said = pipe:read("a")
  pipe:close()
  return said:match("[^\n]*policies in use[^\n]*") or "no such line:\n" .. said
end

describe("a policy that keeps failing", function()
  local dir = shared.scratch("breaker")
  local path = dir .. "/fails.lua"

  local function write(text)
    local f = assert(io.open(path, "w"))
    f:write(text)
    f:close()
  end

  local function take(s, turns)
    for _ = 1, turns do
      assert(s:prompt())
      assert(s:add({ role = "assistant", content = "so" }))
      assert(s:add({ role = "user", content = "go on" }))
    end
  end

  it("is left out for a while, and doctor says so", function()
    local store = dir .. "/agent.db"
    write("return { api = 1, assemble = function() error('no') end }")
    local options = { name = "run 1", policy = path, store = store, failures = 3 }
    options.no_reload = true
    local s <close> = assert(neap.session(options))
    assert(s:add({ role = "user", content = "task" }))
    take(s, 2)
    assert.are.equal(2, s:account().policy_failed)
    assert.is_truthy(doctor(store):find("none has failed too often", 1, true), doctor(store))
    take(s, 1)
    assert.are.equal(23, s:account().policy_out_until)
    local said = doctor(store)
    assert.is_truthy(said:find("failing", 1, true), said)
    assert.is_truthy(said:find("of session run 1 failed", 1, true), said)
    assert.is_truthy(said:find("20 turns", 1, true), said)
    take(s, 5)
    assert.same({}, s:account().hook_errors)
    assert.is_truthy(doctor(store):find("15 turns", 1, true), doctor(store))
    write("return { api = 1 }")
    assert(s:reload())
    take(s, 1)
    assert.is_nil(s:account().policy_out_until)
    assert.is_truthy(doctor(store):find("none has failed too often", 1, true), doctor(store))
  end)

  -- Many entries at once multiply neither a failing call nor a busy one.
  it("is not offered the rest of a turn's entries", function()
    for hook, word in pairs({
      ["error('no ' .. e.id)"] = "admit failed 3 times in this turn",
      ["ctx.state.n = e.id; for _ = 1, 2300000 do end"] = "admit used",
    }) do
      write(("return { api = 1, admit = function(ctx, e) %s end }"):format(hook))
      local s <close> = assert(neap.session({ policy = path, no_reload = true }))
      for i = 1, 60 do
        assert(s:add({ role = "user", content = "word " .. i }))
      end
      assert(s:prompt())
      local errors = s:account().hook_errors
      assert.is_true(#errors <= 4, #errors)
      local said = errors[#errors]
      assert.is_truthy(said:find(word, 1, true), said)
      assert.is_truthy(said:find("its other new entries are not offered", 1, true), said)
      assert.are.equal(1, s:account().policy_failed)
    end
  end)
end)
