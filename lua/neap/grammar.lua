-- What grammars share: patterns of lines and names, and line numbers. A grammar is a file of
-- lua/neap/grammar; its README says how to write one. next: grammar/README.md
local lpeg = require("lpeg")

local M = {}

local P, R, S = lpeg.P, lpeg.R, lpeg.S

M.digit = R("09")
M.integer = M.digit ^ 1 / math.tointeger
M.letter = R("az", "AZ") + "_"
M.word = M.letter * (M.letter + M.digit) ^ 0
M.blank = S(" \t")
M.eol = P("\r") ^ -1 * (P("\n") + -P(1))
-- The rest of a line, without its end.
M.rest = (1 - S("\r\n")) ^ 0
-- A whole line with its end; never empty, so that it may be repeated.
M.line = (1 - P("\n")) ^ 0 * "\n" + (1 - P("\n")) ^ 1

---Everything up to one of the characters of `set`, or the end of the line; at least one.
---@param set string
function M.until_any(set)
  return (1 - S(set .. "\r\n")) ^ 1
end

---A list of what `item` captures; lines at which no item begins are passed over. Each item is
---a table, and gets the position where it began in its field 1.
---@param item userdata a pattern with one capture, a table
function M.each_line(item)
  return lpeg.Ct((lpeg.Ct(lpeg.Cp() * item) + M.line) ^ 0)
end

---Gives every item of a list that `each_line` has made its fields, and its line in the text as
---`at`; items are in the order of the text.
---@param text string
---@param list table[] each { position, fields }
---@return table[]
function M.with_lines(text, list)
  local line, from, items = 1, 1, {}
  for i, found in ipairs(list) do
    local next_end = text:find("\n", from, true)
    while next_end and next_end < found[1] do
      line = line + 1
      from = next_end + 1
      next_end = text:find("\n", from, true)
    end
    items[i] = found[2]
    items[i].at = line
  end
  return items
end

return M
