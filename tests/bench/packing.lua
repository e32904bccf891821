-- Packing against its goals: a long loop, a very long history, how one turn's time grows, a
-- stored session read back, and what a session takes from the heap (bench_memory.c). CPU time
-- of this process; of the first and the last the best of three. --json: one object a row. No
-- figure is judged here. next: tokens.lua
local core = require("neap.core")
local shared = require("tests.support.shared")

local json = arg[1] == "--json"

local TEXT = "The tide rises, the tide falls, and what it carried in the morning it has taken "
  .. "away again by night; nobody on the quay could say what had been there at %d.\n"

local function row(name, value, unit, goal)
  if json then
    local function number(n)
      return core.json.raw(("%.3f"):format(n))
    end
    local line = { name = name, value = number(value), unit = unit }
    line.goal = goal and number(goal)
    print(core.json.encode(line, { "name", "value", "unit", "goal" }))
  else
    local text = goal and ("goal %g"):format(goal) or ""
    print((("%-54s %10.3f %-3s %s"):format(name, value, unit, text):gsub("%s+$", "")))
  end
end

local function seconds(f, ...)
  collectgarbage() -- ours is no part of it
  local from = os.clock()
  f(...)
  return os.clock() - from
end

local function open(options)
  local engine = assert(core.engine({ fixed_secret = true, store = options.store }))
  options.store = nil
  options.name = "bench"
  return engine, assert(engine:session(options))
end

-- A call and its result, of about 400 tokens together.
local function step(session, i)
  local call = '{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function",'
    .. '"function":{"name":"read","arguments":"{\\"path\\":\\"src/file_%d.c\\"}"}}]}'
  assert(session:append(call:format(i, i)))
  local text = (TEXT:format(i)):rep(9)
  local result = { role = "tool", tool_call_id = "c" .. i, content = text }
  assert(session:append(core.json.encode(result)))
end

-- Turns one after the other; the time of each.
local function loop(session, from, to)
  local times = {}
  for i = from, to do
    step(session, i)
    times[#times + 1] = seconds(function()
      assert(session:assemble())
    end)
  end
  table.sort(times)
  return times
end

local function begin(session)
  assert(session:append('{"role":"system","content":"Be brief."}'))
  assert(session:append('{"role":"user","content":"Mend the build."}'))
end

