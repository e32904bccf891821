-- Where a long session's units go: a unit is an uncached token, 0.1 a cached one, 1.25 one that
-- is written. A session of 1,000 turns that grows to 0.9 M tokens, in a budget of 128,000; what
-- it costs a prompt token, how full its prompts are, and what share of the citations was still
-- to be seen. The least any policy can pay is the first writing of what is new. With --npm the
-- packages of packing_peers.mjs run beside it, and an independent judge counts neap's requests
-- as it counts theirs. --json: an object a row. No figure is judged here. next: history.lua
local core = require("neap.core")
local import = require("neap.import")
local replay = require("neap.report.replay")
local grid = require("neap.report.grid")
local shared = require("tests.support.shared")
local history = require("tests.bench.history")
local npm = require("tests.bench.npm")

local json, compare = false, false
for _, word in ipairs(arg) do
  if word == "--json" then
    json = true
  elseif word == "--npm" then
    compare = true
  else
    error(word .. ": --json and --npm are known")
  end
end

local TURNS, BUDGET = 1000, 128000
local MANY = 100000 -- messages of the one assembly

-- Goals for units a prompt token, at prompts of 88,000 tokens or more on average. Cut on arrival
-- is what is longer than 4,000 characters.
local CUT = { giant = 0.0087, excerpt = 0.0039, front = 0.3, floor = 0.54 }
local ROWS = {
  { "tide", policy = "tide", goal = 0.117 },
  { "tide, results cut on arrival", policy = "tide", options = CUT, goal = 0.113 },
  { "hysteresis", policy = "hysteresis" },
}

local PACKAGES = {
  { "tiktoken", "1.0.22" },
  { "gpt-tokenizer", "4.0.0" },
  { "@langchain/core", "1.4.0" },
  { "@vscode/prompt-tsx", "0.4.0-alpha.9" },
}
-- The seconds each may take for the loop and for the one assembly.
local PEERS = {
  { "JavaScript loop, counts kept, to half", 20, 20 },
  { "LangChain trimMessages", 40, 10 },
  { "prompt-tsx", 40, 10 },
}

local function write_lines(path, lines)
  local f = assert(io.open(path, "wb"))
  for _, line in ipairs(lines) do
    f:write(line, "\n")
  end
  assert(f:close())
end

local function options_of(row)
  return row.options and core.json.encode(row.options)
end

-- ---- units --------------------------------------------------------------------------------

-- What the replay's own accounts say.
local function economy(row, recording)
  local sum = { turns = 0, tokens = 0, cached = 0, appended = 0, rewrites = 0, over = 0 }
  local state = assert(replay.run(recording, {
    policy = ("policies/%s.lua"):format(row.policy),
    options = options_of(row),
    window = BUDGET,
    reserve = 0,
    on_turn = function(a)
      sum.turns = sum.turns + 1
      if a.overflow then
        sum.over = sum.over + 1
        return
      end
      sum.tokens, sum.cached = sum.tokens + a.tokens, sum.cached + a.cached
      local written = a.tokens - a.cached
      if a.rewrite then
        sum.rewrites = sum.rewrites + 1
      else
        sum.appended = sum.appended + written
      end
    end,
  }))
  local facts = replay.summary(recording, state).facts
  replay.close(state)
  sum.units = (0.1 * sum.cached + 1.25 * (sum.tokens - sum.cached)) / sum.tokens
  sum.least = 0.1 + 1.15 * sum.appended / sum.tokens
  sum.mean = sum.tokens / sum.turns
  sum.present, sum.gone = facts.present / facts.cited, facts.gone / facts.cited
  sum.pointed = (facts.pointed + facts.noted) / facts.cited
  return sum
end

-- ---- time ---------------------------------------------------------------------------------

local function open(row)
  local engine = assert(core.engine({ fixed_secret = true }))
  return engine, assert(engine:session({
    name = "bench",
    policy = ("policies/%s.lua"):format(row.policy),
    options = options_of(row),
    window = BUDGET,
    reserve = -1,
  }))
end

-- Every turn of the session; `use` gets each prompt.
local function each_turn(session, messages, use)
  for _, message in ipairs(messages) do
    if message:find('"role":"assistant"', 1, true) then use(session) end
    assert(session:append(message))
  end
