-- The step of a loop that is called with something else is an error, not a crash.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local each = { pairs { 1, 2 }, ipairs { 1, 2 }, ctx:entries(), ("ab"):gmatch("."), utf8.codes("ab") }
    for i = 1, 5 do
      for _, v in ipairs { "x", 1, 2.5, true, ctx, error, {}, 1 << 62 } do
        pcall(each[i], v)
        pcall(each[i], v, v)
        pcall(each[i], nil, v)
      end
      pcall(each[i])
    end
    assert(not pcall(each[1], "x") and not pcall(each[1]))
  end,
}
