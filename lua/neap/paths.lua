-- Where things are: policies, this library, the user's store. next: spelling.lua
local core = require("neap.core")
local spelling = require("neap.spelling")

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

-- What neap compare has rows of by itself.
local REFERENCES = { oracle = true, random = true }

-- What is wrong with a word that is no policy, and what to do.
local function unknown_policy(word)
  if word:find("/", 1, true) or word:find("%.lua$") then
    return "there is no such file; check the name"
  end
  if REFERENCES[word] then
    return "is no policy but a reference, whose row neap compare always has; leave it out"
  end
  local names = M.shipped()
  if #names == 0 then return "there is no such policy; check the name" end
  local near = spelling.nearest(word, names)
  local guess = near and ("did you mean %s? Shipped are "):format(near) or "shipped are "
  return "there is no such policy; " .. guess .. table.concat(names, ", ")
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
  return nil, word .. ": " .. unknown_policy(word)
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
