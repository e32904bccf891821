-- What an output is: a test log, a listing, a table, … The rules are those of neap.kinds.
local kinds = require("neap.kinds")

local M = {}

M.about = "What an output is: { kind = test_log | stack_trace | migration | build_log | log | "
  .. "search | diff | code | json | table | html | document | listing | prose, tokens and keep for "
  .. "e:trim, careful = true where what is left out is dearly missed }."

---@param text string
---@param hint? string the tool's name, and its arguments
---@return table
function M.parse(text, hint)
  local kind = kinds.of(text, hint)
  local row = kinds.kinds[kind]
  return { kind = kind, tokens = row.tokens, keep = row.keep, careful = row.careful or false }
end

M.examples = {
  {
    text = "tests/test_a.py::test_b PASSED\n=== 1 failed, 1 passed in 0.1s ===\n",
    result = { kind = "test_log", tokens = 1500, keep = "errors", careful = true },
  },
  {
    text = "src/a.c\nsrc/b.c\nsrc/c.c\n",
    result = { kind = "listing", tokens = 300, keep = "ends", careful = false },
  },
  {
    text = "Once there was a text without any form.\n",
    result = { kind = "prose", tokens = 600, keep = "ends", careful = false },
  },
}

return M
