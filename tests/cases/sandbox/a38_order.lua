-- pairs and next have one order, and no text shows an address.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local out = {}
    for k in pairs { gamma = 1, alpha = 1, [3] = 1, beta = 1, [1] = 1, [2.5] = 1, [true] = 1 } do
      out[#out + 1] = tostring(k)
    end
    assert(table.concat(out, " ") == "1 2.5 3 alpha beta gamma true", table.concat(out, " "))
    local t, k, n = { b = 1, a = 1, c = 1 }, nil, 0
    assert(next(t) == "a" and next(t, "a") == "b" and next(t, "c") == nil and next {} == nil)
    assert(tostring {} == "table" and tostring(pairs) == "function" and tostring(ctx) == "context")
    assert(not pcall(string.format, "%p", {}))
    assert(("%s"):format({}) == "table")
    assert(not pcall(pairs, { [{}] = 1 }))
  end,
}
