-- Parts of texts from Lua, and the errors that real tools print (tests/cases/projections): what
-- the grammars read and what the core looks for are the same lines.
-- next: ../core/test_project.c
local core = require("neap.core")
local errors = require("neap.grammar.errors")
local traces = require("neap.grammar.stack_trace")
local shared = require("tests.support.shared")

local function output(name)
  return assert(shared.read("tests/cases/projections/" .. name .. ".txt"))
end

-- What is found in each: messages that are errors; traces as language, kind and frames.
local TOOLS = {
  { "python", 0, { "python FileNotFoundError 2", "python RuntimeError 2" } },
  { "node", 0, { "node TypeError 10" } },
  {
    "java",
    0,
    { "java java.lang.IllegalStateException 2", "java java.lang.NullPointerException 1" },
  },
  { "javac", 1, {} },
  { "rust_panic", 0, { "rust panic 6" } },
  { "rustc", 3, {} },
  { "gcc", 2, {} },
  { "clang", 2, {} },
  { "ld", 1, {} },
  { "make", 4, {} },
  { "git", 4, {} },
  { "cargo_test", 1, { "rust panic 8", "rust panic 10" } },
  { "pytest", 10, {} },
  { "jest", 3, {} },
}

describe("what tools print", function()
  for _, case in ipairs(TOOLS) do
    local name, count, wanted = case[1], case[2], case[3]

    it("of " .. name .. " is read by the grammars", function()
      local text, n, found = output(name), 0, {}
      for _, item in ipairs(errors.parse(text)) do
        if item.severity == "error" then n = n + 1 end
      end
      for i, trace in ipairs(traces.parse(text)) do
        found[i] = ("%s %s %d"):format(trace.language, trace.kind, #trace.frames)
      end
      assert.same(wanted, found)
      assert.equal(count, n)
    end)

    it("of " .. name .. " is an error to the core where it is one to a grammar", function()
      local text, lines = output(name), {}
      for _, at in ipairs((core.error_lines(text))) do
        lines[at] = true
      end
      for _, item in ipairs(errors.parse(text)) do
        if item.severity == "error" then assert.truthy(lines[item.at], item.message) end
      end
      for _, trace in ipairs(traces.parse(text)) do
        assert.truthy(lines[trace.at], trace.kind)
      end
    end)
  end
end)

describe("core.project", function()
  local encoding = assert(core.encoding("o200k_base"))
  local text = ("line\n"):rep(40)

  it("gives text, tokens, ranges and a locator", function()
    local got = assert(core.project(encoding, text, "3-4", { id = 17 }))
    assert.equal("line\nline\n", got.text)
    assert.equal(encoding:count(got.text), got.tokens)
    assert.same({ { from = 11, to = 20, line_from = 3, line_to = 4 } }, got.ranges)
    assert.equal(40, got.lines)
    assert.equal("17, lines 3-4 of 40, sha256 " .. core.sha256(text):sub(1, 12), got.locator)
    assert.is_false(got.whole)
  end)

  it("stops at a number of tokens and says what is left", function()
    local got = assert(core.project(encoding, text, "2-30", { tokens = 30 }))
    assert.is_true(got.tokens <= 30)
    assert.equal(got.ranges[1].line_to + 1, got.rest_from)
    assert.equal(30, got.rest_to)
  end)

  it("needs no encoding without a limit", function()
    assert.equal("line\n", assert(core.project(nil, text, "tail 1")).text)
  end)

  it("tells the forms when the words are wrong", function()
    local got, why, code = core.project(encoding, text, "nonsense")
    assert.is_nil(got)
    assert.equal("arg", code)
    assert.truthy(why:find("use one of: 41-380, head 50", 1, true))
  end)

  it("lets a host judge the lines of a goal", function()
    local log = {}
    for i = 1, 400 do
      log[i] = ("step %d took the usual way"):format(i)
    end
    log[207] = "here the cache was left alone"
    local all = table.concat(log, "\n") .. "\n"
    local ask = { tokens = 60, score = function(line)
      return line:find("cache", 1, true) and 1 or 0
    end }
    local got = assert(core.project(encoding, all, "about why it is slow", ask))
    assert.truthy(got.text:find(log[207], 1, true))
    assert.truthy(got.text:find(log[206], 1, true))
    assert.is_true(got.tokens <= 60)
    ask.score = function() error("no model") end
    assert.has_error(function() core.project(encoding, all, "about x", ask) end)
  end)

  it("knows a part's kind by its words", function()
    assert.equal("match", core.extract_kind("match x"))
    assert.is_nil(core.extract_kind("mtch x"))
  end)
end)
