-- The policy of a project folder runs where none is named, once it is trusted and as long as it
-- and its modules are what they were; what the user names needs no trust. next: ../../SECURITY.md
local core = require("neap.core")
local import = require("neap.import")
local replay = require("neap.report.replay")
local shared = require("tests.support.shared")

local json = core.json

-- The scratch folder is outside of any checkout: what is above it must be no repository.
local function outside()
  local p = assert(io.popen("mktemp -d"))
  local path = p:read("l")
  p:close()
  return path
end

local dir = outside()
local home = dir .. "/home"
local trace = core.realpath("examples/recordings/english.jsonl")
local program = core.realpath(shared.program())

local function sh(command)
  assert(os.execute(command), command)
end

local function write(path, text)
  sh("mkdir -p " .. shared.quote(dir .. "/" .. path:match("^(.*)/")))
  local f = assert(io.open(dir .. "/" .. path, "wb"))
  f:write(text)
  f:close()
end

-- Runs the program in a folder of the scratch one, with a home of its own.
local function run(folder, ...)
  local words = {}
  for i, word in ipairs({ program, ... }) do
    words[i] = shared.quote(word)
  end
  local out, err = dir .. "/out", dir .. "/err"
  local form = "cd %s && XDG_DATA_HOME=%s %s >%s 2>%s </dev/null"
  local command = form:format(
    shared.quote(dir .. "/" .. folder),
    shared.quote(home),
    table.concat(words, " "),
    shared.quote(out),
    shared.quote(err)
  )
  local _, _, code = os.execute(command)
  return code, assert(shared.read(out)), assert(shared.read(err))
end

local function policy(name)
  return ("return { api = 1, name = %q }\n"):format(name)
end

-- Which policy a replay in the folder used, or nil and what was said.
local function used(folder, ...)
  local code, out, err = run(folder, "replay", trace, "-w", "16000", "--json", ...)
  if code ~= 0 then return nil, err, code end
  local last = out:match("([^\n]+)\n$")
  return json.decode(last).policy, err
end

local POLICY = ".neap/policy.lua"

local function clear()
  sh("rm -rf " .. shared.quote(dir))
end

