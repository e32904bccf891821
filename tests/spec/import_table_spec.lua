-- neap import over many recordings: the table of forms, and the page of the manual that holds it
-- for the recordings by which the importers are tested. next: recordings_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")

local DIR = "tests/cases/import/"
local PAGE = "docs/recordings.md"

-- The recordings whose native form is known.
local function recordings()
  local list = {}
  for _, name in ipairs(core.list(DIR)) do
    if name:find("%.native$") then list[#list + 1] = DIR .. name:sub(1, -8) end
  end
  return list
end

local function with(words, list)
  return table.move(list, 1, #list, #words + 1, words)
end

describe("neap import --table", function()
  local code, out, err = shared.run(with({ "import", "--table" }, recordings()))

  it("has a row for every form, with what was read, merged and kept aside", function()
    assert.are.equal(0, code, err)
    assert.are.equal("", err)
    local head = "\n" .. out:match("^.-\n\n")
    for _, form in ipairs(import.forms()) do
      assert.truthy(head:find("\n" .. form.name .. " ", 1, true), form.name)
    end
    assert.truthy(out:find("\nclaude_code\n  kept aside: ", 1, true))
  end)

  it("adds up to what each recording says by itself", function()
    local sums = { records = 0, messages = 0 }
    local _, lines = shared.run(with({ "import", "--json" }, recordings()))
    local last
    for line in lines:gmatch("[^\n]+") do
      local row = core.json.decode(line)
      sums.messages = sums.messages + row.messages
      -- Sessions of one file tell the file's counts.
      if not (last and row.sessions > 1 and row.trace:find("#", 1, true)) then
        sums.records = sums.records + row.records
      end
      last = row
    end
    local records, messages = 0, 0
    for row in out:match("\n(.-)\n\n"):gmatch("[^\n]+") do
      local n = {}
      for number in row:gmatch("%s([%d,]+)") do
        n[#n + 1] = tonumber((number:gsub(",", "")))
      end
      records, messages = records + n[3], messages + n[4]
    end
    assert.are.equal(sums.records, records)
    assert.are.equal(sums.messages, messages)
  end)

  it("goes on after a recording that cannot be read, and says so", function()
    local good, bad = DIR .. "pi.jsonl", DIR .. "not_json.txt"
    local rc, text, why = shared.run({ "import", "--table", bad, good })
    assert.are.equal(2, rc)
    assert.truthy(text:find("\npi ", 1, true))
    assert.are.equal("neap: " .. bad, why:sub(1, 6 + #bad))
  end)

  it("is needed for many, since one recording is printed", function()
    local rc, _, why = shared.run({ "import", DIR .. "pi.jsonl", DIR .. "codex.jsonl" })
    assert.are.equal(2, rc)
    assert.truthy(why:find("--table", 1, true))
  end)

  it("is what the manual shows", function()
    local page = assert(shared.read(PAGE))
    local shown = page:match("<!%-%- table %-%->\n```text\n(.-)```\n")
    assert.are.equal(out, shown)
  end)
end)

describe("the manual's importer", function()
  local code = assert(shared.read(PAGE)):match("```lua\n(local core.-)```\n")
  local importer = assert(load(code, "=importer"))()

  local function read(text, options)
    return importer.read(require("neap.import.source").new("d.jsonl", text, options))[1]
  end

  local TEXT = '{"who":"user","says":"hel\\u006co","at":1.50}\n{"who":"cat","says":"?"}\n'
    .. '{"who":"assistant","says":"hi"}\n'

  it("knows its own, and is 30 lines", function()
    assert.are.equal(80, importer.detect("d.jsonl", TEXT))
    assert.are.equal(0, importer.detect("d.jsonl", '{"role":"user"}'))
    local _, lines = code:gsub("\n", "")
    assert.is_true(lines <= 32, lines)
  end)

  it("reads messages as they were written and keeps the rest", function()
    local session = read(TEXT)
    local first = '{"role":"user","content":"hel\\u006co","meta":{"records":[{"at":1.50}]}}'
    assert.are.equal(first, session.messages[1])
    assert.are.equal('{"role":"assistant","content":"hi"}', session.messages[2])
    assert.are.equal(1, session.counts.aside.cat)
  end)

  it("skips and counts what it cannot read", function()
    local session = read('7\n{"who":"user","says":1}\n' .. TEXT, { lenient = true })
    assert.are.equal(2, session.counts.skipped)
    assert.are.equal(2, #session.messages)
  end)
end)
