-- State, memory, evidence and notices in Lua and in recordings: where they stand before a rewrite
-- and behind it, what a policy's layout and place say, resuming. next: cli_replay_spec.lua
local neap = require("neap")
local core = require("neap.core")
local shared = require("tests.support.shared")
local json = core.json

local DIR = shared.scratch("blocks")
local FORMATS = { "openai", "responses", "anthropic", "gemini", "text" }

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

-- The places of the words in the body, in their order; each stands there once.
local function order(body, words)
  local at = {}
  for i, word in ipairs(words) do
    local first, last = body:find(word, 1, true)
    assert.truthy(first, word .. " is not in the prompt")
    assert.falsy(body:find(word, last + 1, true), word .. " stands twice")
    at[i] = { word = word, at = first }
  end
  table.sort(at, function(a, b)
    return a.at < b.at
  end)
  for i, item in ipairs(at) do
    at[i] = item.word
  end
  return table.concat(at, " ")
end

local function has(body, word)
  return body:find(word, 1, true) ~= nil
end

-- A policy that puts results away from step `at` on, with more fields of its own.
local function policy(name, fields)
  return write(
    name,
    ([[return { api = 1, %s assemble = function(ctx)
      if ctx.step < 4 then return end
      for e in ctx:entries { kind = "result", at = "full", except_last = 1 } do e:mask("old") end
    end }]]):format(fields)
  )
end

local function step(s, n)
  local call = { id = "c" .. n, type = "function" }
  call["function"] = { name = "sh", arguments = "{}" }
  assert(s:add({ role = "assistant", content = "", tool_calls = json.array({ call }) }))
  local text = ("RESULT-%d "):format(n) .. ("plain words\n"):rep(60)
  assert(s:add({ role = "tool", tool_call_id = "c" .. n, content = text }))
end

local function begin(options)
  local s = assert(neap.session(options))
  assert(s:add({ role = "system", content = "SYSTEM" }))
  assert(s:add({ kind = "memory", content = "MEMORY-1" }))
  assert(s:add({ role = "user", content = "TASK" }))
  return s
end

-- Three steps with blocks between them; the bodies of the prompts.
local function run(s, bodies)
  bodies[1] = assert(s:prompt())
  step(s, 1)
  assert(s:add({ kind = "state", content = "STATE-1" }))
  bodies[2] = assert(s:prompt())
  step(s, 2)
  assert(s:add({ kind = "evidence", content = "EVIDENCE-1" }))
  assert(s:add({ kind = "state", content = "STATE-2" }))
  bodies[3] = assert(s:prompt())
  step(s, 3)
  assert(s:add({ kind = "memory", content = "MEMORY-2" }))
  bodies[4] = assert(s:prompt())
  return bodies
end

local WORDS = { "TASK", "MEMORY-1", "MEMORY-2", "STATE-2", "EVIDENCE-1", "RESULT-3" }

