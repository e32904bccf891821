-- neap watch: a table for each save, with what changed; a broken version; modules; the end.
-- next: cli_sessions_spec.lua
local core = require("neap.core")
local terminal = require("neap.report.terminal")
local shared = require("tests.support.shared")

local DIR = shared.scratch("cli_watch")
local TRACE = "examples/recordings/planted.jsonl"
local quote = shared.quote

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path .. ".new", "wb"))
  f:write(text)
  f:close()
  assert(os.rename(path .. ".new", path)) -- as editors save
  return path
end

local function policy(keep)
  return ([[
return {
  api = 1, name = "mine",
  assemble = function(ctx)
    for e in ctx:entries({ kind = "result", at = "full", except_last = %s }) do e:mask() end
  end,
}
]]):format(keep)
end

-- Starts the program; returns functions that wait until `n` lines of a stream match, and its end.
local function start(name, words)
  local out, err, rc = DIR .. "/" .. name .. ".out", DIR .. "/" .. name .. ".err", DIR .. "/rc"
  os.remove(rc)
  local parts = { quote(shared.program()), "watch" }
  for _, word in ipairs(words) do
    parts[#parts + 1] = quote(word)
  end
  local command = "(%s >%s 2>%s; echo $? >%s) </dev/null &"
  os.execute(command:format(table.concat(parts, " "), quote(out), quote(err), quote(rc)))
  local function wait(path, pattern, n)
    for _ = 1, 600 do -- a minute, for a machine that is busy
      local _, found = (shared.read(path) or ""):gsub(pattern, "")
      if found >= n then return shared.read(path) end
      core.sleep_ms(100)
    end
    error(("no %s in %s:\n%s\n%s"):format(pattern, path, shared.read(out), shared.read(err)))
  end
  return {
    tables = function(n)
      return wait(out, "planted [^\n]+\n\n", n)
    end,
    errors = function(n)
      return wait(err, "neap: [^\n]+\n", n)
    end,
    ended = function()
      return tonumber(wait(rc, "%d+\n", 1)), shared.read(out), shared.read(err)
    end,
  }
end

describe("neap watch", function()
  it("prints a table for each version, with the change against the one before", function()
    local path = write("mine.lua", policy(10))
    local w = start("changes", { TRACE, "-p", path, "-w", "16000", "--rounds", "3" })
    w.tables(1)
    write("mine.lua", policy(2))
    w.tables(2)
    write("mine.lua", policy(2) .. "-- the same\n")
    local code, out, err = w.ended()
    assert.are.equal(0, code)
    assert.are.equal("", err)
    local first, second, third = out:match("^(.-\n)\n(.-\n)\n(.-\n)\n$")
    assert.truthy(first:find("policy mine, version 1", 1, true))
    assert.is_nil(first:find("%(%+%d") or first:find("%(−%d"))
    assert.truthy(second:find("version 2", 1, true))
    assert.truthy(second:find("%(−[%d,]+%)"))
    assert.truthy(third:find("version 3", 1, true))
    assert.is_nil(third:find("%(−"))
    -- The numbers are those of a replay.
    local _, replay = shared.run({ "replay", TRACE, "-p", path, "-w", "16000" })
    assert.are.equal(replay:match("(planted [^\n]+)"), third:match("(planted [^\n]+)"))
  end)

  it("names the line of a version that does not load, shows it, and prints no table", function()
    local path = write("broken.lua", policy(10))
    local w = start("broken", { TRACE, "-p", path, "-w", "16000", "--rounds", "3" })
    w.tables(1)
    write("broken.lua", (policy(10):gsub('name = "mine",', 'name = = "mine",')))
    w.errors(1)
    write("broken.lua", policy(9))
    local code, out, err = w.ended()
    assert.are.equal(0, code)
    assert.matches("broken%.lua:2: unexpected symbol", err)
    assert.truthy(err:find('     2 │   api = 1, name = = "mine",', 1, true))
    assert.are.equal(2, select(2, out:gsub("policy mine", "")))
    assert.truthy(out:find("version 3", 1, true))
  end)

  it("tells of hooks that fail", function()
    local path = write("hook.lua", (policy(10):gsub("e:mask", "e:maks")))
    local w = start("hook", { TRACE, "-p", path, "-w", "16000", "--rounds", "1" })
    local code, out, err = w.ended()
    assert.are.equal(0, code)
    assert.matches("hook%.lua:4: ", err)
    assert.truthy(out:find("errors", 1, true))
  end)

  it("follows the modules that the policy requires", function()
    os.execute("mkdir -p " .. quote(DIR .. "/part"))
    write("part/keep.lua", "return 10\n")
    local path = write("modular.lua", 'local keep = require("part.keep")\n' .. policy("keep"))
    local w = start("modular", { TRACE, "-p", path, "-w", "16000", "--rounds", "2" })
    w.tables(1)
    write("part/keep.lua", "return 1\n")
    local code, out, err = w.ended()
    assert.are.equal(0, code, err)
    assert.truthy(out:find("%(−[%d,]+%)"))
  end)

  it("prints the lines of replay --json with --json", function()
    local path = write("json.lua", policy(10))
    local words = { "watch", TRACE, "-p", path, "-w", "16000", "--rounds", "1", "--json" }
    local code, out = shared.run(words)
    assert.are.equal(0, code)
    local _, all = shared.run({ "replay", TRACE, "-p", path, "-w", "16000", "--json" })
    assert.are.equal(all:match("[^\n]+\n$"), out)
  end)

  it("ends on an interrupt and says nothing", function()
    local path = write("quiet.lua", policy(10))
    local form = "timeout --preserve-status -s INT 2 %s watch %s -p %s -w 16000 2>&1 >/dev/null"
    local command = form:format(quote(shared.program()), TRACE, quote(path))
    local p = assert(io.popen("exec 3>&1; " .. command .. "; echo $?"))
    local said = p:read("a")
    p:close()
    assert.are.equal("130\n", said)
  end)

  it("needs a policy", function()
    local code, _, err = shared.run({ "watch", TRACE })
    assert.are.equal(2, code)
    assert.truthy(err:find("needs --policy POLICY", 1, true))
  end)
end)

describe("a table drawn in place", function()
  it("is drawn over as many lines as it took", function()
    assert.are.equal(2, terminal.height("a\nb\n"))
    assert.are.equal("", terminal.above(nil))
    assert.are.equal("\27[2A\r\27[J", terminal.above(2))
  end)
end)
