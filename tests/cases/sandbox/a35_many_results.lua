-- Many results and arguments are no crash.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local t = {}
    for i = 1, 200000 do t[i] = i end
    pcall(function() return table.unpack(t) end)
    pcall(ctx.entries, ctx, table.unpack(t))
    pcall(neap.say, table.unpack(t))
    pcall(string.char, table.unpack(t))
    assert(select("#", table.unpack(t)) == 200000)
  end,
}
