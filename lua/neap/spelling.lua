-- How far two names are from each other, for "did you mean". The core has the same measure for
-- what a policy returns (core/policy/shape.c). next: cli/args.lua
local M = {}

--- Edits between two words: insert, delete, change, or swap two neighbours (the optimal string
--- alignment distance, row by row; a swap looks two rows back).
---@param a string
---@param b string
---@return integer
function M.distance(a, b)
  local row, last, second = {}
  for j = 0, #b do
    row[j] = j
  end
  for i = 1, #a do
    row, last, second = { [0] = i }, row, last
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local best = math.min(last[j - 1] + (same and 0 or 1), last[j] + 1, row[j - 1] + 1)
      local swapped = i > 1
        and j > 1
        and a:byte(i) == b:byte(j - 1)
        and a:byte(i - 1) == b:byte(j)
      row[j] = swapped and math.min(best, second[j - 2] + 1) or best
    end
  end
  return row[#b]
end

--- The word of `list` that is nearest to `word`, when near enough to be meant.
---@param word string
---@param list string[]
---@return string?
function M.nearest(word, list)
  if #word > 64 then return nil end
  local best, found = 3, nil
  for _, candidate in ipairs(list) do
    local d = M.distance(word, candidate)
    if #word >= 3 and candidate:sub(1, #word) == word then d = 1 end
    if d < best and d < #candidate then
      best, found = d, candidate
    end
  end
  return found
end

return M
