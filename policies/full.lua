-- Full: everything is shown as it came, for as long as it fits.
-- Source: the unmanaged baseline (rows S1.1 and S4.1: what it costs to forget nothing).
--
-- When the prompt no longer fits, the default `overflow` lowers the oldest entries to 0.7 of
-- the budget, and the last resort makes it fit. Use this policy to see what the others save.
--
-- example: window=2000
--   user 20
--   call read src/a.c
--   result 300
--   call read src/b.c
--   result 300

return {
  api = 1,
  name = "full",
  about = "Show everything; lower the oldest entries only when the prompt does not fit.",
  source = "the baseline of every comparison",
}
