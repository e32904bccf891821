-- Rows of cells as aligned columns. next: ../cli/count.lua
local visible = require("neap.report.visible")
local columns = require("neap.report.width")

local M = {}

local width, cut = columns.of, columns.cut

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

-- The widths of the columns, and of a row of them.
local function widths_of(rows, align)
  local widths, sum = {}, 2 * (#align - 1)
  for i = 1, #align do
    widths[i] = 0
    for _, row in ipairs(rows) do
      widths[i] = math.max(widths[i], width(visible.line(tostring(row[i] or ""))))
    end
    sum = sum + widths[i]
  end
  return widths, sum
end

local NARROW = 24 -- a column of words keeps so much of itself

-- The widest column of words, cut to what is left, and at least NARROW.
local function shorten(rows, align, most)
  local widths, sum = widths_of(rows, align)
  local widest
  for i, side in ipairs(align) do
    if side == "l" and (not widest or widths[i] > widths[widest]) then widest = i end
  end
  if sum <= most or not widest then return rows, sum <= most end
  local to = math.max(math.min(NARROW, widths[widest]), widths[widest] - (sum - most))
  local out = {}
  for r, row in ipairs(rows) do
    out[r] = table.move(row, 1, #align, 1, {})
    out[r][widest] = cut(visible.line(tostring(row[widest] or "")), to)
  end
  return out, sum - widths[widest] + to <= most
end

--- The rows as a terminal of so many columns holds them: the widest column of words is cut, at
--- most to 24 characters; then the columns that `least` names go, in its order, until a row fits.
---@param rows any[][] the first holds the headers
---@param align string[]
---@param most integer? columns; nil: everything stays
---@param least string[] headers, what is missed the least first
---@return any[][] rows, string[] align, string[] gone headers of what is left out
function M.fit(rows, align, most, least)
  if not most then return rows, align, {} end
  local idle, gone = {}, {}
  local out, fits = shorten(rows, align, most)
  for _, header in ipairs(least) do
    if fits then break end
    local cells = {}
    for r = 2, #rows do
      for i, name in ipairs(rows[1]) do
        if name == header then cells[#cells + 1] = tostring(rows[r][i] or "") end
      end
    end
    idle[header] = cells
    local fewer, sides = M.without(rows, align, idle)
    if #sides < #align - #gone then gone[#gone + 1] = header end
    out, fits = shorten(fewer, sides, most)
  end
  if #gone == 0 then return out, align, gone end
  local _, sides = M.without(rows, align, idle)
  return out, sides, gone
end

--- Says which columns a terminal has no room for; nothing for none.
---@param gone string[]
---@return string
function M.left_out(gone)
  if #gone == 0 then return "" end
  return ("no room for %s; --json has everything\n"):format(table.concat(gone, ", "))
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
