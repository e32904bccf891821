-- Characters that pass for others: digits and letters of other alphabets, and what is not seen at
-- all. A model's line that writes a value with them looks like the value and is another. Here the
-- runs of a text are found that must stand in the steps as they are, whoever writes them; plain
-- words of any language are none. Linear. next: verify.lua
local M = {}

-- Code points, each pair a range. Digits, fractions and signs that are not ASCII; letters that are
-- ASCII ones in other clothes; what has no width, turns the order of reading or ends a line.
local ODD = {
  { 0x80, 0x9F }, { 0xAD, 0xAD }, { 0xB2, 0xB3 }, { 0xB9, 0xB9 }, { 0xBC, 0xBE },
  { 0x300, 0x36F }, { 0x61C, 0x61C }, { 0x660, 0x669 }, { 0x6F0, 0x6F9 }, { 0x7C0, 0x7C9 },
  { 0x966, 0x96F }, { 0x9E6, 0x9EF }, { 0xA66, 0xA6F }, { 0xAE6, 0xAEF }, { 0xB66, 0xB6F },
  { 0xBE6, 0xBF2 }, { 0xC66, 0xC6F }, { 0xCE6, 0xCEF }, { 0xD66, 0xD78 }, { 0xDE6, 0xDEF },
  { 0xE50, 0xE59 }, { 0xED0, 0xED9 }, { 0xF20, 0xF33 }, { 0x1040, 0x1049 }, { 0x1090, 0x1099 },
  { 0x115F, 0x1160 }, { 0x1369, 0x137C }, { 0x16EE, 0x16F0 }, { 0x17B4, 0x17B5 },
  { 0x17E0, 0x17F9 }, { 0x180B, 0x1819 }, { 0x1946, 0x194F }, { 0x19D0, 0x19DA },
  { 0x1A80, 0x1A99 }, { 0x1B50, 0x1B59 }, { 0x1BB0, 0x1BB9 }, { 0x1C40, 0x1C59 },
  { 0x200B, 0x2011 }, { 0x2028, 0x202E }, { 0x2030, 0x2031 }, { 0x2044, 0x2044 },
  { 0x2060, 0x209C }, { 0x20D0, 0x20FF }, { 0x2150, 0x218B }, { 0x2212, 0x2212 },
  { 0x2215, 0x2216 }, { 0x2460, 0x24FF }, { 0x2776, 0x2793 }, { 0x3021, 0x3029 },
  { 0x3038, 0x303A }, { 0x3164, 0x3164 }, { 0x3192, 0x3195 }, { 0x3220, 0x3229 },
  { 0x3248, 0x325F }, { 0x3280, 0x3289 }, { 0x32B1, 0x32BF }, { 0xA620, 0xA629 },
  { 0xA8D0, 0xA8D9 }, { 0xA900, 0xA909 }, { 0xA9D0, 0xA9D9 }, { 0xAA50, 0xAA59 },
  { 0xABF0, 0xABF9 }, { 0xE000, 0xF8FF }, { 0xFE00, 0xFE0F }, { 0xFE62, 0xFE63 },
  { 0xFEFF, 0xFEFF }, { 0xFF05, 0xFF05 }, { 0xFF0B, 0xFF0B }, { 0xFF0D, 0xFF0F },
  { 0xFF10, 0xFF19 }, { 0xFF21, 0xFF3A }, { 0xFF3F, 0xFF3F }, { 0xFF41, 0xFF5A },
  { 0xFFA0, 0xFFA0 }, { 0xFFF0, 0xFFFF }, { 0x10107, 0x10133 }, { 0x104A0, 0x104A9 },
  { 0x1D400, 0x1D7FF }, { 0x1F100, 0x1F10C }, { 0x1FBF0, 0x1FBF9 }, { 0xE0000, 0x10FFFF },
}

-- What stands between words: marks, arrows, symbols, pictures; and the scripts that are written
-- without spaces, whose characters pass for no others.
local BETWEEN = {
  { 0xA0, 0xA9 }, { 0xAB, 0xAC }, { 0xAE, 0xB1 }, { 0xB4, 0xB8 }, { 0xBB, 0xBB },
  { 0xBF, 0xBF }, { 0xD7, 0xD7 }, { 0xF7, 0xF7 }, { 0x2000, 0x200A }, { 0x2012, 0x2027 },
  { 0x202F, 0x205F }, { 0x20A0, 0x20CF }, { 0x2100, 0x214F }, { 0x2190, 0x2BFF },
  { 0x2E00, 0x312F }, { 0x3130, 0xA4CF }, { 0xAC00, 0xD7AF }, { 0xF900, 0xFAFF },
  { 0xFE10, 0xFE6F }, { 0xFF01, 0xFFEF }, { 0x1F000, 0x1FBEF }, { 0x20000, 0x3FFFF },
}

local LATIN = { { 0xAA, 0xAA }, { 0xBA, 0xBA }, { 0xC0, 0x24F }, { 0x1E00, 0x1EFF } }

-- For tests: in order, none over another.
M.RANGES = { ODD, BETWEEN, LATIN }

local function is_in(ranges, cp)
  local lo, hi = 1, #ranges
  while lo <= hi do
    local mid = (lo + hi) // 2
    local one = ranges[mid]
    if cp < one[1] then
      hi = mid - 1
    elseif cp > one[2] then
      lo = mid + 1
    else
      return true
    end
  end
  return false
end

-- What belongs to a picture before it, and is seen.
local function joins(cp)
  return cp == 0x200D or cp == 0xFE0E or cp == 0xFE0F
end

-- "word", "mark", "odd", "latin", "other"; nil: it stands between.
local function kind_of(cp, before)
  if cp < 0x80 then
    if cp <= 0x20 or cp == 0x7F then return nil end
    return string.char(cp):find("[%w_]") and "word" or "mark"
  end
  if joins(cp) and not before then return nil end
  if is_in(ODD, cp) then return "odd" end
  if is_in(BETWEEN, cp) then return nil end
  return is_in(LATIN, cp) and "latin" or "other"
end

local function is_disguised(run, has)
  if has.odd or (has.other and has.word) then return true end
  return has.latin and (run:find("[%d_/\\]") or run:find("%.%w")) ~= nil
end

local function add(out, text, from, to, has)
  if not has.odd and not has.latin and not has.other then return end
  local run = text:sub(from, to)
  if is_disguised(run, has) then out[#out + 1] = run:match("^[%p]*(.-)[%p]*$") end
end

--- The runs of a text, valid UTF-8, that look like what they are not, without punctuation around.
---@param text string
---@return string[]
function M.runs(text)
  local out, from, has = {}, nil, nil
  if not text:find("[\x80-\xff]") then return out end
  for at, cp in utf8.codes(text) do
    local kind = kind_of(cp, from)
    if kind then
      if not from then
        from, has = at, {}
      end
      has[kind] = true
    elseif from then
      add(out, text, from, at - 1, has)
      from = nil
    end
  end
  if from then add(out, text, from, #text, has) end
  return out
end

return M
