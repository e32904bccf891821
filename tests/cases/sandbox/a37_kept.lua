-- What a hook keeps of its call ends with the call: the context, entries, spans, and every function of them.
-- expect: ok
-- calls: admit assemble compact overflow recall assemble
local kept = {}
local function try()
  for _, old in ipairs(kept) do
    for _, f in ipairs(old) do
      local ok, why = pcall(f)
      assert(not ok and why:find("context has ended", 1, true), why)
    end
  end
end
local function keep(ctx, e)
  local span, entries, random, quote = ctx:span(), ctx:entries(), ctx.random, ctx.economy.quote
  for x in ctx:entries() do e = e or x end
  local mask, trim, ask, fold, shrink = e.mask, e.trim, ctx.ask, ctx.fold, ctx.shrink
  kept[#kept + 1] = {
    function() return ctx.step end,
    function() return ctx.state end,
    function() ctx.state = {} end,
    function() return ctx:entries() end,
    function() return ctx:shrink(1) end,
    function() return ctx:span() end,
    function() return ctx.nothing end,
    function() return e.kind end,
    function() return e.text end,
    function() return e.nothing end,
    function() return mask(e) end,
    function() return trim(e, { tokens = 5 }) end,
    function() return e:lines(1) end,
    function() return span.tokens end,
    function() return fold(ctx, span, "x") end,
    function() return ask(ctx, { prompt = "x" }) end,
    function() return shrink(ctx, 1) end,
    function() return random() end,
    function() return quote() end,
    function() return entries() end,
  }
end
local function both(ctx, e)
  try()
  keep(ctx, type(e) == "userdata" and e or nil)
end
return {
  api = 1,
  admit = both,
  assemble = function(ctx) both(ctx) end,
  compact = function(ctx) both(ctx) end,
  overflow = function(ctx) both(ctx) end,
  recall = function(ctx) both(ctx) return {} end,
}
