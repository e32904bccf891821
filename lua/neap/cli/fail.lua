-- How a verb ends early: with one line on standard error and an exit code. next: init.lua
local terminal = require("neap.report.terminal")
local visible = require("neap.report.visible")

local M = {}

local FAILURE = {}

--- Ends the verb: `neap: TEXT` on standard error, exit code 2 (or `code`).
---@param text string
---@param code integer?
function M.fail(text, code)
  error(setmetatable({ text = text, code = code or 2 }, FAILURE), 0)
end

--- Passes values on, or fails with the message of nil, message.
---@generic T
---@param value T?
---@param text string?
---@return T
function M.check(value, text, ...)
  if value == nil then M.fail(tostring(text)) end
  return value, text, ...
end

---@param value any
---@return boolean
function M.is(value)
  return getmetatable(value) == FAILURE
end

--- One line on standard error, at once.
---@param text string
function M.warn(text)
  io.stdout:flush()
  terminal.clear()
  io.stderr:write("neap: ", visible.line(text), "\n")
end

return M
