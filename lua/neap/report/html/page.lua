-- neap compare as one HTML file that needs nothing else: style, script and data are in it, and
-- its security policy allows no other. The same input gives the same bytes. What would make the
-- file too large is left out, in the order of LEVELS, and the page says so. next: watch.lua
local core = require("neap.core")
local compare = require("neap.report.compare")
local files = require("neap.files")
local html_table = require("neap.report.html.table")
local paths = require("neap.paths")
local safe = require("neap.report.html.safe")
local tally = require("neap.report.tally")

local M = {}

M.LIMIT = 18 << 20 -- bytes of details; with the rest a file stays below 20 MB

local SCRIPTS = { "dom", "data", "plot", "area", "grid", "panels", "main" }

local function own_file(name)
  local text, why = files.read(paths.lua_dir() .. "/neap/report/html/" .. name)
  if not text then error(why, 0) end
  return text
end

local function script()
  local parts = {}
  for i, name in ipairs(SCRIPTS) do
    parts[i] = own_file(name .. ".js")
  end
  return "(() => {\n" .. table.concat(parts, "\n") .. "})();\n"
end

local function hash(text)
  local bytes = core.sha256(text):gsub("%x%x", function(hex)
    return string.char(tonumber(hex, 16))
  end)
  return "'sha256-" .. safe.base64(bytes) .. "'"
end

-- ---- data -----------------------------------------------------------------------------------

local function failed(row)
  return (row.overflow or 0) > 0 or (row.hook_errors or 0) > 0 or nil
end

local function share(part, whole)
  return whole and whole > 0 and math.floor(10000 * part / whole + 0.5) / 10000 or nil
end

local function two(means)
  return { cost = means.cost, gone = means.gone }
end

local function head_row(row, index, full)
  return {
    index = index - 1,
    label = safe.excerpt(html_table.label(row), 200),
    best = row.best or nil,
    reference = row.reference,
    unbounded = row.unbounded,
    oracle = row.oracle,
    failed = failed(row),
    share = share(row.cost, full.cost),
    gone = share(row.facts_far.gone, row.facts_far.cited),
    cost_interval = row.cost_interval,
    gone_interval = row.gone_interval,
    means = two(row.means),
    balanced = two(row.balanced),
  }
end

-- Cost, the cost without a window, far facts gone and cited, of each policy.
local function head_group(lines, full_at)
  local cells, full = core.json.array({}), compare.number(lines[full_at].cost)
  for c, line in ipairs(lines) do
    local far = tally.far(line.facts)
    cells[c] = core.json.array({ compare.number(line.cost), full, far.gone, far.cited })
  end
  return { trace = safe.excerpt(lines[1].trace, 200), cells = cells }
end

local function head_json(rows, groups, full, full_at)
  local head = { rows = core.json.array({}), groups = core.json.array({}) }
  for i, row in ipairs(rows) do
    head.rows[i] = head_row(row, i, full)
  end
  for g, lines in ipairs(groups) do
    head.groups[g] = head_group(lines, full_at)
  end
  return safe.json(head)
end

-- ---- what fits ------------------------------------------------------------------------------

-- What is left out, the least missed first. A level counts for every recording alike.
local LEVELS = {
  { marks = true, texts = true },
  { marks = false, texts = true, said = "what stands in place of entries, and texts of summaries" },
  { marks = false, texts = false, said = "the texts of entries" },
}

-- The details of a recording at a level, as the text of a script element; nil where it has none.
local function group_json(lines, level, full_at)
  local base = lines[full_at].detail
  if not base or not base.recording then return nil end
  local runs = {}
  for c, line in ipairs(lines) do
    local texts = level.marks and line.detail.texts or "null"
    runs[c] = ('{"run":%s,"texts":%s}'):format(line.detail.run, texts)
  end
  local form = '{"recording":%s,"texts":%s,"runs":[%s]}'
  local texts = level.texts and base.texts_of_recording or "null"
  return form:format(base.recording, texts, table.concat(runs, ",\n"))
end

