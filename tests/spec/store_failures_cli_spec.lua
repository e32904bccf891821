-- Every failure of a store with every command that uses it: a command prints what it prints of a
-- sound store and exits 0, or prints one line to standard error and exits 1 or 2. The same for the
-- library: tests/core/test_failures.c; for people: docs/store.md. next: store_failure_spec.lua
local lfs = require("lfs")
local neap = require("neap")
local shared = require("tests.support.shared")

local folder = shared.scratch("store_failures_cli")
local place = folder .. "/place"
local path, copy, exported = place .. "/agent.db", folder .. "/copy.db", folder .. "/run.jsonl"
assert(lfs.mkdir(place))

local COMMANDS = {
  { "session list" },
  { "session show run" },
  { "session replay run" },
  { "session export run" },
  { "session fork run again", writes = true },
  { "session import " .. exported .. " --name more", writes = true, makes = true },
  { "recall zebra" },
  { "state show run" },
  { "artifact list" },
  { "artifact get files/1" },
  { "artifact get files/1 --lines 9000-9003" },
  { "artifact put " .. exported, writes = true, makes = true },
  { "artifact rm files/2", writes = true },
  { "store check" },
  { "store stats" },
  { "store backup " .. copy },
  { "store copy " .. copy },
  { "store vacuum", writes = true },
}

local function remove()
  for _, tail in ipairs({ "", "-wal", "-shm", "-journal" }) do
    os.remove(path .. tail)
    os.remove(copy .. tail)
  end
end

local function write(bytes)
  remove()
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

-- The command after `before`, a shell's words, with the store `at`.
-- Its output goes through pipes, which have no size.
local function run(command, before, at)
  local function file(name)
    return shared.quote(folder .. "/" .. name)
  end
  local one = ("(%s exec %s %s --store %s) </dev/null"):format(
    before or "",
    shared.quote(shared.program()),
    command,
    shared.quote(at or path)
  )
  local shape = "{ { %s; echo $? >%s; } 2>&3 | cat >%s; } 3>&1 | cat >%s"
  assert(os.execute(shape:format(one, file("code"), file("out"), file("err"))))
  local code = tonumber(assert(shared.read(folder .. "/code")))
  return code, assert(shared.read(folder .. "/out")), assert(shared.read(folder .. "/err"))
end

local function make_sound()
  os.remove(path)
  local s = assert(neap.session({
    store = path,
    name = "run",
    state_schema = { type = "object", properties = { goal = { type = "string" } } },
  }))
  assert(s:add({ role = "user", content = "where does a zebra live? nobody knows" }))
  assert(s:propose("user", { goal = "find the zebra" }))
  assert(s:prompt())
  assert(s:add({ role = "assistant", content = "in a long answer " .. ("word "):rep(800) }))
  assert(s:prompt())
  s:close()
  local lines = {}
  for i = 1, 20000 do
    lines[i] = "line " .. i .. " of a log"
  end
  local file = assert(io.open(exported, "wb"))
  file:write(table.concat(lines, "\n"))
  file:close()
  assert(run("artifact put " .. exported) == 0)
  file = assert(io.open(exported, "wb"))
  file:write("a small file\n")
  file:close()
  assert(run("artifact put " .. exported) == 0)
  assert(run("recall zebra") == 0)
  local code, out = run("session export run")
  assert(code == 0)
  file = assert(io.open(exported, "wb"))
  file:write(out)
  file:close()
  return assert(shared.read(path))
end

