-- Which policies of project folders may run. A policy that neap finds by itself came with a
-- folder, perhaps from somewhere else: it runs once the user has allowed it, and no longer when
-- one of its files is another. A policy that the user names needs no leave. next: cli/trust.lua
local core = require("neap.core")
local files = require("neap.files")

local M = {}

M.PLACE = ".neap/policy.lua"
local DEPTH, COUNT = 8, 500 -- folders in folders, and Lua files, below a policy's folder
local MOST = 1 << 20 -- bytes of one file that is a policy or a module
local UP = 40 -- folders above the current one

--- The file that keeps what is trusted: XDG_DATA_HOME/neap/trust.
---@return string
function M.store()
  local data = os.getenv("XDG_DATA_HOME")
  if not data or data == "" then data = (os.getenv("HOME") or ".") .. "/.local/share" end
  return data .. "/neap/trust"
end

-- ---- what is hashed -----------------------------------------------------------------------

-- What a folder holds that cannot be hashed: a policy could require what nobody has looked at.
local function unhashed(folder, path, depth)
  local at = folder .. "/" .. path
  if path:find("%c") then
    return "a name below " .. folder .. " holds a control character; rename it"
  elseif depth > DEPTH then
    local deep = "%s: lies more than %d folders deep; give the policy a folder of its own"
    return deep:format(at, DEPTH)
  end
end

