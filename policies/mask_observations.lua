-- Observation masking: the newest results in full, older ones become one line each.
-- Source: Lindenbauer et al. 2025, "The Complexity Trap", arXiv:2508.21433: half the cost of
-- showing everything at an equal rate of solved tasks.
--
-- What the model thought and did stays; only what the tools answered goes, and each mark names
-- the call and the way back. With slack = 0 every turn rewrites the prompt from the masked
-- result on; a larger slack masks in batches.
--
-- example: window=4000 keep=1
--   user 20
--   call read src/a.c
--   result 300          -> masked
--   call read src/b.c
--   result 300          -> masked
--   call grep main
--   result 100

return {
  api = 1,
  name = "mask_observations",
  about = "Show only the newest results; older ones become one line each.",
  source = "Lindenbauer et al. 2025, arXiv:2508.21433",
  options = {
    keep = { default = 10, min = 1, help = "results shown in full" },
    slack = { default = 0, min = 0, help = "results too many that may gather before a rewrite" },
  },

  assemble = function(ctx, o)
    local old, n = ctx:entries({ kind = "result", at = "full", except_last = o.keep })
    if n > o.slack then
      for e in old do
        e:mask("older than the newest " .. o.keep .. " results")
      end
    end
  end,
}
