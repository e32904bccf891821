-- The scalars of the small YAML: quotes and their escapes, folded lines, block texts,
-- what a plain word stands for. next: sse.lua
local M = {}

--- A text without white space at its end.
---@param text string
---@return string
function M.trim_end(text)
  return text:match("^.*%S") or ""
end

--- A text without white space at its ends.
---@param text string
---@return string
function M.trim(text)
  return M.trim_end(text:match("^%s*(.*)$"))
end

--- The place of the closing quote in `text` from `at` on, or nil.
---@param text string
---@param at integer
---@param quote string
---@return integer?
function M.close(text, at, quote)
  if quote == '"' then
    while true do
      local found = text:find('["\\]', at)
      if not found then return nil end
      if text:byte(found) == 34 then return found end
      at = found + 2
    end
  end
  while true do
    local found = text:find("'", at, true)
    if not found then return nil end
    if text:sub(found + 1, found + 1) ~= "'" then return found end
    at = found + 2
  end
end

--- Lines of a flow scalar as one text: a break is a blank, an empty line a break.
---@param first string
---@param parts string[]
---@return string
function M.fold(first, parts)
  local out, breaks = { first }, 0
  for _, part in ipairs(parts) do
    if part == "" then
      breaks = breaks + 1
    else
      out[#out + 1] = breaks > 0 and ("\n"):rep(breaks) or " "
      out[#out + 1] = part
      breaks = 0
    end
  end
  return table.concat(out)
end

local ESCAPES = {
  ["0"] = "\0",
  a = "\a",
  b = "\b",
  t = "\t",
  ["\t"] = "\t",
  n = "\n",
  v = "\v",
  f = "\f",
  r = "\r",
  e = "\27",
  [" "] = " ",
  ['"'] = '"',
  ["/"] = "/",
  ["\\"] = "\\",
  N = "\u{85}",
  _ = "\u{A0}",
  L = "\u{2028}",
  P = "\u{2029}",
}
local HEX = { x = 2, u = 4, U = 8 }

-- A code as UTF-8; halves of a pair that stand alone are no text.
local function code_text(code)
  if code > 0x10FFFF or code >= 0xD800 and code <= 0xDFFF then return nil end
  return utf8.char(code)
end

-- One escape at `at`, the byte after the backslash: its text and the place after it.
local function escape(text, at)
  local c = text:sub(at, at)
  if ESCAPES[c] then return ESCAPES[c], at + 1 end
  local n = HEX[c]
  local digits = n and text:match("^%x+", at + 1)
  if not digits or #digits < n then return nil end
  local code, after = tonumber(digits:sub(1, n), 16), at + 1 + n
  if code >= 0xD800 and code <= 0xDBFF then
    local low = text:match("^\\u(%x%x%x%x)", after)
    low = low and tonumber(low, 16)
    if low and low >= 0xDC00 and low <= 0xDFFF then
      code, after = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00), after + 6
    end
  end
  return code_text(code), after
end

local function unescape(text)
  local out, at = {}, 1
  while true do
    local found = text:find("\\", at, true)
    if not found then break end
    out[#out + 1] = text:sub(at, found - 1)
    local made, after = escape(text, found + 1)
    if not made then return nil end
    out[#out + 1], at = made, after
  end
  out[#out + 1] = text:sub(at)
  return table.concat(out)
end

-- A line that ends in an odd number of backslashes goes on without a blank.
local function joined(part)
  local first = part:match("^.*[^\\]()") or 1
  return (#part - first + 1) % 2 == 1
end

-- Lines between double quotes, before their escapes are read.
local function fold_double(parts)
  local out, breaks, glued = {}, 0, true
  for i, part in ipairs(parts) do
    if i > 1 then part = part:match("^[ \t]*(.*)$") end
    local goes_on = i < #parts and joined(part)
    if goes_on then
      part = part:sub(1, -2)
    elseif i < #parts then
      part = part:match("^.*[^ \t]") or ""
    end
    if part == "" and i > 1 and i < #parts and not goes_on then
      breaks = breaks + 1
    else
      if breaks > 0 then
        out[#out + 1] = ("\n"):rep(breaks)
      elseif i > 1 and not glued then
        out[#out + 1] = " "
      end
      out[#out + 1], breaks, glued = part, 0, goes_on
    end
  end
  return table.concat(out)
end

--- The text between quotes, given as its lines; nil and why when an escape is none.
---@param parts string[]
---@param quote string
---@return string? text, string? fault
function M.unquote(parts, quote)
  if quote == '"' then
    local text = unescape(#parts == 1 and parts[1] or fold_double(parts))
    if not text then
      return nil, "an escape between quotes is none of YAML's; correct it"
    end
    return text
  end
  local first, rest = parts[1], {}
  for i = 2, #parts do
    local part = parts[i]:match("^[ \t]*(.*)$")
    rest[#rest + 1] = i < #parts and (part:match("^.*[^ \t]") or "") or part
  end
  if #rest > 0 then first = first:match("^.*[^ \t]") or "" end
  local text = M.fold(first, rest)
  if #rest > 0 and rest[#rest] == "" then
    -- The closing quote stands alone on its line.
    local n = 0
    while rest[#rest - n] == "" do
      n = n + 1
    end
    text = text .. (n > 1 and ("\n"):rep(n - 1) or " ")
  end
  return (text:gsub("''", "'"))
end

--- What a block's header says: | or >, the sign for its last breaks, its given indent.
---@param header string
---@return string? style, string? chomp, integer? indent
function M.header(header)
  local style, signs = header:match("^([|>])([-+%d]*)%s*$")
  if not style then
    style, signs = header:match("^([|>])([-+%d]*)%s+#.*$")
  end
  if not style or #signs > 2 then return nil end
  local digit = signs:match("[1-9]")
  local chomp = signs:match("[-+]") or ""
  if #signs ~= #chomp + (digit and 1 or 0) then return nil end
  return style, chomp, tonumber(digit)
end

-- Lines of a folded block: breaks between plain lines are blanks.
local function fold_block(parts, last)
  local out, breaks, plain = {}, 0, false
  for i = 1, last do
    local part = parts[i]
    local deep = part:find("^[ \t]") ~= nil
    if part == "" then
      breaks = breaks + 1
    else
      if i > 1 and #out > 0 then
        local kept = plain and not deep
        local n = breaks + 1 - (kept and 1 or 0)
        out[#out + 1] = kept and breaks == 0 and " " or ("\n"):rep(n)
      else
        out[#out + 1] = ("\n"):rep(breaks)
      end
      out[#out + 1], breaks, plain = part, 0, not deep
    end
  end
  return table.concat(out)
end

--- The text of a block.
---@param parts string[]
---@param style string
---@param chomp string
---@return string
function M.block(parts, style, chomp)
  local last = #parts
  while last > 0 and parts[last] == "" do
    last = last - 1
  end
  local literal = style == "|"
  local body = literal and table.concat(parts, "\n", 1, last) or fold_block(parts, last)
  if chomp == "-" then return body end
  local own = last > 0 and 1 or 0
  if chomp == "+" then return body .. ("\n"):rep(#parts - last + own) end
  return last > 0 and body .. "\n" or ""
end

local WORDS = {
  [""] = "null",
  ["~"] = "null",
  null = "null",
  ["true"] = "true",
  yes = "true",
  on = "true",
  ["false"] = "false",
  no = "false",
  off = "false",
}

--- The JSON of a plain word that is no text; nil for text.
---@param word string
---@return string?
function M.resolve(word)
  local lower = word:lower()
  local capital = lower:sub(1, 1):upper() .. lower:sub(2)
  local cased = word == lower or word == word:upper() or word == capital
  if WORDS[lower] and cased then return WORDS[lower] end
  local whole = word:match("^%+?(%-?%d+)$")
  local plain = whole and (whole:find("^%-?[1-9]") or whole:find("^%-?0$"))
  if plain then return whole end
  local sign, int, part, power = word:match("^([-+]?)(%d+)%.(%d*)(.*)$")
  if not int or power ~= "" and not power:find("^[eE][-+]%d+$") then return nil end
  int = int:gsub("^0+(%d)", "%1")
  if part == "" then part = "0" end
  return (sign == "-" and "-" or "") .. int .. "." .. part .. power
end

return M
