-- Moving without end ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    table.move({}, 1, 1 << 40, 2)
  end,
}