local function bench_loop()
  local best, worst = math.huge, math.huge
  for _ = 1, 3 do
    local engine, session = open({ policy = "policies/tide.lua", window = 128000 })
    begin(session)
    local times
    best = math.min(best, seconds(function()
      times = loop(session, 1, 1000)
    end))
    worst = math.min(worst, times[#times])
    engine:close()
  end
  row("loop of 1,000 turns, window 128k, tide, with counting", best * 1000, "ms", 200)
  row("the slowest turn of it", worst * 1000, "ms", 2)
end

-- 50,000 tokens of our own sources.
local function large_text(encoding)
  local parts, tokens = {}, 0
  for _, name in ipairs({ "render/responses.c", "render/view.c", "policy/call.c" }) do
    local f = assert(io.open("core/" .. name, "rb"))
    parts[#parts + 1] = f:read("a")
    f:close()
  end
  local text = table.concat(parts)
  while tokens < 50000 do
    text = text .. text
    tokens = encoding:count(text)
  end
  return encoding:fit(text, 50000)
end

-- What cannot be done without is the count of its text.
local function bench_giant()
  local best, alone = math.huge, math.huge
  for _ = 1, 5 do
    local engine, session = open({ policy = "policies/tide.lua", window = 500000 })
    local encoding = assert(core.encoding("o200k_base"))
    local text = large_text(encoding)
    begin(session)
    loop(session, 1, 20)
    local call = '{"role":"assistant","content":null,"tool_calls":[{"id":"big","type":"function",'
      .. '"function":{"name":"read","arguments":"{}"}}]}'
    assert(session:append(call))
    local result = { role = "tool", tool_call_id = "big", content = text }
    assert(session:append(core.json.encode(result)))
    alone = math.min(alone, seconds(encoding.count, encoding, text))
    best = math.min(
      best,
      seconds(function()
        assert(session:assemble())
      end)
    )
    engine:close()
  end
  row("a turn with a new result of 50,000 tokens", best * 1000, "ms")
  row("of it, counting that text alone", alone * 1000, "ms")
end

-- A history of so many messages of which most is not shown, then the mean of 1,000 turns, with
-- the counting of what comes in.
local function turn_at(policy, messages)
  local engine, session = open({ policy = policy, window = 64000 })
  begin(session)
  for i = 1, messages // 2 do
    step(session, i)
    if i % 50 == 0 then assert(session:assemble()) end
  end
  assert(session:assemble())
  local time = seconds(loop, session, messages, messages + 999)
  engine:close()
  return time / 1000
end

local function bench_growth(name)
  local policy = ("policies/%s.lua"):format(name)
  local few, many = turn_at(policy, 1000), turn_at(policy, 100000)
  row(("%s: a turn after 1,000 messages"):format(name), few * 1e6, "µs")
  row(("%s: a turn after 100,000 / after 1,000"):format(name), many / few, "x", 1.5)
end

local function bench_assembly()
  local engine, session = open({ window = 1000000000 })
  begin(session)
  for i = 1, 49999 do
    step(session, i)
  end
  local first = seconds(function()
    assert(session:assemble())
  end)
  assert(session:append('{"role":"user","content":"And now?"}'))
  local again = seconds(function()
    assert(session:assemble())
  end)
  row("first assembly of 100,000 messages, with counting", first * 1000, "ms", 5)
  row("the next, one message added", again * 1e6, "µs", 50)
  engine:close()
end

-- Short messages, counted before; then the first of them changes, and all are rendered anew.
local function bench_anew()
  local path = os.tmpname()
  local f = assert(io.open(path, "wb"))
  f:write([[return { api = 1, assemble = function(ctx)
    if ctx.step < 50002 then return end
    for e in ctx:entries { kind = "user", before = 2 } do e:mask() end
  end }]])
  f:close()
  local engine, session = open({ policy = path, window = 1000000000 })
  begin(session)
  assert(session:append('{"role":"assistant","content":"Yes."}'))
  assert(session:append(core.json.encode({ role = "user", content = TEXT:rep(9) })))
  for i = 2, 50000 do
    assert(session:append('{"role":"assistant","content":"And then?"}'))
    assert(session:append(('{"role":"user","content":"Look at %d."}'):format(i)))
  end
  assert(session:assemble())
  assert(session:append('{"role":"assistant","content":"Done."}'))
  local time = seconds(function()
    assert(session:assemble())
  end)
  engine:close()
  os.remove(path)
  row("100,000 short messages rendered anew, counts known", time * 1000, "ms", 5)
end

local function bench_resume()
  local path = os.tmpname()
  local engine, session = open({ store = path, window = 128000, policy = "policies/tide.lua" })
  begin(session)
  for i = 1, 5000 do
    step(session, i)
    if i % 10 == 0 then assert(session:assemble()) end
  end
  engine:close()
  local best = math.huge
  for _ = 1, 3 do
    best = math.min(best, seconds(function()
      local e, s = open({ store = path, window = 128000, policy = "policies/tide.lua" })
      assert(s:assemble())
      e:close()
    end))
  end
  for _, tail in ipairs({ "", "-wal", "-shm" }) do
    os.remove(path .. tail)
  end
  row("a stored session of 10,000 entries read back", best * 1000, "ms", 50)
end

-- What bench_memory counts: of a session whose old entries are not shown, in a file.
local function bench_memory()
  local path = os.tmpname()
  local words = { "/tests/bench/bench_memory", core.data_dir(), "policies/tide.lua", path }
  for i, word in ipairs(words) do
    words[i] = "'" .. (i == 1 and shared.build() or "") .. word:gsub("'", "'\\''") .. "'"
  end
  local f = assert(io.popen(table.concat(words, " ")))
  local found = {}
  for line in f:lines() do
    local what, value = line:match('^{"what":"(.-)","value":([%d.-]+)}$')
    found[what] = tonumber(value)
  end
  assert(f:close(), "bench_memory failed")
  for _, tail in ipairs({ "", "-wal", "-shm" }) do
    os.remove(path .. tail)
  end
  row("heap allocations of a steady prompt, tide", found["allocations of a prompt"], "", 0)
  row("heap allocations of a steady turn, with appends", found["allocations of a turn"], "", 0)
  row("heap bytes of an old entry, its text included", found["bytes of an old entry"], "B", 64)
  local live = found["bytes for each byte of the prompt"]
  row("heap bytes for each byte of the live window", live, "B", 1.2)
end

bench_loop()
bench_giant()
bench_assembly()
bench_anew()
for _, name in ipairs({ "full", "tide", "sliding_window", "mask_observations" }) do
  bench_growth(name)
end
bench_resume()
bench_memory()