describe("the policy of a project", function()
  teardown(clear)
  before_each(function()
    sh("rm -rf " .. shared.quote(dir) .. " && mkdir -p " .. shared.quote(home))
    write("p/" .. POLICY, policy("mine"))
  end)

  it("is refused until it is trusted, with the command that does it", function()
    local name, err, code = used("p")
    assert.is_nil(name)
    assert.are.equal(2, code)
    local path = core.realpath(dir .. "/p/" .. POLICY)
    local want = "neap: %s: this project brings a policy, which is not trusted; read it, then "
      .. "run neap trust %s, or name another with -p (-p full: everything)\n"
    assert.are.equal(want:format(path, path), err)
    local command = err:match("run neap trust (%S+),")
    assert.are.equal(0, (run("p", "trust", command)))
    name, err = used("p")
    assert.are.equal("mine", name)
    assert.is_truthy(err:find("the policy of this project is used, " .. path, 1, true), err)
  end)

  it("is not asked for where a policy is named", function()
    assert.are.equal("full", (used("p", "-p", "full")))
    assert.are.equal("mine", (used("p", "-p", POLICY))) -- named: the user's own choice
  end)

  it("is not taken by compare, whose help says so; named, it is compared", function()
    local function compared(...)
      local code, out, err = run("p", "compare", trace, "-w", "16000", "--json", ...)
      assert.are.equal(0, code, err)
      return out:find('"policy":"mine"', 1, true) ~= nil, err
    end
    assert.are.equal(0, (run("p", "trust", POLICY)))
    local taken, err = compared()
    assert.is_false(taken)
    assert.are.equal("", err)
    assert.is_true((compared("-p", POLICY)))
    local _, help = run("p", "compare", "--help")
    local said = "own policy is not taken by itself: name it, as -p " .. POLICY
    assert.is_truthy(help:find(said, 1, true))
  end)

  it("is refused again when it has changed, and when a module of it has", function()
    write("p/" .. POLICY, "local m = require 'lib.m'\n" .. policy("mine"))
    write("p/.neap/lib/m.lua", "return 1\n")
    assert.are.equal(0, (run("p", "trust", POLICY)))
    assert.are.equal("mine", (used("p")))
    for _, change in ipairs({
      { "p/.neap/lib/m.lua", "return 2\n" },
      { "p/.neap/lib/new.lua", "return 2\n" },
      { "p/" .. POLICY, policy("other") },
    }) do
      write(change[1], change[2])
      local name, err, code = used("p")
      assert.is_nil(name, change[1])
      assert.are.equal(2, code)
      assert.is_truthy(err:find("has changed since it was trusted; read it, then run ", 1, true))
      assert.are.equal(0, (run("p", "trust", POLICY)))
      assert.is_truthy(used("p"))
    end
  end)

  -- Module names reach deeper than the hash does, and what cannot be listed can be opened.
  it("is not trusted with modules that the hash does not hold", function()
    local deep = "p/.neap" .. ("/a"):rep(9)
    write(deep .. "/m.lua", "return 1\n")
    local code, _, err = run("p", "trust", POLICY)
    assert.are.equal(2, code)
    assert.is_truthy(err:find("more than 8 folders deep", 1, true), err)
    sh("rm -rf " .. shared.quote(dir .. "/p/.neap/a"))
    assert.are.equal(0, (run("p", "trust", POLICY)))
    write(deep .. "/m.lua", "return 1\n")
    assert.is_nil((used("p")))
  end)

  -- One name that reads as two would have the hash of two files.
  it("is not trusted beside a name that holds a line break", function()
    write("p/.neap/x.lua\n" .. ("0"):rep(64) .. " y.lua", "return 1\n")
    local code, _, err = run("p", "trust", POLICY)
    assert.are.equal(2, code)
    assert.is_truthy(err:find("holds a control character; rename it", 1, true), err)
  end)

  it("stays what it was when files beside it change that are no Lua", function()
    assert.are.equal(0, (run("p", "trust", POLICY)))
    write("p/.neap/notes.md", "x")
    assert.are.equal("mine", (used("p")))
  end)

  -- A run over many recordings loads it for each, long after it was allowed.
  it("is looked at again whenever it is loaded", function()
    assert.are.equal(0, (run("p", "trust", POLICY)))
    local still = true
    local function replayed()
      local o = { policy = dir .. "/p/" .. POLICY, window = 16000, stop_at = 1 }
      o.still = function()
        return still or nil, "it is another"
      end
      return replay.run(assert(import.load(trace))[1], o)
    end
    local state = assert(replayed())
    replay.close(state)
    still = false
    local none, why = replayed()
    assert.is_nil(none)
    assert.are.equal("it is another", why)
  end)

  it("is known by its path: a copy elsewhere is not trusted", function()
    assert.are.equal(0, (run("p", "trust", POLICY)))
    write("q/" .. POLICY, policy("mine"))
    assert.is_nil((used("q")))
  end)

  it("is found from folders of its repository, and not from those of others", function()
    write("p/src/deep/x.c", "")
    assert.are.equal(0, (run("p", "trust", POLICY)))
    assert.are_not.equal("mine", (used("p/src/deep")))
    sh("mkdir " .. shared.quote(dir .. "/p/.git"))
    assert.are.equal("mine", (used("p/src/deep")))
    sh("mkdir " .. shared.quote(dir .. "/p/src/.git")) -- a repository of its own in between
    assert.are_not.equal("mine", (used("p/src/deep")))
  end)

  it("cannot stand in for a shipped one by its name", function()
    write("p/full", policy("mine"))
    assert.are.equal("full", (used("p", "-p", "full")))
    assert.are.equal("mine", (used("p", "-p", "./full")))
  end)

  it("is used by show, explain and diff as well", function()
    for _, words in ipairs({
      { "show", trace, "--turn", "3", "-w", "16000" },
      { "explain", trace, "5", "-w", "16000" },
      { "diff", trace, "--turn", "3", "--turn", "4", "-w", "16000" },
    }) do
      run("p", "trust", "--remove", POLICY)
      local code, _, err = run("p", table.unpack(words))
      assert.are.equal(2, code, words[1])
      assert.is_truthy(err:find("which is not trusted", 1, true), err)
      run("p", "trust", POLICY)
      code, _, err = run("p", table.unpack(words))
      assert.are.equal(0, code, err)
    end
  end)
end)

