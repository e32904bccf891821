-- A policy rewritten at random while sessions run, for 100,000 turns (NEAP_ROUNDS=n sets them),
-- and 10,000 reloads under an allocator that counts. next: ../core/test_rewrite.c
local build = assert(os.getenv("NEAP_BUILD"), "run it by `make soak`")
local turns = tonumber(os.getenv("NEAP_ROUNDS")) or 100000
local seed = tonumber(os.getenv("NEAP_SEED")) or 1000033

-- Runs one program to its end; false when it fails.
local function run(name, count)
  local form = "NEAP_SEED=%d NEAP_ROUNDS=%d '%s/tests/core/%s' 2>&1"
  local pipe = assert(io.popen(form:format(seed, count, build, name)))
  local last = ""
  for line in pipe:lines() do
    if line:find("^%d+ passed") then last = line else print(name .. ": " .. line) end
  end
  local ok = pipe:close()
  print(("%s, %d rounds: %s"):format(name, count, last))
  return ok == true
end

local ok = run("test_rewrite", turns)
ok = run("test_reload", math.min(turns, 10000)) and ok
ok = run("test_shadow", math.min(turns, 400)) and ok
os.exit(ok and 0 or 1)
