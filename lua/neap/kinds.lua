-- What an output is, by its text and the words of the call that made it, and which part of it is
-- shown when not all can be: test logs, traces and migrations get more room and their errors,
-- listings little, search results keep every candidate. It looks at a text's two ends, so it costs
-- the same for every size. For policies: grammar/kind.lua. next: grammar/errors.lua
local errors = require("neap.grammar.errors")
local stack_trace = require("neap.grammar.stack_trace")

local M = {}

local HEAD, TAIL = 24000, 8000 -- bytes that are looked at ...
local LINE = 300 -- ... and of each line: patterns may go back over what they passed

---What is shown of each kind: `part` in the words of `neap artifact get` and neap_read, at most
---`tokens`, `keep` for e:trim; `careful`: what is left out of it is dearly missed.
M.kinds = {
  test_log = { part = "errors", tokens = 1500, keep = "errors", careful = true },
  stack_trace = { part = "errors", tokens = 1500, keep = "errors", careful = true },
  migration = { part = "errors", tokens = 1500, keep = "errors", careful = true },
  build_log = { part = "errors", tokens = 1000, keep = "errors", careful = true },
  log = { part = "errors", tokens = 800, keep = "errors" },
  search = { part = "candidates", tokens = 1000, keep = "ends", candidates = true },
  diff = { part = "match ^(diff --git |\\+\\+\\+ |@@ )", tokens = 800, keep = "ends" },
  code = { part = "outline", tokens = 800, keep = "dense" },
  json = { part = "outline", tokens = 500, keep = "dense" },
  table = { part = "rows 1-20", tokens = 600, keep = "head" },
  html = { part = "outline", tokens = 500, keep = "dense" },
  listing = { part = "ends 60", tokens = 300, keep = "ends" },
  document = { part = "outline", tokens = 600, keep = "dense" },
  prose = { part = "ends 60", tokens = 600, keep = "ends" },
}

-- ---- looking ---------------------------------------------------------------------------

-- What some hosts put around an output: `Output:` below a few facts, or tags.
local ENVELOPES = {
  "^Chunk ID: .-\nOutput:\n()", "^Wall time: .-\nOutput:\n()",
  "^<returncode>%-?%d+</returncode>%s*<output>\r?\n?()", "^Exit code:? %d+\n()",
  "^OBSERVATION:\n()", "^Warning: truncated output[^\n]*\n()",
  "^Total output lines: %d+\n%s*()",
}

