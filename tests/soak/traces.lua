-- Every recording of ../shared/traces in every format under three policies, each prompt checked
-- and counted again; a part of them on each core (JOBS). Without the recordings it says so.
-- next: ../core/test_traces.c
local build = assert(os.getenv("NEAP_BUILD"), "run it by `make soak`")

local function cores()
  local pipe = io.popen("nproc 2>/dev/null")
  local n = pipe and tonumber(pipe:read("a"))
  if pipe then pipe:close() end
  return tonumber(os.getenv("JOBS")) or n or 2
end

local jobs, runs, ok = cores(), {}, true
for i = 1, jobs do
  local form = "NEAP_TRACES=all NEAP_PART=%d/%d '%s/tests/core/test_traces' 2>&1"
  runs[i] = assert(io.popen(form:format(i, jobs, build)))
end
for i, pipe in ipairs(runs) do
  for line in pipe:lines() do
    print(("traces %d/%d: %s"):format(i, jobs, line))
    io.stdout:flush()
  end
  ok = pipe:close() == true and ok
end
os.exit(ok and 0 or 1)
