-- Every grammar keeps what lua/neap/grammar/README.md asks: its examples hold, its results are
-- plain data, and hostile text is parsed as any other.
local lfs = require("lfs")

local DIR = "lua/neap/grammar"
local CAP = 65536

local function names()
  local list = {}
  for file in lfs.dir(DIR) do
    list[#list + 1] = file:match("^([a-z][a-z0-9_]*)%.lua$")
  end
  table.sort(list)
  return list
end

-- Raises where the value is not plain.
local function check_plain(v, depth)
  local t = type(v)
  assert.is_true(depth < 32, "too deep")
  assert.is_true(t == "table" or t == "string" or t == "number" or t == "boolean", t)
  if t ~= "table" then return end
  assert.is_nil(getmetatable(v))
  for k, x in pairs(v) do
    assert.is_true(type(k) == "string" or math.type(k) == "integer")
    check_plain(x, depth + 1)
  end
end

-- Pieces that grammars look for, each repeated to the cap.
local pieces = {
  "\n", "\r", "\r\n", " ", "a", "(", ":", "a: ", "error: ", "note: \n", "a:1:1: error: x\n",
  "error[E]: x\n", " --> a:1:1\n", "make: *** [a:1: ", "FAILED a", "E   ", "● ", "CONFLICT (",
  " ! [rejected]", "Traceback (most recent call last):\n", '  File "a", line 1\n',
  "x\n    at a\n", "    at f (a:1:1)\n", "at ", "goroutine 1 [x\n", "goroutine 1 [\nf\n\ta:1\n",
  "[signal \n", "panic: x\n\n", "created by ", "(*", "thread 'a' panicked at '",
  "thread 'a' panicked at 'x\n0: a\n", "a.b\n\tat a.b(c)\n", "Caused by: ", "\tat a(b",
  "\0", "\xff\xfe", "\u{2028}",
}

describe("grammars", function()
  local list = names()

  it("are there", function()
    assert.is_true(#list >= 2)
  end)

  for _, name in ipairs(list) do
    local m = require("neap.grammar." .. name)

    it(name .. " says what it does", function()
      assert.is_string(m.about)
      assert.is_function(m.parse)
      assert.is_true(#m.examples >= 2)
    end)

    it(name .. " keeps its examples", function()
      for _, e in ipairs(m.examples) do
        assert.are.same(e.result, m.parse(e.text))
      end
    end)

    it(name .. " finds each example between other texts, once", function()
      for _, e in ipairs(m.examples) do
        local found = m.parse("first\n\n" .. e.text .. "\n\nlast\n")
        assert.are.equal(#e.result, #found)
        for i, item in ipairs(found) do
          assert.are.equal(e.result[i].at + 2, item.at)
        end
      end
    end)

    it(name .. " gives plain data for any text up to the cap", function()
      for _, piece in ipairs(pieces) do
        check_plain(m.parse(piece:rep(CAP // #piece)), 0)
      end
      for _, a in ipairs(pieces) do
        for _, b in ipairs(pieces) do
          check_plain(m.parse((a .. b):rep(40)), 0)
        end
      end
    end)

    it(name .. " keeps nothing between two calls", function()
      local e = m.examples[1]
      m.parse(m.examples[2].text)
      assert.are.same(e.result, m.parse(e.text))
    end)
  end
end)
