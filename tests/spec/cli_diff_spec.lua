-- neap diff, new, compare --sweep. next: cli_replay_spec.lua
local shared = require("tests.support.shared")
local json = require("neap.core").json

local DIR = shared.scratch("cli_diff")
local TRACE

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

local function policy(name, body)
  return write(name .. ".lua", ('return { api = 1, name = "%s",\n%s}\n'):format(name, body))
end

local SHOW = policy("show_all", "")
local MASK = policy(
  "mask_old",
  [[
  options = { keep = 2 },
  assemble = function(ctx, o)
    local old = ctx:entries({ kind = "result", at = "full", except_last = o.keep })
    for e in old do e:mask("old") end
  end,
]]
)

local DROP = policy(
  "drop_old",
  [[
  assemble = function(ctx)
    for e in ctx:entries({ before = ctx.step - 3, at = "full" }) do e:drop("gone") end
  end,
]]
)

-- Eight steps, each with a call and its result.
local function recording()
  local lines = { '{"role":"user","content":"Read them all."}' }
  for i = 1, 8 do
    local call = ('{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":'
      .. '{"name":"read","arguments":"{\\"path\\":\\"f%d.c\\"}"}}]}'):format(i, i)
    local text = ("line of file %d\\n"):format(i):rep(60)
    lines[#lines + 1] = call
    lines[#lines + 1] = ('{"role":"tool","tool_call_id":"c%d","content":"%s"}'):format(i, text)
  end
  return table.concat(lines, "\n") .. "\n"
end
TRACE = write("long.jsonl", recording())

describe("neap diff", function()
  it("lists the entries that two policies show differently", function()
    local args = { "diff", TRACE, "--turn", "5", "-p", SHOW, "-p", MASK }
    local code, out, err = shared.run(args)
    assert.are.equal(0, code, err)
    assert.truthy(out:find("turn 5, first show_all: ", 1, true))
    assert.truthy(out:find("2 entries differ\n", 1, true))
    assert.truthy(out:find("\n +3  result  full +%d+  masked +%d+  read\n"))
    args[#args + 1] = "--json"
    code, out = shared.run(args)
    assert.are.equal(0, code)
    local row = json.decode(out:match("[^\n]+"))
    assert.are.same({ 3, "full", "masked" }, { row.entry, row.first.rung, row.second.rung })
  end)

  -- What is not told of an entry is told of the head, the notices and the frames of messages.
  it("tells all by which two prompts differ in tokens", function()
    local english = "examples/recordings/english.jsonl"
    local said = 0
    local function tokens(side)
      return side == json.null and 0 or side.tokens
    end
    for _, case in ipairs({
      { TRACE, "5", SHOW, MASK }, { TRACE, "8", DROP, MASK }, { english, "1", "full", "tide" },
      { english, "60", "codex", "hysteresis" }, { english, "60", "three_tier", "pointers" },
    }) do
      for _, format in ipairs({ "openai", "anthropic", "gemini" }) do
        local args = { "diff", case[1], "--turn", case[2], "-p", case[3], "-p", case[4], "-w",
          "16000", "-f", format }
        local _, out = shared.run(args)
        local first, second = out:match("^turn %d+, first [%w_]+: ([%d,]+) tokens, second "
          .. "[%w_]+: ([%d,]+) tokens")
        local want = first:gsub(",", "") - second:gsub(",", "")
        args[#args + 1] = "--json"
        local code, lines, err = shared.run(args)
        assert.are.equal(0, code, err)
        local sum = 0
        for line in lines:gmatch("[^\n]+") do
          local row = json.decode(line)
          sum = sum + tokens(row.first) - tokens(row.second)
          if not row.entry then
            said = said + 1
            assert.is_true(row.first.tokens >= 0 and row.second.tokens >= 0, line)
            assert.truthy(out:find("\n +–  " .. row.kind .. " ", 1), out)
          end
        end
        assert.are.equal(want, sum, table.concat(args, " "))
      end
    end
    assert.is_true(said > 5)
  end)

  it("tells where and why the beginning changed between two turns", function()
    local args = { "diff", TRACE, "--turn", "6", "--turn", "4", "-p", MASK }
    local code, out, err = shared.run(args)
    assert.are.equal(0, code, err)
    assert.are.equal(2, select(2, out:gsub("rewritten after", "")))
    assert.truthy(out:find("entry 5: full → masked: old  mask_old.lua:5", 1, true), out)
    code, out = shared.run({ "diff", TRACE, "--turn", "2", "--turn", "8", "-p", DROP })
    assert.are.equal(0, code)
    assert.truthy(out:find("entries 2–3: full → dropped: gone  drop_old.lua:3", 1, true), out)
    code, out = shared.run({ "diff", TRACE, "--turn", "4", "--turn", "6", "-p", SHOW })
    assert.are.equal(0, code)
    assert.are.equal("turn 6 begins with the whole of turn 4: nothing that was sent changed\n", out)
  end)

  it("refuses other numbers of policies and turns", function()
    for _, words in ipairs({ { "--turn", "1" }, { "--turn", "99", "-p", SHOW, "-p", MASK } }) do
      local code, _, err = shared.run({ "diff", TRACE, table.unpack(words) })
      assert.are.equal(2, code)
      assert.are.equal(1, select(2, err:gsub("\n", "")))
    end
  end)
end)

describe("neap new", function()
  it("writes a policy that passes its own check, once", function()
    local here = DIR .. "/mine"
    os.remove(here .. ".lua")
    local program = shared.program()
    if program:sub(1, 1) ~= "/" then program = assert(os.getenv("PWD")) .. "/" .. program end
    local form = "cd %s && %s new mine >/dev/null 2>&1"
    local command = form:format(shared.quote(DIR), shared.quote(program))
    assert.is_true(os.execute(command))
    local code, out, err = shared.run({ "check", here .. ".lua" })
    assert.are.equal(0, code, err)
    assert.truthy(out:find("ok, 1 example;", 1, true))
    assert.is_nil((os.execute(command)))
  end)

  it("refuses the name of a shipped policy, which would mean that one", function()
    local code, _, err = shared.run({ "new", "tide" })
    assert.are.equal(2, code)
    assert.truthy(err:find("tide: a shipped policy is called so", 1, true))
  end)

  it("refuses what is no name", function()
    local code, _, err = shared.run({ "new", "../x" })
    assert.are.equal(2, code)
    assert.truthy(err:find("is no name for a policy", 1, true))
  end)
end)

describe("neap compare --sweep", function()
  it("says what to do where a policy has no such option", function()
    local hint = "option 'keep' is not known; .*; %-%-sweep is for every %-p: for one alone, "
      .. "repeat %-p POLICY %-o keep=…\n"
    for _, more in ipairs({ {}, { "-j2", write("copy.jsonl", recording()) } }) do
      local args = { "compare", TRACE, "-p", MASK, "-p", SHOW, "--sweep", "keep=1,3" }
      local code, out, err = shared.run(table.move(more, 1, #more, #args + 1, args))
      assert.are.same({ 2, "" }, { code, out })
      assert.truthy(err:find(hint), err)
    end
    local args = { "compare", TRACE, "-p", SHOW, "-o", "keep=1" }
    local _, _, err = shared.run(args)
    assert.is_nil(err:find("--sweep", 1, true), err)
  end)

  it("has a row for each value", function()
    local args = { "compare", TRACE, "-p", MASK, "--sweep", "keep=1,3", "-w", "4000" }
    local code, out, err = shared.run(args)
    assert.are.equal(0, code, err)
    assert.truthy(out:find("mask_old keep=1 ", 1, true))
    assert.truthy(out:find("mask_old keep=3 ", 1, true))
    args[6] = "keep"
    assert.are.equal(2, (shared.run(args)))
  end)
end)
