-- What an output is and what is shown of it: golden outputs by hand, those that real tools print,
-- and that search results keep every candidate. next: project_spec.lua
local core = require("neap.core")
local kinds = require("neap.kinds")
local shared = require("tests.support.shared")

local encoding = assert(core.encoding("o200k_base"))

local function lines(form, n)
  local list = {}
  for i = 1, n do
    list[i] = form:format(i, i * 37 % 101, i * 53 % 97)
  end
  return table.concat(list, "\n") .. "\n"
end

local CASES = {
  { "test_log", "bash pytest", "...F.\n1 failed, 4 passed in 0.1s\n" },
  { "test_log", "", "=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\tx\t0.1s\n" },
  { "test_log", "",
    "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\n"
    .. "test result: FAILED. 1 passed\n" },
  { "test_log", "", "TAP version 13\nok 1 - a\nnot ok 2 - b\n1..2\n" },
  { "stack_trace",
    "", 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\n'
    .. '  File "b.py", line 2, in g\n    h()\nKeyError: 1\n' },
  { "migration", "",
    "Operations to perform:\n  Apply all migrations: a\nRunning migrations:\n"
    .. "  Applying a.0001_initial... OK\n  Applying a.0002_name... OK\n" },
  { "migration", "bash rails db:migrate",
    "== 20260101 AddX: migrating ====\n-- add_column(:a, :b)\n   -> 0.01s\n" },
  { "build_log", "",
    "gcc -c a.c\na.c:1:2: error: no\na.c:2:2: error: no\n"
    .. "make: *** [Makefile:3: a.o] Error 1\n" },
  { "log", "", lines("2026-03-01 12:00:%02d INFO worker %d took %d ms", 9) },
  { "log", "", lines("2026-03-01T12:00:%02d INFO worker %d took %d ms", 9) },
  { "log", "", lines("[2026-03-01T12:00:%02d.125Z] worker %d took %d ms", 9) },
  { "log", "", lines("12:00:%02d INFO worker %d took %d ms", 9) },
  { "log", "", lines("12:00:%02d,%d INFO worker took %d ms", 9) },
  { "log", "", lines("01/Mar/2026:12:00:%02d worker %d took %d ms", 9) },
  { "search", "grep took", lines("2026-03-01T12:00:%02d INFO worker %d took %d ms", 9) },
  { "search", "", lines("src/a%d.c:%d: int x%d;", 6) },
  { "search",
    "web_search", lines("%d. Title of a page\n   https://example.org/%d/%d\n"
    .. "   words of it", 5) },
  { "search",
    "", '[{"title":"a","url":"u"},{"title":"b","url":"v"},{"title":"c","url":"w"}]' },
  { "diff", "",
    "diff --git a/x b/x\nindex 12..34 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n"
    .. "+b\n" },
  { "code", "", "import os\n\ndef f(x):\n    if x:\n        return 1\n    return 2\n" },
  { "code", "read_file a.c",
    "     1\tint f(void) {\n     2\t  return 1;\n     3\t}\n     4\t\n"
    .. "     5\tint g;\n" },
  { "json", "", '{"a": [1, 2, {"b": null}]}' },
  { "table", "", "id,name,size\n1,a,3\n2,b,4\n3,c,5\n4,d,6\n" },
  { "table", "", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n" },
  { "html", "", "<!DOCTYPE html>\n<html><body><h1>x</h1><p>y</p></body></html>" },
  { "document", "", "# A\n\nwords\n\n## B\n\nmore words\n\n## C\n\nand more\n" },
  { "listing", "",
    "total 12\ndrwxr-xr-x 2 a a 40 Jan 1 00:00 .\n-rw-r--r-- 1 a a 3 Jan 1 00:00 x\n" },
  { "listing", "glob", "src/a.c\nsrc/b.c\nsrc/deep/c.c\n" },
  { "listing", "bash ls",
    "<returncode>0</returncode>\n<output>\nadmin\nauth\ncache\ncore\n</output>" },
  { "prose", "",
    "The committee met on Monday and decided\n"
    .. "that nothing had to be done about it.\n" },
  { "prose", "", "" },
}

describe("kinds", function()
  for i, case in ipairs(CASES) do
    it(("of output %d: %s"):format(i, case[1]), function()
      assert.equal(case[1], kinds.of(case[3], case[2]))
    end)
  end

  it("of what real tools print", function()
    local want = {
      pytest = "test_log",
      cargo_test = "test_log",
      jest = "test_log",
      python = "stack_trace",
      node = "stack_trace",
      java = "stack_trace",
      rust_panic = "stack_trace",
      gcc = "build_log",
      make = "build_log",
      rustc = "build_log",
    }
    for name, kind in pairs(want) do
      local text = assert(shared.read("tests/cases/projections/" .. name .. ".txt"))
      assert.equal(kind, kinds.of(text), name)
    end
  end)

  it("have a part that can be read, and more room where care is needed", function()
    for name, row in pairs(kinds.kinds) do
      if row.part ~= "candidates" then assert.truthy(core.extract_kind(row.part), name) end
      if row.careful then assert.is_true(row.tokens >= 1000, name) end
    end
    assert.is_true(kinds.kinds.listing.tokens * 3 <= kinds.kinds.test_log.tokens)
  end)

  it("take the same time for hostile texts", function()
    for _, piece in ipairs({ " ", "=", "= 1 a ", "a.", "|-", "- ", "(", "\n", "]", "1:" }) do
      assert.is_string(kinds.of(piece:rep(200000 // #piece), "x"))
    end
  end)
end)

describe("a projection by kind", function()
  it("keeps every candidate of search results", function()
    local page = {}
    for i = 1, 12 do
      page[#page + 1] = ("%d. Result number %d\n   https://example.org/%d\n   %s"):format(
        i, i, i, ("words that say little about it "):rep(12))
    end
    local text = table.concat(page, "\n") .. "\n"
    local got = assert(kinds.project(core, encoding, text, { hint = "web_search", tokens = 500 }))
    assert.equal("search", got.kind)
    assert.is_true(got.tokens <= 500 and encoding:count(text) > 700)
    for i = 1, 12 do
      assert.truthy(got.text:find("Result number " .. i, 1, true), "candidate " .. i)
      assert.truthy(got.text:find("https://example.org/" .. i, 1, true), "address " .. i)
    end
  end)

  it("keeps those of JSON", function()
    local list = {}
    for i = 1, 12 do
      list[i] = ('{"title":"Result %d","url":"https://example.org/%d","text":"%s"}'):format(
        i, i, ("little words "):rep(60))
    end
    local text = "[" .. table.concat(list, ",\n") .. "]"
    local got = assert(kinds.project(core, encoding, text, {}))
    assert.equal("search", got.kind)
    for i = 1, 12 do
      assert.truthy(got.text:find("Result " .. i, 1, true), "candidate " .. i)
    end
  end)

  it("shows a short text whole", function()
    local got = assert(kinds.project(core, encoding, "a,b,c\n1,2,3\n", {}))
    assert.is_true(got.whole)
  end)

  it("goes on where a part is not there", function()
    local text = '{"a": [1, 2' .. (", 3"):rep(3000) .. "}"
    local got = assert(kinds.project(core, encoding, text, {}))
    assert.is_true(got.tokens <= 600)
  end)
end)
