-- Pointers: a large result is never shown, only where it is; tools and neap_read take it by id.
-- Source: "Solving Context Window Overflow in AI Agents", November 2025, arXiv:2511.22729
-- (row S4.12): results live in the tools' memory, the model passes pointers from tool to tool;
-- about 7 times fewer tokens, and a workflow ran that did not fit before.
--
-- The result is cut to a few words and its mark before it is sent for the first time, so that
-- nothing is ever rewritten. The mark holds the id: the model gives it to neap_read, or to a
-- tool of the host that takes ids in place of text and asks the session for it.
--
-- example: window=4000
--   user 20
--   call read src/a.c
--   result 900          -> trimmed
--   call read src/b.c
--   result 100
--   call query orders
--   result 2000         -> trimmed

return {
  api = 1,
  name = "pointers",
  about = "Show of each large result a pointer only, which tools take in its place.",
  source = "arXiv:2511.22729, November 2025 (S4.12)",
  options = {
    large = { default = 500, min = 1, help = "tokens above which a result becomes a pointer" },
    shown = { default = 80, min = 1, help = "tokens of the pointer, the mark included" },
  },
  tools = { "recall", "read", "pointers" },

  admit = function(_, e, o)
    if e.kind == "result" and e.tokens > o.large then
      e:trim({ tokens = o.shown, keep = "head", why = "large: a pointer stands for it" })
    end
  end,
}
