-- The store that a verb works on, opened as the verb needs it. next: stored.lua, store.lua
local core = require("neap.core")
local paths = require("neap.paths")
local failure = require("neap.cli.fail")

local M = {}

--- The store's path: --store, NEAP_STORE or the user's.
---@param opts table
---@return string
function M.path(opts)
  return opts.store or paths.store()
end

--- Opens it: "read" changes nothing, "write" needs a store that is there, "make" makes one.
---@param opts table
---@param how "read"|"write"|"make"
---@return userdata engine
function M.engine(opts, how)
  local path = M.path(opts)
  if not core.stat(path) then
    if how ~= "make" then
      failure.fail(path .. ": there is no such store; give one with --store or NEAP_STORE")
    end
    local folder = path:match("^(.*)/[^/]*$")
    if folder and folder ~= "" then failure.check(core.mkdir(folder)) end
  end
  local wanted = { store = path, tenant = opts.tenant, readonly = how == "read" }
  return failure.check(core.engine(wanted))
end

--- A stored session, to look at: nothing of it is changed.
---@param engine userdata opened to read
---@param name string
---@return userdata session
function M.session(engine, name)
  local page = failure.check(engine:events(name, 1))
  local head = page[1] and page[1].kind == "open" and core.json.decode(page[1].head)
  head = type(head) == "table" and head or {}
  local how = { name = name, format = head.format, window = head.window, reserve = -1 }
  return failure.check(engine:session(how))
end

return M
