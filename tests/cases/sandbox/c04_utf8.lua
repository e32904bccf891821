-- Counting characters for ever ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    local s = ("x"):rep(4 << 20)
    while true do utf8.len(s) end
  end,
}
