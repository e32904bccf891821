-- A replacement that grows ends.
-- expect: call more than | time of one call | not enough memory
return {
  api = 1,
  assemble = function(ctx)
    return (("x"):rep(20000)):gsub("", ("y"):rep(20000))
  end,
}
