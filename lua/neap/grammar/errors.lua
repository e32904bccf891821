-- Errors and warnings that tools print. One item a message, in the order of the text.
local lpeg = require("lpeg")
local g = require("neap.grammar")

local M = {}

M.about = "Messages of gcc, clang, make, cargo, pytest, jest and git. A list of { tool, severity "
  .. "= error | warning | note, message, at = its line in the text }, with file, line, column, "
  .. "code, name where the message has them."

local P, S, C, Cc, Cg, Ct = lpeg.P, lpeg.S, lpeg.C, lpeg.Cc, lpeg.Cg, lpeg.Ct
local int, rest, eol, blank = g.integer, g.rest, g.eol, g.blank

local function field(name, pattern)
  return Cg(pattern, name)
end

local function tool(name, severity)
  return field("tool", Cc(name)) * (severity and field("severity", Cc(severity)) or P(true))
end

local severity = field(
  "severity",
  P("fatal ") ^ -1 * P("error") / "error" + P("warning") / "warning" + P("note") / "note"
)
local message = field("message", C(rest))
local path = field("file", C(g.until_any(": \t(,")))
local place = path * ":" * field("line", int) * (":" * field("column", int)) ^ -1

-- src/a.c:12:5: error: expected ';'   and, of the linker: a.c:(.text+0x10): undefined reference
local gcc = place * ": " * severity * ": " * message * tool("gcc")
local linker = path
  * ":"
  * P("(.") * g.until_any(")") * "): "
  * field("message", C("undefined reference" * rest))
  * tool("ld", "error")

-- make: *** [Makefile:12: all] Error 2
local target = P("[")
  * (path * ":" * field("line", int) * ": ") ^ -1
  * field("name", C(g.until_any("]")))
  * "] "
local level = ("[" * g.digit ^ 1 * "]") ^ -1
local make = P("make") * level * ": *** " * target ^ -1 * message * tool("make", "error")

-- error[E0308]: mismatched types
--  --> src/main.rs:3:5
local arrow = g.eol * blank ^ 0 * "--> " * place
local code = "[" * field("code", C(g.until_any("]"))) * "]: "
local cargo_level = field("severity", P("error") / "error" + P("warning") / "warning")
local cargo_text = code * message * arrow ^ -1 + ": " * message * arrow
local cargo = cargo_level * cargo_text * tool("cargo")
local cargo_end = P("error: ")
  * field("message", C((P("could not compile") + "aborting due to") * rest))
  * tool("cargo", "error")

-- FAILED tests/test_a.py::test_b - assert 1 == 2     tests/test_a.py:12: AssertionError
local test_file = C((1 - S(": \r\n")) ^ 1 * P(".py")) + C(g.until_any(": "))
local pytest = (P("FAILED ") + "ERROR ")
  * field("file", test_file)
  * ("::" * field("name", C(g.until_any(" ")))) ^ -1
  * (" - " * message + field("message", C(rest)))
  * tool("pytest", "error")
local pytest_line = P("E") * blank ^ 3 * message * tool("pytest", "error")
local exception = field("message", C(g.word * ("." * g.word) ^ 0))
local pytest_place = place * ": " * exception * #eol * tool("pytest", "error")

-- FAIL src/a.test.js        ● sums › adds two numbers
local jest = P("FAIL ")
  * blank ^ 0
  * field("file", C(g.until_any(" ")))
  * message
  * tool("jest", "error")
local jest_name = blank ^ 0
  * "● "
  * field("name", C(rest))
  * field("message", Cc(""))
  * tool("jest", "error")

-- fatal: not a git repository     CONFLICT (content): Merge conflict in a.c     ! [rejected] …
local conflict = field("message", C(P("CONFLICT (") * rest))
local rejected = blank ^ 0
  * "! ["
  * field("message", C((P("rejected") + "remote rejected") * rest))
local git = (P("fatal: ") * message + conflict + rejected) * tool("git", "error")

-- error: what a program says that is none of those
local plain = severity * ": " * message

