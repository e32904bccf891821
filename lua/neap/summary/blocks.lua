-- The blocks of a span's plain text: who says what in which step. A heading stands at the begin
-- of a line; the engine leads lines of data that read like one with a backslash.
-- next: read.lua
local lpeg = require("lpeg")

local M = {}

local STARTS = {
  { "^<think>", "thought" },
  { "^Action: ", "call" },
  { "^Answer: ", "text" },
  { "^Observation: ", "result" },
  { "^%[notice%]$", "notice", true },
  { "^%[memory%]$", "notice", true },
  { "^%[evidence%]$", "notice", true },
  { "^%[state%]$", "notice", true },
  { "^%[summary%]$", "notice", true },
  { "^%[user%]$", "user", true },
  { "^%[user [^\n]*%]$", "user", true },
}

local MAY_START = { [("<"):byte()] = true, [("A"):byte()] = true, [("O"):byte()] = true }
MAY_START[("["):byte()] = true

-- The kind of block that a line begins, and what of the line belongs to it; nil: all behind it.
local function start_of(line)
  if not MAY_START[line:byte()] then return nil end -- nearly every line
  for _, one in ipairs(STARTS) do
    local _, last = line:find(one[1])
    if last then return one[2], not one[3] and line:sub(last + 1) or nil end
  end
end

-- The step that a line is the heading of. Steps never fall: an earlier one is only written.
local function step_of(line, step)
  local digits = line:match("^%[step (%d+)%]$")
  local n = digits and #digits <= 9 and math.tointeger(tonumber(digits))
  return n and n >= step and n or nil
end

-- From a line end: where the next line begins that may be a start or a heading.
local P, S = lpeg.P, lpeg.S
local next_start =
  P({ "\n" * #S("[<AO") * lpeg.Cp() + 1 * (1 - P("\n")) ^ 0 * lpeg.V(1) })

local function close(block, text)
  if block.kind == "thought" then text = text:gsub("</think>%s*$", "") end
  block.text = text
end

---@class neap.Block
---@field step integer
---@field kind "thought"|"call"|"text"|"result"|"user"|"notice"
---@field text string from behind what starts it to its last line end

--- The blocks of a span, in order; text before the first heading is in none. Only lines that
--- begin as a start does are looked at one by one.
---@param text string
---@return neap.Block[]
function M.split(text)
  local out, step, block, from = {}, 0, nil, nil
  text = text .. "\n"
  local at = 1
  while at do
    local last = text:find("\n", at, true)
    local line = text:sub(at, last - 1)
    if line:byte(-1) == 13 then line = line:sub(1, -2) end
    local n = step_of(line, step)
    local kind, rest = start_of(line)
    if block and (n or kind) then close(block, text:sub(from, at - 1)) end
    if n then
      step, block = n, nil
    elseif kind then
      block, from = { step = step, kind = kind }, rest and at + #line - #rest or last + 1
      out[#out + 1] = block
    end
    at = next_start:match(text, last)
  end
  if block then close(block, text:sub(from)) end
  return out
end

return M
