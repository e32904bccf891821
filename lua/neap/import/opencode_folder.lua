-- opencode's own storage as one of its exports. Versions before 1.2.0 keep a session as three
-- kinds of JSON files below storage/: session/PROJECT/SESSION.json, a file a message in
-- message/SESSION/, a file a part in part/MESSAGE/. Ids rise with time, so that the order of
-- the names is that of the session. Later versions keep a database; what `opencode export`
-- prints of them is read by opencode.lua. next: opencode.lua
local core = require("neap.core")
local files = require("neap.files")

local M = {}

--- The storage's folder and the session's id, when `path` is a session's file in one.
---@param path string
---@return string? root, string? id
function M.place(path)
  local root, id = path:match("^(.*)session/[^/]+/([^/]+)%.json$")
  if not root or root ~= "" and root:sub(-1) ~= "/" then return nil end
  local st = core.stat(root .. "message/" .. id)
  if st and st.type == "directory" then return root, id end
end

-- The JSON files of a folder, in order; none when it is not there.
local function each_file(folder, f)
  for _, name in ipairs(core.list(folder) or {}) do
    if name:find("%.json$") then f(folder .. "/" .. name, name:sub(1, -6)) end
  end
end

--- Bytes of all files of the session.
---@param path string
---@return integer?
function M.bytes(path)
  local root, id = M.place(path)
  if not root then return nil end
  local sum = core.stat(path).size
  local function add(file)
    local st = core.stat(file)
    sum = sum + (st and st.size or 0)
  end
  each_file(root .. "message/" .. id, function(file, message)
    add(file)
    each_file(root .. "part/" .. message, add)
  end)
  return sum
end

local STOP = {}

-- Reads one file, which must be a JSON object. One that is none ends the reading, or is
-- skipped and counted when lenient.
local function take(state, path)
  local text, why, code = files.read(path, { total = state.left })
  local value, at
  if text then
    state.left = state.left - #text
    value, why, code, at = core.json.decode(text, { ["*"] = true })
    if value ~= nil and core.json.kind(core.json.raw(text)) == "object" then return text end
    local line, column = files.line_at(text, at or 1)
    why = ("%s:%d: %s at byte %d of the line"):format(path, line, why or "no object", column)
    code = code or "shape"
  end
  if not state.lenient then
    why = why .. "; repair the file, or skip it with --lenient"
    error(setmetatable({ text = why, code = code }, STOP), 0)
  end
  state.skipped = state.skipped + 1
end

local function message_text(state, root, path, id)
  local info = take(state, path)
  if not info then return end
  local parts = {}
  each_file(root .. "part/" .. id, function(file)
    parts[#parts + 1] = take(state, file)
  end)
  return ('{"info":%s,"parts":[%s]}'):format(info, table.concat(parts, ","))
end

local function gather(state, path, root, id)
  local info, messages = take(state, path) or "{}", {}
  each_file(root .. "message/" .. id, function(file, message)
    messages[#messages + 1] = message_text(state, root, file, message)
  end)
  return ('{"info":%s,"messages":[\n%s]}'):format(info, table.concat(messages, ",\n"))
end

--- The session as the text of an export, and how many files were skipped. Its lines are no
--- lines of a file: a message each, from line 2.
---@param path string a path that place() knows
---@param limits {total: integer}
---@param lenient boolean?
---@return string? text, any skipped or message, string? code
function M.read(path, limits, lenient)
  local root, id = M.place(path)
  local state = { left = limits.total, skipped = 0, lenient = lenient }
  local ok, text = pcall(gather, state, path, root, id)
  if ok then return text, state.skipped end
  if getmetatable(text) ~= STOP then error(text, 0) end
  return nil, text.text, text.code
end

return M
