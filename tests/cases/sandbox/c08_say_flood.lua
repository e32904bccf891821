-- What is said is capped, and the call ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    while true do neap.say(("x"):rep(1000)) end
  end,
}
