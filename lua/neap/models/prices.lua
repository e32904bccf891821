-- What an input token costs where prompts are cached: the core's table of caches, whose source
-- and date each row has, and sums by it. The unit is one uncached token. next: ../report/tally.lua
local core = require("neap.core")

local M = {}

---@class neap.Price
---@field name string       how the names of models begin that have it
---@field read number       a token read from the cache
---@field write number      one written to it
---@field write_long number? one written for the longer life
---@field minimum integer   shorter prefixes are not kept
---@field step integer      cached tokens are counted in steps of this size
---@field ttl integer?      seconds that a prefix lives after its last use
---@field ttl_long integer?
---@field marks integer     places in a prompt behind which it is kept; 0: anywhere, unmarked
---@field look_back integer blocks that are looked at from each
---@field dollars number?   for a million uncached tokens
---@field source string
---@field date string

--- The formats of this build, and what a session pays that names no model.
---@type table<string, neap.Price>
M.formats = {}
for _, name in ipairs(core.formats()) do
  M.formats[name] = core.format_cache(name)
end

-- What differs when a cache is asked for its longer life, or for none.
local function for_life(price, life)
  if life ~= "1h" and life ~= "none" then return price end
  local out = {}
  for name, value in pairs(price) do
    out[name] = value
  end
  if life == "none" then
    out.read, out.write = 1, 1
  else
    out.write, out.ttl = price.write_long or price.write, price.ttl_long or price.ttl
  end
  return out
end

--- Whose prices a replay has: those it names, or its model's, or its format's; for the life that
--- its cache is asked for.
---@param o {prices: string?, model: string?, format: string?, cache: string?}
---@return neap.Price
function M.of(o)
  local named = o.prices or o.model
  local price = named and core.cache(named) or M.formats[o.format or "openai"]
  return for_life(price, o.cache)
end

--- Whether there is a provider with these rules.
---@param price neap.Price
---@return boolean
function M.is_real(price)
  return price.name ~= "text"
end

--- What a turn costs, in units of one uncached token.
---@param price neap.Price
---@param account {tokens: integer, billed_cached: integer, written: integer}
---@return number
function M.cost(price, account)
  local read, written = account.billed_cached, account.written
  return price.read * read + price.write * written + (account.tokens - read - written)
end

--- The names that have a price in dollars.
---@return string[]
function M.priced()
  local list = {}
  for _, row in ipairs(core.caches()) do
    if row.dollars then list[#list + 1] = row.name end
  end
  return list
end

return M
