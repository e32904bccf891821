-- Importers on damaged recordings for longer than `make test` does. NEAP_ROUNDS=n sets the tries
-- for each recording, NEAP_SEED=n repeats a run, NEAP_PART=1/2 takes every other recording.
-- next: ../support/import_fuzz.lua
local fuzz = require("tests.support.import_fuzz")

local rounds = tonumber(os.getenv("NEAP_ROUNDS")) or 5000
local seed = tonumber(os.getenv("NEAP_SEED")) or os.time()
local part, parts = (os.getenv("NEAP_PART") or "1/1"):match("^(%d+)/(%d+)$")
print(("importers: NEAP_SEED=%d, %d tries for each recording"):format(seed, rounds))
local n = 0
for i, name in ipairs(fuzz.names()) do
  if i % tonumber(parts) == tonumber(part) - 1 then
    fuzz.run(name, seed, rounds)
    n = n + 1
  end
end
print(("importers: %d recordings, no fault"):format(n))
