-- Sorting for long ends.
-- expect: call more than | time of one call | not enough memory
return {
  api = 1,
  assemble = function(ctx)
    local t = {}
    for i = 1, 300000 do t[i] = i end
    for k = 1, 100 do table.sort(t) end
  end,
}
