-- The citation index against its goal: megabytes of text a second, lookups, citations and lines
-- included. CPU time, best of five. --json: one object a row. No figure is judged here.
-- next: bench_cite.c
local core = require("neap.core")
local shared = require("tests.support.shared")
local texts = require("tests.bench.texts")

local json = arg[1] == "--json"
local GOALS = {}
for _, text in ipairs({ "English prose", "code", "JSON", "Chinese" }) do
  GOALS["cite " .. text] = 100
end

local dir = texts.folder()
local program = shared.build() .. "/tests/bench/bench_cite"
local pipe = assert(io.popen(shared.quote(program) .. " " .. shared.quote(dir)))
if not json then print(("%-40s %10s  %s"):format("citations", "neap", "")) end
for line in pipe:lines() do
  local row = core.json.decode(line)
  local goal, value = GOALS[row.name], tostring(row.value)
  if json then
    local out = { name = row.name, value = row.value, unit = "MB/s", goal = goal }
    print(core.json.encode(out, { "name", "value", "unit", "goal" }))
  else
    print(("%-40s %10s  %s"):format(row.name, value, goal and "MB/s, goal " .. goal or "MB/s"))
  end
end
local done = pipe:close()
texts.remove(dir)
assert(done, "bench_cite failed")
