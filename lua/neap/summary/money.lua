-- Amounts of money: a number with the currency beside it, in either order. 45 dollars are not 45
-- euros, so that the two are looked for together. Signs and codes of currencies, no words. Linear:
-- the few bytes beside each sign are looked at. next: disguise.lua
local M = {}

local COINS = { "$", "€", "£", "¥", "￥", "₹", "₽", "USD", "EUR", "GBP", "JPY", "CNY", "RMB" }
local BESIDE = 40 -- bytes that are looked at beside a sign
local MOST = 20000 -- signs of one currency that are

local function tidy(digits)
  return digits and digits:gsub("[.,]+$", "")
end

local function each_of(text, coin, each)
  local at = 1
  for _ = 1, MOST do
    local from, to = text:find(coin, at, true)
    if not from then return end
    local before = text:sub(math.max(1, from - BESIDE), from - 1):match("([%d.,]*%d)[ \t]*$")
    local after = text:sub(to + 1, to + BESIDE):match("^[ \t]*(%d[%d.,]*)")
    if before then each(tidy(before)) end
    if after then each(tidy(after)) end
    at = to + 1
  end
end

--- The amounts of a text, a sign and the digits each, as a list and as a set.
---@param text string
---@return string[] list, table<string, boolean> set
function M.amounts(text)
  local list, set = {}, {}
  for _, coin in ipairs(COINS) do
    each_of(text, coin, function(digits)
      local amount = coin .. " " .. digits
      if not set[amount] then list[#list + 1] = amount end
      set[amount] = true
    end)
  end
  return list, set
end

--- Is it one of these? No value of a text has a space.
---@param value string
---@return boolean
function M.is_amount(value)
  return value:find("^[^ ]+ %d[%d.,]*$") ~= nil
end

return M
