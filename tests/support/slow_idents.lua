-- Identifiers and words of a text, written from the definition alone (docs/metrics.md, the words
-- of the design): slow and plain, to check the fast scanner by. next: slow_metrics.lua
local M = {}

local NAME = "[%w_./:@#-]"
local LONGEST = 256

local function is_cjk(c)
  return c >= 0x2E80 and c <= 0x9FFF and c ~= 0x3000 and not (c >= 0x3001 and c <= 0x3003)
    and not (c >= 0x3008 and c <= 0x3020)
end

-- Letters of the alphabets that the tests use.
local function is_letter(c)
  if c < 0x80 then return string.char(c):find("%a") ~= nil end
  if c == 0xD7 or c == 0xF7 then return false end
  return (c >= 0xC0 and c <= 0x24F) or (c >= 0x391 and c <= 0x3C9) or (c >= 0x400 and c <= 0x481)
end

-- A text as its characters: { text, code }.
local function characters(text)
  local list = {}
  for _, code in utf8.codes(text, true) do
    list[#list + 1] = { utf8.char(code), code }
  end
  return list
end

local function joined(list, from, to)
  local out = {}
  for i = from, to do
    out[#out + 1] = list[i][1]
  end
  return table.concat(out)
end

-- The run without what stands around it; a slash that begins it and stands alone stays.
local function strip(run)
  local inner = run:match("^[./:@#-]*(.-)[./:@#-]*$")
  if run:find("^/[^./:@#-]") and inner ~= "" then inner = "/" .. inner end
  return inner
end

local function name_of(run)
  if #run > LONGEST then return nil end
  local s = strip(run)
  if s:find("^%d+$") then return #s >= 3 and s or nil end
  if #s < 4 or not s:find("%w") then return nil end
  local odd = s:find("[%d_/]") or s:find("^.+[.-]") or s:find("^.+%u")
  return odd and s or nil
end

-- Appends the words of five letters and more between two characters.
local function add_words(out, list, from, to)
  local i = from
  while i <= to do
    local j = i
    while j <= #list and is_letter(list[j][2]) do
      j = j + 1
    end
    local word = joined(list, i, j - 1)
    if j - i >= 5 and #word <= LONGEST then out[#out + 1] = { word, "word", i } end
    i = math.max(j, i + 1)
  end
  return i
end

local function end_of(list, i, is)
  while list[i] and is(list[i]) do
    i = i + 1
  end
  return i
end

-- Particles, pronouns and the like: a pair with one of them is no word.
local COMMON = {}
for one in
  ("的了是在和有不这那我你他她它您们也都就吗呢吧啊哦嗯很把被让给从到与或及等个之其而但如若为于并且还又再只"
    .. "哪什么怎谁些每没着以可"):gmatch(utf8.charpattern)
do
  COMMON[one] = true
end

local function add_cjk(out, list, i, j)
  if j - i > 8 then
    out[#out + 1] = { joined(list, i, j - 1), "run", i }
    for k = i, j - 2 do
      local is_word = not COMMON[list[k][1]] and not COMMON[list[k + 1][1]]
      if is_word then out[#out + 1] = { joined(list, k, k + 1), "word", k } end
    end
  elseif j - i >= 2 then
    out[#out + 1] = { joined(list, i, j - 1), "cjk", i }
  end
end

local MARKS, OPENS = "[\"'`]", "[ \t\r\n(%[{<,:=;|>\\]"

local function goes_on(c)
  return c ~= nil and (c[2] >= 0x80 or c[1]:find("[%w_]") ~= nil)
end

-- Two and more words of two letters and more, between single spaces; 6 to 64 bytes.
local function is_quotation(text)
  local words = 0
  for word in (" " .. text):gmatch(" ([^ ]*)") do
    if word:find("^[%a\x80-\xff][%a\x80-\xff]") then words = words + 1 end
  end
  return words >= 2 and #text >= 6 and text:sub(-1) ~= " "
end

-- A quotation that begins at i: its text, or nil, and where the next may begin.
local function quotation(list, i)
  local mark, before = list[i][1], list[i - 1]
  if before and not before[1]:find(OPENS) or not goes_on(list[i + 1]) then return nil, i end
  local j, text = i + 1, ""
  while list[j] and not list[j][1]:find("[\n\\" .. mark .. "]") do
    text, j = text .. list[j][1], j + 1
    if #text > 64 then return nil, i end
  end
  local is_escaped = before ~= nil and before[1] == "\\"
  if is_escaped then
    if not list[j] or list[j][1] ~= "\\" then return nil, i end
    j = j + 1
  end
  if not list[j] or list[j][1] ~= mark or goes_on(list[j + 1]) then return nil, i end
  return is_quotation(text) and text or nil, j + 1
end

--- Identifiers and words in order of place: { text, "name" | "cjk" | "quote" | "word" | "run" (a
--- long one of CJK characters), place }; and the text's characters.
function M.scan(text)
  local list, out, i, unquoted = characters(text), {}, 1, 1
  while i <= #list do
    local c = list[i]
    if c[1]:find(MARKS) and i >= unquoted then
      local quote, next_one = quotation(list, i)
      if quote then out[#out + 1] = { quote, "quote", i } end
      unquoted, i = next_one, i + 1
    elseif is_cjk(c[2]) then
      local j = end_of(list, i, function(one)
        return is_cjk(one[2])
      end)
      add_cjk(out, list, i, j)
      i = j
    elseif c[1]:find("^" .. NAME .. "$") then
      local j = end_of(list, i, function(one)
        return one[1]:find("^" .. NAME .. "$")
      end)
      local run = joined(list, i, j - 1)
      local name = name_of(run)
      if name then
        out[#out + 1] = { name, "name", i }
        i = j
      elseif #run > LONGEST and run:find("[%d_/.%u-]") then
        i = j
      else
        i = math.max(j, add_words(out, list, i, j - 1))
      end
    elseif is_letter(c[2]) then
      i = add_words(out, list, i, i)
    else
      i = i + 1
    end
  end
  return out, list
end

-- Stands it in the text, no part of longer words?
local function stands(text, quote)
  local from, to = text:find(quote, 1, true)
  while from do
    local before, after = text:sub(from - 1, from - 1), text:sub(to + 1, to + 1)
    local is_part = from > 1 and before:find("[%w_\x80-\xff]") and quote:find("^[%w_\x80-\xff]")
    is_part = is_part or after:find("[%w_\x80-\xff]") and quote:find("[%w_\x80-\xff]$")
    if not is_part then return true end
    from, to = text:find(quote, from + 1, true)
  end
  return false
end

--- Does the text hold the identifier or word, as the scanner finds it; CJK anywhere, and what was
--- quoted also without its marks?
function M.holds(text, ident)
  if ident:find(" ", 1, true) then return stands(text, ident) end
  if ident:find("^[\xE2-\xE9]") then return text:find(ident, 1, true) ~= nil end
  for _, one in ipairs(M.scan(text)) do
    if one[1] == ident and one[2] ~= "run" then return true end
  end
  return false
end

M.is_cjk = is_cjk
M.joined = joined

return M
