-- Files that are no recordings: one line with the file, the line and the reason, exit code 2;
-- --lenient skips and counts. next: count_verbs_spec.lua
local import = require("neap.import")
local shared = require("tests.support.shared")

local DIR = "tests/cases/import/"

-- What the program says of a file, as (exit code, standard error).
local function refuse(path, ...)
  local code, out, err = shared.run({ "import", path, ... })
  assert.are.equal("", out)
  assert.are.equal(1, select(2, err:gsub("\n", "")), err)
  return code, err
end

describe("neap import", function()
  for name, want in pairs({
    ["bad_role.jsonl"] = ":2: a message needs a role",
    ["claude_cut.jsonl"] = ":2: a string is not closed at byte",
    ["empty.jsonl"] = ": is empty;",
    ["latin1.jsonl"] = ":2: a byte that is not UTF-8 at byte 30",
    ["not_json.txt"] = ":1: no known form of recording",
    ["none.jsonl"] = ": No such file or directory",
  }) do
    it("refuses " .. name .. " in one line", function()
      local code, err = refuse(DIR .. name)
      assert.are.equal(2, code)
      local start = "neap: " .. DIR .. name .. want
      assert.are.equal(start, err:sub(1, #start))
    end)
  end

  it("refuses a folder and an unknown form", function()
    local code, err = refuse(DIR)
    assert.are.equal(2, code)
    assert.truthy(err:find("is a directory", 1, true))
    code, err = refuse(DIR .. "native.jsonl", "--from", "paper")
    assert.are.equal(2, code)
    assert.truthy(err:find("known are native", 1, true))
  end)

  it("refuses a line that is larger than memory should hold, without reading it all", function()
    local dir = shared.scratch("import_faults")
    local path = dir .. "/huge.jsonl"
    local f = assert(io.open(path, "wb"))
    f:write('{"role":"user","content":"ok"}\n{"role":"user","content":"')
    local mb = ("x"):rep(1 << 20)
    for _ = 1, 70 do
      f:write(mb)
    end
    f:close()
    local code, err = refuse(path)
    os.remove(path)
    assert.are.equal(2, code)
    assert.truthy(err:find("huge.jsonl:2: the line is longer than 64 MB", 1, true))
  end)

  it("skips and counts with --lenient", function()
    local code, out, err = shared.run({ "import", "--lenient", DIR .. "bad_role.jsonl" })
    assert.are.equal(0, code)
    assert.are.equal(3, select(2, out:gsub("\n", "")))
    assert.truthy(err:find("1 skipped", 1, true))
    code, out, err = shared.run({ "import", "--lenient", DIR .. "claude_cut.jsonl" })
    assert.are.equal(0, code)
    assert.are.equal(2, select(2, out:gsub("\n", "")))
    assert.truthy(err:find("1 skipped", 1, true))
  end)

  it("refuses messages of another provider's form by name", function()
    local text = '[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}]'
    local none, why = import.load_text("a.json", text, { from = "openai" })
    assert.is_nil(none)
    assert.truthy(why:find("a.json:1: a part of type tool_result", 1, true))
  end)

  it("reads standard input", function()
    local code, out, err = shared.run({ "import", "-" }, '{"role":"user","content":"hi"}\n')
    assert.are.equal(0, code, err)
    assert.are.equal('{"neap":1}\n{"role":"user","content":"hi"}\n', out)
  end)

  it("prints one line of counts with --json", function()
    local code, out = shared.run({ "import", "--json", DIR .. "native.jsonl" })
    assert.are.equal(0, code)
    local row = require("neap.core").json.decode(out)
    assert.are.equal(4, row.messages)
    assert.are.equal("native", row.form)
  end)
end)
