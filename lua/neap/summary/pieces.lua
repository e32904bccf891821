-- Lines and parts of lines as they can be noted: one line, no control characters, never cut inside
-- a name or a number. Of JSON the brackets and quotes are left out, names and values stay.
-- next: words.lua
local lpeg = require("lpeg")
local words = require("neap.summary.words")

local M = {}

local LINE = 200 -- bytes of a piece
local LEAST = 60 -- of one that is cut off where a good place for it is

-- ---- one piece --------------------------------------------------------------------------------

local function is_json(line)
  if not line:find('"', 1, true) then return false end
  return line:find('"%s*:%s*["%d%[{tfn-]') ~= nil
end

-- `{"id": "a", "n": [1, 2]}` -> `id: a, n: 1, 2`. Where names would grow together stays a space.
local function soften(line)
  line = line:gsub('"%s*:%s*', ": ")
  line = line:gsub('[%[%]{}"]+', " ")
  line = line:gsub("%s+([,;]%s)", "%1"):gsub("([,;])[,;%s]+", "%1 ")
  return (line:gsub("%s+", " "):gsub("^[%s,;]+", ""):gsub("[%s,;]+$", ""))
end

local plain = lpeg.R(" ~") ^ 0 * -1

-- Without what is no plain character, or nil where it is no text.
local function without_controls(line)
  if plain:match(line) then return line end
  if line:find("[\x80-\xff]") then
    if not utf8.len(line) then return nil end
    -- what ends a line for some reader, and what turns the order of reading
    line = line:gsub("\xE2\x80[\xA8-\xAE]", " "):gsub("\xC2\x85", " ")
  end
  return (line:gsub("%c+", " "))
end

--- One line as it can be noted, or nil when it holds nothing that can be.
---@param line string
---@return string?
function M.tidy(line)
  line = without_controls(line)
  if not line then return nil end
  if is_json(line) then line = soften(line) end
  if line:find("[step", 1, true) then -- steps are cited by the summary alone
    line = line:gsub("%[(step%s+%d+)%]", "(%1)")
  end
  local from = line:find("%S")
  return from and line:match("^.*%S", from)
end

-- ---- long lines -------------------------------------------------------------------------------

-- Where a piece may end, best first: behind a closed value, a sentence, a comma; at a space.
local ENDS = {
  "^.*[%]}\"],?()[,%s]",
  "^.*[.;!?]()%s",
  "^.*,()[^%d]",
  "^.*%S()%s",
  "^.*[^%w_./:@#,\x80-\xff-]()",
}

local function end_of(head)
  for _, pattern in ipairs(ENDS) do
    local at = head:match(pattern)
    if at and at > LEAST then return at - 1 end
  end
end

-- A run without an end is data; it is passed over.
local function past_run(line, from)
  return line:match("^[%w_./:@#-]*()", from)
end

--- The pieces of a line: each at most LINE bytes, as they stand.
---@param line string
---@return string[]
function M.split(line)
  if #line <= LINE then return { line } end
  local out, from = {}, 1
  while #line - from >= LINE do
    local head = line:sub(from, from + LINE)
    local n = end_of(head)
    if not n and head:find("[\x80-\xff]") then
      local clipped = words.clip(line:sub(from, from + LINE + 3), LINE)
      n = clipped and #clipped > LEAST and #clipped
    end
    if n then
      out[#out + 1] = line:sub(from, from + n - 1)
      from = from + n
    else
      from = math.max(past_run(line, from + LINE), from + LINE)
    end
  end
  out[#out + 1] = line:sub(from)
  return out
end

--- The first piece of a text, or nil when it holds nothing that can be noted.
---@param text string
---@return string?
function M.first(text)
  return M.tidy(M.split(text:sub(1, 4 * LINE))[1])
end

--- A line without what marks it as a heading or a point of a list: of a tool's lines only what can
--- be nothing else.
---@param line string
---@param said boolean? the model's or the user's own words
---@return string
function M.without_marks(line, said)
  local at = line:match("^%s*##+%s+()")
  at = at or line:match("^%s*\xE2\x98[\x90-\x92]%s+()") or line:match("^%s*\xE2\x80\xA2%s+()")
  at = at or said and line:match("^%s*[*#-]%s+()")
  return at and line:sub(at) or line
end

--- Is the line a tag alone, or a fence?
---@param line string
---@return boolean
function M.is_frame(line)
  return line:find("^%s*</?[%a_-]+>%s*$") ~= nil or line:find("^%s*```%w*%s*$") ~= nil
end

--- A line of a file without its number in front, which no other tool knows.
---@param line string
---@return string
function M.without_gutter(line)
  return (line:gsub("^%s*%d+\t", "", 1):gsub("^%s*%d+→", "", 1))
end

return M
