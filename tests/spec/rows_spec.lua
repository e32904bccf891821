-- Rows of the requirements on triggers and on what is not put away, each in its own words, in
-- whole sessions: when to act (S1.15, S1.16, S2.15, S3.7, S3.8), what stays (S1.17 to S1.19,
-- S2.14, S4.11), and what a session goes on from (S2.31, S3.11, S3.24). next: scratch_spec.lua
local neap = require("neap")
local core = require("neap.core")
local scene = require("tests.support.scene")
local shared = require("tests.support.shared")
local json = core.json

local DIR = shared.scratch("rows")
local has, has_not, step = scene.has, scene.has_not, scene.step

local function open(policy, options)
  options = options or {}
  options.name = "run"
  if policy and policy:find("\n") then policy = scene.policy(DIR, "p.lua", policy) end
  options.policy = policy
  return assert(neap.session(options))
end

-- One step after the other: tokens before, tokens of the prompt, whether it was a rewrite.
local function run(s, turns, words, each)
  local rows = {}
  for i = 1, turns do
    assert(s:prompt())
    local a = s:account()
    rows[i] = { tokens = a.tokens, budget = a.budget, rewrite = a.rewrite, log = a.log or {} }
    if each then each(i) end
    step(s, i, "I look at part_" .. i, ("word "):rep(words))
  end
  return rows
end

