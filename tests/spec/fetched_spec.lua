-- What the model has fetched is not put away again, whatever the policy: each shipped one, on a
-- history that makes it rewrite, and one that would put everything away. Only a budget that cannot
-- be met otherwise cuts it. next: ../core/test_read.c
local core = require("neap.core")
local lfs = require("lfs")
local neap = require("neap")

local NAMES = {}
for file in lfs.dir("policies") do
  local name = file:match("^(.*)%.lua$")
  if name then NAMES[#NAMES + 1] = name end
end
table.sort(NAMES)

local function log_of(n, lines)
  local out = {}
  for i = 1, lines do
    out[i] = ("run %d: line %d of the log, with some words behind it"):format(n, i)
  end
  return table.concat(out, "\n")
end

local function call(name, arguments)
  return {
    choices = {
      {
        message = {
          role = "assistant",
          content = "",
          tool_calls = {
            {
              id = "c",
              type = "function",
              ["function"] = { name = name, arguments = core.json.encode(arguments) },
            },
          },
        },
      },
    },
  }
end

-- A step of the host's tool; gives the result's text.
local function run(s, n, lines)
  assert(s:prompt())
  assert(s:add_response(call("bash", { command = "run " .. n })))
  local text = log_of(n, lines)
  for c in s:calls() do
    assert(s:result(c, text))
  end
  return text
end

local function open(policy, window)
  local s = assert(neap.session({
    policy = policy,
    window = window,
    reserve = 100,
    tools = { { type = "function", ["function"] = { name = "bash" } } },
  }))
  assert(s:add({ role = "user", content = "Find line 7 of the first run." }))
  return s
end

-- A policy that keeps to none but the newest, and offers the tools.
local GREEDY = [[return { api = 1, tools = { "read", "recall" }, assemble = function(ctx)
  for e in ctx:entries { kind = "result", except_last = 1 } do e:mask("old"); e:drop("old") end
  ctx:shrink(ctx.budget // 3, "small")
end }]]

local function with_tools(name)
  local path = os.tmpname()
  local f = assert(io.open("policies/" .. name .. ".lua", "rb"))
  local text = f:read("a")
  f:close()
  -- one that does not offer the tools is given them: the host may answer neap_read all the same
  if not text:find("\n  tools = ", 1, true) then
    text = text:gsub("\n  api = 1,", '\n  api = 1,\n  tools = { "recall", "read" },', 1)
  end
  f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

local function stays(policy)
  local s = open(policy, 8000)
  for n = 1, 4 do
    run(s, n, 40)
  end
  assert(s:prompt())
  assert(s:add_response(call("neap_read", { id = "4", part = "5-9" })))
  for _ in s:calls() do
    error("neap_read is the engine's")
  end
  for n = 5, 24 do
    local body = assert(s:prompt())
    local _, times = body:gsub("\\n?run 1: line 7 of the log", "")
    assert.is_true(times >= 1, ("step %d: line 7 is not shown"):format(n))
    assert.is_true(
      body:find("[4, lines 5-9 of 40, sha256 ", 1, true) ~= nil,
      ("step %d: what was read is put away"):format(n)
    )
    run(s, n, 40)
  end
  s:close()
end

describe("what the model has fetched", function()
  for _, name in ipairs(NAMES) do
    it("stays under " .. name, function()
      local path = with_tools(name)
      stays(path)
      os.remove(path)
    end)
  end

  it("stays under a policy that puts everything away", function()
    local path = os.tmpname()
    local f = assert(io.open(path, "wb"))
    f:write(GREEDY)
    f:close()
    stays(path)
    os.remove(path)
  end)

  it("is cut where the budget cannot be met otherwise", function()
    local path = os.tmpname()
    local f = assert(io.open(path, "wb"))
    f:write(GREEDY)
    f:close()
    local s = open(path, 3000)
    run(s, 1, 400)
    for n = 1, 12 do
      assert(s:prompt())
      local from = 1 + 30 * n
      local part = ("%d-%d"):format(from, from + 29)
      assert(s:add_response(call("neap_read", { id = "4", part = part })))
      for _ in s:calls() do
        error("neap_read is the engine's")
      end
      assert(s:prompt())
      local account = assert(s:account())
      assert.is_true(account.tokens <= account.budget)
    end
    s:close()
    os.remove(path)
  end)
end)
