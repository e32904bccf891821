-- Importers on damaged recordings, a fixed number of tries for each, fewer under the sanitizers.
-- make fuzz does six times as many, make soak more. next: ../support/import_fuzz.lua
local fuzz = require("tests.support.import_fuzz")

local sanitized = os.getenv("LD_PRELOAD") ~= nil and os.getenv("LD_PRELOAD") ~= ""
local ROUNDS = tonumber(os.getenv("NEAP_ROUNDS")) or sanitized and 56 or 140

describe("importers on damaged recordings", function()
  local seed = tonumber(os.getenv("NEAP_SEED")) or os.time()
  print(("seed %d (NEAP_SEED=%d repeats it), %d tries each"):format(seed, seed, ROUNDS))
  for _, name in ipairs(fuzz.names()) do
    it("keep their word for " .. name, function()
      fuzz.run(name, seed, ROUNDS)
    end)
  end
end)
