-- The part of a text that options ask for (--head 50, --match RE, --json PATH, …), and showing it.
-- next: ../kinds.lua
local core = require("neap.core")
local kinds = require("neap.kinds")
local grid = require("neap.report.grid")
local failure = require("neap.cli.fail")

local M = {}

-- The options in the words of a part, and those that are all of it.
local WORDS = { "head", "tail", "ends", "match", "rows", "section", "about" }
local FLAGS = { "errors", "outline" }

--- The names of the options that say which part is wanted.
M.OPTIONS = { "part", "context", "most_tokens", "encoding" }
table.move(WORDS, 1, #WORDS, #M.OPTIONS + 1, M.OPTIONS)
table.move(FLAGS, 1, #FLAGS, #M.OPTIONS + 1, M.OPTIONS)

--- The words of the part that is asked for, and the option's name; nil when none is. Fails when
--- there are several, or words that are no part.
---@param opts table
---@param path string? a JSON path
---@return string? words
function M.words(opts, path)
  local found, named = nil, nil
  local function take(name, words)
    if found then failure.fail(("--%s and --%s: give one of them"):format(named, name)) end
    found, named = words, name
  end
  for _, name in ipairs(WORDS) do
    local value = opts[name]
    if value and name == "match" and opts.context then
      value = ("-C %d %s"):format(opts.context, value)
    end
    if value then take(name, name .. " " .. value) end
  end
  for _, name in ipairs(FLAGS) do
    if opts[name] then take(name, name) end
  end
  if opts.lines then
    local from, to = table.unpack(opts.lines)
    take("lines", ("%d-%s"):format(from, to == 0 and "" or to))
  end
  if opts.part then take("part", opts.part) end
  if path then take("json", "json " .. path) end
  if opts.context and not opts.match then failure.fail("--context goes with --match") end
  if found then failure.check(core.extract_kind(found)) end
  return found
end

local NO = { notfound = true, shape = true, json = true, limit = true }

--- Shows the part, or where none is asked for what stands for a text of its kind. Exits 1 when the
--- text has no such part.
---@param encoding userdata
---@param text string
---@param words string?
---@param ask { tokens?: integer, id?: string, hash?: string, hint?: string }
---@return table projection
function M.show(encoding, text, words, ask)
  local got, why, code
  if words then got, why, code = core.project(encoding, text, words, ask)
  else got, why, code = kinds.project(core, encoding, text, ask) end
  if not got then failure.fail(why, NO[code] and 1 or 2) end
  got.part = got.part or words
  return got
end

-- What stands for matches or headings that the limit has left out: `[… 9 more in lines 14-400]`.
local function mark_of(got)
  local left = got.found - got.shown
  if not got.rest_from or got.shown == 0 or left <= 0 then return nil end
  local where = got.rest_from == got.rest_to and "line %d" or "lines %d-%d"
  local shape = "[… %s more in " .. where .. "]\n"
  return shape:format(grid.thousands(left), got.rest_from, got.rest_to)
end

--- The same for a reader who is not told how many there are: what the limit leaves out of matches
--- and headings has a mark behind them, within the limit. Other parts have their marks already.
---@param encoding userdata
---@param text string
---@param words string?
---@param ask { tokens?: integer, id?: string, hash?: string, hint?: string }
---@return table projection
function M.show_marked(encoding, text, words, ask)
  local limit = ask.tokens
  local less = {}
  for k, v in pairs(ask) do
    less[k] = v
  end
  while true do
    local got = M.show(encoding, text, words, less)
    local mark = limit and mark_of(got)
    if not mark then return got end
    local whole = got.text .. mark
    local over = encoding:count(whole) - limit
    if over <= 0 then
      got.text, got.tokens = whole, over + limit
      return got
    end
    less.tokens = math.max(less.tokens - over, 0)
  end
end

return M
