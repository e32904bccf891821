-- Changes that are made and taken back without end: the log of a call has a bound.
-- expect: call more than
return {
  api = 1,
  assemble = function(ctx)
    local why = ("r"):rep(200)
    while true do
      for e in ctx:entries { kind = "result" } do
        e:mask(why)
        e:restore(why)
      end
    end
  end,
}
