-- Stack traces of Python, Node, the JVM, Go and Rust.
local lpeg = require("lpeg")
local g = require("neap.grammar")

local M = {}

M.about = "Stack traces of Python, Node, the JVM, Go and Rust. A list of { language, kind, "
  .. "message, frames = { { file, line, column, name }, … } in the text's order, at = its first "
  .. "line in the text }; what a trace does not tell is absent."

local P, S, C, Cc, Cg, Ct = lpeg.P, lpeg.S, lpeg.C, lpeg.Cc, lpeg.Cg, lpeg.Ct
local int, rest, eol, blank, word = g.integer, g.rest, g.eol, g.blank, g.word

local function field(name, pattern)
  return Cg(pattern, name)
end

local function frames(frame)
  return field("frames", Ct(frame ^ 0))
end

local function language(name)
  return field("language", Cc(name))
end

local dotted = word * ("." * word) ^ 0

-- Traceback (most recent call last):
--   File "a.py", line 3, in f
--     g()
-- KeyError: 'x'
local python_frame = Ct(
  blank ^ 1
    * 'File "'
    * field("file", C(g.until_any('"')))
    * '", line '
    * field("line", int)
    * (", in " * field("name", C(rest))) ^ -1
    * rest
) * eol
local python_code = blank ^ 1 * rest * eol - python_frame
local python_text = ":" * P(" ") ^ -1 * field("message", C(rest))
local python_end = field("kind", C(dotted)) * python_text ^ -1 * eol
local python = P("Traceback (most recent call last):")
  * rest
  * eol
  * language("python")
  * field("frames", Ct((python_frame * python_code ^ 0) ^ 0))
  * python_end ^ -1

-- TypeError: x is no function
--     at f (/a/b.js:10:5)
local node_place = field("file", C((P("node:") + "file:") ^ -1 * g.until_any(":()")))
  * ":"
  * field("line", int)
  * ":"
  * field("column", int)
