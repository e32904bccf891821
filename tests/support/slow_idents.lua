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

local function add_cjk(out, list, i, j)
  if j - i > 8 then
    for k = i, j - 2 do
      out[#out + 1] = { joined(list, k, k + 1), "word", k }
    end
  elseif j - i >= 2 then
    out[#out + 1] = { joined(list, i, j - 1), "cjk", i }
  end
end

--- Identifiers and words in order of place: { text, "name" | "cjk" | "word", place }; and the
--- text's characters.
function M.scan(text)
  local list, out, i = characters(text), {}, 1
  while i <= #list do
    local c = list[i]
    if is_cjk(c[2]) then
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

--- Does the text hold the identifier or word, as the scanner finds it; CJK anywhere?
function M.holds(text, ident)
  if ident:find("^[\xE2-\xE9]") then return text:find(ident, 1, true) ~= nil end
  for _, one in ipairs(M.scan(text)) do
    if one[1] == ident then return true end
  end
  return false
end

M.is_cjk = is_cjk
M.joined = joined

return M
