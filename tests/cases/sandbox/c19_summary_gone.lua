-- A handle of a summary that was not made again when the hook woke is an error, not a crash.
-- expect: ok
-- calls: compact assemble answer compact
local told
return {
  api = 1,
  compact = function(ctx)
    local span = ctx:span { before = 4 }
    assert(ctx:fold(span, "short"))
    local summary
    for e in ctx:entries { kind = "summary" } do summary = e end
    assert(summary.kind == "summary")
    local text = ctx:ask { prompt = "x" }
    assert(text == "an answer")
    for _, name in ipairs { "kind", "text", "tokens", "hash", "citations", "at", "pinned", "age", "message", "name" } do
      told = { pcall(function() return summary[name] end) }
    end
    for _, name in ipairs { "mask", "trim", "drop", "restore", "pin", "hold", "reference", "lines" } do
      pcall(function() return summary[name](summary, 1) end)
      pcall(function() return summary[name](summary) end)
    end
    pcall(ctx.fold, ctx, span, "again")
    tostring(summary)
  end,
  assemble = function(ctx)
    for e in ctx:entries { before = 4, kind = "result" } do
      e:drop()
      e:pin()
    end
  end,
}
