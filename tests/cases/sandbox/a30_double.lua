-- Doubling a string ends.
-- expect: call not enough memory | more than
return {
  api = 1,
  assemble = function(ctx)
    local s = "x"
    while true do s = s .. s end
  end,
}
