-- Reading huge numerals for ever ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    local s = (" "):rep(4 << 20)
    while true do tonumber(s) end
  end,
}
