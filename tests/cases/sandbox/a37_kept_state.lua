-- The table of ctx.state that a hook keeps is no way into the next call's, and options are each call's own.
-- expect: ok
-- calls: assemble assemble assemble
local state, options
return {
  api = 1,
  options = { n = 1 },
  assemble = function(ctx, o)
    if state then
      state.n = 100
      assert(ctx.state.n < 3 and ctx.state ~= state)
      options.n = 7
      rawset(options, "x", 1)
      assert(o.n == 1 and o ~= options)
    end
    ctx.state.n = (ctx.state.n or 0) + 1
    state, options = ctx.state, o
  end,
}
