-- Contents in the store beside the same SQLite without neap: puts and gets a second by size, one
-- commit each, and windows of a large content. CPU time. "and hash": with the SHA-256 of the bytes,
-- which names them when they are put and is verified when they are got. --json: one object a row.
-- No figure is judged here. next: bench_store.c
local core = require("neap.core")
local shared = require("tests.support.shared")
local texts = require("tests.bench.texts")

local json = arg[1] == "--json"

local function measure()
  local dir = texts.folder()
  local program = shared.build() .. "/tests/bench/bench_store"
  local command = ("%s %s"):format(shared.quote(program), shared.quote(dir))
  local pipe, rows = assert(io.popen(command)), {}
  for line in pipe:lines() do
    local row = core.json.decode(line)
    row.size, row.value = tonumber(tostring(row.size)), tonumber(tostring(row.value))
    rows[#rows + 1] = row
    rows[row.name .. row.size] = row.value
  end
  local done = pipe:close()
  texts.remove(dir)
  assert(done, "bench_store failed")
  return rows
end

-- Goals on a quiet machine of this kind: shares of the raw row of the same size, or figures.
local GOALS = {
  ["put1024"] = 0.9,
  ["put20480"] = 0.9,
  ["put204800"] = 0.7,
  ["get1024"] = 0.9,
  ["get20480"] = 0.9,
  ["get204800"] = 0.9,
  ["window of 20 lines10485760"] = 50000,
}

local function ratio(rows, row, suffix)
  local raw = rows[row.name .. suffix .. row.size]
  return raw and row.value / raw
end

local function size_of(bytes)
  if bytes >= 1 << 20 then return ("%d MB"):format(bytes >> 20) end
  return ("%d KB"):format(bytes >> 10)
end

local rows = measure()
if not json then
  print(("%-28s %7s %10s %8s %10s"):format("store, each a second", "", "", "of raw", "of both"))
end
for _, row in ipairs(rows) do
  local goal = GOALS[row.name .. row.size]
  local of_raw, of_both = ratio(rows, row, ", raw"), ratio(rows, row, ", raw and hash")
  if json then
    local function number(n)
      return n and core.json.raw(("%.3f"):format(n))
    end
    local line = { name = row.name, size = row.size, value = number(row.value), unit = "/s" }
    line.of_raw, line.of_raw_and_hash, line.goal = number(of_raw), number(of_both), number(goal)
    local order = { "name", "size", "value", "unit", "of_raw", "of_raw_and_hash", "goal" }
    print(core.json.encode(line, order))
  else
    local function share(n)
      return n and ("%.0f %%"):format(100 * n) or ""
    end
    local text = goal and (goal < 1 and "goal " .. share(goal) or ("goal %d"):format(goal)) or ""
    local shape = "%-28s %7s %10.0f %8s %10s  %s"
    local line = shape:format(
      row.name,
      size_of(row.size),
      row.value,
      share(of_raw),
      share(of_both),
      text
    )
    print((line:gsub("%s+$", "")))
  end
end
