-- The texts that are measured: those of the shared corpus where it is, else made here, by
-- nothing but arithmetic, so that they are the same everywhere. Made-up words are seldom tokens,
-- so figures on them are lower, and not to be held against the goals. next: tokens.lua
local core = require("neap.core")
local shared = require("tests.support.shared")

local M = {}

local SIZE = 1000000

-- A small generator of our own: the same numbers on every machine.
local function numbers()
  local state = 1
  return function(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n + 1
  end
end

local SYLLABLES = {}
for word in
  ("ba cor den el fi gor ha in jo ka lu mer no or pen qua ri so ta un ver wi yo ze"):gmatch("%a+")
do
  SYLLABLES[#SYLLABLES + 1] = word
end

local function word(draw)
  local parts = {}
  for i = 1, draw(4) do
    parts[i] = SYLLABLES[draw(#SYLLABLES)]
  end
  return table.concat(parts)
end

-- Pieces until there are SIZE bytes; no character is cut.
local function fill(piece)
  local parts, n = {}, 0
  while n < SIZE do
    local one = piece()
    parts[#parts + 1], n = one, n + #one
  end
  return table.concat(parts)
end

local function char_of(draw, from, count)
  return utf8.char(from + draw(count) - 1)
end

local BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local MAKERS = {
  ["english_prose.txt"] = function(draw)
    local ends = { " ", " ", " ", " ", " ", ", ", ". ", "\n" }
    return word(draw) .. ends[draw(#ends)]
  end,
  ["code_c.c"] = function(draw)
    local name = word(draw)
    return ("static int %s_%s(int %s) {\n  return %s + %d;\n}\n\n"):format(
      name,
      word(draw),
      name,
      name,
      draw(999)
    )
  end,
  ["code_js_py.txt"] = function(draw)
    local a, b = word(draw), word(draw)
    return ("def %s(self, %s):\n    return self.%s[%d]\n\nconst %s = (%s) => %s.map(f);\n"):format(
      a,
      b,
      b,
      draw(99),
      a,
      b,
      b
    )
  end,
  ["json_tools.json"] = function(draw)
    return ('{"%s": {"id": %d, "ok": true, "path": "/%s/%s.json"}}\n'):format(
      word(draw),
      draw(99999),
      word(draw),
      word(draw)
    )
  end,
  ["build_log.txt"] = function(draw)
    return ("[%3d%%] Building C object src/%s/%s.c.o\n"):format(draw(100), word(draw), word(draw))
  end,
  ["page.html"] = function(draw)
    return ('<li class="%s"><a href="/%s?p=%d">%s</a></li>\n'):format(
      word(draw),
      word(draw),
      draw(500),
      word(draw)
    )
  end,
  ["chinese.txt"] = function(draw)
    return draw(12) == 1 and ",\n" or char_of(draw, 0x4E00, 3000)
  end,
  ["mixed_unicode.txt"] = function(draw)
    local from = ({ 0x430, 0x3B1, 0x5D0, 0x905, 0xE01, 0x1F600 })[draw(6)]
    return char_of(draw, from, 24) .. (draw(5) == 1 and " " or "")
  end,
  ["adv_base64.txt"] = function(draw)
    local at = draw(64)
    return BASE64:sub(at, at)
  end,
  ["adv_cjk_run.txt"] = function(draw)
    return char_of(draw, 0x4E00, 5000)
  end,
  ["adv_a.txt"] = function()
    return ("a"):rep(1000)
  end,
  ["adv_spaces.txt"] = function()
    return (" "):rep(1000)
  end,
  ["adv_newlines.txt"] = function()
    return ("\n"):rep(1000)
  end,
}

local function write(path, text)
  local f = assert(io.open(path, "wb"))
  assert(f:write(text))
  assert(f:close())
end

--- The folder of the texts, all of them there, and where they come from.
---@return string dir, string corpus
function M.folder()
  local dir = shared.scratch("bench")
  local corpus = shared.path("corpus")
  for name, make in pairs(MAKERS) do
    local text = corpus and shared.read(corpus .. "/" .. name)
    if corpus and not text then error(corpus .. "/" .. name .. " is not there") end
    local draw = numbers()
    write(dir .. "/" .. name, text or fill(function()
      return make(draw)
    end))
  end
  return dir, corpus and "the shared corpus" or "generated (the shared corpus is not here)"
end

local function base64(s)
  local out = {}
  for i = 1, #s, 3 do
    local a, b, c = s:byte(i, i + 2)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    for k = 0, 3 do
      local at = (bits >> (18 - 6 * k) & 63) + 1
      out[#out + 1] = (k < 2 or (k == 2 and b) or c) and BASE64:sub(at, at) or "="
    end
  end
  return table.concat(out)
end

--- Writes an encoding as a .tiktoken file, for encoders that read one.
---@param path string
---@param name string
function M.write_ranks(path, name)
  local enc = assert(core.encoding(name))
  local f = assert(io.open(path, "wb"))
  for id = 0, enc:info().tokens - 1 do
    f:write(base64(assert(enc:decode({ id }))), " ", id, "\n")
  end
  assert(f:close())
  enc:close()
end

---@param dir string
function M.remove(dir)
  os.execute("rm -rf " .. shared.quote(dir))
end

return M
