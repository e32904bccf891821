-- What neap compare does for --html FILE and --details: looks on at its replays, and writes the
-- file at the end. next: ../report/html/page.lua
local core = require("neap.core")
local details = require("neap.report.html.details")
local files = require("neap.files")
local grid = require("neap.report.grid")
local page = require("neap.report.html.page")
local prices = require("neap.models.prices")
local watch = require("neap.report.html.watch")
local failure = require("neap.cli.fail")

local M = {}

local fail = failure.fail

-- A word for the shell, bare where it may be.
local function word(text)
  if text:match("^[%w%._/@%%+=:,-]+$") and text:sub(1, 1) ~= "-" then return text end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local SHORT = { window = "-w", reserve = "-r", format = "-f", encoding = "-e", model = "-m" }
local FLAGS =
  { "window", "reserve", "format", "encoding", "model", "prices", "think", "cache", "from", "as" }

-- What neap show needs to see the same.
local function arguments(opts, path, place)
  local parts = { word(path) }
  if place > 1 then parts[2] = "--session " .. place end
  for _, name in ipairs(FLAGS) do
    local flag = SHORT[name] or "--" .. name
    if opts[name] then parts[#parts + 1] = flag .. " " .. word(tostring(opts[name])) end
  end
  for _, name in ipairs({ "branches", "lenient" }) do
    if opts[name] then parts[#parts + 1] = "--" .. name end
  end
  return table.concat(parts, " ")
end

--- Who looks on at a replay, when its details are wanted.
---@param opts table
---@param one table the contestant
---@return neap.Watch?
function M.watch(opts, one)
  if not opts.html and not opts.details then return nil end
  return watch.new(one.reference and one.label or nil, one.unbounded)
end

--- What a line keeps of the replay until those of its recording are packed.
---@param line table
---@param looker neap.Watch
---@param one table the contestant
---@param session table
function M.keep(line, looker, one, session)
  line.watched = looker:result(session)
  if one.reference then return end
  local parts = { word(one.label) }
  for _, setting in ipairs(one.setting or {}) do
    parts[#parts + 1] = "-o " .. word(setting)
  end
  line.said = { word = table.concat(parts, " ") }
end

local function setting_of(o)
  local text = "window %s, format %s"
  return text:format(grid.thousands(o.window), o.format or "openai")
end

local function cost_of(o)
  local price = prices.of(o)
  local unit = o.prices and ("Dollars, %g for 1M uncached tokens"):format(price.dollars)
    or "1 is an uncached token"
  local text = "%s; cached ones count ×%g, new ones ×%g (%s, %s); a fact that is only pointed at "
    .. "adds the turn that reads it, and what it fetches."
  return text:format(unit, price.read, price.write, price.name, price.date)
end

--- Packs the lines of one recording.
---@param lines table[]
---@param list table[] the contestants
---@param opts table
---@param recording neap.Recording
---@param place integer which session of its file
function M.seal(lines, list, opts, recording, place)
  local full_at
  for c, one in ipairs(list) do
    if one.unbounded then full_at = c end
  end
  local head = { name = recording.name, form = recording.format }
  if recording.path ~= files.label("-") then
    head.path = arguments(opts, recording.path, place)
  end
  details.seal(lines, full_at, head)
end

--- Opens what the report is written to, before anything is replayed: a bad name is told at once.
--- What stood in the file stays until the report is whole.
---@param opts table
---@return table? target
function M.open(opts)
  local path = opts.html
  if not path then return nil end
  if opts.shard then fail("--html: a shard has a part of the rows; give --html with --merge") end
  if path == "-" then fail("--html -: the report goes to a file; name one") end
  local st = core.stat(path)
  if st and st.type ~= "file" then
    fail(("--html %s: is no file; name one"):format(path))
  end
  local part = path .. ".part"
  local f, why = io.open(part, "wb")
  if not f then
    local reason = why:sub(1, #part) == part and why:sub(#part + 1) or ": " .. why
    fail(("--html %s%s; check the folder"):format(path, reason))
  end
  return setmetatable({ file = f, part = part, path = path }, {
    __close = function(target)
      if not target.file then return end
      target.file:close()
      os.remove(target.part)
    end,
  })
end

--- Writes the report.
---@param target table of open
---@param rows table[]
---@param groups table[][]
---@param o neap.ReplayOptions
function M.write(target, rows, groups, o)
  local turns = grid.thousands(rows[1].turns) .. (rows[1].turns == 1 and " turn" or " turns")
  local text = grid.count(#groups, "recording") .. ", " .. turns
  text = text .. ", " .. setting_of(o)
  local html, left_out =
    page.html({ rows = rows, groups = groups, setting = text, cost = cost_of(o) })
  local f = target.file
  target.file = nil
  local ok, why = f:write(html)
  local closed, wrong = f:close()
  if ok and closed then ok, why = os.rename(target.part, target.path) end
  if not ok or not closed then
    os.remove(target.part)
    fail(("--html %s: %s; free some space"):format(target.path, why or wrong))
  end
  if left_out then failure.warn(target.path .. ": " .. left_out) end
end

return M
