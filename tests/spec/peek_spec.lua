-- An input a hundred times as large as the window stays outside: a policy looks into it by parts,
-- each with a limit, and its prompts hold. next: read_spec.lua
local neap = require("neap")
local shared = require("tests.support.shared")

local POLICY = [[return { api = 1, assemble = function(ctx)
  for e in ctx:entries { kind = "user" } do
    ctx:log(e:peek("match needle", 100))
    ctx:log(select(2, e:peek("match absent")))
    ctx:log(e:peek("40000-40001"))
    ctx:log(tostring(#e:peek("about needle hay", 200) < 2000))
    ctx:log(tostring(pcall(e.peek, e, "x-y")) .. tostring(pcall(e.peek, e, "head 1", 0)))
  end
end }]]

describe("an input far larger than the window", function()
  it("is looked into by parts", function()
    local path = shared.scratch("peek") .. "/peek.lua"
    local f = assert(io.open(path, "wb"))
    f:write(POLICY)
    f:close()
    local lines = {}
    for i = 1, 60000 do
      lines[i] = "line " .. i .. (i == 33333 and " needle here" or " of hay")
    end
    local s = assert(neap.session({ policy = path, window = 4000, reserve = 100 }))
    assert(s:add({ role = "user", content = table.concat(lines, "\n") }))
    assert(s:prompt())
    local account = assert(s:account())
    assert.is_true(account.tokens <= account.budget)
    assert.same({
      "33333: line 33333 needle here\n",
      'no line of 60000 matches "absent"',
      "line 40000 of hay\nline 40001 of hay\n",
      "true",
      "falsefalse",
    }, account.log)
    s:close()
  end)
end)
