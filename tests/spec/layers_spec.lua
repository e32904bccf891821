-- The order of the layers and the other promises of the source tree, read from the files and
-- from what was built: who includes whom, which libraries are used where, what is exported,
-- what the library never calls. next: ../../core/README.md
local lfs = require("lfs")
local shared = require("tests.support.shared")

-- A layer may include itself and those before it.
local LAYERS = {
  "base",
  "text",
  "token",
  "store",
  "log",
  "cite",
  "render",
  "pack",
  "policy",
  "engine",
  "bind",
  "cli",
}
local RANK = {}
for i, layer in ipairs(LAYERS) do
  RANK[layer] = i
end

-- The files that may include a library's headers, as patterns of their paths.
local LIBRARIES = {
  { header = "^lua%.h$", where = { "^core/policy/", "^core/bind/", "^core/cli/" } },
  { header = "^lauxlib%.h$", where = { "^core/policy/", "^core/bind/", "^core/cli/" } },
  { header = "^lualib%.h$", where = { "^core/policy/", "^core/bind/", "^core/cli/" } },
  { header = "^sqlite3%.h$", where = { "^core/store/" } },
  { header = "^nettle/", where = { "^core/base/hash%.c$" } },
  { header = "^zstd%.h$", where = { "^core/store/press%.c$" } },
  { header = "^pcre2%.h$", where = { "^core/text/regex%.c$" } },
  { header = "^utf8proc%.h$", where = { "^core/text/", "^core/token/gen" } },
}

-- ISO C11 without locale.h and threads; the system's own headers belong to few files.
local STANDARD = {}
for name in
  ([[assert ctype errno float inttypes limits math setjmp signal stdalign stdarg
     stdatomic stdbool stddef stdint stdio stdlib string threads time]]):gmatch("%a[%w]*")
do
  STANDARD[name .. ".h"] = true
end
local SYSTEM = {
  "^core/base/port%.",
  "^core/base/sum_avx2%.",
  "^core/token/",
  "^core/store/",
  "^core/policy/",
  "^core/bind/",
  "^core/cli/",
}

local function matches(text, patterns)
  for _, pattern in ipairs(patterns) do
    if text:find(pattern) then return true end
  end
  return false
end