local compilers = make + cargo + cargo_end + gcc + linker
local others = pytest + pytest_line + pytest_place + jest + jest_name + git + plain
local parse = g.each_line(Ct(compilers + others) * rest * eol)

---@param text string
---@return table[]
function M.parse(text)
  return g.with_lines(text, parse:match(text))
end

M.examples = {
  {
    text = "cc -c a.c\nsrc/a.c:12:5: error: expected ';'\nsrc/a.c:9: warning: unused\r\n"
      .. "a.h:1:2: fatal error: no.h: No such file\nnothing here: at all\n",
    result = {
      {
        tool = "gcc",
        severity = "error",
        file = "src/a.c",
        line = 12,
        column = 5,
        message = "expected ';'",
        at = 2,
      },
      {
        tool = "gcc",
        severity = "warning",
        file = "src/a.c",
        line = 9,
        message = "unused",
        at = 3,
      },
      {
        tool = "gcc",
        severity = "error",
        file = "a.h",
        line = 1,
        column = 2,
        message = "no.h: No such file",
        at = 4,
      },
    },
  },
  {
    text = "b.c:(.text+0x1f): undefined reference to `f'\n",
    result = {
      {
        tool = "ld",
        severity = "error",
        file = "b.c",
        message = "undefined reference to `f'",
        at = 1,
      },
    },
  },
  {
    text = "make[1]: *** [Makefile:12: all] Error 2\nmake: *** No rule to make target 'x'.  Stop.",
    result = {
      {
        tool = "make",
        severity = "error",
        file = "Makefile",
        line = 12,
        name = "all",
        message = "Error 2",
        at = 1,
      },
      { tool = "make", severity = "error", message = "No rule to make target 'x'.  Stop.", at = 2 },
    },
  },
  {
    text = "error[E0308]: mismatched types\n --> src/main.rs:3:5\n  |\nwarning: unused variable\n"
      .. "  --> src/lib.rs:1:1\nerror: could not compile `x`\n",
    result = {
      {
        tool = "cargo",
        severity = "error",
        code = "E0308",
        file = "src/main.rs",
        line = 3,
        column = 5,
        message = "mismatched types",
        at = 1,
      },
      {
        tool = "cargo",
        severity = "warning",
        file = "src/lib.rs",
        line = 1,
        column = 1,
        message = "unused variable",
        at = 4,
      },
      { tool = "cargo", severity = "error", message = "could not compile `x`", at = 6 },
    },
  },
  {
    text = "E       assert 1 == 2\ntests/test_a.py:12: AssertionError\n"
      .. "FAILED tests/test_a.py::test_b[1-2] - assert 1 == 2\n1 failed\n",
    result = {
      { tool = "pytest", severity = "error", message = "assert 1 == 2", at = 1 },
      {
        tool = "pytest",
        severity = "error",
        file = "tests/test_a.py",
        line = 12,
        message = "AssertionError",
        at = 2,
      },
      {
        tool = "pytest",
        severity = "error",
        file = "tests/test_a.py",
        name = "test_b[1-2]",
        message = "assert 1 == 2",
        at = 3,
      },
    },
  },
  {
    text = "FAIL src/a.test.js\n  ● sums › adds two numbers\n",
    result = {
      { tool = "jest", severity = "error", file = "src/a.test.js", message = "", at = 1 },
      { tool = "jest", severity = "error", name = "sums › adds two numbers", message = "", at = 2 },
    },
  },
  {
    text = "fatal: not a git repository\nCONFLICT (content): Merge conflict in a.c\n"
      .. " ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs\n",
    result = {
      { tool = "git", severity = "error", message = "not a git repository", at = 1 },
      {
        tool = "git",
        severity = "error",
        message = "CONFLICT (content): Merge conflict in a.c",
        at = 2,
      },
      {
        tool = "git",
        severity = "error",
        message = "rejected]        main -> main (fetch first)",
        at = 3,
      },
      { severity = "error", message = "failed to push some refs", at = 4 },
    },
  },
  { text = "all is well\n12 passed\n", result = {} },
}

return M