-- The Lua files of a folder and those below it, as paths from there.
local function lua_files(folder, below, list, depth)
  local names, closed = core.list(folder .. "/" .. below)
  if not names then
    return nil, ("%s/%s: %s; a policy's folders must be readable"):format(folder, below, closed)
  end
  for _, name in ipairs(names) do
    local path = below .. name
    local st = core.stat(folder .. "/" .. path)
    local is_folder = st and st.type == "directory"
    local is_lua = st and st.type == "file" and name:find("%.lua$")
    local wrong = (is_folder or is_lua) and unhashed(folder, path, depth + (is_folder and 1 or 0))
    if wrong then return nil, wrong end
    if is_folder then
      local ok, why = lua_files(folder, path .. "/", list, depth + 1)
      if not ok then return nil, why end
    elseif is_lua then
      list[#list + 1] = path
      if #list > COUNT then
        return nil, ("%s: holds more than %d Lua files; give the policy a folder of its own")
          :format(folder, COUNT)
      end
    end
  end
  return true
end

--- The hash of a policy: of every Lua file of its folder, by its name, since it can require them
--- all. Nothing is run.
---@param path string
---@return string? sha256, string|integer message_or_count
function M.hash(path)
  local folder = path:match("^(.*)/[^/]*$") or "."
  local list = {}
  local ok, why = lua_files(folder, "", list, 0)
  if not ok then return nil, why end
  table.sort(list)
  local parts = { path:match("[^/]*$") }
  for _, name in ipairs(list) do
    local text, message = files.read(folder .. "/" .. name, { total = MOST })
    if not text then return nil, message end
    parts[#parts + 1] = core.sha256(text) .. " " .. name
  end
  return core.sha256(table.concat(parts, "\n")), #list
end

-- ---- the store ----------------------------------------------------------------------------

--- What is trusted: a list of {path, sha256}, sorted by path; none when there is no store.
---@return table[]? list, string? message
function M.list()
  local store = M.store()
  if not core.stat(store) then return {} end
  local text, why = files.read(store)
  if not text then return nil, why end
  local list, number = {}, 0
  for line in text:gmatch("[^\n]+") do
    number = number + 1
    local sha256, path = line:match("^(%x+)\t(/.*)$")
    if not sha256 or #sha256 ~= 64 then
      local form = "%s:%d: is no line of a hash, a tab and a path; remove it"
      return nil, form:format(store, number)
    end
    list[#list + 1] = { path = path, sha256 = sha256 }
  end
  return list
end

-- The list takes the store's place whole, readable by its owner alone.
local function write(list)
  local store, lines = M.store(), {}
  table.sort(list, function(a, b)
    return a.path < b.path
  end)
  for i, item in ipairs(list) do
    lines[i] = item.sha256 .. "\t" .. item.path .. "\n"
  end
  local ok, why = core.mkdir((store:match("^(.*)/")))
  if not ok then return nil, ("%s: %s; check its folder"):format(store, why) end
  local new, wrong = core.fresh(store, true)
  if not new then return nil, ("%s: %s; check its folder"):format(store, wrong) end
  local f = assert(io.open(new, "wb"))
  ok, why = f:write(table.concat(lines))
  local closed, message = f:close()
  if ok and closed then
    ok, why = os.rename(new, store)
  end
  if ok and closed then return true end
  os.remove(new)
  return nil, ("%s: %s; free some space"):format(store, why or message)
end

local function without(list, path)
  local out = {}
  for _, item in ipairs(list) do
    if item.path ~= path then out[#out + 1] = item end
  end
  return out
end

-- A path by which a file is known: the real one, on one line.
local function real(path)
  local st = core.stat(path)
  if not st then return nil, path .. ": there is no such file; check the name" end
  if st.type ~= "file" then return nil, path .. ": is no regular file; name a policy file" end
  local whole = core.realpath(path)
  if not whole or whole:find("[\n\r]") then
    return nil, path .. ": has a line break in its name; rename it"
  end
  return whole
end

--- Allows a policy as it is now.
---@param path string
---@return table? item {path, sha256, files}, string? message
function M.add(path)
  local whole, why = real(path)
  if not whole then return nil, why end
  local sha256, count = M.hash(whole)
  if not sha256 then return nil, count end
  local list, wrong = M.list()
  if not list then return nil, wrong end
  list = without(list, whole)
  list[#list + 1] = { path = whole, sha256 = sha256 }
  local ok, message = write(list)
  if not ok then return nil, message end
  return { path = whole, sha256 = sha256, files = count }
end

--- Takes the leave back; the file may be gone.
---@param path string
---@return boolean? was_there, string? message
function M.remove(path)
  local list, why = M.list()
  if not list then return nil, why end
  local rest = without(list, real(path) or path)
  if #rest == #list then return false end
  local ok, message = write(rest)
  if not ok then return nil, message end
  return true
end

-- ---- the project's policy -----------------------------------------------------------------

-- The current folder, and those above it up to the one that is a repository. Outside of one only
-- the current folder counts: what others have put into a folder above is none of our concern.
local function folders()
  local here = core.realpath(".")
  local list, at = {}, here
  for _ = 1, UP do
    if not at then break end
    list[#list + 1] = at
    if core.stat(at .. "/.git") then return list end
    at = at:match("^(.+)/[^/]*$")
  end
  return { here }
end

--- The policy of the project that the current folder is in, if it has one.
---@return string?
function M.find()
  for _, folder in ipairs(folders()) do
    local path = (folder == "/" and "" or folder) .. "/" .. M.PLACE
    local st = core.stat(path)
    if st and st.type == "file" then return core.realpath(path) end
  end
end

--- Whether a policy may run: "trusted", "changed" since it was, or "unknown".
---@param path string the real one
---@return "trusted"|"changed"|"unknown"|nil state, string? message
function M.state(path)
  local list, why = M.list()
  if not list then return nil, why end
  for _, item in ipairs(list) do
    if item.path == path then
      local sha256, message = M.hash(path)
      if not sha256 then return nil, message end
      return sha256 == item.sha256 and "trusted" or "changed"
    end
  end
  return "unknown"
end

local REFUSED = {
  unknown = "%s: this project brings a policy, which is not trusted; "
    .. "read it, then run neap trust %s, or name another with -p (-p full: everything)",
  changed = "%s: this project's policy, or a module of it, has changed since it was trusted; "
    .. "read it, then run neap trust %s, or name another with -p (-p full: everything)",
}

-- True when it may run, or nil and why not.
local function allowed(path)
  local state, why = M.state(path)
  if not state then return nil, why end
  if state == "trusted" then return true end
  local word = path:find("^[%w_./-]+$") and path or "'" .. path:gsub("'", "'\\''") .. "'"
  return nil, REFUSED[state]:format(path, word)
end

--- The policy to run where the user names none: the project's, when it is trusted; nil: none.
---@return string? path, string? message why it must not run
---@return function? still says whether it is the trusted one yet, for who has loaded it
function M.project()
  local path = M.find()
  if not path then return nil end
  local ok, why = allowed(path)
  if not ok then return nil, why end
  return path, nil, function()
    return allowed(path)
  end
end

return M
