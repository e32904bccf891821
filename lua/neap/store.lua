-- A store for Lua programs: the sessions in it, copied, written out and read back. Misuse raises;
-- what the world does comes back as nil, message, code. next: meta.lua
local core = require("neap.core")

local M = {}

---@class neap.Store
local Store = {}
Store.__index = Store
Store.__name = "neap.Store"

local KNOWN = { store = true, tenant = true, readonly = true }

local function raw(self)
  return self.engine or error("the store is closed", 3)
end

--- Opens a store file; it is made where there is none.
---@param options table
---@return neap.Store? store, string? message, string? code
function M.open(options)
  if type(options) ~= "table" or type(options.store) ~= "string" then
    error("bad argument #1 to 'store' (a table with store = FILE is expected)", 2)
  end
  for name in pairs(options) do
    if not KNOWN[name] then
      local text = "bad argument #1 to 'store' (there is no option %s; there are %s)"
      error(text:format(tostring(name), "readonly, store, tenant"), 2)
    end
  end
  local engine, why, code = core.engine(options)
  if not engine then return nil, why, code end
  return setmetatable({ engine = engine }, Store)
end

--- The tenant's sessions by name.
---@return {name: string, events: integer}[]? list, string? message, string? code
function Store:sessions()
  return raw(self):stored()
end

--- Some events of a session, from one on: a list that is empty behind the last.
---@param name string
---@param from? integer
---@return neap.Event[]? events, string? message, string? code
function Store:events(name, from)
  return raw(self):events(name, from)
end

--- Makes a session of the beginning of another.
---@param from string
---@param name string
---@param how? {turn: integer?, events: integer?}
---@return true? ok, string? message, string? code
function Store:fork(from, name, how)
  return raw(self):fork(from, name, how)
end

--- Removes a session for good: events, words, and what no other session holds. A record stays.
---@param name string
---@return integer? events, integer|string contents, string? code
function Store:remove(name)
  return raw(self):remove_session(name)
end

--- Runs a session again from its log alone, and says whether its prompts are the same.
---@param name string
---@return neap.Replayed? replayed, string? message, string? code
function Store:replay(name)
  return raw(self):replay(name)
end

--- Writes a session as lines of JSON to an open file.
---@param name string
---@param file file*
---@return true? ok, string? message, string? code
function Store:export(name, file)
  return raw(self):export(name, file)
end

--- Makes a session of such lines.
---@param text string
---@param name? string
---@return string? name, string? message, string? code
function Store:import(text, name)
  return raw(self):import(text, name)
end

--- Copies a session to another store.
---@param name string
---@param to neap.Store
---@return true? ok, string? message, string? code
function Store:copy(name, to)
  return raw(self):copy(name, raw(to))
end

--- Looks at all of the store: a line for each fault.
---@return string[]? faults, string? message, string? code
function Store:check()
  local text, why, code = raw(self):check()
  if not text then return nil, why, code end
  local lines = {}
  for line in text:gmatch("[^\n]+") do
    lines[#lines + 1] = line
  end
  return lines
end

--- What it holds: figures of the file and of each tenant.
---@return table? stats, string? message, string? code
function Store:stats()
  local text, why, code = raw(self):stats()
  if not text then return nil, why, code end
  return core.json.decode(text)
end

--- Removes contents that nothing refers to, and makes the file as small as it can be.
---@return {contents: integer, bytes: integer, before: integer, after: integer}? swept
---@return string? message, string? code
function Store:vacuum()
  return raw(self):vacuum()
end

--- Copies the store to a new file while others write.
---@param path string
---@return true? ok, string? message, string? code
function Store:backup(path)
  return raw(self):backup(path)
end

function Store:close()
  local engine = self.engine
  self.engine = nil
  if not engine then return true end
  return engine:close()
end

Store.__gc = Store.close
Store.__close = Store.close

return M
