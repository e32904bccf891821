-- Times as recordings have them: ISO 8601 text, or seconds or milliseconds since 1970.
-- next: build.lua
local core = require("neap.core")

local M = {}

-- Days from 1970 to a date of the Gregorian calendar; March is the first month of a year here,
-- so that the leap day is its last.
local function days(y, m, d)
  if m <= 2 then
    y, m = y - 1, m + 12
  end
  return 365 * y + y // 4 - y // 100 + y // 400 + (153 * (m - 3) + 2) // 5 + d - 719469
end

local DATE = "^(%d%d%d%d)%-(%d%d)%-(%d%d)[T ](%d%d):(%d%d):(%d%d)(.*)$"

-- What stands behind the seconds: a fraction, then Z or a distance from UTC.
local function zone(rest)
  local fraction, name = rest:match("^[.,](%d+)(.*)$")
  local sign, hours, minutes = (name or rest):match("^([+-])(%d%d):?(%d%d)$")
  local offset = sign and (tonumber(hours) * 60 + tonumber(minutes)) * 60000 or 0
  local ms = fraction and tonumber((fraction .. "00"):sub(1, 3)) or 0
  return ms, sign == "-" and -offset or offset
end

local function of_text(text)
  local y, m, d, h, min, s, rest = text:match(DATE)
  if not y then return nil end
  y, m, d, h, min, s =
    tonumber(y), tonumber(m), tonumber(d), tonumber(h), tonumber(min), tonumber(s)
  if m < 1 or m > 12 or d < 1 or d > 31 or h > 24 or min > 59 or s > 60 then return nil end
  local ms, offset = zone(rest)
  return ((days(y, m, d) * 24 + h) * 60 + min) * 60000 + s * 1000 + ms - offset
end

-- Beyond this a number is of milliseconds: as seconds it would be in the year 5138.
local SECONDS_MOST = 1e11

--- Milliseconds since 1970; nil for what is no time.
---@param value any
---@return integer?
function M.millis(value)
  if core.json.is_raw(value) then value = tonumber(value.raw) end
  if type(value) == "string" then return of_text(value) end
  if type(value) ~= "number" or value ~= value or value < 1 or value > 2.5e14 then return nil end
  return math.floor(value < SECONDS_MOST and value * 1000 or value)
end

return M
