-- A replacement that calls itself is an error.
-- expect: call C stack overflow | not enough memory
return {
  api = 1,
  assemble = function(ctx)
    local function f(s) return (s:gsub(".", f)) end
    f("a")
  end,
}
