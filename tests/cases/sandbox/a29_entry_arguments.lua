-- Every request takes every argument without a crash.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    local values = { -1, 0, 1 << 62, 0 / 0, 1 / 0, "", "\0", "\xff", ("x"):rep(1e5), {}, ctx, true, { tokens = -1 }, { tokens = 1 << 62 }, { keep = "x" }, { about = "\xff" }, { why = {} } }
    for e in ctx:entries() do
      for _, name in ipairs { "trim", "reference", "mask", "drop", "restore", "lines" } do
        for _, v in ipairs(values) do
          pcall(e[name], e, v)
          pcall(e[name], v)
          pcall(e[name], ctx, v)
        end
      end
    end
  end,
}
