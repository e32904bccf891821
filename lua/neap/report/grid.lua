-- Rows of cells as aligned columns. next: ../cli/count.lua
local visible = require("neap.report.visible")

local M = {}

local function width(text)
  return utf8.len(text) or #text
end

--- Columns in their widths, two spaces apart; `align` has "l" or "r" for each column. Lines
--- have no spaces at their ends.
---@param rows any[][]
---@param align string[]
---@return string
function M.format(rows, align)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for i = 1, #align do
      widths[i] = math.max(widths[i] or 0, width(visible.line(tostring(row[i] or ""))))
    end
  end
  for r, row in ipairs(rows) do
    local cells = {}
    for i = 1, #align do
      local text = visible.line(tostring(row[i] or ""))
      local gap = (" "):rep(widths[i] - width(text))
      cells[i] = align[i] == "r" and gap .. text or text .. gap
    end
    lines[r] = table.concat(cells, "  "):gsub("%s+$", "")
  end
  return table.concat(lines, "\n") .. (#lines > 0 and "\n" or "")
end

local function is_one_of(text, words)
  for _, word in ipairs(words) do
    if text == word then return true end
  end
  return false
end

--- The rows without the columns that say nothing: those whose header stands in `idle`, and which
--- have in every row one of the words that stand there.
---@param rows any[][] the first holds the headers
---@param align string[]
---@param idle table<string, string[]>
---@return any[][] rows, string[] align
function M.without(rows, align, idle)
  local keep = {}
  for i = 1, #align do
    local words, says = idle[rows[1][i]], false
    for r = 2, words and #rows or 1 do
      says = says or not is_one_of(tostring(rows[r][i]), words)
    end
    if says or not words then keep[#keep + 1] = i end
  end
  local function pick(list)
    local out = {}
    for k, i in ipairs(keep) do
      out[k] = list[i]
    end
    return out
  end
  local out = {}
  for r, row in ipairs(rows) do
    out[r] = pick(row)
  end
  return out, pick(align)
end

--- 21870 -> 21,870
---@param n integer
---@return string
function M.thousands(n)
  local sign, digits = ("%d"):format(n):match("^(%-?)(%d+)$")
  local out = digits:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
  return sign .. out
end

--- A share in per cent, without the sign: 1, 8 -> 12.5
---@param part number
---@param whole number
---@return string
function M.share(part, whole)
  if whole == 0 then return "–" end
  return ("%.1f"):format(100 * part / whole)
end

--- "1 turn", "2 turns".
---@param n integer
---@param one string a word whose plural ends in s
---@return string
function M.count(n, one)
  return ("%d %s%s"):format(n, one, n == 1 and "" or "s")
end

return M
