-- Too many results are an error.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    assert(not pcall(table.unpack, {}, 1, 1e8))
    assert(not pcall(table.unpack, {}, math.mininteger, math.maxinteger))
    assert(not pcall(string.byte, ("x"):rep(2000000), 1, -1))
  end,
}
