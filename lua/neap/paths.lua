-- Where things are: policies, this library, the user's store. next: files.lua
local core = require("neap.core")

local M = {}

local function is(path, type)
  local st = core.stat(path)
  return st ~= nil and st.type == type
end

--- The folder of the Lua library, the one that holds neap/.
---@return string
function M.lua_dir()
  local here = debug.getinfo(1, "S").source:match("^@(.*)/neap/paths%.lua$")
  return here or "."
end

--- The folder of the shipped policies, or nil when there is none: NEAP_POLICIES, beside the
--- program, the source tree, the prefix.
---@return string?
function M.policies_dir()
  local named = os.getenv("NEAP_POLICIES")
  if named and named ~= "" then return named end
  local exe, lua = core.exe_dir(), M.lua_dir()
  local places = { lua .. "/../policies", lua .. "/../../neap/policies" }
  if exe ~= "" then
    table.insert(places, 1, exe .. "/share/neap/policies")
    table.insert(places, 2, exe .. "/../share/neap/policies")
  end
  for _, place in ipairs(places) do
    if is(place, "directory") then return place end
  end
end

--- Names of the shipped policies, sorted, without `.lua`.
---@return string[]
function M.shipped()
  local dir, names = M.policies_dir(), {}
  for _, name in ipairs(dir and core.list(dir) or {}) do
    local stem = name:match("^([^.].*)%.lua$")
    if stem and is(dir .. "/" .. name, "file") then names[#names + 1] = stem end
  end
  return names
end

--- The file that a word on the command line means: a path, or the name of a shipped policy.
---@param word string
---@return string? path, string? message
function M.policy(word)
  local dir = M.policies_dir()
  -- a name is the shipped one's, whatever file of that name the current folder holds
  if dir and word:match("^[%w_%-]+$") and is(dir .. "/" .. word .. ".lua", "file") then
    return dir .. "/" .. word .. ".lua"
  end
  if is(word, "file") then return word end
  if is(word, "directory") then return nil, word .. ": is a directory; name a policy file" end
  if is(word .. ".lua", "file") then
    local where = word:find("/", 1, true) and word or "./" .. word
    local what = "%s: there is no such policy, but there is a file %s.lua; give that"
    return nil, what:format(word, where)
  end
  local names = M.shipped()
  local known = #names > 0 and "; shipped are " .. table.concat(names, ", ") or "; check the name"
  return nil, ("%s: there is no such policy%s"):format(word, known)
end

--- The store a user gets without saying so.
---@return string
function M.store()
  local named, data = os.getenv("NEAP_STORE"), os.getenv("XDG_DATA_HOME")
  if named and named ~= "" then return named end
  if not data or data == "" then data = (os.getenv("HOME") or ".") .. "/.local/share" end
  return data .. "/neap/neap.db"
end

return M