local node_name = field("name", C((1 - (S("(\r\n") + P(" ("))) ^ 1))
local node_call = node_name * " (" * (node_place * ")") ^ -1 * rest
local node_frame = Ct(
  blank ^ 1 * "at " * (P("async ") ^ -1 * node_place * #eol + node_call)
) * eol

-- Exception in thread "main" java.lang.IllegalStateException: no
--         at a.B.c(B.java:12)
local java_name = field("name", C((g.letter + g.digit + S(".$<>/@-")) ^ 1))
local java_frame = Ct(
  blank ^ 1
    * "at "
    * java_name
    * "("
    * (field("file", C(g.until_any(":)"))) * (":" * field("line", int)) ^ -1)
    * ")"
    * rest
) * eol
local java_more = blank ^ 1 * "... " * g.digit ^ 1 * " more" * eol

-- What stands above the frames: a kind with a dot or an ending of its own, or a message alone.
local java_head = (P('Exception in thread "') * g.until_any('"') * '" ' + "Caused by: ") ^ -1
  * field("kind", C(word * ("." * word) ^ 1 * ("$" * word) ^ 0))
  * (": " * field("message", C(rest))) ^ -1
  * eol
local java = java_head * #java_frame * language("java") * frames(java_frame) * java_more ^ -1

local node_kind = P("Uncaught ") ^ -1
  * field("kind", C(dotted))
  * (" [" * g.until_any("]") * "]") ^ -1
  * ": "
  * field("message", C(rest))
local node_text = -blank * field("message", C((1 - S("\r\n")) ^ 1))
local node_head = (node_kind + node_text) * eol
local node = node_head * #node_frame * language("node") * frames(node_frame)

-- panic: runtime error: index out of range
--
-- goroutine 1 [running]:
-- main.f(...)
--         /tmp/x.go:8 +0x1d
local go_part = (1 - S("(\r\n")) ^ 1
local go_name = go_part * (P("(*") * g.until_any(")") * ")" * go_part ^ -1) ^ -1
local go_frame = Ct(
  P("created by ") ^ -1
    * field("name", C(go_name))
    * rest
    * eol
    * "\t"
    * field("file", C(g.until_any(":")))
    * ":"
    * field("line", int)
    * rest
) * eol
local go_head = P("goroutine ") * g.digit ^ 1 * " [" * rest * eol
local go_signal = (P("[signal ") * rest) ^ -1 * eol
local go_panic = field("kind", C("panic") + C("fatal error"))
  * ": "
  * field("message", C(rest))
  * eol
  * go_signal
  * go_signal ^ -1
local go = (go_panic * #go_head + #go_head * field("kind", Cc("goroutine")))
  * go_head
  * language("go")
  * frames(go_frame)

-- thread 'main' panicked at src/main.rs:4:5:
-- index out of bounds
-- stack backtrace:
--    0: rust_begin_unwind
--              at /rustc/x/panicking.rs:595:5
local rust_place = field("file", C(g.until_any(":,")))
  * ":"
  * field("line", int)
  * ":"
  * field("column", int)
local rust_frame = Ct(
  blank ^ 0
    * g.digit ^ 1
    * ": "
    * field("name", C(rest))
    * (eol * blank ^ 1 * "at " * rust_place) ^ -1
    * rest
) * eol
local rust_sides = blank ^ 1 * (P("left: ") + "right: ") -- of an assertion
local rust_skip = (P("note: ") + "stack backtrace:" + rust_sides) * rest * eol
local rust_at = field("place", Ct(rust_place))
local rust_quoted = (1 - (P("', ") + S("\r\n"))) ^ 0
local rust_old = P("'") * field("message", C(rust_quoted)) * ("', " * rust_at) ^ -1 * rest * eol
local rust_new = rust_at * ":" * eol * field("message", C(rest)) * eol
local rust = P("thread '")
  * g.until_any("'")
  * "' "
  * ("(" * g.digit ^ 1 * ") ") ^ -1 -- the thread's number, since 1.93
  * "panicked at "
  * language("rust")
  * field("kind", Cc("panic"))
  * (rust_old + rust_new + field("message", C(rest)) * eol)
  * rust_skip ^ 0
  * frames(rust_frame)

local parse = g.each_line(Ct(python + java + go + rust + node))

---@param text string
---@return table[]
function M.parse(text)
  return g.with_lines(text, parse:match(text))
end

M.examples = {
  {
    text = "before\nTraceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\n"
      .. "  File \"b.py\", line 9\nKeyError: 'x'\nafter\n",
    result = {
      {
        language = "python",
        kind = "KeyError",
        message = "'x'",
        frames = { { file = "a.py", line = 3, name = "f" }, { file = "b.py", line = 9 } },
        at = 2,
      },
    },
  },
  {
    text = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n",
    result = {
      { language = "python", frames = { { file = "a.py", line = 3, name = "<module>" } }, at = 1 },
    },
  },
  {
    text = "/a/b.js:10\n    x()\n    ^\n\nTypeError: x is not a function\n    at f (/a/b.js:10:5)\n"
      .. "    at async Object.<anonymous> (file:///c.mjs:1:2)\n    at node:internal/main:3:4\n"
      .. "    at new Promise (<anonymous>)\n\nNode.js v20\n",
    result = {
      {
        language = "node",
        kind = "TypeError",
        message = "x is not a function",
        frames = {
          { name = "f", file = "/a/b.js", line = 10, column = 5 },
          { name = "async Object.<anonymous>", file = "file:///c.mjs", line = 1, column = 2 },
          { file = "node:internal/main", line = 3, column = 4 },
          { name = "new Promise" },
        },
        at = 5,
      },
    },
  },
  {
    text = "Exception in thread \"main\" java.lang.IllegalStateException: no\n"
      .. "\tat a.B.c(B.java:12)\n"
      .. "\tat java.base/java.lang.Thread.run(Native Method)\nCaused by: java.io.IOException\n"
      .. "\tat a.B$D.<init>(B.java:3)\n\t... 2 more\n",
    result = {
      {
        language = "java",
        kind = "java.lang.IllegalStateException",
        message = "no",
        frames = {
          { name = "a.B.c", file = "B.java", line = 12 },
          { name = "java.base/java.lang.Thread.run", file = "Native Method" },
        },
        at = 1,
      },
      {
        language = "java",
        kind = "java.io.IOException",
        frames = { { name = "a.B$D.<init>", file = "B.java", line = 3 } },
        at = 4,
      },
    },
  },
  {
    text = "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\n"
      .. "main.f(...)\n\t/tmp/x.go:8\nmain.(*T).g(0x1)\n\t/tmp/x.go:12 +0x1d\nexit status 2\n",
    result = {
      {
        language = "go",
        kind = "panic",
        message = "runtime error: index out of range [5] with length 3",
        frames = {
          { name = "main.f", file = "/tmp/x.go", line = 8 },
          { name = "main.(*T).g", file = "/tmp/x.go", line = 12 },
        },
        at = 1,
      },
    },
  },
  {
    text = "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds\nstack backtrace:\n"
      .. "   0: rust_begin_unwind\n             at /rustc/x/panicking.rs:595:5\n"
      .. "   1: core::panicking\n",
    result = {
      {
        language = "rust",
        kind = "panic",
        message = "index out of bounds",
        place = { file = "src/main.rs", line = 4, column = 5 },
        frames = {
          { name = "rust_begin_unwind", file = "/rustc/x/panicking.rs", line = 595, column = 5 },
          { name = "core::panicking" },
        },
        at = 1,
      },
    },
  },
  {
    text = "thread 'a' (12) panicked at a.rs:1:2:\nassertion `left == right` failed\n"
      .. "  left: 2\n right: 3\nstack backtrace:\n   0: core::panicking\n",
    result = {
      {
        language = "rust",
        kind = "panic",
        message = "assertion `left == right` failed",
        place = { file = "a.rs", line = 1, column = 2 },
        frames = { { name = "core::panicking" } },
        at = 1,
      },
    },
  },
  {
    text = "thread 'main' panicked at 'no', src/main.rs:4:5\nnote: run with `RUST_BACKTRACE=1`\n",
    result = {
      {
        language = "rust",
        kind = "panic",
        message = "no",
        place = { file = "src/main.rs", line = 4, column = 5 },
        frames = {},
        at = 1,
      },
    },
  },
  { text = "at the end (of it)\n    at home\nall is well\n", result = {} },
}

return M
