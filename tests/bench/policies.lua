-- Installs the packages of the npm registry whose policies are reproduced here, in a scratch
-- folder, and asks each what it shows of the cases' messages: a line a case. Exits 1 when one
-- says something else. `make bench NPM=1` runs it; the specs then use that folder too.
-- next: ../support/policy_peers.lua
local npm = require("tests.bench.npm")
local peers = require("tests.support.policy_peers")
local sources = require("tests.support.sources")

local packages = {}
for _, package in pairs(peers.PACKAGES) do
  packages[#packages + 1] = package
end
table.insert(packages, { "@langchain/core", "1.4.0" })
table.sort(packages, function(a, b)
  return a[1] < b[1]
end)

local dir, missing = npm.install(packages, "policies")
if not dir then
  print("policies of others: " .. missing)
  os.exit(0)
end

local differs = 0
for _, case in ipairs(sources.read()) do
  if case.peer then
    local shown, why = peers.shown(case)
    local same = shown and table.concat(shown, " ") == table.concat(case.shown, " ")
    if shown and not same then differs = differs + 1 end
    local said = same and "the same" or shown and "DIFFERS" or why
    print(("%-16s %-16s %s: %s"):format(case.policy, case.peer, case.name, said))
  end
end
os.exit(differs == 0 and 0 or 1)
