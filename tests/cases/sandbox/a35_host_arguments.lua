-- Many arguments and results at every function of the host are no crash.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local t = {}
    for i = 1, 30000 do t[i] = i end
    local e
    for x in ctx:entries() do e = e or x end
    local list = {
      neap.say, neap.pow, neap.exp, neap.log, neap.clamp, string.format, string.rep, string.char, table.insert,
      math.max, utf8.char, select, pcall, assert, tostring, rawequal, type, ctx.random,
    }
    for _, f in ipairs(list) do pcall(f, table.unpack(t)) end
    for _, m in ipairs { "trim", "mask", "reference", "drop", "restore", "hold", "lines" } do
      pcall(e[m], e, table.unpack(t))
    end
    for _, m in ipairs { "entries", "span", "shrink", "fold", "ask", "summarize", "tools" } do
      pcall(ctx[m], ctx, table.unpack(t))
    end
    assert(select("#", pcall(table.unpack, t)) == 30001)
    assert(select("#", pcall(string.byte, ("x"):rep(30000), 1, -1)) == 30001)
    assert(not xpcall(table.unpack, tostring, t, 1, 2e6))
  end,
}
