-- What is done on a terminal and nowhere else: colour, drawing in place, a pager, progress.
-- next: visible.lua, ../cli/watch.lua
local core = require("neap.core")
local columns_of = require("neap.report.width").of

local M = {}

--- True when standard output takes colour: a terminal, and NO_COLOR is not set.
---@return boolean
function M.has_color()
  local no = os.getenv("NO_COLOR")
  return core.isatty(1) and (no == nil or no == "") and os.getenv("TERM") ~= "dumb"
end

--- How many columns standard output's terminal has; nil when it is none.
---@return integer?
function M.columns()
  if not core.isatty(1) then return nil end
  local _, columns = core.terminal(1)
  return columns or 80
end

local CODES = { dim = "2", bold = "1", red = "31", green = "32", yellow = "33", cyan = "36" }

--- A function that colours a text, or leaves it alone.
---@param is_on boolean
---@return fun(style: string, text: string): string
function M.painter(is_on)
  return function(style, text)
    if not is_on then return text end
    return ("\27[%sm%s\27[0m"):format(CODES[style], text)
  end
end

--- How many lines of the terminal a text takes: a wide one takes several.
---@param text string printable text, and colours
---@return integer
function M.height(text)
  local _, columns = core.terminal(1)
  local lines = 0
  for line in text:gsub("\27%[%d+m", ""):gmatch("([^\n]*)\n") do
    local width = columns_of(line)
    lines = lines + math.max(1, (width + (columns or 80) - 1) // (columns or 80))
  end
  return lines
end

--- What moves the cursor up over `lines` lines and clears from there; nothing for nil. What has
--- left the screen cannot be drawn over.
---@param lines integer?
---@return string
function M.above(lines)
  if not lines or lines == 0 then return "" end
  local rows = core.terminal(1) or 24
  return ("\27[%dA\r\27[J"):format(math.min(lines, rows - 1))
end

local FIRST, AGAIN = 1000, 200 -- milliseconds: what is done by then needs no progress

local function left(ms, done, total)
  if done == 0 then return "" end
  local seconds = (ms * (total - done) // done + 999) // 1000
  if seconds < 60 then return (", %d s left"):format(seconds) end
  return (", %d min %d s left"):format(seconds // 60, seconds % 60)
end

local is_shown = false -- a line of progress stands on the terminal

--- Takes the line of progress away, so that something else can be said.
function M.clear()
  if is_shown then io.stderr:write("\r\27[K") end
  is_shown = false
end

--- Progress on standard error, on a terminal and only for what takes longer than a second: call
--- what is returned with how much is done, of how much; without arguments at the end.
---@param what string printable
---@return fun(done: integer?, total: integer?)
function M.progress(what)
  if not core.isatty(2) then return function() end end
  local start, due = core.ticks_ms(), FIRST
  return function(done, total)
    local ms = core.ticks_ms() - start
    if not done then
      M.clear()
    elseif ms >= due then
      due, is_shown = ms + AGAIN, true
      local text = "\r\27[K%s: %d of %d%s"
      io.stderr:write(text:format(what, done, total, left(ms, done, total)))
    end
  end
end

-- ---- a pager ------------------------------------------------------------------------------

local NOT_FOUND = 127 -- the shell's code for a program that is not there

-- True when a pager showed the text. It gets a file, not a pipe: who leaves it early, or has
-- named one that is not there, would else end this program.
local function paged(text)
  local pager = os.getenv("PAGER") or "less -R 2>/dev/null"
  local path = pager:find("%S") and os.tmpname()
  local f = path and io.open(path, "wb")
  if not f then return false end
  local ok = f:write(text)
  ok = f:close() and ok
  io.stdout:flush()
  local _, how, code = os.execute(("(%s) <'%s'"):format(pager, path))
  os.remove(path)
  return ok and not (how == "exit" and code == NOT_FOUND)
end

--- Prints a text; on a terminal that it does not fit on, through $PAGER or less.
---@param text string
function M.page(text)
  local rows = core.isatty(1) and core.terminal(1)
  if rows and M.height(text) >= rows and paged(text) then return end
  io.stdout:write(text)
end

return M
