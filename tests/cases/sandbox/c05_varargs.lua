-- Passing many arguments for ever ends.
-- expect: call more than | time of one call | not enough memory | too many
return {
  api = 1,
  assemble = function(ctx)
    local t = {}
    for i = 1, 100000 do t[i] = i end
    local function f(...) return select("#", ...) end
    local function g(...) while true do f(...) end end
    g(table.unpack(t))
  end,
}
