-- The tokenizer against its goals, row by row: CPU time, median and best of at least five. With
-- --npm public encoders of the npm registry run on the same texts, counts compared; they are
-- installed in a scratch folder (NEAP_BENCH_PEERS, or one below TMPDIR that is kept). --json:
-- one object a row. No figure is judged here. next: bench_token.c, peers.mjs
local core = require("neap.core")
local shared = require("tests.support.shared")
local texts = require("tests.bench.texts")
local npm = require("tests.bench.npm")

local json, beside = false, false
for _, word in ipairs(arg) do
  if word == "--json" then
    json = true
  elseif word == "--npm" then
    beside = true
  else
    error(word .. ": --json and --npm are known")
  end
end

-- Goals: what half as much again as the best public encoder of each row is, on a quiet machine
-- of this kind; `npm`: how many times the best npm encoder in the same run. Measured 2026-11.
local ROWS = {
  { "English prose", file = "english_prose.txt", goal = 150, npm = 12 },
  { "C", file = "code_c.c", goal = 373, npm = 17 },
  { "JavaScript, Python", file = "code_js_py.txt", goal = 165, npm = 15 },
  { "JSON", file = "json_tools.json", goal = 80, npm = 8.6 },
  { "build log", file = "build_log.txt", goal = 355, npm = 23 },
  { "HTML", file = "page.html", goal = 198, npm = 14 },
  { "Chinese", file = "chinese.txt", goal = 45, npm = 4.9 },
  { "mixed scripts", file = "mixed_unicode.txt", goal = 85, npm = 4.1 },
  { "base64", file = "adv_base64.txt", goal = 40, npm = 11 },
  { "CJK without a break", file = "adv_cjk_run.txt", goal = 55, npm = 55 },
  { "one letter", file = "adv_a.txt", goal = 390, npm = 3000 },
  { "spaces", file = "adv_spaces.txt", goal = 390, npm = 3000 },
  { "newlines", file = "adv_newlines.txt", goal = 390, npm = 3000 },
  { "English seen before", key = "warm", goal = 700, npm = 57 },
  { "200-byte message, warm", key = "warm_message", unit = "µs", goal = 0.6, npm = 25 },
  { "200-byte message, first", key = "first_message", unit = "µs", goal = 2 },
  { "append 50 bytes to 20 kB", key = "append", unit = "µs", goal = 0.5, npm = 1000 },
  { "load, ready to count", key = "load", unit = "ms", goal = 1, npm = 500 },
  { "memory after load", key = "memory", unit = "MiB", goal = 12 },
}

local quote = shared.quote

