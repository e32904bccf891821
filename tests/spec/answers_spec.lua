-- A session's answers in a recording of it: the same policy is fed them, another one what it asks
-- as well, and the rest is made by the extractive summarizer, which is told.
-- next: ../../lua/neap/report/answers.lua
local core = require("neap.core")
local neap = require("neap")
local shared = require("tests.support.shared")
local json = core.json

local function messages()
  local list = { { role = "user", content = "repair src/main.c" } }
  for i = 1, 30 do
    local call = { id = "c" .. i, type = "function" }
    call["function"] = { name = "read", arguments = ('{"path":"src/f%d.c"}'):format(i) }
    list[#list + 1] = { role = "assistant", content = "step " .. i, tool_calls = { call } }
    local text = {}
    for k = 1, 40 do
      text[k] = ("line %d of src/f%d.c sets value_%d"):format(k, i, i * 100 + k)
    end
    list[#list + 1] =
      { role = "tool", tool_call_id = "c" .. i, content = table.concat(text, "\n") }
  end
  return list
end

local function policy(path, lua)
  local f = assert(io.open(path, "w"))
  f:write(lua)
  f:close()
  return path
end

local FOLDS = [[
return { api = 1, options = { every = 4 }, compact = function(ctx, o)
  local old = ctx:span { from = 1, before = ctx.step - 3 }
  if old.steps < o.every then return end
  local text, why, code = ctx:summarize(old)
  ctx.state.code = code
  ctx:fold(old, text, why)
end }
]]

describe("the answers of a session", function()
  local dir, path, recording, asked
  local bodies = {}

  setup(function()
    dir = shared.scratch("answers")
    path = policy(dir .. "/folds.lua", FOLDS)
    asked = 0
    local s <close> = assert(neap.session({
      policy = path,
      window = 16000,
      name = "run",
      notes = false,
      summarize = function()
        asked = asked + 1
        if asked == 2 then return nil, "503", "error" end
        return "- [step 1] noted by the host " .. asked
      end,
    }))
    local lines = { "" }
    for i, message in ipairs(messages()) do
      if message.role == "assistant" then bodies[#bodies + 1] = assert(s:prompt()) end
      local line = json.encode(message, { "role", "content", "tool_calls", "tool_call_id" })
      assert(s:add(line))
      lines[i + 1] = line
    end
    local asks = assert(s:asks())
    assert.are.equal(asked, #asks)
    assert.are.equal("error", asks[2].code)
    assert.are.equal("- [step 1] noted by the host 1", asks[1].answer)
    lines[1] = json.encode({ neap = 1, answers = asks }, { "neap", "answers" })
    recording = dir .. "/run.jsonl"
    policy(recording, table.concat(lines, "\n") .. "\n")
  end)

  local function replay(args)
    local form = "'%s' replay '%s' -w 16000 --json %s"
    local pipe = assert(io.popen(form:format(os.getenv("NEAP_BIN"), recording, args)))
    local last
    for line in pipe:lines() do
      last = line
    end
    assert.is_true(pipe:close())
    return json.decode(last)
  end

  it("are fed to the same policy", function()
    assert.is_true(asked > 3)
    local line = replay(("-p '%s' --requests '%s'"):format(path, dir))
    assert.are.equal("recorded", line.answers)
    local function noted(body)
      local n = 0
      for _ in body:gmatch("noted by the host %d+") do
        n = n + 1
      end
      return n
    end
    local most = 0
    for i, body in ipairs(bodies) do
      local made = assert(shared.read(("%s/run/%04d.json"):format(dir, i)))
      assert.are.equal(noted(body), noted(made), "turn " .. i)
      most = math.max(most, noted(made))
    end
    assert.is_true(most > 1)
  end)

  it("are not invented where another policy asks something else", function()
    assert.are.equal("substituted", replay(("-p '%s' -o every=7"):format(path)).answers)
  end)

  it("say nothing of a policy that asks nothing", function()
    assert.is_nil(replay("-p tide").answers)
  end)

  it("are found by the request, whoever asks it", function()
    local same = policy(dir .. "/same.lua", FOLDS:gsub("ctx.state.code = code", ""))
    assert.are.equal("recorded", replay(("-p '%s'"):format(same)).answers)
    local shadow = replay(("-p tide --shadow '%s'"):format(same)).shadow
    assert.are.equal("recorded", shadow.answers)
  end)

  it("must be a list", function()
    local text = '{"neap":1,"answers":{}}\n{"role":"user","content":"u"}\n'
    local bad = policy(dir .. "/bad.jsonl", text)
    local pipe = io.popen(("'%s' replay '%s' 2>&1"):format(os.getenv("NEAP_BIN"), bad))
    local said = pipe:read("a")
    local _, _, code = pipe:close()
    assert.are.equal(2, code)
    assert.is_truthy(said:find("bad.jsonl:1: answers must be a list", 1, true), said)
  end)
end)
