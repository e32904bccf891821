-- Text of others (recordings, policies, file names) made safe to print: what a terminal would
-- obey, or what would turn a line around, is shown instead of done. next: grid.lua
local M = {}

-- ␛ for escape, ␡ for delete: the pictures that Unicode has of control characters.
local function picture(c)
  local byte = c:byte()
  return utf8.char(byte == 127 and 0x2421 or 0x2400 + byte)
end

-- "\u{9b}"
local function named(c)
  return ("\\u{%x}"):format(utf8.codepoint(c))
end

-- Bytes that are not UTF-8, one `?` each: some terminals obey single bytes from 128 on.
local function mend(text)
  local parts, at = {}, 1
  while true do
    local ok, bad = utf8.len(text, at)
    if ok then break end
    parts[#parts + 1] = text:sub(at, bad - 1) .. "?"
    at = bad + 1
  end
  return table.concat(parts) .. text:sub(at)
end

--- The text with nothing in it that a terminal obeys; lines and tabs stay.
---@param text string
---@return string
function M.text(text)
  text = mend(text)
  text = text:gsub("[\0-\8\11-\31\127]", picture)
  text = text:gsub("\xC2[\x80-\x9F]", named) -- the controls U+0080 to U+009F
  text = text:gsub("\xE2\x80[\x8E\x8F\xAA-\xAE]", named) -- marks and overrides of direction
  return (text:gsub("\xE2\x81[\xA6-\xA9]", named)) -- isolates
end

--- The same as one line.
---@param text string
---@return string
function M.line(text)
  return M.text((text:gsub("[\t\r\n]+", " ")))
end

--- Prints to standard output for people.
---@param ... string|number
function M.write(...)
  io.stdout:write(M.text(table.concat({ ... })))
end

return M