describe("a trigger", function()
  local WATERMARK = [[return { api = 1,
    assemble = function(ctx)
      local before = ctx.tokens
      if ctx:due { usage = 0.8, turns = 10 } then
        ctx:shrink(0.7 * before, "a batch")
        ctx:log(before)
      end
    end }]] .. "\n"

  it("removes 30 % in one batch at 80 % of the budget (S1.15), after ten turns (S1.16)", function()
    local s <close> = open(WATERMARK, { window = 6000, reserve = -1 })
    assert(s:add({ role = "user", content = "Go." }))
    local fired, last = 0, 0
    for i, row in ipairs(run(s, 60, 150)) do
      if row.log[1] then
        local before = math.tointeger(tonumber(row.log[1]))
        assert.truthy(before >= 0.8 * row.budget, "fired at " .. before)
        assert.truthy(row.tokens <= 0.7 * before, ("%d of %d"):format(row.tokens, before))
        assert.truthy(i - last >= 10, ("turns %d and %d"):format(last, i))
        fired, last = fired + 1, i
      else
        assert.is_false(row.rewrite)
      end
    end
    assert.truthy(fired >= 3, "fired " .. fired)
  end)

  it("does nothing below 0.8 of the budget, and acts there (S3.8)", function()
    local s <close> = open([[return { api = 1, assemble = function(ctx)
      ctx:log(ctx.usage, ctx:due { usage = 0.8 })
    end }]] .. "\n", { window = 4000, reserve = -1 })
    assert(s:add({ role = "user", content = "Go." }))
    local below, above = 0, 0
    for _, row in ipairs(run(s, 24, 160)) do
      local usage, due = row.log[1]:match("^(%S+) (%S+)$")
      local full = tonumber(usage) >= 0.8
      assert.are.equal(full and "usage" or "nil", due)
      below, above = below + (full and 0 or 1), above + (full and 1 or 0)
    end
    assert.truthy(below > 5 and above > 2, below .. " " .. above)
  end)

  it("is usage, a sub-task's end, drift, a hand-over; not every turn (S2.15, S3.7)", function()
    local s <close> = open([[return { api = 1, assemble = function(ctx)
      local by = {}
      for name, what in pairs { usage = { usage = 0.7 }, phase = { phase = true },
        drift = { drift = 0.7 }, handover = { phase = "handover" } } do
        if ctx:due(what) then by[#by + 1] = name end
      end
      table.sort(by)
      ctx:log(#by > 0 and table.concat(by, " ") or "none")
      for e in ctx:entries { kind = "result", at = "full", except_last = 3 } do
        if #by > 0 then e:mask("it is time") end
      end
    end }]] .. "\n", { window = 5000, reserve = -1 })
    assert(s:add({ role = "user", content = "Mend src/upload.c, please." }))
    local seen, quiet = {}, 0
    run(s, 30, 20, function(i)
      if i == 3 then assert(s:phase("tests")) end
      if i == 25 then assert(s:phase("handover")) end
      local log = s:account().log[1]
      quiet = quiet + (log == "none" and 1 or 0)
      for name in log:gmatch("%a+") do
        seen[name] = seen[name] or i
      end
    end)
    assert.are.equal(4, seen.phase)
    assert.are.equal(26, seen.handover)
    assert.truthy(seen.drift)
    assert.truthy(quiet >= 1)
    local t <close> = open([[return { api = 1, assemble = function(ctx)
      ctx:log(ctx:due { usage = 0.7, turns = 1 }) end }]] .. "\n", { window = 2000, reserve = -1 })
    assert(t:add({ role = "user", content = "Go." }))
    local times = 0
    for i, row in ipairs(run(t, 20, 90)) do
      if i < 3 then assert.are.equal("nil", row.log[1]) end
      times = times + (row.log[1] == "usage" and 1 or 0)
    end
    assert.truthy(times > 0 and times < 12, "times " .. times)
  end)
end)

describe("what is not put away", function()
  local RULE = "Never delete a branch. Prices are at most 500.00 EUR."

  it("is the system's part and the schemas of tools, whoever asks (S1.17)", function()
    local tools = '[{"type":"function","function":{"name":"sh","description":"runs CMD --flag",'
      .. '"parameters":{"type":"object","properties":{"cmd":{"type":"string"}}}}}]'
    local s <close> = open([[return { api = 1, order = "value", rank = function() return 0 end,
      assemble = function(ctx)
        for e in ctx:entries {} do
          pcall(e.mask, e); pcall(e.drop, e); pcall(e.trim, e, { tokens = 1, keep = "head" })
        end
        local all = ctx:span { from = 0 }
        if all.steps > 0 then pcall(ctx.fold, ctx, all, "nothing of note") end
        ctx:shrink(1, "all of it")
      end }]] .. "\n", { window = 4000, reserve = -1, tools = tools })
    assert(s:add({ role = "system", content = RULE }))
    assert(s:add({ role = "user", content = "Go." }))
    for i = 1, 12 do
      local body = assert(s:prompt())
      has(body, RULE)
      has(body, tools)
      step(s, i, "x", ("word "):rep(300))
    end
  end)

  it("goes last where it is dense: talk without a name goes before results (S1.18)", function()
    local s <close> = open("policies/priority_queue.lua",
      { window = 3000, reserve = -1, options = { turns = 1, recent = 1 } })
    assert(s:add({ role = "user", content = "Go." }))
    for i = 1, 14 do
      assert(s:prompt())
      local cites = i > 1 and ("FACT_%d it is"):format(i - 1) or "hm"
      step(s, i, cites, ("FACT_%d "):format(i) .. ("word "):rep(30))
      assert(s:add({ role = "assistant", content = "well, I think " .. ("so "):rep(180) }))
    end
    local talk, results = 0, 0
    assert(s:prompt())
    for id = 1, s.raw:entry_count() do
      local e = s.raw:entry(id)
      if e.rung ~= "full" and e.kind == "text" then talk = talk + 1 end
      if e.rung ~= "full" and e.kind == "result" then results = results + 1 end
    end
    assert.truthy(talk > 3 and results == 0, ("%d texts, %d results"):format(talk, results))
  end)

  it("is an early constraint where it weighs more than what came since (S1.19)", function()
    for _, weight in ipairs({ 3, 0 }) do
      local s <close> = open("policies/priority_queue.lua", { window = 3000, reserve = -1,
        options = { turns = 1, recent = 1, user = weight } })
      assert(s:add({ role = "user", content = "Go." }))
      assert(s:add({ role = "user", content = "CONSTRAINT: no meat. " .. ("so "):rep(200) }))
      run(s, 20, 100)
      local body = assert(s:prompt())
      if weight > 0 then has(body, "CONSTRAINT: no meat")
      else has_not(body, "CONSTRAINT: no meat. " .. ("so "):rep(200)) end
    end
  end)
end)

local function last_step(ask)
  return ask.parts[#ask.parts].step
end

describe("summaries made again and again", function()
  -- Rounds what it can, drops the rest.
  local function liar(ask)
    local last = last_step(ask)
    return ("ADD facts %s: the price is about 500\nADD progress %s: some work"):format(last, last)
  end

  it("drift in no number: the user's stay, what is rounded is not taken (S2.14)", function()
    local s = open("policies/three_tier.lua", { window = 30000, summarize = liar,
      options = { merge = true, hot = 2, every = 2 } })
    local task = "Book a train. The price is at most 512.50 EUR, order ORD-00981."
    assert(s:add({ role = "user", content = task }))
    for i = 1, 40 do
      assert(s:prompt())
      local tariff = ("the tariff of day_%d is %d.50\n"):format(i, 300 + i)
      step(s, i, "I look.", tariff .. ("word "):rep(60))
    end
    local body = assert(s:prompt())
    has(body, "512.50")
    has(body, "ORD-00981")
    has_not(body, "about 500")
    assert.truthy(s:checks().faults > 3)
    s:close()
  end)

  it("lose no detail that somebody asks for by its id (S4.11)", function()
    local s <close> = open("policies/three_tier.lua", { window = 30000, summarize = liar,
      options = { merge = true, hot = 2, every = 2 } })
    assert(s:add({ role = "user", content = "Go." }))
    for i = 1, 30 do
      assert(s:prompt())
      step(s, i, "I look.", ("detail %d nobody knew would matter\n"):format(i) .. ("word "):rep(60))
    end
    assert(s:prompt())
    local found = 0
    for id = 1, s.raw:entry_count() do
      if s.raw:entry(id).kind == "result" then
        found = found + 1
        has(s:read(id), ("detail %d nobody knew would matter"):format(found))
      end
    end
    assert.are.equal(30, found)
  end)
end)

describe("what a session goes on from", function()
  local SCHEMA = { type = "object", additionalProperties = true,
    properties = { goal = { type = "string", hard = true } } }

  it("is the last checkpoint and the state where a summarizer is dead (S2.31)", function()
    local asked = 0
    local s <close> = open("policies/three_tier.lua", { window = 4000, reserve = -1,
      state_schema = SCHEMA, options = { merge = true, hot = 2, every = 2 },
      summarize = function()
        asked = asked + 1
        return nil, "the service is down", "error"
      end })
    assert(s:add({ role = "user", content = "Go." }))
    assert(s:propose("user", { goal = "a train to Lyon", price = 512.5 }))
    assert(s:prompt())
    assert(s:checkpoint("begun"))
    for i = 1, 30 do
      assert(s:prompt())
      step(s, i, "I look.", ("word "):rep(150))
      if i % 10 == 0 then assert(s:propose("model", { at = i })) end
    end
    has(assert(s:prompt()), "a train to Lyon")
    assert.are.equal(30, s:state().at)
    assert.truthy(asked > 0 and asked < 15, "asked " .. asked)
    assert(s:rollback("begun", "nothing came of it"))
    local body = assert(s:prompt())
    has(body, "a train to Lyon")
    has(body, "Void attempt")
    assert.is_nil(s:state().at)
  end)

  it("is goal, done, cause, fix and rest after a dozen turns on a side track (S3.11)", function()
    local s <close> = open([[return { api = 1, compact = function(ctx)
      if not ctx:due { drift = 0.8, turns = 10 } then return end
      local old = ctx:span { before = ctx.step - 1 }
      assert(ctx:fold(old, (ctx:summarize(old))))
    end }]] .. "\n", { window = 30000, summarize = function(ask)
      local last = last_step(ask)
      return ("ADD progress %s: looked at the valve\nADD facts %s: the lock is held by pid 4711\n"
        .. "ADD decisions %s: kill 4711 | it holds the lock\n"
        .. "ADD open %s: free the lock, then the valve")
        :format(last, last, last, last)
    end })
    assert(s:add({ role = "user", content = "Mend src/pump.c; at most 3 files may change." }))
    for i = 1, 14 do
      assert(s:prompt())
      step(s, i, "why is the valve stuck?", "the lock is held by pid 4711\n" .. ("word "):rep(60))
    end
    local text = assert(s:prompt()):gsub("\\n", "\n")
    for _, part in ipairs({ "Mend src/pump.c; at most 3 files may change.", "looked at the valve",
      "the lock is held by pid 4711", "kill 4711", "free the lock, then the valve" }) do
      has(text, part)
    end
  end)

  it("is handed over by a summary that is made then (S3.24)", function()
    local store = DIR .. "/over.db"
    local s = open([[return { api = 1, compact = function(ctx)
      if not ctx:due { phase = "handover" } then return end
      local old = ctx:span { before = ctx.step - 1 }
      assert(ctx:fold(old, (ctx:summarize(old))))
    end }]] .. "\n", { store = store, window = 30000, state_schema = SCHEMA })
    assert(s:add({ role = "user", content = "Find the port." }))
    assert(s:propose("user", { goal = "find the port" }))
    run(s, 6, 10, function() assert.is_nil(s:notes()) end)
    step(s, 7, "so", "the server listens on port 8451")
    step(s, 8, "so", "nothing more")
    assert(s:phase("handover"))
    assert(s:prompt())
    assert(s:prompt()) -- what it has asked for is in
    has(assert(s:prompt()), "Summary of steps 1-7")
    local document = s:handover()
    s:close()
    local t <close> = assert(neap.session({ name = "second", store = store, handover = document }))
    assert(t:add({ role = "user", content = "Go on." }))
    local body = assert(t:prompt())
    has(body, "8451")
    has(body, "find the port")
    assert.are.equal("find the port", t:state().goal)
    assert.truthy(json.decode(body))
  end)
end)
