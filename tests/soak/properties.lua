-- Property tests for longer: the same programs as in `make test` with many more rounds and
-- seeds of their own. NEAP_ROUNDS=n sets the rounds (histories in two formats each).
-- next: ../core/test_pack.c
local build = assert(os.getenv("NEAP_BUILD"), "run it by `make soak`")
local rounds = tonumber(os.getenv("NEAP_ROUNDS")) or 20000
local seed = tonumber(os.getenv("NEAP_SEED")) or 1000003

-- Runs one program to its end; false when it fails.
local function run(name, count)
  local form = "NEAP_SEED=%d NEAP_ROUNDS=%d '%s/tests/core/%s' 2>&1"
  local pipe = assert(io.popen(form:format(seed, count, build, name)))
  local last = ""
  for line in pipe:lines() do
    last = line
    if line:find("FAILED", 1, true) or line:find("NEAP_SEED=", 1, true) then
      print(name .. ": " .. line)
    end
  end
  local ok = pipe:close()
  print(("%s, %d rounds: %s"):format(name, count, last))
  return ok == true
end

local ok = run("test_pack", rounds)
ok = run("test_policy_fuzz", rounds) and ok
for i = 1, 20 do
  seed = seed + i * 7919
  ok = run("test_store_crash", 1) and ok
  ok = run("test_token_random", 1) and ok
  ok = run("test_cite", 1) and ok
end
os.exit(ok and 0 or 1)
