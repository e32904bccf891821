-- The word that follows a verb, as list in `neap session list`: an option that it has no use for
-- is refused, never passed over. next: artifact.lua
local options = require("neap.cli.options")
local failure = require("neap.cli.fail")

local M = {}

local ANY = { store = true, tenant = true, json = true }

--- A set of names.
---@param ... string
---@return table<string, boolean>
function M.set(...)
  local all = {}
  for _, name in ipairs({ ... }) do
    all[name] = true
  end
  return all
end

--- Fails for the first option, by name, that this word does not take.
---@param verb string as it is typed: "session list"
---@param opts table
---@param takes table<string, boolean> besides --store, --tenant and --json
---@param refuses table<string, boolean>? of those three
function M.check(verb, opts, takes, refuses)
  local names = {}
  for name in pairs(opts) do
    local known = takes[name] or ANY[name] and not (refuses and refuses[name])
    if not known then names[#names + 1] = options.long(name) end
  end
  table.sort(names)
  if names[1] then failure.fail(("neap %s takes no --%s"):format(verb, names[1])) end
end

return M
