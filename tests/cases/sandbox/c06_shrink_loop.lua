-- Asking the packer for ever ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    while true do ctx:shrink(1) end
  end,
}
