-- Asking an emptied table for its first key ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    local t = {}
    for i = 1, 200000 do t[i] = i end
    for i = 1, 200000 do t[i] = nil end
    while true do next(t) end
  end,
}
