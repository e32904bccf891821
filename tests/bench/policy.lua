-- The sandbox against its goals: what bench_policy has measured, as rows. CPU time, the best of
-- nine. --json: one object a row. No figure is judged here. next: bench_policy.c
local core = require("neap.core")
local shared = require("tests.support.shared")

local json = arg[1] == "--json"

-- name = { what it says, unit, factor, goal }
local rows = {
  { "hook", "an empty hook, over a bare lua_pcall", "us", 1e6, 0.3 },
  { "field", "a field of an entry, a number", "ns", 1e9, 60 },
  { "field_text", "a field of an entry, a name", "ns", 1e9, 60 },
  { "walk", "iterating 10,000 entries", "ms", 1e3, 1.5 },
  { "memory", "memory of a policy's state, of an empty one", "kB", 1e-3, 40 },
  { "memory_shipped", "of the largest shipped one", "kB", 1e-3, 40 },
  { "memory_300", "of one of 300 lines", "kB", 1e-3 },
  { "reload", "reload of a policy of 300 lines", "ms", 1e3, 1 },
  { "grammar", "neap.grammar.errors on 64 KiB of a build's log", "ms", 1e3 },
}

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

local measured = {}
local f = assert(io.popen(shared.build() .. "/tests/bench/bench_policy"))
for line in f:lines() do
  local name, value = line:match('^{"name":"([%w_]+)","value":([%w.+-]+)}$')
  measured[name] = tonumber(value)
end
assert(f:close(), "bench_policy failed")

for _, r in ipairs(rows) do
  local id, name, unit, factor, goal = table.unpack(r)
  if measured[id] then row(name, measured[id] * factor, unit, goal) end
end