local function lines_of(command)
  local f = assert(io.popen(command))
  local list = {}
  for line in f:lines() do
    list[#list + 1] = core.json.decode(line)
  end
  return list, f:close()
end

-- Decimals are decoded as their digits.
local function number(v)
  return v and tonumber(tostring(v))
end

local function median(list)
  table.sort(list)
  return list[#list // 2 + 1]
end

-- ---- this build -------------------------------------------------------------------------

local function loads(program, dir)
  local all = { ms = {}, wall_ms = {}, mib = {}, used_mib = {}, own_mib = {} }
  for _ = 1, 9 do
    local words = { quote(program), "load", quote(core.data_dir()), quote(dir) }
    local one = assert(lines_of(table.concat(words, " "))[1], "loading failed")
    for name, list in pairs(all) do
      list[#list + 1] = number(one[name])
    end
  end
  local best = math.min(table.unpack(all.ms))
  local out = { best = best }
  for name, list in pairs(all) do
    out[name] = median(list)
  end
  return out
end

-- What was measured, by a row's file or key: value, best, and what else is known of it.
local function measure(dir)
  local program = shared.build() .. "/tests/bench/bench_token"
  local words = { quote(program), quote(core.data_dir()), quote(dir) }
  local list, ok = lines_of(table.concat(words, " "))
  assert(ok, "bench_token failed")
  local out = {}
  for _, m in ipairs(list) do
    if m.file and m.encoding == "o200k_base" then
      out[m.file] = {
        value = number(m.count),
        best = number(m.count_best),
        encode = number(m.encode),
        growth = number(m.growth),
        bytes = m.bytes,
        tokens = m.tokens,
        n = m.n,
      }
    elseif m.file then
      out[m.file].cl100k, out[m.file].cl100k_encode = number(m.count), number(m.encode)
      out[m.file].cl100k_tokens = m.tokens
    elseif m.row == "messages" then
      local n = m.n
      out.warm_message = { value = number(m.warm), best = number(m.warm_best), n = n }
      out.first_message = { value = number(m.first), best = number(m.first_best), n = n }
      out.warm_message.tokens, out.first_message.tokens = m.tokens, m.tokens
    else
      out[m.row] = { value = number(m.value), best = number(m.best), n = m.n, tokens = m.tokens }
    end
  end
  local load = loads(program, dir)
  out.load = { value = load.ms, best = load.best, wall = load.wall_ms, n = 9 }
  out.memory = { value = load.mib, used = load.used_mib, own = load.own_mib, n = 9 }
  return out
end

-- ---- the others -------------------------------------------------------------------------

local PEERS = {
  { "tiktoken", "1.0.22" },
  { "gpt-tokenizer", "4.0.0" },
  { "ai-tokenizer", "1.0.6" },
  { "@microsoft/tiktokenizer", "1.0.10" },
}

local function say(...)
  io.stderr:write("bench: ", ..., "\n")
end

-- One process each: what one leaves behind does not disturb the next.
local function run_peer(peer, dir, modules)
  local list, ok = npm.node({ "tests/bench/peers.mjs", peer, dir, modules })
  local out = {}
  for _, m in ipairs(list) do
    out[m.key] = { value = number(m.value), tokens = m.tokens, bytes = m.bytes, note = m.note }
    if m.error then say(peer, ", ", m.key, ": ", m.error) end
  end
  if not ok then say(peer, " is missing or broken: its rows are empty") end
  return out
end

local function measure_peers(dir)
  local modules, why = npm.install(PEERS, "tokens")
  if not modules then
    say(why)
    return {}
  end
  texts.write_ranks(dir .. "/o200k_base.tiktoken", "o200k_base")
  local out = {}
  for _, peer in ipairs(PEERS) do
    out[#out + 1] = { name = peer[1], rows = run_peer(peer[1], dir, modules) }
  end
  return out
end

-- ---- the table --------------------------------------------------------------------------

local function is_speed(row)
  return row.unit == nil
end

-- How many times as good as `other`.
local function times_as_good(row, value, other)
  if not value or not other or value == 0 or other == 0 then return nil end
  return is_speed(row) and value / other or other / value
end

local function shown(v)
  if not v then return "" end
  if v >= 100 then return ("%.0f"):format(v) end
  return (v >= 10 and "%.1f" or v >= 0.1 and "%.2f" or "%.3f"):format(v)
end

local function best_of(row, peers, key)
  local best, name
  for _, peer in ipairs(peers) do
    local m = peer.rows[key]
    local v = m and m.value
    if v and (not best or times_as_good(row, v, best) > 1) then
      best, name = v, peer.name
    end
  end
  return best, name
end

-- Counts of whole texts must be the same; one that stopped half-way has none.
local function compare(row, m, peers, key)
  for _, peer in ipairs(peers) do
    local other = peer.rows[key]
    if other and other.tokens and m.tokens and other.tokens ~= m.tokens then
      local text = "%s: %d tokens, %s has %d"
      say(text:format(row[1], m.tokens, peer.name, other.tokens))
    end
  end
end

local HEAD = { "", "median", "best", "", "goal", "of goal", "encode", "cl100k", "encode" }

local function cells(row, m, peers)
  local key = row.file or row.key
  local best, name = best_of(row, peers, key)
  local list = {
    row[1],
    shown(m.value),
    shown(m.best),
    row.unit or "MB/s",
    shown(row.goal),
    shown(times_as_good(row, m.value, row.goal)),
    shown(m.encode),
    shown(m.cl100k),
    shown(m.cl100k_encode),
  }
  if #peers == 0 then return list end
  for _, peer in ipairs(peers) do
    local other = peer.rows[key]
    local text = other and shown(other.value) or ""
    list[#list + 1] = other and other.note and text .. "*" or text
  end
  list[#list + 1] = shown(times_as_good(row, m.value, best))
  list[#list + 1] = shown(row.npm)
  list[#list + 1] = name or ""
  return list
end

local function rounded(v)
  return v and core.json.raw(("%.4g"):format(v):gsub("e%+?(%-?)0*(%d)", "e%1%2")) or nil
end

local ORDER = { "row", "unit", "value", "best", "goal", "ratio", "n", "bytes", "tokens" }

local function object(row, m, peers, corpus)
  local key = row.file or row.key
  local best, name = best_of(row, peers, key)
  local others
  for _, peer in ipairs(peers) do
    local other = peer.rows[key]
    others = others or {}
    if other and other.value then others[peer.name] = rounded(other.value) end
  end
  return {
    row = row[1],
    unit = row.unit or "MB/s",
    value = rounded(m.value),
    best = rounded(m.best),
    goal = rounded(row.goal),
    ratio = rounded(times_as_good(row, m.value, row.goal)),
    n = m.n,
    bytes = m.bytes,
    tokens = m.tokens,
    encode = rounded(m.encode),
    cl100k = rounded(m.cl100k),
    cl100k_encode = rounded(m.cl100k_encode),
    growth = rounded(m.growth),
    wall = rounded(m.wall),
    used = rounded(m.used),
    own = rounded(m.own),
    texts = corpus,
    npm = others,
    npm_best = name,
    npm_ratio = rounded(times_as_good(row, m.value, best)),
    npm_goal = name and rounded(row.npm) or nil,
  }
end

local function print_table(measured, peers, corpus)
  local grid = require("neap.report.grid")
  local rows, align = { { table.unpack(HEAD) } }, { "l", "r", "r", "l", "r", "r", "r", "r", "r" }
  if #peers > 0 then
    for _, peer in ipairs(peers) do
      table.insert(rows[1], peer.name)
    end
    table.move({ "of npm's best", "goal", "which" }, 1, 3, #rows[1] + 1, rows[1])
    while #align < #rows[1] - 1 do
      align[#align + 1] = "r"
    end
    align[#align + 1] = "l"
  end
  for _, row in ipairs(ROWS) do
    rows[#rows + 1] = cells(row, measured[row.file or row.key], peers)
  end
  local load, memory = measured.load, measured.memory
  io.write("tokenizer, o200k_base unless said; CPU time, median and best of at least 5\n")
  io.write("texts: ", corpus, "\n\n", grid.format(rows, align))
  local text = "\nload: %s ms of wall time; memory after 1 MB of English: %s MiB, its own %s\n"
  io.write(text:format(shown(load.wall), shown(memory.used), shown(memory.own)))
  local worst, name = 0, nil
  for _, row in ipairs(ROWS) do
    local alike = row.file and row.file:find("^adv_") -- its quarters are of one kind
    local growth = alike and measured[row.file].growth or 0
    if growth > worst then
      worst, name = growth, row[1]
    end
  end
  text = "four times a uniform text takes at most %s times as long (%s)\n"
  io.write(text:format(shown(worst), name))
  if #peers > 0 then io.write("* stopped early: it does not take linear time\n") end
end

local dir, corpus = texts.folder()
local measured = measure(dir)
local peers = beside and measure_peers(dir) or {}
for _, row in ipairs(ROWS) do
  compare(row, measured[row.file or row.key], peers, row.file or row.key)
end
if json then
  for _, row in ipairs(ROWS) do
    local m = measured[row.file or row.key]
    print(core.json.encode(object(row, m, peers, corpus), ORDER))
  end
else
  print_table(measured, peers, corpus)
end
texts.remove(dir)