end

local function assemble(session)
  assert(session:assemble())
end

-- CPU milliseconds of the whole and of its slowest turn, the best of three.
local function time_loop(row, messages)
  local best, least_worst = math.huge, math.huge
  for _ = 1, 3 do
    local engine, session = open(row)
    local worst, at = 0, os.clock()
    local from = at
    each_turn(session, messages, function()
      assemble(session)
      local now = os.clock()
      worst, at = math.max(worst, now - at), now
    end)
    best, least_worst = math.min(best, os.clock() - from), math.min(least_worst, worst)
    engine:close()
  end
  return best * 1000, least_worst * 1000
end

-- A long history at once: small messages, of which few fit.
local function many_messages()
  local out = { '{"role":"system","content":"Be brief."}', '{"role":"user","content":"Go."}' }
  local call = '{"role":"assistant","content":"","tool_calls":[{"id":"c%d","type":"function",'
    .. '"function":{"name":"read","arguments":"{\\"path\\":\\"src/file_%d.c\\"}"}}]}'
  local result = '{"role":"tool","tool_call_id":"c%d","content":"%s"}'
  local text = ("static int level_%d = 0; // the tide rises and falls\\n"):rep(6)
  for i = 1, MANY // 2 - 1 do
    out[#out + 1] = call:format(i, i)
    out[#out + 1] = result:format(i, text:format(i, i + 1, i + 2, i + 3, i + 4, i + 5))
  end
  return out
end

local function time_single(row, messages)
  local engine, session = open(row)
  local from = os.clock()
  for _, message in ipairs(messages) do
    assert(session:append(message))
  end
  local appended = os.clock()
  assemble(session)
  local done = os.clock()
  engine:close()
  return (done - from) * 1000, (done - appended) * 1000
end

-- What the judge says of neap's requests.
local function judge(row, messages, modules)
  local path = os.tmpname()
  local command = ("node tests/bench/judge.mjs %s %d > %s"):format(
    shared.quote(modules), BUDGET, shared.quote(path)
  )
  local pipe = assert(io.popen(command, "w"))
  local engine, session = open(row)
  each_turn(session, messages, function()
    pipe:write(assert(session:prompt()), "\n")
  end)
  engine:close()
  assert(pipe:close(), "the judge failed")
  local f = assert(io.open(path, "rb"))
  local verdict = core.json.decode(f:read("a"))
  f:close()
  os.remove(path)
  return verdict
end

-- ---- the tables ---------------------------------------------------------------------------

local function number(v)
  return v and tonumber(tostring(v))
end

local function rounded(v, places)
  return v and core.json.raw((("%%.%df"):format(places)):format(v))
end

local function say_json(row)
  print(core.json.encode(row, { "row", "goal", "units", "least", "mean" }))
end

local function share(v)
  return ("%.1f"):format(100 * v)
end

local function print_economy(recording)
  local table_rows = {
    { "", "units", "goal", "least", "mean", "rewrites", "shown", "pointed", "gone" },
  }
  for _, row in ipairs(ROWS) do
    local e = economy(row, recording)
    if json then
      say_json({
        row = "units a prompt token: " .. row[1],
        goal = rounded(row.goal, 3),
        units = rounded(e.units, 5),
        least = rounded(e.least, 5),
        mean = rounded(e.mean, 0),
        rewrites = e.rewrites,
        over = e.over,
        shown = rounded(e.present, 4),
        pointed = rounded(e.pointed, 4),
        gone = rounded(e.gone, 4),
      })
    end
    table_rows[#table_rows + 1] = {
      row[1],
      ("%.4f"):format(e.units),
      row.goal and ("%.3f"):format(row.goal) or "",
      ("%.4f"):format(e.least),
      grid.thousands(math.floor(e.mean + 0.5)),
      e.rewrites,
      share(e.present),
      share(e.pointed),
      share(e.gone),
    }
  end
  if json then return end
  local text = "\nunits a prompt token (0.1 cached, 1.25 written): %s turns, budget %s\n"
  io.write(text:format(grid.thousands(TURNS), grid.thousands(BUDGET)))
  io.write("least: when nothing is written twice; mean: tokens of a prompt; shown, pointed, gone: ")
  io.write("% of citations\n\n")
  io.write(grid.format(table_rows, { "l", "r", "r", "r", "r", "r", "r", "r", "r" }))
end

-- A row of the comparison: neap's, or a package's.
local function measured(name, loop, single)
  return {
    row = name,
    turns = number(loop.turns) or 0,
    stopped = loop.stopped or nil,
    ms = number(loop.ms),
    worst = number(loop.worst),
    units = number(loop.units),
    mean = number(loop.mean),
    over = number(loop.over),
    invalid = number(loop.invalid),
    many = not single.stopped and number(single.ms) or nil,
    assembly = not single.stopped and number(single.assembly) or nil,
    many_stopped = single.stopped or nil,
  }
end

local function run_peer(peer, files, modules)
  local function run(mode, file, seconds)
    local words = { "tests/bench/packing_peers.mjs", peer[1], mode, file, modules }
    words[6], words[7] = tostring(BUDGET), tostring(seconds)
    local rows, ok = npm.node(words)
    if not ok then io.stderr:write("bench: ", peer[1], " is missing or broken\n") end
    return rows[1] or { turns = 0, stopped = true }
  end
  return measured(peer[1], run("loop", files.loop, peer[2]), run("single", files.many, peer[3]))
end

local function run_neap(row, messages, many, modules)
  local ms, worst = time_loop(row, messages)
  local loop = judge(row, messages, modules)
  loop.ms, loop.worst = ms, worst
  local all, assembly = time_single(row, many)
  return measured("neap, " .. row[1], loop, { ms = all, assembly = assembly })
end

local function short(v)
  if not v then return "" end
  return (v >= 1000 and "%.0f" or v >= 10 and "%.1f" or "%.2f"):format(v)
end

-- A turn's time against neap's; one that was stopped would have taken longer still.
local function times(row, base)
  if not row.ms or row.turns == 0 then return "" end
  local ratio = (row.ms / row.turns) / (base.ms / base.turns)
  return ("%s%.1fx"):format(row.stopped and ">" or "", ratio)
end

local function print_comparison(rows)
  local list = {
    { "", "turns", "CPU ms", "of neap's", "slowest", "units", "mean", "over", "invalid",
      "100,000", "assembly" },
  }
  for _, r in ipairs(rows) do
    if json then
      for name, places in pairs({ ms = 1, worst = 2, units = 5, many = 1, assembly = 2 }) do
        r[name] = rounded(r[name], places)
      end
      say_json(r)
    else
      list[#list + 1] = {
        r.row,
        (r.stopped and r.turns .. "*" or r.turns),
        short(r.ms),
        times(r, rows[1]),
        short(r.worst),
        r.units and ("%.4f"):format(r.units) or "",
        r.mean and grid.thousands(r.mean) or "",
        r.over or "",
        r.invalid or "",
        r.many_stopped and "*" or short(r.many),
        short(r.assembly),
      }
    end
  end
  if json then return end
  local align = { "l" }
  for i = 2, #list[1] do
    align[i] = "r"
  end
  io.write("\nthe same session beside packages of npm, judged by tiktoken and pairing\n")
  io.write("100,000: CPU ms for as many messages at once, the first prompt with them; ")
  io.write("* stopped: the time was up\n\n")
  io.write(grid.format(list, align))
end

local dir = os.tmpname()
os.remove(dir)
assert(core.mkdir(dir))
local messages = history.messages(TURNS)
local files = { loop = dir .. "/history.jsonl", many = dir .. "/many.jsonl" }
write_lines(files.loop, messages)
print_economy(assert(import.load(files.loop, {}))[1])
if compare then
  local modules, why = npm.install(PACKAGES, "packing")
  if not modules then
    io.stderr:write("bench: ", why, "\n")
  else
    local many = many_messages()
    write_lines(files.many, many)
    local rows = {}
    for _, row in ipairs(ROWS) do
      rows[#rows + 1] = run_neap(row, messages, many, modules)
    end
    for _, peer in ipairs(PEERS) do
      rows[#rows + 1] = run_peer(peer, files, modules)
    end
    print_comparison(rows)
  end
end
os.remove(files.loop)
os.remove(files.many)
os.remove(dir)
