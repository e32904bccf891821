-- The small YAML of cassettes: what it makes of each construct, what it refuses and
-- where. next: import_fuzz_spec.lua
local yaml = require("neap.import.yaml")
local import = require("neap.import")
local shared = require("tests.support.shared")

local function parse(text)
  return yaml.json(yaml.parse(text, function(line, why)
    error(("%d: %s"):format(line, why), 0)
  end))
end

local READ = {
  { "a: 1\nb: 'x'\n", '{"a":1,"b":"x"}' },
  { "---\na:\n- 1\n- b: 2\n  c: 3\n-\n  - x\n...\n", '{"a":[1,{"b":2,"c":3},["x"]]}' },
  { "a: {}\nb: []\nc:\nd: ~\n", '{"a":{},"b":[],"c":null,"d":null}' },
  { "- true\n- No\n- -1.50\n- +7\n- 1e5\n- 007\n", '[true,false,-1.50,7,"1e5","007"]' },
  { "a: one\n  two\n\n  three # no\nb: x#y\n", '{"a":"one two\\nthree # no","b":"x#y"}' },
  { "a: one # remark\n# remark\nb: 2\n", '{"a":"one","b":2}' },
  { "a: 'it''s\n\n  here'\n", '{"a":"it\'s\\nhere"}' },
  { 'a: "x\\\n  \\ y\\u00e9\\uD83D\\uDE00\\x41"\n', '{"a":"x yé😀A"}' },
  { "a: |\n  x\n   y\n\n  z\n\nb: |-\n  k\n", '{"a":"x\\n y\\n\\nz\\n","b":"k"}' },
  { "a: |+\n  x\n\n\nb: 1\n", '{"a":"x\\n\\n\\n","b":1}' },
  { "a: >-\n  one\n  two\n\n  three\n", '{"a":"one two\\nthree"}' },
  { "a: |2\n   x\n", '{"a":" x\\n"}' },
  { "'k: 1': v\n\"q\": w\n", '{"k: 1":"v","q":"w"}' },
  { "uri: http://x:1/y\n", '{"uri":"http://x:1/y"}' },
  { "a: !!binary |\n  SGk=\n", '{"a":"SGk=\\n"}' },
}

local REFUSED = {
  { "a: &x 1\n", "1: what begins with \"&\"" },
  { "a: 1\nb: *x\n", "2: what begins with \"*\"" },
  { "a: {b: 1}\n", "1: a filled flow collection" },
  { "? a\n: 1\n", "1: what begins with \"?\"" },
  { "a: 1\na: 2\n", "2: the key \"a\" stands twice" },
  { "a: 'x\nb: 1\n", "1: a quoted text is not closed" },
  { 'a: "\\q"\n', "1: an escape between quotes" },
  { "a:\n  - 1\n b: 2\n", "3: the indent fits nothing above" },
  { "a: 1\nword\n", "2: a line without a key" },
  { "a:\n\tb: 1\n", "2: a tab as indent" },
  { "a: !tag x\n", "1: what begins with \"!\"" },
  { ("- "):rep(200) .. "x\n", "1: is nested too deeply" },
  { "# nothing\n", "1: holds no YAML" },
}

describe("the small YAML", function()
  for _, case in ipairs(READ) do
    it(("reads %q"):format(case[1]), function()
      assert.are.equal(case[2], parse(case[1]))
    end)
  end

  for _, case in ipairs(REFUSED) do
    it(("refuses %q"):format(case[1]:sub(1, 30)), function()
      local ok, why = pcall(parse, case[1])
      assert.is_false(ok)
      assert.are.equal(case[2], why:sub(1, #case[2]))
    end)
  end
end)

describe("a cassette", function()
  local text = assert(shared.read("tests/cases/import/cassette.yaml"))

  it("is refused with the line of what is not read", function()
    local bad = text:gsub("    body: null", "    body: *id001")
    local none, why = import.load_text("c.yaml", bad)
    assert.is_nil(none)
    assert.are.equal('c.yaml:48: what begins with "*"', why:sub(1, 31))
  end)

  it("is refused with the line of a request whose messages are none", function()
    local bad = text:gsub("        role: user", "        role: 7")
    local none, why = import.load_text("c.yaml", bad)
    assert.is_nil(none)
    assert.truthy(why:find("^c%.yaml:2: "), why)
  end)

  it("names the lines of its interactions", function()
    local sessions = assert(import.load_text("c.yaml", text))
    assert.are.same({ 2, 2 }, sessions[1].lines)
    assert.are.same({ "c", "c#2" }, { sessions[1].name, sessions[2].name })
  end)
end)