local function size_at(lines, level, full_at)
  local base = lines[full_at].detail
  if not base or not base.recording then return 0 end
  local size = #base.recording + (level.texts and #base.texts_of_recording or 4) + 64
  for _, line in ipairs(lines) do
    size = size + #line.detail.run + (level.marks and #line.detail.texts or 4) + 24
  end
  return size
end

local function sizes_at(groups, level, full_at)
  local sizes, sum = {}, 0
  for g, lines in ipairs(groups) do
    sizes[g] = size_at(lines, level, full_at)
    sum = sum + sizes[g]
  end
  return sizes, sum
end

-- The first level that fits; at the last one the largest recordings go, until the rest fits.
local function choose(groups, full_at, limit)
  local level, sizes, sum
  for _, one in ipairs(LEVELS) do
    level = one
    sizes, sum = sizes_at(groups, level, full_at)
    if sum <= limit then return level, {}, 0 end
  end
  local order, out = {}, {}
  for g = 1, #groups do
    order[g] = g
  end
  table.sort(order, function(a, b)
    return sizes[a] > sizes[b] or sizes[a] == sizes[b] and a > b
  end)
  local n = 0
  while sum > limit and n < #groups do
    n = n + 1
    out[order[n]], sum = true, sum - sizes[order[n]]
  end
  return level, out, n
end

local function note(level, n, has_details)
  local parts = {}
  if not has_details then
    parts[1] = "The lines that were put together hold no details: give --details with --shard."
  end
  if level.said then
    parts[#parts + 1] = ("Left out, since the file would be larger than 20 MB: %s."):format(
      level == LEVELS[3] and LEVELS[2].said .. ", and " .. level.said or level.said
    )
  end
  if n > 0 then
    local what = n == 1 and "the details of the largest recording"
      or ("the details of the %d largest recordings"):format(n)
    parts[#parts + 1] = ("Also left out: %s; plot and table count them."):format(what)
  end
  if #parts == 0 then return "" end
  return ('<p class="note" id="left-out">%s</p>'):format(safe.html(table.concat(parts, " ")))
end

-- ---- the page -------------------------------------------------------------------------------

local HEAD = [[
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:;
 style-src %s; script-src %s; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>%s</title>
<style>%s</style>
</head>
<body>
]]

local DATA = '<script type="application/json" id="%s">%s</script>\n'

local function find_full(rows)
  for i, row in ipairs(rows) do
    if row.unbounded then return row, i end
  end
end

---@class neap.HtmlReport
---@field rows table[]     of compare, one a policy
---@field groups table[][] the lines of each recording, one a policy
---@field setting string   what was compared, in a line
---@field cost string      what the cost counts, in a sentence
---@field limit integer?   bytes of details (LIMIT)

--- The whole file, and what is left out of it: a text for people, or nil.
---@param report neap.HtmlReport
---@return string html, string? omission
function M.html(report)
  local full, full_at = find_full(report.rows)
  local head = head_json(report.rows, report.groups, full, full_at)
  local limit = (report.limit or M.LIMIT) - #head
  local level, out, n = choose(report.groups, full_at, limit)
  local has_details = report.groups[1][full_at].detail ~= nil
  local left_out = note(level, n, has_details)
  local style, code = "\n" .. own_file("page.css"), "\n" .. script()
  local values = {
    setting = safe.html(report.setting),
    cost = safe.html(report.cost),
    note = left_out,
    table = html_table.html(report.rows, full),
    version = safe.html(core.version),
  }
  local parts = {
    HEAD:format(hash(style), hash(code), safe.html("neap compare: " .. report.setting), style),
    (own_file("page.html"):gsub("{{(%a+)}}", values)),
    DATA:format("head", head),
    "<script>" .. code .. "</script>\n",
  }
  for g, lines in ipairs(report.groups) do
    local text = not out[g] and group_json(lines, level, full_at)
    if text then parts[#parts + 1] = DATA:format("g" .. g, text) end
  end
  parts[#parts + 1] = "</body>\n</html>\n"
  return table.concat(parts), left_out ~= "" and left_out:gsub("<[^>]*>", "") or nil
end

return M
