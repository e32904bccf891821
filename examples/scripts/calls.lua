-- How the scripted agents write down their calls: each function gives a call as data, a name
-- and its arguments. What the tools do stands in ../agent_loop.lua. next: english.lua
local M = {}

--- Lists a folder.
---@param path string
---@return table
function M.ls(path)
  return { name = "ls", arguments = { path = path } }
end

--- Searches a file or a folder for an extended regular expression.
---@param pattern string
---@param path string
---@return table
function M.grep(pattern, path)
  return { name = "grep", arguments = { path = path, pattern = pattern } }
end

--- Reads a file, or lines `first` to `last` of it.
---@param path string
---@param first integer?
---@param last integer?
---@return table
function M.read(path, first, last)
  return { name = "read", arguments = { first = first, last = last, path = path } }
end

--- Runs a command in the project's folder.
---@param command string
---@return table
function M.run(command)
  return { name = "run", arguments = { command = command } }
end

--- Replaces a piece of a file: a row of fixes.lua, or one of that shape.
---@param fix { path: string, old: string, new: string }
---@return table
function M.edit(fix)
  return { name = "edit", arguments = { new = fix.new, old = fix.old, path = fix.path } }
end

--- Writes a whole file.
---@param path string
---@param text string
---@return table
function M.write(path, text)
  return { name = "write", arguments = { path = path, text = text } }
end

return M
