-- An order that is none sorts somehow and loses nothing.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local t, sum = {}, 0
    for i = 1, 500 do t[i] = i * 7919 % 501 end
    table.sort(t, function() return true end)
    for i = 1, 500 do sum = sum + t[i] end
    assert(#t == 500 and sum == 125250, sum)
    assert(not pcall(table.sort, { 3, "x", 1 }))
    local kept = { 3, 1, 2 }
    pcall(table.sort, kept, function() error("stop") end)
    assert(kept[1] == 3 and kept[2] == 1 and kept[3] == 2)
  end,
}
