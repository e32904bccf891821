-- Endless recursion is an error.
-- expect: call stack overflow | not enough memory
return {
  api = 1,
  assemble = function(ctx)
    local function f() return 1 + f() end
    f()
  end,
}
