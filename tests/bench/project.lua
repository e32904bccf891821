-- Projections of a log of 10 MB: what bench_project has measured, as rows. CPU time, the best of
-- five. --json: one object a row. No figure is judged here. next: bench_project.c
local core = require("neap.core")
local shared = require("tests.support.shared")

local json = arg[1] == "--json"

-- name = { what it says, goal in ms }
local rows = {
  { "lines_middle", "200 lines from the middle of 10 MB", 1 },
  { "lines_end", "200 lines from its end", 1 },
  { "tail", "its last 200 lines", 1 },
  { "match_word", "lines with a plain word" },
  { "match_regex", "lines by a pattern" },
  { "match_slow", "a pattern that is stopped by its budget" },
  { "errors", "errors, 1,500 tokens" },
  { "about", "about three words, 1,500 tokens" },
}

local measured = {}
local f = assert(io.popen(shared.build() .. "/tests/bench/bench_project"))
for line in f:lines() do
  local name, value = line:match('^{"name":"([%w_]+)","value":([%w.+-]+)}$')
  measured[name] = tonumber(value)
end
assert(f:close(), "bench_project failed")

for _, r in ipairs(rows) do
  local id, name, goal = table.unpack(r)
  local ms = measured[id] * 1000
  if json then
    local line = { name = name, value = core.json.raw(("%.3f"):format(ms)), unit = "ms" }
    line.goal = goal and core.json.raw(("%.3f"):format(goal))
    print(core.json.encode(line, { "name", "value", "unit", "goal" }))
  else
    local text = goal and ("goal %g"):format(goal) or ""
    print((("%-54s %10.3f ms  %s"):format(name, ms, text):gsub("%s+$", "")))
  end
end
