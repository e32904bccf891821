-- Nested calls of pcall end.
-- expect: call more than | time of one call | stack overflow
return {
  api = 1,
  assemble = function(ctx)
    local function f()
      pcall(f)
      while true do end
    end
    f()
  end,
}
