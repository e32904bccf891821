-- neap trust: allows the policy of a project folder to run, lists what is allowed, takes it back.
-- next: ../trust.lua
local core = require("neap.core")
local trust = require("neap.trust")
local visible = require("neap.report.visible")
local grid = require("neap.report.grid")
local failure = require("neap.cli.fail")

local M = {}
local json, check = core.json, failure.check

local ORDER = { "path", "sha256", "state", "files", "removed" }

local function print_list(opts)
  for _, item in ipairs(check(trust.list())) do
    local there = core.stat(item.path) ~= nil
    item.state = there and check(trust.state(item.path)) or "gone"
    if opts.json then
      io.stdout:write(json.encode(item, ORDER), "\n")
    else
      visible.write(item.sha256:sub(1, 16), "  ", item.state, "  ", visible.line(item.path), "\n")
    end
  end
  return 0
end

local function remove(opts, path)
  local was, why = trust.remove(path)
  if why then failure.fail(why) end
  if not was then
    failure.warn(path .. ": was not trusted; neap trust --list shows what is")
    return 1
  end
  if opts.json then
    io.stdout:write(json.encode({ path = path, removed = true }, ORDER), "\n")
  else
    visible.write("not trusted any more: ", visible.line(path), "\n")
  end
  return 0
end

--- neap trust
function M.trust(opts, args)
  if opts.trusted then return print_list(opts) end
  if not args[1] then
    failure.fail("neap trust needs a policy FILE, or --list; neap trust --help")
  end
  if opts.remove then return remove(opts, args[1]) end
  local item = check(trust.add(args[1]))
  if opts.json then
    item.state = "trusted"
    io.stdout:write(json.encode(item, ORDER), "\n")
  else
    local what = "trusted: %s, %s, sha256 %s\n"
    local count = grid.count(item.files, "Lua file")
    visible.write(what:format(visible.line(item.path), count, item.sha256:sub(1, 16)))
  end
  return 0
end

return M
