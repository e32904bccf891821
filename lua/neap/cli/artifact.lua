-- neap artifact: files and large results that the store keeps, each an entry of a session that
-- no prompt shows. next: recall.lua
local core = require("neap.core")
local files = require("neap.files")
local visible = require("neap.report.visible")
local grid = require("neap.report.grid")
local opened = require("neap.cli.opened")
local failure = require("neap.cli.fail")
local word_of = require("neap.cli.word")
local part = require("neap.cli.part")
local count = require("neap.cli.count")

local M = {}

local json = core.json
local MOST = 64 << 20 -- bytes: the store takes no larger ones
local ORDER = { "id", "session", "bytes", "lines", "at", "tool", "query", "path", "kind" }
table.move({ "made", "ttl", "state", "sha256" }, 1, 4, #ORDER + 1, ORDER)
local OF_PART = { "part", "output", "locator", "tokens", "found", "rest", "text" }
table.move(OF_PART, 1, #OF_PART, #ORDER + 1, ORDER)

-- What is no fault of anybody's, but the answer "no".
local NO = { notfound = true, expired = true, purged = true }

local function check(value, why, code)
  if value == nil then failure.fail(tostring(why), NO[code] and 1 or 2) end
  return value
end

---@param how "read"|"write"|"make" as opened.engine has it
local function open(opts, how)
  local path = how == "make" and opened.makeable(opts) or opened.existing(opts)
  return check(core.engine({
    store = path,
    tenant = opts.tenant,
    fixed_secret = true,
    readonly = how == "read",
  }))
end

-- SESSION/17, or with --session the number alone.
local function parse_id(opts, word)
  local session, digits = word:match("^(.*)/(%d+)$")
  if opts.owner then
    session, digits = opts.owner, word:match("^%d+$")
  end
  local id = math.tointeger(tonumber(digits))
  if session and session ~= "" and id then return session, id end
  local form = opts.owner and "a number" or "SESSION/NUMBER"
  failure.fail(("%s is no id; give %s, as artifact put prints it"):format(word, form))
end

local function id_of(opts, session, id)
  return opts.owner and tostring(id) or session .. "/" .. id
end

local function row(opts, a)
  local one = {}
  for k, v in pairs(a) do
    one[k] = v
  end
  one.id = id_of(opts, a.session, a.id)
  return one
end

local function now()
  return os.time() * 1000
end

-- ---- the words that follow ----------------------------------------------------------

local verbs = {}

function verbs.put(opts, word)
  local bytes, why = files.read(word, { total = MOST })
  if not bytes then failure.fail(why) end
  local path = opts.path
  if not path and word ~= "-" and utf8.len(word) then path = word end
  local engine = open(opts, "make")
  local id, no, code = engine:put(opts.owner, bytes, {
    tool = opts.tool,
    query = opts.query,
    path = path,
    kind = opts.kind,
    ttl = opts.ttl,
    made = opts.ttl and now(),
  })
  engine:close()
  check(id, no, code)
  local session = opts.owner or "files"
  local text = id_of(opts, session, id)
  if opts.json then
    text = json.encode({ id = text, session = session, bytes = #bytes }, ORDER)
  end
  io.stdout:write(text, "\n")
end

-- Without --json, or with a path for its value.
local function as_text(opts)
  return not opts.json or opts.json_path ~= nil
end

-- A part of it, as its options or its kind ask for.
local function get_part(opts, word, words)
  local session, id = parse_id(opts, word)
  local engine = open(opts, "read")
  local bytes, a, code = engine:get(session, id, { now = now() })
  engine:close()
  check(bytes, a, code)
  local show = as_text(opts) and part.show_marked or part.show
  local got = show(count.encoding(opts.encoding), bytes, words, {
    tokens = opts.most_tokens,
    id = id_of(opts, session, id),
    hash = a.sha256,
    hint = table.concat({ a.tool or "", a.query or "", a.path or "" }, " "),
  })
  return got, a
end

local function print_part(opts, got, a)
  if as_text(opts) then
    if got.text == "" and got.rest_from and opts.most_tokens then
      failure.fail(("--tokens %d: nothing of it fits; give more"):format(opts.most_tokens), 1)
    end
    io.stdout:write(got.text, got.text:find("[^\n]$") and "\n" or "")
    return
  end
  if not utf8.len(got.text) then failure.fail("the part is not UTF-8; leave out --json") end
  local one = row(opts, a)
  one.part, one.output, one.locator, one.tokens = got.part, got.kind, got.locator, got.tokens
  one.text = got.text
  if got.found > 0 then one.found = got.found end
  if got.rest_from then one.rest = ("%d-%d"):format(got.rest_from, got.rest_to) end
  io.stdout:write(json.encode(one, ORDER), "\n")
end

function verbs.get(opts, word, path)
  if word:sub(1, 1) == "$" and path then
    word, path = path, word
  end
  if path and not opts.json then
    local hint = path:sub(1, 1) == "$" and "; a JSON path goes with --json" or ""
    failure.fail(("neap artifact get: %s is one argument too many%s"):format(path, hint))
  end
  local words = part.words(opts, path)
  if opts.most_tokens or words and not opts.lines then
    opts.json_path = path
    print_part(opts, get_part(opts, word, words))
    return
  end
  local session, id = parse_id(opts, word)
  local engine = open(opts, "read")
  local lines = opts.lines or {}
  local bytes, a, code =
    engine:get(session, id, { first_line = lines[1], last_line = lines[2], now = now() })
  engine:close()
  check(bytes, a, code)
  if opts.lines and bytes == "" then
    local text = "there is no line %d; %s has %s"
    failure.fail(text:format(lines[1], visible.line(word), grid.count(a.lines, "line")), 1)
  end
  if not opts.json then
    io.stdout:write(bytes)
    return
  end
  if not utf8.len(bytes) then
    failure.fail(word .. " is not UTF-8, as JSON has to be; leave out --json")
  end
  local one = row(opts, a)
  one.text = bytes
  io.stdout:write(json.encode(one, ORDER), "\n")
end

local HEAD = { "id", "bytes", "lines", "kind", "tool", "of", "state" }
local ALIGN = { "l", "r", "r", "l", "l", "l", "l" }

local function print_table(opts, list)
  local cells = { HEAD }
  for _, a in ipairs(list) do
    cells[#cells + 1] = {
      visible.line(id_of(opts, a.session, a.id)),
      grid.thousands(a.bytes),
      grid.thousands(a.lines),
      visible.line(a.kind or ""),
      visible.line(a.tool or ""),
      visible.line(a.query or a.path or ""),
      a.state == "there" and "" or a.state,
    }
  end
  io.stdout:write(grid.format(cells, ALIGN))
end

function verbs.list(opts)
  local engine = open(opts, "read")
  local list, why, code = engine:artifacts(opts.owner, now())
  engine:close()
  check(list, why, code)
  if not opts.json then
    if #list > 0 then print_table(opts, list) end
    return
  end
  for _, a in ipairs(list) do
    io.stdout:write(json.encode(row(opts, a), ORDER), "\n")
  end
end

function verbs.rm(opts, word)
  local session, id = parse_id(opts, word)
  local engine = open(opts, "write")
  local ok, why, code = engine:remove(session, id)
  engine:close()
  check(ok, why, code)
end

-- What each of them takes besides --store, --tenant and --json.
local TAKES = {
  put = word_of.set("owner", "ttl", "tool", "query", "path", "kind"),
  get = word_of.set("owner", "lines"),
  list = word_of.set("owner"),
  rm = word_of.set("owner"),
}
for _, name in ipairs(part.OPTIONS) do
  TAKES.get[name] = true
end
local NEEDS = { put = "FILE", get = "ID", rm = "ID" }

--- neap artifact
function M.artifact(opts, words)
  local verb, word, path = words[1], words[2], words[3]
  if not verbs[verb] then
    failure.fail(("neap artifact %s: use put, get, list or rm"):format(verb))
  end
  word_of.check("artifact " .. verb, opts, TAKES[verb])
  if NEEDS[verb] and not word then
    failure.fail(("neap artifact %s needs %s"):format(verb, NEEDS[verb]))
  elseif (not NEEDS[verb] and word) or (path and verb ~= "get") then
    failure.fail(("neap artifact %s: %s is one argument too many"):format(verb, path or word))
  end
  verbs[verb](opts, word, path)
  return 0
end

return M
