-- Output of busted in the form that run.sh and people read: each failure with its place and
-- message, each skipped case with its reason, then `N passed, N failed, N skipped`.
-- next: shared.lua
local busted = require("busted")

local function indent(text)
  return "  " .. tostring(text):gsub("\n", "\n  ")
end

local function place(item)
  local trace = item.element.trace or item.trace
  if not trace then return "?" end
  return (trace.short_src or "?") .. ":" .. (trace.currentline or 0)
end

-- busted puts its own place before the reason of a skipped case.
local function reason(item)
  if type(item.message) ~= "string" then return "" end
  return ": " .. item.message:gsub("^%S*busted:%d+: ", "")
end

local function message(item)
  local m = item.message
  if m == nil then return "no message" end
  if type(m) == "string" then return m end
  return type(m) == "table" and m.message or require("pl.pretty").write(m)
end

local function print_failed(list)
  for _, item in ipairs(list) do
    print("FAILED " .. place(item) .. ": " .. (item.name or item.element.name or "?"))
    print(indent(message(item)))
    local trace = item.trace
    if item.isError and trace and trace.traceback then print(indent(trace.traceback)) end
  end
end

local function print_skipped(list)
  for _, item in ipairs(list) do
    print("skipped: " .. (item.name or "?") .. reason(item))
  end
end

return function()
  local handler = require("busted.outputHandlers.base")()

  local function finish()
    print_failed(handler.failures)
    print_failed(handler.errors)
    print_skipped(handler.pendings)
    print(
      ("%d passed, %d failed, %d skipped"):format(
        handler.successesCount,
        handler.failuresCount + handler.errorsCount,
        handler.pendingsCount
      )
    )
    io.stdout:flush()
    return nil, true
  end

  busted.subscribe({ "suite", "end" }, finish)
  return handler
end
