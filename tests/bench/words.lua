-- The index of words against its goals, beside stock FTS5 in the same run: entries a second,
-- milliseconds a search in 100,000 entries. CPU time, best of several for searches. --json: one
-- object a row. No figure is judged here. next: bench_words.c, recall.lua
local core = require("neap.core")
local shared = require("tests.support.shared")
local texts = require("tests.bench.texts")

local json = arg[1] == "--json"

-- Goals on a quiet machine of this kind, and which rows have a stock one beside them.
local ROWS = {
  { "index English and code", unit = "/s", goal = 35000, digits = 0 },
  { "index Chinese", unit = "/s", goal = 5000, digits = 0 },
  { "find a word of one entry", unit = "ms", goal = 0.2, digits = 3 },
  { "find a word of 788 entries", unit = "ms", digits = 3 },
  { "find a word of 36,000 entries", unit = "ms", goal = 5, digits = 3 },
  { "find both of these", unit = "ms", digits = 3 },
  { "find a sentence", unit = "ms", digits = 3 },
  { "find two Chinese characters", unit = "ms", goal = 2, digits = 3 },
  { "file, MB", unit = "MB", digits = 1 },
}

local function measure()
  local dir = texts.folder()
  local program = shared.build() .. "/tests/bench/bench_words"
  local command = ("%s %s %s"):format(
    shared.quote(program),
    shared.quote(dir),
    shared.quote(dir)
  )
  local pipe, values = assert(io.popen(command)), {}
  for line in pipe:lines() do
    local row = core.json.decode(line)
    values[row.name] = tonumber(tostring(row.value))
  end
  local done = pipe:close()
  texts.remove(dir)
  assert(done, "bench_words failed")
  return values
end

local values = measure()
if not json then
  print(("%-40s %10s %10s  %s"):format("words of 570-byte entries", "neap", "stock", ""))
end
for _, row in ipairs(ROWS) do
  local ours, stock = values[row[1]], values[row[1] .. ", stock"]
  if json then
    local function number(n)
      return n and core.json.raw(("%.3f"):format(n))
    end
    local line = { name = row[1], value = number(ours), stock = number(stock), unit = row.unit }
    line.goal = number(row.goal)
    print(core.json.encode(line, { "name", "value", "stock", "unit", "goal" }))
  else
    local shape = "%." .. row.digits .. "f"
    local text = row.goal and ("%s, goal %g"):format(row.unit, row.goal) or row.unit
    local other = stock and shape:format(stock) or "-"
    print(("%-40s %10s %10s  %s"):format(row[1], shape:format(ours), other, text))
  end
end