describe("blocks", function()
  for _, format in ipairs(FORMATS) do
    it("are appended, and laid by a rewrite: " .. format, function()
      local s = begin({ format = format, policy = policy("mask.lua", "") })
      local b = run(s, {})
      assert.equal("SYSTEM TASK MEMORY-1", order(b[1], { "SYSTEM", "MEMORY-1", "TASK" }))
      local second = { "TASK", "MEMORY-1", "RESULT-1", "STATE-1" }
      assert.equal(table.concat(second, " "), order(b[2], second))
      -- a new state is appended; the old one stands where it stood
      local third =
        { "TASK", "MEMORY-1", "RESULT-1", "STATE-1", "RESULT-2", "EVIDENCE-1", "STATE-2" }
      assert.equal(table.concat(third, " "), order(b[3], third))
      assert.equal("TASK MEMORY-1 MEMORY-2 STATE-2 EVIDENCE-1 RESULT-3", order(b[4], WORDS))
      assert.falsy(has(b[4], "STATE-1"))
      local account = s:account()
      assert.is_true(account.rewrite)
      local sum, gone = 0, nil
      for _, n in pairs(account.regions) do
        sum = sum + n
      end
      assert.equal(account.tokens, sum)
      assert.truthy(account.regions.memory and account.regions.state)
      for _, c in ipairs(account.changed) do
        if c.by == "layout" then gone = c end
      end
      assert.equal("full absent", gone.from .. " " .. gone.to)
      assert.equal("STATE-1", s:text(gone.entry))
      s:close()
    end)
  end

  local LAYOUTS = {
    ['layout = { "state", "memory" },'] = "TASK STATE-2 MEMORY-1 MEMORY-2 EVIDENCE-1 RESULT-3",
    ['layout = { "state" },'] = "TASK STATE-2 MEMORY-1 MEMORY-2 EVIDENCE-1 RESULT-3",
    ['place = "head",'] = "TASK MEMORY-1 MEMORY-2 STATE-2 EVIDENCE-1 RESULT-3",
    ['layout = { "warm", { "state", min = 5 }, "hot" }, place = "tail",'] = "TASK STATE-2 "
      .. "MEMORY-1 MEMORY-2 EVIDENCE-1 RESULT-3",
  }
  for fields, expected in pairs(LAYOUTS) do
    it("stand as the policy says: " .. fields, function()
      local s = begin({ policy = policy("layout.lua", fields) })
      local b = run(s, {})
      assert.equal(expected, order(b[4], WORDS))
      local head = has(fields, "head")
      local first = b[4]:find("EVIDENCE-1", 1, true) < b[4]:find("c1", 1, true)
      assert.equal(head, first)
      s:close()
    end)
  end

  -- A session that goes on and one that is resumed before its last turns.
  local function resumed(format)
    local path = policy("resumed.lua", 'place = "head", layout = { "state" },')
    local bodies = {}
    for i = 1, 2 do
      local store = DIR .. ("/%s%d.db"):format(format, i)
      local options = { store = store, policy = path, name = "r", format = format }
      local s = begin(options)
      local b = run(s, {})
      if i == 2 then
        s:close()
        s = assert(neap.session(options))
      end
      step(s, 4)
      assert(s:add({ kind = "state", content = "STATE-3" }))
      b[5] = assert(s:prompt())
      bodies[i] = b[5]
      s:close()
    end
    -- the mark key is of the store's own secret
    local function plain(body)
      return (body:gsub("neap\u{B7}%w%w%w%w", "neap"))
    end
    assert.equal(plain(bodies[1]), plain(bodies[2]))
    assert.truthy(has(bodies[1], "STATE-3") and not has(bodies[1], "STATE-1"))
  end

  for _, format in ipairs(FORMATS) do
    it("are what they were when a session is resumed: " .. format, function()
      resumed(format)
    end)
  end

  it("are seen by policies by kind and region", function()
    local path = write(
      "seen.lua",
      [[return { api = 1, assemble = function(ctx)
        if ctx.step < 4 then return end
        local seen = {}
        for e in ctx:entries { kind = { "memory", "evidence" } } do
          seen[#seen + 1] = e.kind .. ":" .. e.region
          e:mask("seen")
        end
        local n = 0
        for e in ctx:entries { region = "memory" } do n = n + 1 end
        ctx.state.seen = table.concat(seen, " ") .. " " .. n
        for e in ctx:entries { kind = "result" } do e:mask(ctx.state.seen) end
      end }]]
    )
    local s = begin({ policy = path })
    run(s, {})
    local why
    for _, c in ipairs(s:account().changed) do
      if has(c.why, "memory:") then why = c.why end
    end
    assert.equal("memory:memory evidence:hot memory:memory 2", why)
    assert.same({}, s:account().hook_errors)
    s:close()
  end)

  it("cannot be what they are not", function()
    local s = assert(neap.session({}))
    for _, bad in ipairs({
      { kind = "memo", content = "x" },
      { kind = "state", content = "" },
      { kind = "state" },
      { kind = "state", content = "x", name = "y" },
    }) do
      local ok, why, code = s:add(bad)
      assert.is_nil(ok)
      assert.equal("shape", code)
      assert.truthy(why)
    end
    s:close()
  end)
end)

describe("blocks in a recording", function()
  local LINES = table.concat({
    '{"role":"system","content":"S"}',
    '{"kind":"memory","content":"MEMORY-1","ts":1700000000000}',
    '{"role":"user","content":"TASK"}',
    '{"role":"assistant","content":"A1"}',
    '{"kind":"state", "content":"STATE-1"}',
    '{"role":"user","content":"U2"}',
    '{"role":"assistant","content":"A2"}',
    "",
  }, "\n")

  it("are imported as they came", function()
    local path = write("trace.jsonl", LINES)
    local code, out, err = shared.run({ "import", path })
    assert.equal(0, code, err)
    for line in LINES:gmatch("[^\n]+") do
      assert.truthy(has(out, line .. "\n"), line)
    end
    local first = write("first.jsonl", '{"kind":"memory","content":"x"}\n' .. LINES)
    code, out = shared.run({ "import", first })
    assert.equal(0, code)
    assert.truthy(has(out, '{"kind":"memory","content":"x"}\n'))
  end)

  it("are replayed, and shown with their regions", function()
    local path = write("trace.jsonl", LINES)
    local code, out = shared.run({ "replay", path, "--json", "--requests", DIR .. "/requests" })
    assert.equal(0, code)
    local turns = {}
    for line in out:gmatch("[^\n]+") do
      turns[#turns + 1] = json.decode(line)
    end
    assert.equal(3, #turns) -- two turns and the sum
    assert.truthy(turns[2].regions.memory and turns[2].regions.state)
    local body = shared.read(DIR .. "/requests/trace/0002.json")
    assert.equal(
      "TASK MEMORY-1 A1 STATE-1 U2",
      order(body, { "TASK", "MEMORY-1", "A1", "STATE-1", "U2" })
    )
    code, out = shared.run({ "show", path, "--turn", "2" })
    assert.equal(0, code)
    assert.truthy(out:find("memory"), out)
  end)

  it("are refused with their line", function()
    local user, memo = '{"role":"user","content":"x"}\n', '{"kind":"memo","content":"x"}\n'
    local path = write("bad.jsonl", user .. memo)
    local code, _, err = shared.run({ "import", path })
    assert.equal(2, code)
    assert.truthy(err:find("bad.jsonl:2: ", 1, true), err)
    assert.truthy(err:find("state, memory, evidence or notice", 1, true), err)
  end)

  it("give way where they alone are too much, also in the first turn", function()
    for _, format in ipairs(FORMATS) do
      local s <close> = assert(neap.session({ window = 3000, format = format }))
      assert(s:add({ role = "user", content = "TASK" }))
      for i = 1, 400 do
        local kind = i % 2 == 0 and "memory" or "evidence"
        assert(s:add({ kind = kind, content = "some words here " .. i }))
      end
      local body = assert(s:prompt())
      assert.is_true(s:account().tokens <= s:account().budget)
      assert.is_true(has(body, "TASK"))
    end
  end)
end)
