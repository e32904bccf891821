-- neap artifact get, parts: options and what they give, limits of tokens, what a kind is shown as,
-- messages and exit codes. next: kinds_spec.lua
local core = require("neap.core")
local shared = require("tests.support.shared")

local bin = os.getenv("NEAP_BIN") or "build/neap"

describe("neap artifact get", function()
  local dir, store

  setup(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(core.mkdir(dir))
    store = dir .. "/store.db"
  end)

  teardown(function()
    for _, name in ipairs({ "store.db", "store.db-wal", "store.db-shm", "out", "err" }) do
      os.remove(dir .. "/" .. name)
    end
    os.remove(dir)
  end)

  -- Exit code, standard output, standard error.
  local function run(line)
    local command = ("%s artifact %s --store %s > %s/out 2> %s/err"):format(
      shared.quote(bin), line, shared.quote(store), dir, dir)
    local _, _, code = os.execute(command)
    return code, assert(shared.read(dir .. "/out")), assert(shared.read(dir .. "/err"))
  end

  setup(function()
    assert.equal(0, (run("put tests/cases/projections/pytest.txt --tool bash --query pytest")))
  end)

  it("takes lines to the end and from the beginning, and says which are not there", function()
    local text = assert(shared.read("tests/cases/projections/pytest.txt"))
    local _, count = text:gsub("\n", "")
    local last = text:match("\n([^\n]*\n[^\n]*\n)$")
    assert.same({ 0, last, "" }, { run(("get files/1 --lines %d-"):format(count - 1)) })
    assert.same({ 0, text:match("^(.-\n.-\n)"), "" }, { run("get files/1 --lines -2") })
    local line = ("--lines %d-%d"):format(count + 1, count + 9)
    for _, more in ipairs({ "", " --tokens 50", " --json" }) do
      local code, out, err = run("get files/1 " .. line .. more)
      assert.same({ 1, "" }, { code, out })
      assert.truthy(err:find(("there is no line %d; "):format(count + 1), 1, true), err)
    end
    for _, wrong in ipairs({ "-", "5-3", "0-", "-0", "x-", "1-2-3" }) do
      local code, _, err = run("get files/1 --lines " .. wrong)
      assert.equal(2, code)
      assert.truthy(err:find("A-B with A from 1 to B is expected", 1, true), err)
    end
  end)

  it("says that nothing fits, and ends what it shows with a line end", function()
    local code, out, err = run("get files/1 --head 5 --tokens 1")
    assert.same({ 1, "", "neap: --tokens 1: nothing of it fits; give more\n" }, { code, out, err })
    local path = dir .. "/out.json"
    local f = assert(io.open(path, "wb"))
    f:write('{"a": [1, 22]}'):close()
    local id = select(2, run("put " .. shared.quote(path))):match("%S+")
    os.remove(path)
    for _, way in ipairs({ "$.a[1]", ".a[1]", "a[1]", "['a'][1]" }) do
      assert.same({ 0, "22\n", "" }, { run(("get %s --json %q"):format(id, way)) }, way)
    end
    assert.same({ 0, '{"a": [1, 22]}', "" }, { run("get " .. id) })
    code, out, err = run("get " .. id .. " '$.a'")
    assert.same({ 2, "" }, { code, out })
    assert.truthy(err:find("a JSON path goes with --json", 1, true), err)
  end)

  it("gives lines, heads, tails and matches", function()
    local text = assert(shared.read("tests/cases/projections/pytest.txt"))
    assert.same({ 0, text:match("^(.-\n.-\n)"), "" }, { run("get files/1 --head 2") })
    assert.same({ 0, text:match("\n([^\n]*\n)$"), "" }, { run("get files/1 --tail 1") })
    local code, out = run("get files/1 --match '^FAILED.*test_n'")
    assert.same({ 0, "36: FAILED test_app.py::test_n[2] - assert 2 < 2\n" }, { code, out })
    code, out = run("get 1 --session files --match test_n.2 --context 1 --tokens 400")
    assert.equal(0, code)
    assert.truthy(out:find("35: FAILED", 1, true))
  end)

  it("stops at a number of tokens", function()
    local code, out = run("get files/1 --part 1- --tokens 60 --json")
    local one = core.json.decode(out)
    assert.equal(0, code)
    assert.is_true(one.tokens <= 60)
    assert.equal(assert(core.encoding("o200k_base")):count(one.text), one.tokens)
    assert.truthy(one.locator:find("^files/1, lines 1%-%d+ of 37, sha256 %x+$"))
    assert.truthy(one.rest:find("^%d+%-37$"))
    assert.equal("1-", one.part)
  end)

  it("says how many matches and headings it leaves out, within the limit", function()
    local text = {}
    for i = 1, 120 do
      text[i] = i % 2 == 0 and ("## heading %d"):format(i) or ("words of line %d"):format(i)
    end
    local path = dir .. "/headings.md"
    local f = assert(io.open(path, "wb"))
    f:write(table.concat(text, "\n"), "\n"):close()
    local id = select(2, run("put " .. shared.quote(path))):match("%S+")
    os.remove(path)
    local encoding = assert(core.encoding("o200k_base"))
    for _, part in ipairs({ "--match heading", "--match '^#'", "--outline" }) do
      local _, whole = run(("get %s %s"):format(id, part))
      assert.is_nil(whole:find("more in", 1, true), part)
      local some = 0
      for tokens = 1, 260, 3 do
        local code, out, err = run(("get %s %s --tokens %d"):format(id, part, tokens))
        if code == 1 then
          assert.truthy(out == "" and err:find("nothing of it fits", 1, true), err)
        else
          local shown = select(2, out:gsub("heading", ""))
          local left, from, to = out:match("%[… (%d+) more in lines (%d+)%-(%d+)%]\n$")
          assert.is_true(encoding:count(out) <= tokens, out)
          assert.truthy(left, part .. " " .. tokens .. ": " .. out)
          local last = out:match("([^\n]*)\n[^\n]*\n$")
          local first = shown * 2 + (last:find("…", 1, true) and 0 or 2) -- cut: a part of it
          assert.same({ 60 - shown, first, 120 }, {
            tonumber(left), tonumber(from), tonumber(to) }, out)
          some = some + 1
        end
      end
      assert.is_true(some > 50, part)
    end
  end)

  it("picks the part by the kind of text when none is asked for", function()
    local code, out = run("get files/1 --tokens 200 --json")
    local one = core.json.decode(out)
    assert.same({ 0, "test_log", "errors" }, { code, one.output, one.part })
    assert.truthy(one.text:find("E   AssertionError: assert 5 == 6", 1, true))
  end)

  it("says what is wrong in one line", function()
    for line, want in pairs({
      ["get files/1 --head 2 --tail 3"] = "give one of them",
      ["get files/1 --context 2"] = "--context goes with --match",
      ["get files/1 --part nonsense"] = "use one of: 41-380, head 50",
      ["get files/1 --match '('"] = "is not taken",
      ["get files/1 --rows x"] = "use one of",
      ["get files/1 more"] = "one argument too many",
      ["list --head 3"] = "neap artifact list takes no --head",
    }) do
      local code, out, err = run(line)
      assert.same({ 2, "" }, { code, out }, line)
      assert.truthy(err:find(want, 1, true), err)
      assert.equal(1, select(2, err:gsub("\n", "\n")))
    end
  end)

  it("exits 1 when the text has no such part", function()
    local absent = { "--match nothing_like_it", "--section Install", "--part 99-", "--rows 1" }
    for _, line in ipairs(absent) do
      local code, out, err = run("get files/1 " .. line)
      assert.same({ 1, "" }, { code, out }, line)
      assert.truthy(#err > 10)
    end
  end)

  it("takes a JSON path behind --json", function()
    local path = dir .. "/out.json"
    local f = assert(io.open(path, "wb"))
    f:write('{"items":[{"id":1},{"id":12345678901234567890}]}')
    f:close()
    local code, id = run("put " .. path)
    os.remove(path)
    assert.equal(0, code)
    id = id:gsub("%s", "")
    local code2, out = run("get " .. id .. " --json '$.items[1].id'")
    assert.same({ 0, "12345678901234567890\n" }, { code2, out })
    assert.same({ 0, '{"id":1}\n', "" }, { run("get --json '$.items[0]' " .. id) })
    code = run("get " .. id .. " --json '$.none'")
    assert.equal(1, code)
  end)
end)
