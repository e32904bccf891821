-- ctx.drift in sessions: what it tells of a side issue, and that it tells the same after the
-- session was closed and read back. next: policy_names_spec.lua
local neap = require("neap")
local shared = require("tests.support.shared")

local dir = shared.scratch("drift")
local policy = dir .. "/told.lua"
local f = assert(io.open(policy, "wb"))
f:write([[return { api = 1, assemble = function(ctx)
  local d = ctx.drift
  ctx:log(d and ("%.2f"):format(d) or "none")
end }]])
f:close()

local function open(store)
  return assert(neap.session({ name = "d", policy = policy, store = store, window = 20000 }))
end

local function step(s, n, path)
  local call = { id = "c" .. n, type = "function" }
  call["function"] = { name = "read", arguments = ('{"path":"%s"}'):format(path) }
  s:add({ role = "assistant", content = "", tool_calls = { call } })
  s:add({ role = "tool", tool_call_id = "c" .. n, content = "src/pump.c: nothing" })
end

-- Twenty steps: some on the goal, a side issue, a new wish. `store`: closed before every step.
local function told(store)
  local s, list = open(store), {}
  s:add({ role = "system", content = "Be careful." })
  s:add({ role = "user", content = "Repair src/pump.c, please." })
  for n = 1, 20 do
    if store then
      s:close()
      s = open(store)
    end
    assert(s:prompt())
    list[n] = s:account().log[1]
    if n == 14 then s:add({ role = "user", content = "Now src/valve.c as well." }) end
    step(s, n, n > 2 and "/home/me/src/valve.c" or "/home/me/src/pump.c")
  end
  s:close()
  return table.concat(list, " ")
end

describe("ctx.drift", function()
  local WANT = "none 0.00 0.00 0.33 0.50 0.60 0.67 0.71 0.75 0.78 0.80 0.90 1.00 1.00 "
    .. "0.90 0.80 0.70 0.60 0.50 0.40"

  it("rises on a side issue, and falls when the user asks for it", function()
    assert.are.equal(WANT, told())
  end)

  it("is the same in a session that is read back", function()
    assert.are.equal(WANT, told(dir .. "/drift.db"))
  end)
end)
