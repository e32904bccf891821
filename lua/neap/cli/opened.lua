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

--- The same, of a store that has to be there. An empty file is none: what was cut short to nothing
--- would else be a new store, without faults and without sessions.
---@param opts table
---@return string
function M.existing(opts)
  local path = M.path(opts)
  local there = core.stat(path)
  if not there then
    failure.fail(path .. ": there is no such store; give one with --store or NEAP_STORE")
  end
  if there.type == "file" and there.size == 0 then
    failure.fail(path .. ": the file is empty, no store; give one with --store or NEAP_STORE")
  end
  return path
end

--- The same for who writes: a store that is not there is made, and before it its folder.
---@param opts table
---@return string
function M.makeable(opts)
  local path = M.path(opts)
  local folder = path:match("^(.*)/[^/]*$")
  if not folder or folder == "" or core.stat(path) then return path end
  local made, why = core.mkdir(folder)
  if not made then
    failure.fail(("%s: its folder cannot be made: %s; give another path"):format(path, why))
  end
  return path
end

--- Opens it: "read" changes nothing, "write" needs a store that is there, "make" makes one.
---@param opts table
---@param how "read"|"write"|"make"
---@return userdata engine
function M.engine(opts, how)
  local path = how == "make" and M.makeable(opts) or M.existing(opts)
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
