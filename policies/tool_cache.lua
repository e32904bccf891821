-- Tool-output cache: the newest two results in full, large older ones as a reference each.
-- Source: row S3.5, an essay on four tiers of an agent's context, whose function is
-- compact_tool_results(max_inline_chars = 2000, keep_recent = 2); rows S3.12 to S3.18.
--
-- A reference says which tool and call, how large it was, shows 160 characters and names the id
-- by which neap_read gets all of it, or a part. Small results are never replaced: a reference
-- would be no shorter. 2,000 characters are 500 tokens here. `slack` lets several gather, so that
-- not each turn rewrites the prompt. Errors stay twice as long, for that essay warns of them.
--
-- example: window=4000
--   user 20
--   call read src/a.c
--   result 600          -> reference
--   call read src/b.c
--   result 100
--   call read src/c.c
--   result 600
--   call read src/d.c
--   result 600

return {
  api = 1,
  name = "tool_cache",
  about = "Show the newest two results in full, and a reference for each large older one.",
  source = "S3.5: compact_tool_results of an essay on four tiers of context",
  options = {
    inline = { default = 500, min = 0, help = "tokens up to which a result stays as it is" },
    recent = { default = 2, min = 0, help = "newest results that stay as they are" },
    slack = { default = 0, min = 0, help = "results too many that may gather before a rewrite" },
  },
  tools = { "recall", "read" },

  assemble = function(ctx, o)
    local old, n, large = {}, 0, { kind = "result", at = "full", newest = true }
    for e in ctx:entries(large) do
      n = n + 1
      local recent = e.is_error and 2 * o.recent or o.recent
      if n > recent and e.tokens > o.inline and e.age > 1 then old[#old + 1] = e end
    end
    if #old <= o.slack then return end
    for _, e in ipairs(old) do
      e:reference("in the cache")
    end
  end,
}
