-- Endless tail calls end.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    local function f() return f() end
    f()
  end,
}
