-- Property tests for longer: the same programs as in `make test` with many more rounds and
-- seeds of their own. The histories run in parts, as many at a time as there are cores (JOBS),
-- until NEAP_PROMPTS prompts (1,000,000) have been made; each part says with which NEAP_SEED the
-- run goes on behind it, and any seed that fails is named. next: ../core/test_pack.c
local build = assert(os.getenv("NEAP_BUILD"), "run it by `make soak`")
local wanted = tonumber(os.getenv("NEAP_PROMPTS")) or 1000000
local first = tonumber(os.getenv("NEAP_SEED")) or 1000003

local PART = 200 -- histories in each format: about 20,000 prompts, some ten seconds

local function cores()
  local pipe = io.popen("nproc 2>/dev/null")
  local n = pipe and tonumber(pipe:read("a"))
  if pipe then pipe:close() end
  return tonumber(os.getenv("JOBS")) or n or 2
end

local function start(name, seed, rounds)
  local form = "NEAP_SEED=%d NEAP_ROUNDS=%d '%s/tests/core/%s' 2>&1"
  return { pipe = assert(io.popen(form:format(seed, rounds, build, name))), seed = seed }
end

-- Reads a run to its end: whether it was well, its last line, its counts.
local function finish(run, name)
  local last, counts = "", ""
  for line in run.pipe:lines() do
    last = line
    if line:find("^%d+ prompts,") then counts = line end
    if line:find("FAILED", 1, true) or line:find("NEAP_SEED=%d+:") then
      print(name .. ": " .. line)
    end
  end
  return run.pipe:close() == true, last, counts
end

local totals = { prompts = 0, rewrites = 0, overflows = 0, folds = 0, unfolds = 0 }
local ORDER = { "prompts", "rewrites", "overflows", "folds", "unfolds" }

local function add(counts)
  for n, what in counts:gmatch("(%d+) (%l+)") do
    totals[what] = totals[what] + tonumber(n)
  end
end

local function told()
  local list = {}
  for _, what in ipairs(ORDER) do
    list[#list + 1] = ("%d %s"):format(totals[what], what)
  end
  return table.concat(list, ", ")
end

-- Parts side by side until there are enough prompts.
local function histories()
  local seed, violations, jobs = first, 0, cores()
  while totals.prompts < wanted do
    local runs, done = {}, totals.prompts
    for i = 1, jobs do
      runs[i] = start("test_pack", seed, PART)
      seed = seed + PART
    end
    for _, run in ipairs(runs) do
      local ok, _, counts = finish(run, "test_pack")
      if not ok then violations = violations + 1 end
      add(counts)
    end
    if totals.prompts == done then return false, "no prompt was made" end
    print(("%s; goes on with NEAP_SEED=%d"):format(told(), seed))
    io.stdout:flush()
  end
  local line = "test_pack, seeds %d to %d: %s; parts with a violation: %d"
  print(line:format(first, seed - 1, told(), violations))
  return violations == 0
end

local function once(name, seed, rounds)
  local ok, last = finish(start(name, seed, rounds), name)
  print(("%s, NEAP_SEED=%d: %s"):format(name, seed, last))
  return ok
end

local ok, why = histories()
if why then print(why) end
ok = once("test_policy_fuzz", first, 20000) and ok
for i = 1, 20 do
  local seed = first + i * i * 7919
  ok = once("test_store_crash", seed, 1) and ok
  ok = once("test_token_random", seed, 1) and ok
  ok = once("test_cite", seed, 1) and ok
end
os.exit(ok and 0 or 1)