local function patched(bytes, at, text)
  return bytes:sub(1, at) .. text .. bytes:sub(at + #text + 1)
end

-- What is wrong with how a command ended, or nil. `must`: it has to fail.
local function fault(good, code, out, err, must)
  if code == 0 then
    if must then return "it was done" end
    return out ~= good.out and "prints something else: " .. out:sub(1, 200) or nil
  end
  if code ~= 1 and code ~= 2 then return "exits " .. code .. ": " .. err end
  if good.check and code == 1 and err == "" then return nil end -- its faults are its output
  local lines = select(2, err:gsub("\n", ""))
  if lines ~= 1 or not err:find("^neap: ") then return "says " .. err end
end

describe("a command", function()
  local bytes = make_sound()
  local good, wrong = {}, {}

  local function each(name, bytes_of, expect, before)
    for i, row in ipairs(COMMANDS) do
      write(bytes_of)
      local code, out, err = run(row[1], before)
      local must = expect == "all" or (expect == "writes" and row.writes)
      local why = fault(good[i], code, out, err, must)
      if why then wrong[#wrong + 1] = ("%s: neap %s %s"):format(name, row[1], why) end
    end
  end

  local function none_wrong()
    local list = table.concat(wrong, "\n")
    wrong = {}
    assert.are.equal("", list)
  end

  it("is done with a sound store", function()
    for i, row in ipairs(COMMANDS) do
      write(bytes)
      local code, out, err = run(row[1])
      assert.are.same({ 0, "" }, { code, err }, row[1])
      good[i] = { out = out, check = row[1] == "store check" }
    end
  end)

  it("says which file is none of ours, and which is newer", function()
    each("a text", "a text of somebody's, which is no store at all\n", "all")
    each("another program's", patched(bytes, 68, "GPKG"), "all")
    each("a newer neap's", patched(bytes, 60, "\0\0\0\99"), "all")
    none_wrong()
  end)

  it("says that the disk is full, where it writes", function()
    each("a full disk", bytes, "writes", "trap '' XFSZ; ulimit -f 0;")
    none_wrong()
  end)

  it("tells a flipped bit, or is right", function()
    local seed = tonumber(os.getenv("NEAP_SEED")) or 17
    print("seed " .. seed .. " (NEAP_SEED=" .. seed .. " repeats it)")
    math.randomseed(seed)
    for _ = 1, tonumber(os.getenv("NEAP_ROUNDS")) or 6 do
      local at = math.random(0, #bytes - 1)
      local mask = 1 << math.random(0, 7)
      local flipped = patched(bytes, at, string.char(bytes:byte(at + 1) ~ mask))
      each(("bit %d of byte %d"):format(mask, at), flipped)
    end
    none_wrong()
  end)

  it("tells a file that is cut short, or is right", function()
    for _ = 1, tonumber(os.getenv("NEAP_ROUNDS")) or 3 do
      local n = math.random(1, #bytes - 1)
      each(("the first %d bytes"):format(n), bytes:sub(1, n))
    end
    none_wrong()
  end)

  it("says that a file is empty or not there, and leaves it so, or makes a store", function()
    for _, there in ipairs({ true, false }) do
      for i, row in ipairs(COMMANDS) do
        remove()
        if there then write("") end
        local code, out, err = run(row[1])
        local why = fault(good[i], code, out, err, not row.makes)
        if row.makes then why = code ~= 0 and "says " .. err or nil end
        if not why and not row.makes and (shared.read(path) or "") ~= "" then
          why = "makes a store of it"
        end
        if not why and not there and not row.makes and lfs.attributes(path) then
          why = "makes a file"
        end
        if why then wrong[#wrong + 1] = ("%s: neap %s %s"):format(there, row[1], why) end
      end
    end
    none_wrong()
  end)

  it("says that there is no such folder, or makes one where a store is made", function()
    for i, row in ipairs(COMMANDS) do
      remove()
      assert(lfs.rmdir(place))
      local code, out, err = run(row[1])
      local why = fault(good[i], code, out, err, not row.makes)
      if row.makes then why = code ~= 0 and "says " .. err or nil end
      if why then wrong[#wrong + 1] = ("no folder: neap %s %s"):format(row[1], why) end
      lfs.mkdir(place)
    end
    none_wrong()
  end)

  it("says which folder cannot be made", function()
    for _, row in ipairs(COMMANDS) do
      local path_below = exported .. "/below/agent.db" -- of a file
      if row.makes then
        local code, _, err = run(row[1], nil, path_below)
        assert.equal(2, code, row[1])
        local want = "neap: " .. path_below .. ": its folder cannot be made"
        assert.truthy(err:find(want, 1, true), err)
      end
    end
  end)
end)