-- Files below `dir` whose path matches one of the patterns, sorted; built and hidden folders
-- are left out.
local function files(dir, patterns, list)
  list = list or {}
  for name in lfs.dir(dir) do
    local path = dir == "." and name or dir .. "/" .. name
    local mode = lfs.attributes(path, "mode")
    if mode == "directory" and not name:find("^%.") and not path:find("^build") then
      files(path, patterns, list)
    elseif mode == "file" and matches(path, patterns) then
      list[#list + 1] = path
    end
  end
  table.sort(list)
  return list
end

local function read(path)
  local text, err = shared.read(path)
  return text or error(path .. ": " .. err)
end

local function none(faults)
  assert(#faults == 0, #faults .. " faults:\n" .. table.concat(faults, "\n"))
end

local function exists(path)
  return lfs.attributes(path, "mode") ~= nil
end

local C = files("core", { "%.[ch]$" })

-- Every include of a file, as (line number, name, is_quoted).
local function includes(path)
  local list, n = {}, 0
  for line in (read(path) .. "\n"):gmatch("(.-)\n") do
    n = n + 1
    local open, name = line:match('^%s*#%s*include%s*([<"])([^>"]+)[>"]')
    if name then list[#list + 1] = { line = n, name = name, own = open == '"' } end
  end
  return list
end

local function fault(path, inc, why)
  return ("%s:%d: %s: %s"):format(path, inc.line, inc.name, why)
end

-- Why a file of ours may not include another of ours, or nil.
local function wrong_layer(path, name)
  if name == "neap.h" then return nil end
  local from, to = path:match("^core/([^/]+)/"), name:match("^([^/]+)/")
  if not to then return "write the folder: " .. from .. "/" .. name end
  if not RANK[to] then return "there is no layer " .. to end
  if not RANK[from] or RANK[to] > RANK[from] then return from .. " comes before " .. to end
end

local function wrong_library(path, name)
  if STANDARD[name] then return nil end
  for _, library in ipairs(LIBRARIES) do
    if name:find(library.header) then
      return not matches(path, library.where) and "this library belongs elsewhere" or nil
    end
  end
  return not matches(path, SYSTEM) and "no standard header and no library of ours" or nil
end

describe("the layers", function()
  it("have files to look at", function()
    assert.is_true(#C > 10)
  end)

  it("include only themselves and those before them", function()
    local faults = {}
    for _, path in ipairs(C) do
      for _, inc in ipairs(includes(path)) do
        local why = inc.own and wrong_layer(path, inc.name)
        if why then faults[#faults + 1] = fault(path, inc, why) end
      end
    end
    none(faults)
  end)

  it("use each library where it belongs", function()
    local faults = {}
    for _, path in ipairs(C) do
      for _, inc in ipairs(includes(path)) do
        local why = not inc.own and wrong_library(path, inc.name)
        if why then faults[#faults + 1] = fault(path, inc, why) end
      end
    end
    none(faults)
  end)

  it("are found wanting when they are (the check itself)", function()
    assert.is_truthy(wrong_layer("core/base/a.c", "text/text.h"))
    assert.is_truthy(wrong_layer("core/text/a.c", "text.h"))
    assert.is_truthy(wrong_layer("core/text/a.c", "nowhere/x.h"))
    assert.is_nil(wrong_layer("core/text/a.c", "base/str.h"))
    assert.is_truthy(wrong_library("core/engine/a.c", "lua.h"))
    assert.is_truthy(wrong_library("core/log/a.c", "unistd.h"))
    assert.is_truthy(wrong_library("core/log/a.c", "locale.h"))
    assert.is_nil(wrong_library("core/policy/a.c", "lua.h"))
  end)

  it("stand in the same order in the Makefile", function()
    local line = read("Makefile"):match("\nLAYERS%s*:=%s*([^\n]+)")
    assert.are.equal(table.concat(LAYERS, " ", 1, #LAYERS - 2), line)
  end)

  it("are the only folders of core with code", function()
    local faults = {}
    for _, path in ipairs(C) do
      local layer = path:match("^core/([^/]+)/")
      if layer ~= "include" and not RANK[layer or ""] then faults[#faults + 1] = path end
    end
    none(faults)
  end)
end)

describe("source files", function()
  local all_c = files(".", { "^core/.*%.[ch]$", "^tests/.*%.[ch]$", "^examples/[^/]+%.[ch]$" })
  local texts = files(".", {
    "%.[ch]$",
    "%.lua$",
    "%.md$",
    "%.sh$",
    "%.mk$",
    "^Makefile$",
    "%.m?js$",
    "%.py$",
  })

  -- there is one public header, so that may be longer
  local MOST = { ["core/include/neap.h"] = 1000 }

  it("have at most 700 lines", function()
    local faults = {}
    for _, path in ipairs(texts) do
      local _, n = read(path):gsub("\n", "\n")
      local most = MOST[path] or 700
      if n > most and path:find("%.[chl]u?a?$") then faults[#faults + 1] = path .. ": " .. n end
    end
    none(faults)
  end)

  it("in C begin with a comment that says what to read next, and that file exists", function()
    local faults = {}
    for _, path in ipairs(all_c) do
      if path ~= "core/include/neap.h" then
        local head = read(path):match("^/%*(.-)%*/") or ""
        local target = head:match("next:%s*([^%s,;]+)")
        local there = target and target:gsub("%.$", "")
        if not there then
          faults[#faults + 1] = path .. ": no next: in the head comment"
        elseif not exists(path:match("^(.*/)") .. there) and not exists("core/" .. there) then
          faults[#faults + 1] = path .. ": next: " .. there .. " does not exist"
        end
      end
    end
    none(faults)
  end)

  it("hold no path of the machine they were written on", function()
    -- Put together here, or this file would name them.
    local paths = { lfs.currentdir() .. "/", "/" .. "work/", "/" .. "tmp/w/" }
    local home = os.getenv("HOME") or ""
    if #home > 5 then paths[#paths + 1] = home .. "/" end
    local faults = {}
    for _, path in ipairs(texts) do
      local text = read(path)
      for _, word in ipairs(paths) do
        if text:find(word, 1, true) then faults[#faults + 1] = path .. ": " .. word end
      end
    end
    none(faults)
  end)

  it("hold no marks of unfinished work", function()
    local faults = {}
    for _, path in ipairs(texts) do
      -- A folder below examples holds the project that recorded sessions worked on.
      local marks = not path:find("^examples/.+/") and { "TO" .. "DO", "FIX" .. "ME" } or {}
      for _, mark in ipairs(marks) do
        -- in quotation marks it is a word that texts of others may hold
        local text = (" " .. read(path)):gsub('"' .. mark .. '"', "")
        if text:find("%W" .. mark .. "%W") then
          faults[#faults + 1] = path .. ": " .. mark
        end
      end
    end
    none(faults)
  end)
end)

-- ---- what was built -------------------------------------------------------------------

-- Lines of `nm` for a built file, or nil and why the case cannot be tried.
local function nm(flags, name)
  local path = shared.build() .. "/" .. name
  if not exists(path) then return nil, name .. " is not built" end
  local out = assert(io.popen(("nm %s %s"):format(flags, shared.quote(path))))
  local list = {}
  for line in out:lines() do
    list[#list + 1] = line
  end
  assert(out:close(), "nm failed on " .. path)
  return list
end

-- Names that a shared object exports, without what the sanitizers add.
local function exported(name)
  local lines, why = nm("-D --defined-only", name)
  if not lines then return nil, why end
  local list = {}
  for _, line in ipairs(lines) do
    local symbol = line:match("%s%u%s(%S+)$")
    if symbol and not symbol:find("^__") then list[#list + 1] = symbol end
  end
  return list
end

describe("the built library", function()
  it("exports the functions of neap.h and nothing else", function()
    local symbols = assert(exported("libneap.so"))
    local declared, faults, there = {}, {}, {}
    local header = read("core/include/neap.h"):gsub("/%*.-%*/", "")
    for name in header:gmatch("NEAP_API[^;]-(neap_[%w_]+)%s*%(") do
      declared[name] = true
    end
    for _, name in ipairs(symbols) do
      there[name] = true
      if not declared[name] then faults[#faults + 1] = name .. " is not in neap.h" end
    end
    for name in pairs(declared) do
      if not there[name] then faults[#faults + 1] = name .. " is not in libneap.so" end
    end
    table.sort(faults)
    none(faults)
  end)

  it("never ends the program, prints, or depends on the locale", function()
    local never = {}
    for name in
      ([[abort exit _exit quick_exit printf vprintf fprintf vfprintf puts fputs putchar perror
         setlocale rand srand random strtok system popen signal]]):gmatch("%S+")
    do
      never[name] = true
    end
    local faults = {}
    for _, line in ipairs(assert(nm("-A --undefined-only", "libneap.a"))) do
      local object, name = line:match("([^:]+%.o):.*%s(%S+)$")
      if never[(name or ""):gsub("^__(.*)_chk$", "%1")] then
        faults[#faults + 1] = object .. " calls " .. name
      end
    end
    none(faults)
  end)

  it("keeps no state in global variables", function()
    local writable =
      { [".data"] = true, [".bss"] = true, [".data.rel.local"] = true, ["*COM*"] = true }
    local faults = {}
    for _, line in ipairs(assert(nm("-A -f sysv", "libneap.a"))) do
      local name, section = line:match("^([^|]+)|.*|%s*(%S*)%s*$")
      local sanitizer = name and (name:find("san") or name:find("__odr"))
      if writable[section] and not sanitizer then
        faults[#faults + 1] = name:gsub("%s+$", "") .. " in " .. section
      end
    end
    none(faults)
  end)
end)

describe("the Lua module", function()
  local symbols = exported("lua/neap/core.so")

  it("exports luaopen_neap_core and nothing else", function()
    if not symbols then return pending("core.so is not built") end
    assert.are.same({ "luaopen_neap_core" }, symbols)
  end)

  it("takes Lua from the interpreter that loads it", function()
    if not symbols then return pending("core.so is not built") end
    local path = shared.build() .. "/lua/neap/core.so"
    local out = assert(io.popen("readelf -d " .. shared.quote(path)))
    local text = out:read("a")
    assert(out:close())
    assert.is_truthy(text:find("NEEDED"))
    assert.is_nil(text:find("liblua", 1, true))
  end)
end)
