-- Rows of cells as aligned columns. next: ../cli/count.lua
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
      widths[i] = math.max(widths[i] or 0, width(tostring(row[i] or "")))
    end
  end
  for r, row in ipairs(rows) do
    local cells = {}
    for i = 1, #align do
      local text = tostring(row[i] or "")
      local gap = (" "):rep(widths[i] - width(text))
      cells[i] = align[i] == "r" and gap .. text or text .. gap
    end
    lines[r] = table.concat(cells, "  "):gsub("%s+$", "")
  end
  return table.concat(lines, "\n") .. (#lines > 0 and "\n" or "")
end

--- 21870 -> 21,870
---@param n integer
---@return string
function M.thousands(n)
  local sign, digits = ("%d"):format(n):match("^(%-?)(%d+)$")
  local out = digits:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
  return sign .. out
end

--- 0.1234 -> 12.3 %
---@param part number
---@param whole number
---@return string
function M.percent(part, whole)
  if whole == 0 then return "–" end
  return ("%.1f %%"):format(100 * part / whole)
end

return M
