-- What hostile recordings, policies and files must not do to who looks at them: reach the
-- terminal with control characters, forge lines, fill the memory. next: cli_replay_spec.lua
local core = require("neap.core")
local shared = require("tests.support.shared")
local visible = require("neap.report.visible")
local json = core.json

local DIR = shared.scratch("hostile_input")
local run = shared.run

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

-- Escape sequences, a C1 control, an override of direction, a forged line.
local EVIL = "\27[2J\27]0;owned\7\8\127\u{9b}31m\u{202e}\u{2066}\rentry 9: forged"

local function recording()
  local lines = {}
  local function add(message)
    lines[#lines + 1] = json.encode(message, { "role" })
  end
  local args = json.encode({ path = "src/a\27[31m.c" })
  local f = { name = "read\27[2J\nforged", arguments = args }
  local call = { id = "c1", type = "function", ["function"] = f }
  add({ role = "user", content = EVIL })
  add({ role = "assistant", content = EVIL, tool_calls = json.array({ call }) })
  add({ role = "tool", tool_call_id = "c1", content = EVIL .. (" ERR_1001 words\n"):rep(400) })
  for _ = 1, 3 do
    add({ role = "assistant", content = "ERR_1001" })
    add({ role = "user", content = "Go on." })
  end
  add({ role = "assistant", content = "Done." })
  return table.concat(lines, "\n") .. "\n"
end

local TRACE = write("evil\27[31m\nforged.jsonl", recording())
local POLICY = write(
  "evil.lua",
  [[
return {
  api = 1, name = "evil\27[31m\nforged", about = "\27[2J\u{9b}31m",
  options = { n = { default = 1, help = "\27[2J" } },
  assemble = function(ctx)
    for e in ctx:entries({ kind = "result" }) do e:mask("\27[31mred\nforged") end
    if ctx.step > 2 then error("\27[31m\nforged") end
  end,
}
]]
)

-- No byte that a terminal obeys; the only controls are line ends and tabs.
local function assert_harmless(text, what)
  assert.is_nil(text:find("[\0-\8\11-\31\127]"), what .. ": a control character")
  assert.is_nil(text:find("\xC2[\x80-\x9F]"), what .. ": a C1 control")
  assert.is_nil(text:find("\xE2\x80[\xAA-\xAE]"), what .. ": an override of direction")
  assert.is_nil(text:find("\xE2\x81[\xA6-\xA9]"), what .. ": an isolate")
  assert.truthy(utf8.len(text), what .. ": not UTF-8")
  assert.is_nil(("\n" .. text):find("\nforged"), what .. ": a forged line")
end

describe("what is printed for people", function()
  local P = { "-p", POLICY, "-w", "3000" }
  local calls = {
    replay = { TRACE },
    compare = { TRACE },
    show = { TRACE, "--turn", "3" },
    explain = { TRACE, "4" },
    diff = { TRACE, "--turn", "1", "--turn", "3" },
    check = { POLICY },
  }
  for verb, args in pairs(calls) do
    it("by neap " .. verb .. " holds nothing that a terminal obeys", function()
      local words = { verb, table.unpack(args) }
      if verb ~= "check" then table.move(P, 1, #P, #words + 1, words) end
      local code, out, err = run(words)
      assert.is_true(code == 0 or code == 1, err)
      assert.truthy(#out + #err > 0)
      assert_harmless(out, verb .. ", standard output")
      assert_harmless(err, verb .. ", standard error")
    end)
  end

  it("still says what was there", function()
    local _, out = run({ "show", TRACE, "--turn", "1", "-w", "3000" })
    assert.truthy(out:find("␛[2J", 1, true))
    assert.truthy(out:find("\\u{9b}31m\\u{202e}\\u{2066}", 1, true))
  end)

  it("keeps the bytes in --json", function()
    local _, out = run({ "show", TRACE, "--turn", "1", "-w", "3000", "--json" })
    local found = false
    for line in out:gmatch("[^\n]+") do
      local part = json.decode(line)
      found = found or part.kind == "user" and part.text == EVIL
    end
    assert.is_true(found)
  end)

  it("leaves other text as it is, and bytes that are no text as ?", function()
    local fine = "plain\ttext\nÄ 漢字 👩‍👧 שלום"
    assert.equal(fine, visible.text(fine))
    assert.equal("a?b?漢", visible.text("a\xffb\x9b漢"))
    assert.equal("a b", visible.line("a\r\n\tb"))
  end)
end)

describe("a file without an end", function()
  it("is refused, whoever reads it", function()
    for _, words in ipairs({ { "replay" }, { "count" }, { "encode" }, { "compare", "--merge" } }) do
      words[#words + 1] = "/dev/zero"
      local code, _, err = run(words)
      assert.equal(2, code)
      assert.truthy(err:find("^neap: /dev/zero:"), err)
      assert.truthy(err:find("%d+ MB"), err)
      assert.equal(1, select(2, err:gsub("\n", "")))
    end
  end)

  it("costs one line when memory runs out first", function()
    if os.getenv("SANITIZE") == "1" then return pending("a sanitizer needs the address space") end
    local err = DIR .. "/err"
    local command = "(ulimit -v 300000; exec %s count /dev/zero) 2>%s"
    local _, _, code = os.execute(command:format(shared.quote(shared.program()), shared.quote(err)))
    local text = shared.read(err)
    assert.equal(2, code)
    assert.truthy(text:find("^neap: not enough memory; [^\n]+\n$"), text)
  end)
end)

describe("a recording whose first line is long", function()
  it("is known by it", function()
    local first = json.encode({ role = "user", content = ("long "):rep(40000) }, { "role" })
    local path = write("long.jsonl", first .. '\n{"role":"assistant","content":"Yes."}\n')
    local code, _, err = run({ "import", path })
    assert.equal(0, code, err)
    assert.truthy(err:find("native; 2 records, 2 messages", 1, true), err)
  end)
end)

describe("a zero byte in an option", function()
  it("is refused: C would read another tenant, session or file", function()
    local engine = assert(core.engine({ data = core.data_dir() }))
    for _, name in ipairs({ "store", "tenant", "data" }) do
      local ok, why = pcall(core.engine, { [name] = "a\0b" })
      assert.is_false(ok)
      assert.truthy(why:find("option " .. name .. " must not hold a zero byte", 1, true), why)
    end
    for _, name in ipairs({ "name", "policy", "format", "encoding", "options" }) do
      local ok, why = pcall(engine.session, engine, { [name] = "a\0b" })
      assert.is_false(ok)
      assert.truthy(why:find("option " .. name .. " must not hold a zero byte", 1, true), why)
    end
    engine:close()
  end)
end)

describe("a file named by dots", function()
  it("has its requests in a folder of its own", function()
    local text = '{"role":"user","content":"a"}\n{"role":"assistant","content":"b"}\n'
    for _, name in ipairs({ "...jsonl", "..jsonl" }) do
      local path, dir = write(name, text), DIR .. "/requests"
      assert.equal(0, (run({ "replay", path, "--requests", dir })))
      assert.truthy(shared.read(dir .. "/" .. name .. "/0001.json"))
      assert.is_nil(shared.read(DIR .. "/0001.json"))
    end
  end)
end)
