-- Metatables that call themselves are errors.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local t = setmetatable({}, {})
    getmetatable(t).__index = t
    assert(not pcall(function() return t.x end))
    local u = setmetatable({}, { __eq = function() return true end, __concat = function(a) return a .. a end })
    assert(not pcall(function() return u .. u end))
    assert(not pcall(setmetatable, {}, { __mode = "k" }))
    local p = setmetatable({}, { __metatable = "locked" })
    assert(getmetatable(p) == "locked" and not pcall(setmetatable, p, nil))
  end,
}
