-- Prices on the command line and in policies: whose they are, what a cold cache does, what a
-- quote says and refuses. next: cli_replay_spec.lua
local core = require("neap.core")
local neap = require("neap")
local moment = require("neap.import.moment")
local prices = require("neap.models.prices")
local shared = require("tests.support.shared")
local json = core.json

local DIR = shared.scratch("economy")
local RECORDING = "examples/recordings/chinese.jsonl"

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

local function replay(...)
  local code, out, err = shared.run({ "replay", "--json", ... })
  local turns = {}
  for line in out:gmatch("[^\n]+") do
    turns[#turns + 1] = json.decode(line)
  end
  return { code = code, err = err, turns = turns, sum = table.remove(turns) }
end

local function number(v)
  return json.is_raw(v) and tonumber(v.raw) or v
end

describe("the cost of a replay", function()
  it("is what its turns were billed, by the format's prices", function()
    local r = replay(RECORDING, "-p", "tide", "-w", "16000")
    local read, cost = 0, 0
    for _, t in ipairs(r.turns) do
      assert.is_true(t.billed_cached <= t.cached and t.billed_cached % 128 == 0)
      assert.is_true(t.billed_cached == 0 or t.billed_cached >= 1024)
      assert.equal(t.tokens >= 1024 and t.tokens - t.billed_cached or 0, t.written)
      read = read + t.billed_cached
      cost = cost + prices.cost(prices.formats.openai, t)
    end
    assert.equal(read, r.sum.billed_cached_tokens)
    -- a fact that is only pointed at adds to it
    assert.is_true(number(r.sum.cost) >= math.floor(cost))
    assert.is_nil(r.sum.currency)
  end)

  it("is in dollars with --prices, and the rules are that model's", function()
    local units = replay(RECORDING, "-m", "gpt-5", "-w", "16000")
    local dollars = replay(RECORDING, "-m", "gpt-5", "--prices", "gpt-5", "-w", "16000")
    assert.equal("USD", dollars.sum.currency)
    local expected = number(units.sum.cost) * 1.25 / 1000000
    assert.is_true(math.abs(number(dollars.sum.cost) - expected) < 1e-6)
    local _, out = shared.run({ "replay", RECORDING, "--prices", "gpt-5" })
    assert.truthy(out:find("cost: $1.25 for 1M uncached tokens", 1, true))
    assert.truthy(out:find("%$0%.%d%d"))
  end)

  it("refuses prices that are not known, by name", function()
    local r = replay(RECORDING, "--prices", "tide-9")
    assert.equal(2, r.code)
    assert.truthy(r.err:find("tide-9", 1, true) and r.err:find("claude-opus-5", 1, true))
    r = replay(RECORDING, "--think", "soon")
    assert.equal(2, r.code)
  end)

  it("has a cold cache when the model's user thinks longer than it lives", function()
    local warm = replay(RECORDING, "--think", "1800")
    assert.same(replay(RECORDING).turns, warm.turns)
    local cold = replay(RECORDING, "--think", "1801")
    for i, t in ipairs(cold.turns) do
      assert.equal(i > 1 or nil, t.cold)
      assert.equal(0, t.billed_cached)
    end
    assert.is_true(number(cold.sum.cost) > 2 * number(warm.sum.cost))
    -- another provider's forgets sooner
    local other = replay(RECORDING, "-f", "anthropic", "--think", "301")
    assert.is_true(other.turns[2].cold)
  end)

  it("is that of the life that Anthropic's cache is asked for", function()
    local function costs(life, think)
      local r = replay(RECORDING, "-f", "anthropic", "--think", think, "--cache", life)
      assert.equal(0, r.code, r.err)
      local cost, cold = 0, 0
      local price = prices.of({ format = "anthropic", cache = life })
      for _, t in ipairs(r.turns) do
        cost = cost + prices.cost(price, t)
        if t.cold then cold = cold + 1 end
        if life == "none" then assert.equal(0, t.billed_cached + t.written) end
      end
      -- facts that are only pointed at add to it
      assert.is_true(number(r.sum.cost) >= math.floor(cost))
      return number(r.sum.cost), cold, #r.turns
    end
    local short, cold, turns = costs("5m", "301")
    assert.equal(turns - 1, cold)
    local long, warm = costs("1h", "301")
    assert.equal(0, warm)
    assert.is_true(long < short / 2)
    -- without pauses the longer life only makes writing dearer
    local brief, dear = costs("5m", "60"), costs("1h", "60")
    assert.is_true(brief < dear and dear < long * 1.01)
    assert.is_true(costs("none", "60") > brief)
    assert.equal(2, prices.of({ format = "anthropic", cache = "1h" }).write)
    local default = replay(RECORDING, "-f", "anthropic", "--think", "60")
    assert.equal(brief, number(default.sum.cost))
  end)

  it("refuses lives that a cache does not have", function()
    local r = replay(RECORDING, "-f", "anthropic", "--cache", "2h")
    assert.equal(2, r.code)
    assert.truthy(r.err:find("5m, 1h or none", 1, true))
    r = replay(RECORDING, "--cache", "1h")
    assert.equal(2, r.code)
    assert.truthy(r.err:find("-f anthropic", 1, true))
  end)

  it("takes the times that a recording tells", function()
    local lines = { '{"role":"user","content":"go","ts":"2026-01-01T00:00:00Z"}' }
    local function step(text, ts)
      local say = '{"role":"assistant","content":"%s","ts":"%s"}'
      lines[#lines + 1] = say:format(text, ts)
      lines[#lines + 1] = ('{"role":"user","content":"on","ts":"%s"}'):format(ts)
    end
    step("a", "2026-01-01T00:10:00Z")
    step("b", "2026-01-01T00:45:00.500Z")
    step("c", "2026-01-01T00:40:00Z")
    step("d", "2026-01-01T00:50:00Z")
    local path = write("times.jsonl", table.concat(lines, "\n") .. "\n")
    local say = 'neap.log(tostring(ctx.now)) ctx.state.now = ctx.now'
    local policy = write(
      "times.lua",
      ('return { api = 1, assemble = function(ctx) %s end }'):format(say)
    )
    local r = replay(path, "-p", policy)
    local cold = {}
    for i, t in ipairs(r.turns) do
      cold[i] = t.cold or false
    end
    assert.same({ false, false, true, false }, cold)
    r = replay(path, "-p", policy, "--think", "0")
    for _, t in ipairs(r.turns) do
      assert.is_nil(t.cold)
    end
  end)
end)

describe("ctx.economy", function()
  local function session(body, options)
    options = options or {}
    options.window = options.window or 20000
    options.policy = write(
      "policy.lua",
      ('return { api = 1, on_error = "fail", assemble = function(ctx) %s end }'):format(body)
    )
    local s = assert(neap.session(options))
    s:add({ role = "user", content = ("the moon pulls "):rep(1000) })
    return s
  end

  local function prompts(body, options)
    local s = session(body, options)
    local ok, why = s:prompt()
    s:close()
    return ok, why
  end

  it("has the prices of the model, or of those that are named", function()
    local see = "assert(ctx.economy.read == %s and ctx.economy.write == %s)"
    assert(prompts(see:format(0.1, 1.25)))
    assert(prompts(see:format(0.5, "1.0"), { model = "gpt-4o" }))
    assert(prompts(see:format(0.1, 1.25), { format = "anthropic" }))
    assert(prompts(see:format(0.1, "1.0"), { prices = "gpt-5" }))
    local s, why, code = neap.session({ prices = "tide-9" })
    assert.is_nil(s)
    assert.equal("config", code)
    assert.truthy(why:find("tide-9", 1, true))
  end)

  it("quotes a rewrite, and refuses nonsense by name", function()
    -- nothing stands before the task but a little framing: all else would be written again
    assert(prompts("local q = ctx.economy.quote { to = 1000 } "
      .. "assert(q.saving == 0.1 * (ctx.tokens - 1000) and q.cost >= 0)"))
    assert(prompts("assert(ctx.economy.quote { to = 1e9 }.turns == nil)"))
    local bad = {
      ["{ to = -1 }"] = "of at least 0",
      ["{ to = 0/0 }"] = "finite",
      ["{ to = 1/0 }"] = "finite",
      ["{ to = 'half' }"] = "not a string",
      ["(5000)"] = "not a number",
      ["{ two = 1 }"] = "two",
    }
    for args, expected in pairs(bad) do
      local ok, why = prompts("ctx.economy.quote " .. args)
      assert.is_nil(ok, args)
      assert.truthy(why:find(expected, 1, true), why)
    end
  end)

  it("is cold when the host says that so much time has passed; a rewrite is free", function()
    local s = session([[
      local e = ctx.economy
      assert(ctx.now == nil or ctx.now >= 1000000)
      ctx.state.cold = e.cold
      if e.cold then assert(e.quote { to = 0 }.cost == 0 and e.quote { to = 0 }.turns == 0) end
    ]])
    local function cold_at(ms)
      if ms then assert(s:set_now(ms)) end
      assert(s:prompt())
      return assert(s:account()).cold or false
    end
    assert.is_false(cold_at())
    assert.is_false(cold_at(1000000))
    assert.is_false(cold_at(1000000 + 1800000))
    assert.is_true(cold_at(1000000 + 2 * 1800000 + 1))
    assert.is_false(cold_at())
    local ok, why, code = s:set_now(5)
    assert.is_nil(ok)
    assert.equal("arg", code)
    assert.truthy(why:find("only goes on", 1, true))
    assert.is_nil(s:set_now(-1))
    s:close()
  end)

  -- A failing hook has asked for nothing, and the account has what it says.
  it("has a height by the growth since the last rewrite", function()
    local policy = write("height.lua", [[return { api = 1, assemble = function(ctx)
      if ctx.step == 3 then
        for e in ctx:entries { kind = "result", before = 2 } do e:mask() end
      elseif ctx.step % 2 == 0 then
        error(("height %d."):format(ctx.economy.height))
      end
    end }]])
    local options = { policy = policy, window = 100000, reserve = -1, no_tools = true }
    local s = assert(neap.session(options))
    s:add({ role = "system", content = ("be brief "):rep(200) })
    s:add({ role = "user", content = "go" })
    local after, since, front, growth, last = nil, 0, nil, {}, nil
    for turn = 1, 30 do
      assert(s:prompt())
      local a = assert(s:account())
      local said = (a.hook_errors or {})[1] or ""
      local height = tonumber(said:match("height (%d+)"))
      local k = after and since > 8 and (last - after) / since
      if after and not k then
        k = 0
        for i = #growth - math.min(#growth, 8) + 1, #growth do
          k = k + growth[i] / math.min(#growth, 8)
        end
      end
      local up = k and 2 * math.sqrt(2 * (after - front) * k * (1.25 - 0.1) / 0.1)
      local expected = 100000
      if after and since >= 3 then expected = math.min(100000, math.floor(after + up)) end
      if turn % 2 == 0 then assert.is_true(math.abs(height - expected) <= 1, turn) end
      if a.epoch > 1 and not after then
        after, front = a.tokens, a.regions.fixed + a.regions.task
      else
        growth[#growth + 1] = last and a.tokens - last or nil
        since = after and since + 1 or 0
      end
      last = a.tokens
      local id = "c" .. turn
      local call = { id = id, type = "function" }
      call["function"] = { name = "read", arguments = "{}" }
      s:add({ role = "assistant", content = "", tool_calls = { call } })
      -- long results first: a mean of few turns would forget them
      local words = turn < 10 and 900 or 30
      s:add({ role = "tool", tool_call_id = id, content = ("wave %d "):format(turn):rep(words) })
    end
    assert.is_true(since > 20)
    s:close()
  end)

  it("is the same when the session is opened again", function()
    local store = DIR .. "/economy.db"
    os.remove(store)
    local s = session("ctx.state.cold = ctx.economy.cold", { store = store, name = "s" })
    assert(s:set_now(1000000))
    assert(s:prompt())
    s:close()
    local path = DIR .. "/policy.lua"
    s = assert(neap.session({ store = store, name = "s", policy = path, window = 20000 }))
    assert(s:set_now(1000000 + 1800001))
    assert(s:prompt())
    assert.is_true(assert(s:account()).cold)
    s:close()
  end)
end)

describe("a turn that changes more than a megabyte tells of", function()
  it("is stored and read again", function()
    local store = DIR .. "/many.db"
    os.remove(store)
    local policy = write("many.lua", [[return { api = 1, assemble = function(ctx)
      if ctx.step < 14000 then return end
      for e in ctx:entries { kind = "text", before = 14000 } do e:mask("older than the rest") end
    end }]])
    local options = { store = store, policy = policy, window = 1000000, name = "s" }
    local s = assert(neap.session(options))
    s:add({ role = "user", content = "go" })
    for i = 1, 14100 do
      s:add({ role = "assistant", content = ("the %d. wave "):format(i):rep(12) })
    end
    local prompt = assert(s:prompt())
    assert.is_true(#assert(s:account()).changed >= 13990)
    s:close()
    s = assert(neap.session(options))
    assert.equal(prompt, assert(s:prompt()))
    s:close()
  end)
end)

describe("marks for a provider's cache", function()
  local function fill(s, from, to)
    for i = from, to do
      local text = ("tide %d "):format(i):rep(300) .. "."
      s:add({ role = i % 2 == 1 and "user" or "assistant", content = text })
      if i % 2 == 1 then assert(s:prompt()) end
    end
  end

  it("are the same when the session is opened again", function()
    local store = DIR .. "/marks.db"
    os.remove(store)
    local options = { format = "anthropic", window = 100000, name = "s" }
    local whole = assert(neap.session(options))
    fill(whole, 1, 9)
    options.store = store
    local s = assert(neap.session(options))
    fill(s, 1, 5)
    s:close()
    s = assert(neap.session(options))
    fill(s, 6, 9)
    local one, other = assert(whole:prompt()), assert(s:prompt())
    assert.equal(one, other)
    -- the end of the first prompt, and of this one, which is the last one's too
    assert.equal(2, select(2, one:gsub('"cache_control"', "")))
    whole:close()
    s:close()
  end)

  it("are for an hour, or none, if asked for", function()
    for cache, mark in pairs({ ["5m"] = "", ["1h"] = ',"ttl":"1h"', none = false }) do
      local s = assert(neap.session({ format = "anthropic", cache = cache }))
      fill(s, 1, 1)
      local body = assert(s:prompt())
      local wanted = '"cache_control":{"type":"ephemeral"' .. (mark or "") .. "}"
      assert.equal(mark ~= false, body:find(wanted, 1, true) ~= nil, cache)
      s:close()
    end
    assert.has_error(function()
      neap.session({ cache = "forever" })
    end, "option cache must be 5m, 1h or none")
  end)

  it("are in what a replay writes, and nothing else of it changes", function()
    local code, _, err = shared.run({
      "replay", RECORDING, "-f", "anthropic", "--requests", DIR .. "/requests",
    })
    assert.equal(0, code, err)
    for turn = 2, 45, 7 do
      local path = ("%s/requests/chinese/%04d.json"):format(DIR, turn)
      local f = assert(io.open(path, "rb"))
      local n = select(2, f:read("a"):gsub('"cache_control"', ""))
      f:close()
      assert.is_true(n >= 2 and n <= 4, n)
    end
  end)
end)

describe("the table of caches", function()
  it("says for each whose it is and when it was read", function()
    for _, row in ipairs(core.caches()) do
      assert.truthy(row.date:match("^%d%d%d%d%-%d%d%-%d%d$"))
      assert.is_true(#row.source > 10)
    end
    for _, format in ipairs(core.formats()) do
      assert.truthy(prices.formats[format])
    end
  end)
end)

describe("the rows of the newest models", function()
  it("are their own, not those of the generation before", function()
    local function of(name)
      local row = assert(core.cache(name))
      return row.name, row.dollars, row.read
    end
    assert.same({ "claude-opus-5-5", 4, 0.05 }, { of("claude-opus-5-5") })
    assert.same({ "claude-opus-5", 5, 0.1 }, { of("claude-opus-5") })
    assert.same({ "claude-sonnet-5-5", 2, 0.05 }, { of("claude-sonnet-5-5") })
    assert.same({ "claude-haiku-5-5", 0.1, 0.1 }, { of("claude-haiku-5-5") })
    assert.same({ "claude-fable-5-1", 10, 0.025 }, { of("claude-fable-5-1") })
    assert.same({ "gpt-6.2-sol", 2, 0.05 }, { of("gpt-6.2-sol") })
    assert.same({ "gemini-3.5-flash-lite", 0.3, 0.1 }, { of("gemini-3.5-flash-lite") })
    -- what is not known is not guessed from a sibling's
    assert.is_nil(assert(core.cache("claude-fable-5-2")).dollars)
    local r = replay(RECORDING, "--prices", "claude-fable-5-2")
    assert.equal(2, r.code)
  end)
end)

describe("times of recordings", function()
  it("are read as text and as numbers", function()
    assert.equal(0, moment.millis("1970-01-01T00:00:00Z"))
    assert.equal(951782400000, moment.millis("2000-02-29T00:00:00Z"))
    assert.equal(951786000250, moment.millis("2000-02-29 01:00:00.25"))
    assert.equal(951782400000, moment.millis("2000-02-29T02:00:00+02:00"))
    assert.equal(1700000000000, moment.millis(1700000000))
    assert.equal(1700000000123, moment.millis(1700000000123))
    for _, nonsense in ipairs({ "soon", "2000-13-01T00:00:00Z", -1, 0 / 0, 1e300, {}, true }) do
      assert.is_nil(moment.millis(nonsense))
    end
  end)
end)
