-- An argument table is read as it is: no metamethod of it runs in the middle of a request.
-- expect: ok
-- Strings that only the step of __pairs holds would be freed while the core still reads them.
local function forged(list)
  return setmetatable({}, { __pairs = function()
    local i = 0
    return function()
      i = i + 1
      local waste = {}
      for k = 1, 6000 do waste[k] = { k } end
      if list[i] then return list[i][1], list[i][2]() end
    end
  end })
end
local function long() return ("value_205 "):rep(20) .. #tostring({}) end
return {
  api = 1,
  assemble = function(ctx)
    for e in ctx:entries { kind = "result", before = 3 } do
      pcall(e.trim, e, forged {
        { "about", long },
        { "why", function() return "because" .. #tostring({}) end },
        { "tokens", function() return 20 end },
        { "keep", function() return "about" end },
      })
      e:restore()
    end
    for _, f in ipairs { ctx.entries, ctx.span, ctx.tools, ctx.ask, ctx.economy.quote } do
      pcall(f, ctx, forged { { "why", long }, { "kind", long }, { "tool", long }, { "prompt", long } })
      pcall(f, forged { { "to", function() error("in the middle") end } })
    end
    pcall(ctx.entries, ctx, { tool = forged { { 1, long }, { 2, long } } })
    pcall(ctx.entries, ctx, { kind = forged { { 1, long } } })
    pcall(ctx.tools, ctx, { keep = forged { { 1, long } } })
  end,
}
