-- Text of others (recordings, policies, file names) in a page: it may become neither markup nor
-- script, and may not turn a line around. next: page.lua
local core = require("neap.core")
local visible = require("neap.report.visible")

local M = {}

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }
ENTITIES["'"] = "&#39;"

--- Text as it may stand in an element or in a quoted attribute.
---@param text any
---@return string
function M.html(text)
  return (visible.text(tostring(text)):gsub("[&<>\"']", ENTITIES))
end

local IN_SCRIPT = { ["<"] = "\\u003c", [">"] = "\\u003e", ["&"] = "\\u0026" }
local LINE_ENDS = { ["\xE2\x80\xA8"] = "\\u2028", ["\xE2\x80\xA9"] = "\\u2029" }

--- A value as JSON that may stand in a script element: nothing in it ends the element or opens a
--- comment, and no character of it ends a line of JavaScript.
---@param value any
---@param order string[]?
---@return string
function M.json(value, order)
  local text = core.json.encode(value, order):gsub("[<>&]", IN_SCRIPT)
  return (text:gsub("\xE2\x80[\xA8\xA9]", LINE_ENDS))
end

-- Most text is ASCII, and needs no look at each kind of what is obeyed.
local function plain(text)
  return text:find("[^\t\n -~]") and visible.text(text) or text
end

--- The beginning of a text, at most so many bytes of it and no half character; with "…" where
--- there is more. Nothing in it is obeyed by who shows it.
---@param text string
---@param most integer bytes
---@return string
function M.excerpt(text, most)
  if #text <= most then return plain(text) end
  local to = most
  while to > most - 4 and (text:byte(to + 1) or 0) & 0xC0 == 0x80 do
    to = to - 1
  end
  return plain(text:sub(1, to)) .. "…"
end

local DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

--- Base64, as a content security policy has hashes.
---@param bytes string
---@return string
function M.base64(bytes)
  local out = {}
  for i = 1, #bytes, 3 do
    local a, b, c = bytes:byte(i, i + 2)
    local n = a << 16 | (b or 0) << 8 | (c or 0)
    for k = 0, 3 do
      local digit = n >> (18 - 6 * k) & 63
      local is_there = k < 2 or k == 2 and b or k == 3 and c
      out[#out + 1] = is_there and DIGITS:sub(digit + 1, digit + 1) or "="
    end
  end
  return table.concat(out)
end

return M