describe("neap trust", function()
  teardown(clear)
  before_each(function()
    sh("rm -rf " .. shared.quote(dir) .. " && mkdir -p " .. shared.quote(home))
    write("p/" .. POLICY, policy("mine"))
  end)

  it("keeps what it knows in a file of its owner alone, and nothing else beside it", function()
    run("p", "trust", POLICY)
    local p = assert(io.popen("stat -c %a " .. shared.quote(home .. "/neap/trust")))
    assert.are.equal("600\n", p:read("a"))
    p:close()
    assert.are.same({ "trust" }, core.list(home .. "/neap"))
  end)

  it("lists, shows what has changed or gone, and takes back", function()
    write("b/x.lua", policy("x"))
    write("a/x.lua", policy("x"))
    run("b", "trust", "x.lua")
    run("a", "trust", "x.lua")
    run("p", "trust", POLICY)
    write("b/x.lua", policy("y"))
    os.remove(dir .. "/a/x.lua")
    local code, out = run("p", "trust", "--list", "--json")
    assert.are.equal(0, code)
    local states = {}
    for line in out:gmatch("[^\n]+") do
      local item = json.decode(line)
      states[#states + 1] = item.path:match("([^/]+/[^/]+)$") .. " " .. item.state
      assert.are.equal(64, #item.sha256)
    end
    assert.are.same({ "a/x.lua gone", "b/x.lua changed", ".neap/policy.lua trusted" }, states)
    assert.are.equal(0, (run("p", "trust", "--remove", POLICY)))
    local again, _, err = run("p", "trust", "--remove", POLICY)
    assert.are.equal(1, again)
    assert.is_truthy(err:find("was not trusted", 1, true))
    _, out = run("p", "trust", "--list")
    assert.are.equal(2, select(2, out:gsub("\n", "")))
  end)

  it("refuses what is no file, and a store that it cannot read", function()
    local code, _, err = run("p", "trust", "nothing.lua")
    assert.are.equal(2, code)
    assert.are.equal("neap: nothing.lua: there is no such file; check the name\n", err)
    code, _, err = run("p", "trust", ".neap")
    assert.are.equal(2, code)
    assert.is_truthy(err:find("is no regular file", 1, true))
    code = run("p", "trust")
    assert.are.equal(2, code)
    write("home/neap/trust", "not a line\n")
    code, _, err = run("p", "trust", POLICY)
    assert.are.equal(2, code)
    assert.is_truthy(err:find("trust:1: is no line of a hash, a tab and a path", 1, true), err)
    assert.are.equal(2, select(3, used("p"))) -- and nothing is taken for trusted
  end)

  it("runs nothing of what it trusts", function()
    write("p/" .. POLICY, "error('ran')")
    local code, _, err = run("p", "trust", POLICY)
    assert.are.equal(0, code)
    assert.are.equal("", err)
  end)

  it("is told by doctor", function()
    local function project()
      local _, out = run("p", "doctor", "--json")
      for line in out:gmatch("[^\n]+") do
        local row = json.decode(line)
        if row.what == "project policy" then return row end
      end
    end
    assert.is_truthy(project().value:find("policy.lua, not trusted", 1, true))
    assert.is_truthy(project().install:find("neap trust /", 1, true))
    run("p", "trust", POLICY)
    assert.is_truthy(project().value:find("policy.lua, trusted", 1, true))
    write("p/" .. POLICY, policy("z"))
    assert.is_truthy(project().value:find("policy.lua, changed", 1, true))
    sh("rm -r " .. shared.quote(dir .. "/p/.neap"))
    assert.is_truthy(project().value:find("none here", 1, true))
  end)
end)
