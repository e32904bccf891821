-- What an importer reads from: the recording's text, its records with their lines, one way to
-- refuse a record (stop, or skip and count it when lenient), and what was counted.
-- next: build.lua, then any importer
local core = require("neap.core")
local files = require("neap.files")

---@class neap.Source
---@field path string    as messages name it
---@field name string    the file's name without its last extension
---@field text string
---@field lenient boolean
---@field lean boolean   leave out what only `neap import` prints (meta)
---@field as string?     whose view is taken of a log of several agents
---@field branches boolean side chains are sessions of their own
---@field counts table   records, messages, merged, skipped, aside, notes
local Source = {}
Source.__index = Source

local M = {}

-- One record must fit in memory several times over.
M.LIMITS = { line = 64 << 20, total = 512 << 20 }

local STOP = {}

--- True for the error value by which an importer stops.
function M.is_stop(e)
  return getmetatable(e) == STOP
end

local function new_counts()
  return { records = 0, messages = 0, merged = 0, skipped = 0, aside = {}, notes = {} }
end

---@param path string
---@param text string
---@param options table?
---@return neap.Source
function M.new(path, text, options)
  options = options or {}
  return setmetatable({
    path = files.label(path),
    name = files.stem(path),
    text = text,
    lenient = options.lenient or false,
    lean = options.lean or false,
    as = options.as,
    branches = options.branches or false,
    counts = new_counts(),
  }, Source)
end

--- Forgets what was counted: the recording is read again, in another way.
function Source:restart()
  self.counts = new_counts()
end

--- Stops the import: `PATH:LINE: TEXT`.
---@param line integer?
---@param text string
---@param code string?
function Source:stop(line, text, code)
  local place = line and ("%s:%d"):format(self.path, line) or self.path
  error(setmetatable({ text = place .. ": " .. text, code = code or "shape" }, STOP), 0)
end

--- A record that cannot be used: stops, or skips and counts it when lenient.
---@param line integer
---@param text string
---@param code string?
function Source:bad(line, text, code)
  if not self.lenient then
    self:stop(line, text .. "; repair the line, or skip it with --lenient", code)
  end
  self.counts.skipped = self.counts.skipped + 1
end

--- Counts something that is worth knowing: "results without a call", …
---@param what string
---@param n integer?
function Source:note(what, n)
  self.counts.notes[what] = (self.counts.notes[what] or 0) + (n or 1)
end

--- Keeps a record aside: it becomes no message, but stands in the session's meta.
---@param list table the session's list of records kept aside
---@param kind string
---@param line integer
---@param raw any JSON: a raw value, or a string
function Source:aside(list, kind, line, raw)
  self.counts.aside[kind] = (self.counts.aside[kind] or 0) + 1
  if not self.lean then
    list[#list + 1] = { kind = kind, line = line, record = core.json.raw(raw) }
  end
end

-- The records of one line, which begins at byte `at` and ends before `stop`; several may follow
-- each other without a border.
local function each_on_line(self, at, stop, number, raw_keys, yield)
  local text, from, found = self.text, at, 0
  while true do
    at = text:find("%S", at)
    if not at or at >= stop then break end
    local value, after, code, raw = core.json.decode_at(text, at, raw_keys, stop)
    if value == nil then
      local form = "%s at byte %d of the line"
      return self:bad(number, form:format(after, raw - from + 1), code)
    end
    found = found + 1
    self.counts.records = self.counts.records + 1
    yield(value, raw, number)
    at = after
  end
  if found > 1 then self:note("records that share a line", found - 1) end
end

--- Calls `yield(value, raw, line)` for each record of a file of JSON lines; `raw` is the
--- record as a raw value.
---@param raw_keys table<string, boolean>?
---@param yield fun(value: any, raw: userdata, line: integer)
function Source:records(raw_keys, yield)
  local text, at, number = self.text, 1, 0
  while at <= #text do
    local stop = text:find("\n", at, true) or #text + 1
    number = number + 1
    each_on_line(self, at, stop, number, raw_keys, yield)
    at = stop + 1
  end
end

--- The one JSON value that the whole text is. Stops with the line of the fault.
---@param raw_keys table<string, boolean>?
---@return any
function Source:document(raw_keys)
  local value, why, code, pos = core.json.decode(self.text, raw_keys)
  if value ~= nil then return value end
  local line, column = files.line_at(self.text, pos)
  self:stop(line, ("%s at byte %d of the line; repair the file"):format(why, column), code)
end

--- A cursor that says on which line raw values of the text stand, and strings that were cut
--- from it. Asked in order of place.
---@return fun(raw: any): integer
function Source:lines()
  local text, at, counted, line = self.text, 1, 1, 1
  return function(raw)
    local found, whole
    if core.json.is_raw(raw) then
      found, whole = core.json.offset(raw)
      if whole ~= text then found, raw = nil, raw.raw end
    end
    found = found or text:find(raw:sub(1, 4096), at, true)
    if not found or found < counted then return line end
    for _ in text:sub(counted, found - 1):gmatch("\n") do
      line = line + 1
    end
    at, counted = found + (type(raw) == "string" and #raw or 1), found
    return line
  end
end

return M
