-- neap store: what looks after a store file. next: opened.lua
local core = require("neap.core")
local grid = require("neap.report.grid")
local visible = require("neap.report.visible")
local opened = require("neap.cli.opened")
local word_of = require("neap.cli.word")
local failure = require("neap.cli.fail")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

-- ---- check --------------------------------------------------------------------------------------

local FAULTS = { "store", "faults" }

-- The lines of what is wrong; a file that is too damaged to be opened has one fault.
local function faults_of(path, tenant)
  local engine, why, code = core.engine({ store = path, tenant = tenant })
  if code == "readonly" then
    engine, why, code = core.engine({ store = path, tenant = tenant, readonly = true })
  end
  if code == "corrupt" then return { why } end
  check(engine, why)
  local text, no = engine:check()
  engine:close()
  local lines = {}
  for line in check(text, no):gmatch("[^\n]+") do
    lines[#lines + 1] = line
  end
  return lines
end

local function check_store(opts)
  local path = opened.existing(opts)
  local lines = faults_of(path, opts.tenant)
  for _, line in ipairs(lines) do
    if opts.json then
      io.stdout:write(json.encode({ fault = line }), "\n")
    else
      visible.write(visible.line(line), "\n")
    end
  end
  if opts.json then
    io.stdout:write(json.encode({ store = path, faults = #lines }, FAULTS), "\n")
  else
    local what = #lines == 0 and "no faults" or grid.count(#lines, "fault")
    visible.write(("%s: %s\n"):format(visible.line(path), what))
  end
  return #lines == 0 and 0 or 1
end

-- ---- backup, copy -------------------------------------------------------------------------------

local function backup(opts, path)
  if core.stat(path) then fail(path .. ": the file is there already; give another") end
  local engine = opened.engine(opts, "write")
  local fresh, no = core.fresh(path, true)
  if not fresh then fail(("%s: %s; check the path"):format(path, no)) end
  os.remove(fresh) -- a name of our own beside it
  local ok, why = engine:backup(fresh)
  engine:close()
  local lines = ok and faults_of(fresh) or {}
  if ok and #lines == 0 then
    ok, why = os.rename(fresh, path)
  end
  for _, tail in ipairs({ "", "-wal", "-shm" }) do
    os.remove(fresh .. tail)
  end
  check(ok, why)
  if #lines > 0 then fail("the copy has a fault, and so has the store: " .. lines[1], 1) end
  local size = core.stat(path).size
  if opts.json then
    io.stdout:write(json.encode({ backup = path, bytes = size }, { "backup", "bytes" }), "\n")
  else
    visible.write(("%s: %d bytes, no faults\n"):format(visible.line(path), size))
  end
  return 0
end

local function copy(opts, path)
  local from = opened.engine(opts, "read")
  local names = {}
  for _, one in ipairs(check(from:stored())) do
    if not opts.stored or one.name == opts.stored then names[#names + 1] = one.name end
  end
  if #names == 0 then -- before a store is made for them
    if not opts.stored then fail("the store has no sessions; --tenant names another's", 1) end
    local text = "there is no session '%s'; check its name and tenant"
    fail(text:format(visible.line(opts.stored)))
  end
  local to = opened.engine({ store = path, tenant = opts.tenant }, "make")
  local there = {}
  for _, one in ipairs(check(to:stored())) do
    there[one.name] = true
  end
  for _, name in ipairs(names) do -- before the first is copied
    local text = "%s: there is a session '%s' already; nothing was copied"
    if there[name] then fail(text:format(path, visible.line(name))) end
  end
  for _, name in ipairs(names) do
    check(from:copy(name, to))
    if opts.json then
      io.stdout:write(json.encode({ copied = name }), "\n")
    else
      visible.write(visible.line(name), "\n")
    end
  end
  to:close()
  from:close()
  return 0
end

-- ---- vacuum, stats ------------------------------------------------------------------------------

local SWEPT = { "contents", "bytes", "before", "after" }

local function vacuum(opts)
  local engine = opened.engine(opts, "write")
  local swept, why
  local expired, no = engine:expire(os.time() * 1000) -- of the tenant: their bytes go too
  if expired then
    swept, why = engine:vacuum()
  end
  engine:close()
  check(swept, why or no)
  if opts.json then
    io.stdout:write(json.encode(swept, SWEPT), "\n")
  else
    local text = "%s of %d bytes removed; the file had %d bytes, now %d\n"
    local what = grid.count(swept.contents, "content")
    visible.write(text:format(what, swept.bytes, swept.before, swept.after))
  end
  return 0
end

local function ratio(whole, part)
  return part and part > 0 and ("%.2f"):format(whole / part) or nil
end

-- Shared: bytes that events refer to, over bytes of contents; packed: those over what they take
-- in the file.
local function figures(t)
  local stored = (t.content_rows or 0) + (t.piece_bytes or 0)
  t.shared = ratio(t.referenced or 0, t.content_bytes)
  t.packed = ratio(t.content_bytes or 0, stored)
  return stored
end

local COLUMNS = {
  "tenant", "sessions", "events", "heads", "bodies", "contents", "bytes", "stored", "shared",
  "packed",
}

local function tenant_row(t)
  local stored = figures(t)
  return {
    t.tenant == "" and "(none)" or t.tenant,
    t.sessions or 0,
    t.events or 0,
    t.heads or 0,
    t.bodies or 0,
    t.contents or 0,
    t.content_bytes or 0,
    stored,
    t.shared or "-",
    t.packed or "-",
  }
end

local TENANT = {
  "tenant", "sessions", "events", "heads", "bodies", "purged", "contents", "content_bytes",
  "content_rows", "pieces", "piece_bytes", "references", "referenced", "shared", "packed",
  "indexed", "indexed_words",
}

local function print_json(stats, tenants)
  local file = {
    version = stats.version,
    bytes = stats.pages * stats.page_size,
    free = stats.free_pages * stats.page_size,
  }
  io.stdout:write(json.encode(file, { "version", "bytes", "free" }), "\n")
  for _, t in ipairs(tenants) do
    figures(t)
    for _, name in ipairs({ "shared", "packed" }) do
      t[name] = t[name] and json.raw(t[name])
    end
    io.stdout:write(json.encode(t, TENANT), "\n")
  end
end

local function stats(opts)
  local engine = opened.engine(opts, "read")
  local text, why = engine:stats()
  engine:close()
  local all, tenants = json.decode(check(text, why)), {}
  for _, t in ipairs(all.tenants) do
    if not opts.tenant or t.tenant == opts.tenant then tenants[#tenants + 1] = t end
  end
  if opts.json then
    print_json(all, tenants)
    return 0
  end
  local bytes, free = all.pages * all.page_size, all.free_pages * all.page_size
  visible.write(("version %d, %d bytes, %d of them free\n"):format(all.version, bytes, free))
  local rows = { COLUMNS }
  for _, t in ipairs(tenants) do
    rows[#rows + 1] = tenant_row(t)
  end
  if #rows > 1 then
    visible.write(grid.format(rows, { "l", "r", "r", "r", "r", "r", "r", "r", "r", "r" }))
  end
  return 0
end

-- ---- the verb -----------------------------------------------------------------------------------

local WORDS = {
  check = { check_store, 0 },
  backup = { backup, 1 },
  copy = { copy, 1 },
  vacuum = { vacuum, 0 },
  stats = { stats, 0 },
}

local TAKES = { check = {}, backup = {}, copy = word_of.set("stored"), vacuum = {}, stats = {} }
local WHOLE = { check = word_of.set("tenant"), backup = word_of.set("tenant") } -- of all tenants

--- neap store
function M.store(opts, args)
  local word = WORDS[args[1]]
  if not word then
    fail(("neap store has no %s; there are check, backup, copy, vacuum, stats"):format(args[1]))
  end
  if word[2] == 0 and args[2] then
    local text = "neap store %s takes no FILE; give the store with --store %s"
    fail(text:format(args[1], visible.line(args[2])))
  end
  if #args - 1 ~= word[2] then fail(("usage: neap store %s FILE"):format(args[1])) end
  word_of.check("store " .. args[1], opts, TAKES[args[1]], WHOLE[args[1]])
  return word[1](opts, args[2])
end

return M
