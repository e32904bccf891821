-- Every function takes every argument without a crash.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local loops = setmetatable({}, {
      __index = function() error("index") end,
      __len = function() error("len") end,
      __tostring = function() error("tostring") end,
      __name = ("n"):rep(5000),
    })
    local values = { -1, 0, 1 << 62, math.mininteger, 0 / 0, 1 / 0, 1e308, "", "\0", ("x"):rep(1e5), {}, loops, ctx, true, 2.5 }
    local functions = {}
    for _, lib in ipairs { neap, string, table, math, utf8 } do
      for _, f in pairs(lib) do
        if type(f) == "function" then functions[#functions + 1] = f end
      end
    end
    for _, f in ipairs { assert, getmetatable, ipairs, next, pairs, rawequal, rawget, rawlen, rawset, select, setmetatable, tonumber, tostring, type, require } do
      functions[#functions + 1] = f
    end
    for _, f in ipairs { ctx.entries, ctx.span, ctx.shrink, ctx.random, ctx.fold, ctx.ask } do
      functions[#functions + 1] = f
    end
    for _, f in ipairs(functions) do
      pcall(f)
      pcall(f, nil, nil, nil)
      for _, a in ipairs(values) do
        pcall(f, a)
        pcall(f, ctx, a)
        for _, b in ipairs { -1, 1 << 62, "", "%", {}, 0 / 0 } do
          pcall(f, a, b)
          pcall(f, a, b, b)
        end
      end
    end
  end,
}
