-- What the importers of Markdown logs share: the lines of a text, blocks of them, and
-- text that is kept aside in its place. next: aider.lua
local core = require("neap.core")
local json = core.json

local M = {}

--- The lines of the recording, without their ends. One that is not UTF-8 is a bad record.
---@param source neap.Source
---@return string[] lines  a bad one, when lenient, is false
function M.of(source)
  local lines = {}
  for line in (source.text .. "\n"):gmatch("([^\n]*)\n") do
    local n = #lines + 1
    if line:sub(-1) == "\r" then
      line = line:sub(1, -2)
      source:note("carriage returns left out")
    end
    local ok, at = core.utf8_valid(line)
    if not ok then
      source.counts.records = source.counts.records + 1
      source:bad(n, ("byte %d of the line is not UTF-8"):format(at), "utf8")
    end
    lines[n] = ok and line
  end
  return lines
end

--- Is there nothing but white space on it?
---@param line string
---@return boolean
function M.is_blank(line)
  return not line:find("%S")
end

--- The lines of a block as one text, without blank lines at its ends.
---@param list string[]
---@return string
function M.join(list)
  local from, to = 1, #list
  while from <= to and M.is_blank(list[from]) do
    from = from + 1
  end
  while to >= from and M.is_blank(list[to]) do
    to = to - 1
  end
  return table.concat(list, "\n", from, to)
end

--- Keeps a text aside.
---@param source neap.Source
---@param aside table
---@param kind string
---@param line integer
---@param text string
function M.aside(source, aside, kind, line, text)
  source:aside(aside, kind, line, json.encode(text))
end

--- A block of lines that belong together.
---@class neap.Block
---@field kind string
---@field line integer
---@field lines string[]

--- Begins or goes on with a block.
---@param blocks neap.Block[]
---@param kind string
---@param number integer
---@param line string
function M.put(blocks, kind, number, line)
  local last = blocks[#blocks]
  if not last or last.kind ~= kind or last.closed then
    last = { kind = kind, line = number, lines = {} }
    blocks[#blocks + 1] = last
  end
  last.lines[#last.lines + 1] = line
end

return M