local function unwrapped(text)
  for _, pattern in ipairs(ENVELOPES) do
    local at = text:sub(1, 1000):match(pattern)
    if at then text = text:sub(at) end
  end
  local last = text:find("</output>", math.max(#text - 40, 1), true)
  return last and text:sub(1, last - 1) or text
end

-- Whole lines of both ends.
local function sample(text)
  if #text <= HEAD + TAIL then return text end
  local head = text:sub(1, HEAD):match("^(.*\n)") or text:sub(1, HEAD)
  local tail = text:sub(-TAIL)
  return head .. (tail:match("\n(.*)$") or tail)
end

local function split(text)
  local lines = {}
  for line in text:gmatch("[^\r\n]+") do
    if line:find("%S") then lines[#lines + 1] = line:sub(1, LINE) end
  end
  return lines
end

-- How many lines match one of the patterns, which begin at the line's beginning.
local function count(lines, patterns)
  local n = 0
  for _, line in ipairs(lines) do
    for _, pattern in ipairs(patterns) do
      if line:find(pattern) then
        n = n + 1
        break
      end
    end
  end
  return n
end

-- The lines that match none of the patterns.
local function without(lines, patterns)
  local out = {}
  for _, line in ipairs(lines) do
    if count({ line }, patterns) == 0 then out[#out + 1] = line end
  end
  return out
end

local TESTS = {
  "^=+ .*%d+ %a+.* =+$", "^%d+ passed", "^%d+ failed",
  "^%d+ %a+, %d+ %a+.* in [%d.]+ ?s", "^FAILED %S+::", "^%S+::%S+ [PF]A",
  "^Tests?:%s+%d", "^Tests run:? %d", "^Test Suites:", "^test result: ",
  "^test %S+ %.%.%. ", "^%s+%d+ passing", "^%s+%d+ failing", "^ok %d+ ", "^not ok %d+ ",
  "^%-%-%- FAIL: ", "^%-%-%- PASS: ", "^=== RUN ", "^PASS ", "^FAIL ", "^FAIL:? ",
  "^Ran %d+ tests? in ", "^%[  FAILED  %]", "^%[       OK %]", "^%(pass%) ",
  "^%(fail%) ", "^%s*✓ ", "^%s*✕ ", "^%s*✗ ", "^%s*✔ ", "^%S+ %.%.%. ok$", "^%S+ %.%.%. FAIL$",
  "^collected %d+ items", "^running %d+ tests?$",
}
local MIGRATIONS = {
  "^%s*Applying %S+%.%.%.", "^Running migrations", "^INFO  %[alembic", "^== .* migrat",
  "^%-%- create_table", "^%-%- add_column", "^Migrating", "^Migration", "^migrat%a+ ",
  "^Successfully applied %d+ migration", "^%s*Migrated:", "^%s*Rolled back",
  "^Operations to perform", "^ALTER TABLE$", "^CREATE TABLE$", "^CREATE INDEX$",
  "^DROP TABLE$", "^BEGIN$", "^COMMIT$",
}
local DIFFS = { "^diff %-%-git ", "^@@ %-%d+", "^%+%+%+ %S", "^index %x+%.%.%x+" }
-- A time before the text, which has the look of a hit or of a line's number.
local TIMES = {
  "^%[?%d%d%d%d[-/]%d%d[-/]%d%d[ T]%d%d:%d%d", "^%[?%d%d:%d%d:%d%d",
  "^%[?%d%d/%a%a%a/%d%d%d%d:%d%d:%d%d",
}
local LOGS = {
  TIMES[1], TIMES[2], TIMES[3],
  "^%a%a%a %d%d? %d%d:%d%d:%d%d ", "^%[?[A-Z]+%]?[: ]", "^level=", "^{\"level\"",
  "^npm %a+ ", "^%s*Downloading ", "^Get:%d+ ",
}
local BUILDS = {
  "^g?cc ", "^clang", "^make%[?", "^%[%s*%d+%%%] ", "^%[%d+/%d+%] ", "^%s+Compiling ",
  "^%s+CC ", "^ninja", "^BUILD ", "^> Task ", "^%[INFO%] ", "^%[ERROR%] ",
  "^%s+Building ", "^error%[",
}
local HITS = { "^[^%s:]*%a[^%s:]*:%d+[:-]", "^Found %d+ ", "^Binary file " }
local AROUND = { "^[^%s:]+%-%d+%-", "^%d+[:-]" } -- what a search adds
local LINKS = { "https?://", "^%s*URL: ", "^%s*Title: ", "^%s*Link: " }
local LISTINGS = {
  "^[-dlrwxst]+[.+@]?%s+%d+%s", "^total %d+$", "^%.?%.?/?[%w_.%-@+/ ]+/$", "^ *├", "^ *└", "^ *│",
  "^%.?%.?/[^%s:]+$", "^[%w_.%-@+]+/[%w_.%-@+/]+$", "^[%w_.%-@+]+%.?%w+$",
  "^D?%s*[%w_.%-]+/$",
}
local CODE = {
  "[{};]%s*$", "^%s*[%w_.]+%(.*%)%s*$", "^%s*def ", "^%s*class ", "^%s*import ",
  "^%s*from %S+ import", "^%s*return", "^%s*if .*:$", "^%s*for .*:$", "^%s*#include",
  "^%s*local ", "^%s*end$", "^%s*//", "^%s*func ", "^%s*fn ", "^%s*type ",
  '^%s*"[^"]+": ', "^%s*[%w_%-]+: *$", "^%s*[%w_%-]+: [^ ]+$", "^%s*%*", "^%s*#%s",
  "[,(%[]%s*$", "^%s*[])],?%s*$", "^%s*%- [%w_]+:", "^%s*[%w_.%[%]]+ = ", "^%s*@%w+",
  "^%s*else:?$", "^%s*}",
}

-- `12: text` and `12<tab>text`, as programs that show files number lines; a time is no number.
local function unnumbered(lines)
  local numbered, out = 0, {}
  for i, line in ipairs(lines) do
    local rest = line:match("^%s*%d+[\t:|.] ?(.*)$") or line:match("^%s*%d+→(.*)$")
    if rest and line:find(TIMES[2]) then rest = nil end
    if rest then numbered = numbered + 1 end
    out[i] = rest or line
  end
  return numbered * 10 >= #lines * 7 and out or nil
end

local function is_html(text)
  local head = text:sub(1, 4000):lower()
  if head:find("^%s*<!doctype html") or head:find("<html", 1, true) then return true end
  return head:find("<body", 1, true) ~= nil or head:find("^%s*<h[1-6][ >]") ~= nil
end

local function is_json(text)
  local first, last = text:match("^%s*([%[{])"), text:match("([%]}])%s*$")
  if not first or not last then return false end
  return text:find('^%s*[%[{]%s*["%[{%d%]}tfn-]') ~= nil
end

-- A list of things with a title and an address.
local function is_hits_in_json(text)
  local _, urls = text:gsub('"u[rR][lLiI]"%s*:', "")
  local _, links = text:gsub('"link"%s*:', "")
  local _, titles = text:gsub('"title"%s*:', "")
  local _, names = text:gsub('"name"%s*:', "")
  return urls + links >= 3 and titles + names >= 3
end

local function is_rule(line)
  return line:find("--", 1, true) and line:find("|", 1, true) and line:find("^[-| :]+$")
end

local function is_table(lines)
  if (lines[2] and is_rule(lines[2])) or (lines[3] and is_rule(lines[3])) then
    return count(lines, { "^%s*|.*|", "^[^|]+|[^|]+" }) * 3 >= #lines * 2
  end
  if #lines < 4 then return false end
  for _, mark in ipairs({ "\t", "," }) do
    local wanted, same = nil, 0
    for _, line in ipairs(lines) do
      local _, n = line:gsub('"[^"]*"', ""):gsub(mark, "")
      wanted = wanted or n
      if n == wanted then same = same + 1 end
    end
    if wanted >= (mark == "," and 2 or 1) and same * 10 >= #lines * 9 then return true end
  end
  return false
end

local function frames_in(text)
  local n = 0
  for _, trace in ipairs(stack_trace.parse(text)) do
    n = n + #trace.frames
  end
  return n
end

local function error_tools(text)
  local tools = {}
  for _, item in ipairs(errors.parse(text)) do
    local tool = item.severity == "error" and item.tool
    if tool then tools[tool] = (tools[tool] or 0) + 1 end
  end
  return tools
end

-- ---- deciding --------------------------------------------------------------------------

-- What the call was for, by its words: a kind, or nil.
local HINTS = {
  { "test_log", { "pytest", "unittest", "jest", "cargo test", "npm test", "go test", "make test",
    "run_tests", "vitest", "phpunit", "rspec", "ctest", "busted", "tox" } },
  { "migration", { "migrate", "alembic", "flyway", "liquibase", "db:migrate", "prisma" } },
  { "diff", { "git diff", "git show", "get_diff" } },
  { "search", { "grep", "search", "ripgrep", " rg ", "find_in_files" } },
  { "listing", { "list_dir", "list_files", "listfiles", "glob", "find . ", "\"ls ", "\"tree",
    "ls -" } },
  { "html", { "goto", "browser", "navigate", "fetch", "webpage" } },
  { "code", { "read_file", "view_file", "open_file", "str_replace_editor", "\"cat ", "sed -n",
    "read {\"file_path" } },
}

local function hinted(hint)
  if not hint or hint == "" then return {} end
  local s, kinds = " " .. hint:sub(1, 2000):lower() .. " ", {}
  for _, row in ipairs(HINTS) do
    for _, word in ipairs(row[2]) do
      if s:find(word, 1, true) then kinds[row[1]] = true end
    end
  end
  return kinds
end

local function share(n, lines, percent)
  return n * 100 >= #lines * percent
end

-- The first rule that holds. Each is given what was looked at.
local RULES = {
  { "json", function(v) return is_json(v.text) and not is_hits_in_json(v.text) end },
  { "search", function(v) return is_json(v.text) end },
  { "html", function(v) return is_html(v.text) end },
  { "diff", function(v)
    return count(v.lines, DIFFS) >= 2 and v.text:find("\n@@ ", 1, true) ~= nil
  end },
  { "migration", function(v)
    local n = count(v.lines, MIGRATIONS)
    return n >= 3 and share(n, v.lines, 20) or v.hint.migration and n >= 1
  end },
  { "test_log", function(v)
    local n = count(v.lines, TESTS)
    return n >= 2 and (v.hint.test_log or share(n, v.lines, 10) or not v.code)
      or n >= 1 and v.hint.test_log
  end },
  { "stack_trace", function(v)
    local n = v.text:find("at ", 1, true) or v.text:find("File \"", 1, true)
      or v.text:find("goroutine", 1, true) or v.text:find("panicked", 1, true)
    n = n and frames_in(v.text) or 0
    return n >= 2 and share(n, v.lines, 15)
  end },
  { "build_log", function(v)
    local tools = error_tools(v.text)
    local n = (tools.gcc or 0) + (tools.make or 0) + (tools.cargo or 0) + (tools.ld or 0)
    return not v.numbered and (n >= 2 and not v.code or share(count(v.lines, BUILDS), v.lines, 30))
  end },
  { "search", function(v)
    if v.numbered then return v.hint.search end
    local n = v.hint.search and count(v.lines, HITS) + count(v.lines, AROUND)
      or count(without(v.lines, TIMES), HITS)
    return n >= 2 and share(n, v.lines, 50) or n >= 1 and v.hint.search and share(n, v.lines, 30)
  end },
  { "table", function(v) return is_table(v.lines) end },
  { "document", function(v)
    return count(v.lines, { "^#+ %S" }) >= 3 and not v.hint.search
      and v.text:find("\n## ", 1, true) ~= nil and not v.code
  end },
  { "search", function(v)
    local n = count(v.lines, LINKS)
    return n >= 3 and share(n, v.lines, v.hint.search and 10 or 20) and not v.code
  end },
  { "log", function(v)
    return not v.code and #v.lines >= 5 and share(count(v.lines, LOGS), v.lines, 50)
  end },
  { "code", function(v) return v.code end },
  { "listing", function(v)
    local n = count(v.lines, LISTINGS)
    return #v.lines >= 3 and share(n, v.lines, v.hint.listing and 50 or 70)
  end },
}

---The kind of an output: a key of `kinds`. `hint` is the tool's name and, as well, its arguments.
---@param text string
---@param hint? string
---@return string
function M.of(text, hint)
  local part = unwrapped(sample(text))
  local lines = split(part)
  local v = { text = part, hint = hinted(hint) }
  local bare = unnumbered(lines)
  v.numbered = bare ~= nil
  v.lines = bare or lines
  v.code = share(count(v.lines, CODE), v.lines, v.hint.code and 25 or 45) and #v.lines >= 4
  for _, rule in ipairs(RULES) do
    if rule[2](v) then return rule[1] end
  end
  return "prose"
end

-- Lines that name a candidate: titles, addresses, numbered heads, hits.
local CANDIDATES = "match https?://|^\\s*(\\d+[.)]|[-*\\x{2022}]|#+)\\s"
  .. "|^\\s*(Title|URL|Link|Name)\\b|^[^\\s:]+:\\d+"
local IN_JSON = "json $..['title','name','url','link','uri','href']"

---The part of the text that stands for it, best first; a part that is not there is passed over.
---@param kind string
---@param text string
---@return string[] parts, integer tokens
function M.parts(kind, text)
  local row = M.kinds[kind] or M.kinds.prose
  local list = { row.part, "ends 60" }
  if row.candidates then list[1] = is_json(sample(text)) and IN_JSON or CANDIDATES end
  return list, row.tokens
end

---Shows an output as its kind asks for, in at most `tokens` (its kind's own number without).
---@param core table neap.core
---@param encoding userdata
---@param text string
---@param opts? { hint?: string, tokens?: integer, id?: any, hash?: string }
---@return table projection as core.project gives it, with `kind` and `part`
function M.project(core, encoding, text, opts)
  opts = opts or {}
  local kind = M.of(text, opts.hint)
  local parts, tokens = M.parts(kind, text)
  if opts.tokens then tokens = opts.tokens end
  local ask = { tokens = tokens, id = opts.id, hash = opts.hash }
  local got, why, code
  if encoding:count(text) <= tokens then parts = { "all" } end
  for _, part in ipairs(parts) do
    got, why, code = core.project(encoding, text, part, ask)
    if got then
      got.kind, got.part = kind, part
      return got
    end
  end
  return nil, why, code
end

return M
