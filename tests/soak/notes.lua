-- Random sessions of 100 steps with a model that lies, by seeds of their own: NEAP_ROUNDS of them
-- (5,000), from NEAP_SEED on, a part on each core (JOBS). Every planted value stays in every
-- prompt, and no summary holds what its steps do not. next: ../support/notes_sessions.lua
local rounds = tonumber(os.getenv("NEAP_ROUNDS")) or 5000
local first = tonumber(os.getenv("NEAP_SEED")) or 1000003
local part = os.getenv("NEAP_PART")

local function cores()
  local pipe = io.popen("nproc 2>/dev/null")
  local n = pipe and tonumber(pipe:read("a"))
  if pipe then pipe:close() end
  return tonumber(os.getenv("JOBS")) or n or 2
end

if part then
  local sessions = require("tests.support.notes_sessions")
  local i, n = part:match("^(%d+)/(%d+)$")
  local counts = sessions.counts()
  for seed = first + tonumber(i) - 1, first + rounds - 1, tonumber(n) do
    sessions.run(seed, 100, counts)
  end
  print(sessions.show(counts))
  os.exit(0)
end

local jobs, runs, ok = cores(), {}, true
for i = 1, jobs do
  local form = "NEAP_PART=%d/%d NEAP_SEED=%d NEAP_ROUNDS=%d '%s' '%s' 2>&1"
  runs[i] = assert(io.popen(form:format(i, jobs, first, rounds, arg[-1] or "lua5.4", arg[0])))
end
for i, pipe in ipairs(runs) do
  for line in pipe:lines() do
    print(("notes %d/%d: %s"):format(i, jobs, line))
    io.stdout:flush()
  end
  ok = pipe:close() == true and ok
end
os.exit(ok and 0 or 1)
