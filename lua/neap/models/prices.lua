-- What an input token costs where prompts are cached, in units of one uncached token, and how
-- a provider counts what was cached. Data, with its source and the day it was read.
-- next: ../report/replay.lua
local M = {}

---@class neap.Price
---@field name string
---@field read number     a token read from the cache
---@field write number    a token that is not in the cache yet
---@field minimum integer prompts with a shorter shared prefix are not cached at all
---@field step integer    cached tokens are counted in steps of this size
---@field provider boolean whether minimum and step are a provider's rules
---@field source string
---@field date string

---@type table<string, neap.Price>
M.formats = {
  openai = {
    name = "openai",
    read = 0.1,
    write = 1.25,
    minimum = 1024,
    step = 128,
    provider = true,
    source = "OpenAI, prompt caching guide: reads -90 %, writes 1.25x, from 1,024 tokens by 128",
    date = "2026-09-01",
  },
  anthropic = {
    name = "anthropic",
    read = 0.1,
    write = 1.25,
    minimum = 1024,
    step = 1,
    provider = true,
    source = "Anthropic, prompt caching: reads 0.1x, writes of 5 minutes 1.25x; from 1,024 tokens, "
      .. "in some models 512 to 4,096",
    date = "2026-09-01",
  },
  responses = {
    name = "responses",
    read = 0.1,
    write = 1.25,
    minimum = 1024,
    step = 128,
    provider = true,
    source = "OpenAI, prompt caching guide: the same for Responses as for Chat Completions",
    date = "2026-09-01",
  },
  -- Implicit caching; the largest of the models' minimums.
  gemini = {
    name = "gemini",
    read = 0.1,
    write = 1,
    minimum = 4096,
    step = 1,
    provider = true,
    source = "Google, context caching guide: reads -90 %, no write fee, from 1,024 to 4,096 tokens",
    date = "2026-09-01",
  },
  -- No provider takes plain text; the factors are those of the others.
  text = {
    name = "text",
    read = 0.1,
    write = 1.25,
    minimum = 0,
    step = 1,
    provider = false,
    source = "none; the same factors without a provider's steps",
    date = "2026-09-01",
  },
}

--- Of `cached` tokens, those the provider bills as read from its cache.
---@param price neap.Price
---@param cached integer
---@return integer
function M.billed(price, cached)
  if cached < price.minimum then return 0 end
  return cached - cached % price.step
end

--- What a prompt of `tokens` costs, in units of one uncached token.
---@param price neap.Price
---@param tokens integer
---@param cached integer
---@return number
function M.cost(price, tokens, cached)
  local billed = M.billed(price, cached)
  return price.read * billed + price.write * (tokens - billed)
end

return M
