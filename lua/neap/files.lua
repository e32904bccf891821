-- Reads files whole, with limits, and says in one line what is wrong with one that cannot be.
-- next: import/init.lua
local core = require("neap.core")

local M = {}

local CHUNK = 1 << 20
local MOST = 1 << 30 -- bytes, where the caller gives no limit: a device never ends

--- The name that messages give to a path: `-` is standard input.
---@param path string
---@return string
function M.label(path)
  return path == "-" and "(standard input)" or path
end

-- What is known of `path`, or nil, message, code, when it is nothing that can be read.
local function refuse(path)
  if path == "-" then return true end
  local st, why, code = core.stat(path)
  if not st then return nil, ("%s: %s; check the name"):format(path, why), code end
  if st.type == "directory" then
    return nil, path .. ": is a directory; name the files in it", "io"
  end
  return st.type == "file" and st or true
end

-- Follows the length of the line that is being read over the borders of chunks.
local function longest(chunk, open)
  local last, at = 0, chunk:find("\n", 1, true)
  while at do
    if at - last > open.limit - open.size then return nil end
    open.size, open.line, last = 0, open.line + 1, at
    at = chunk:find("\n", at + 1, true)
  end
  open.size = open.size + #chunk - last
  return open.size <= open.limit
end

local function too_large(label, most)
  return nil, ("%s: is larger than %d MB; split it"):format(label, most >> 20), "limit"
end

local function read_all(f, label, limits, size)
  local most = limits.total or MOST
  local parts, total = {}, 0
  local open = { size = 0, line = 1, limit = limits.line or math.maxinteger }
  while true do
    local chunk, why = f:read(size or CHUNK) -- a file in one piece: half the memory
    size = nil
    if not chunk then
      if why then return nil, ("%s: %s; check the disk"):format(label, why), "io" end
      return #parts == 1 and parts[1] or table.concat(parts)
    end
    total = total + #chunk
    if total > most then return too_large(label, most) end
    if limits.line and not longest(chunk, open) then
      local text = "%s:%d: the line is longer than %d MB; a record must be smaller"
      return nil, text:format(label, open.line, limits.line >> 20), "limit"
    end
    parts[#parts + 1] = chunk
  end
end

--- The bytes of a file, or of standard input for `-`. `limits` may hold `line` and `total`,
--- in bytes: what is larger is refused before it is read whole. Without them 1,024 MB is the most.
---@param path string
---@param limits {line: integer?, total: integer?}?
---@return string? text, string? message, string? code
function M.read(path, limits)
  local ok, why, code = refuse(path)
  if not ok then return nil, why, code end
  local size = ok ~= true and ok.size > 0 and ok.size or nil
  limits = limits or {}
  local most = limits.total or MOST
  if size and size > most then return too_large(M.label(path), most) end
  local f, err = io.stdin
  if path ~= "-" then
    f, err = io.open(path, "rb")
    if not f then return nil, err .. "; check its permissions", "io" end
  end
  local text, message, name = read_all(f, M.label(path), limits, size)
  if f ~= io.stdin then f:close() end
  return text, message, name
end

local PART = 1 << 16

-- Gives what `f` holds to `take`, part by part; returns the number of bytes.
local function pass_on(f, label, take)
  local total = 0
  while true do
    local part, why = f:read(PART)
    if not part then
      if why then return nil, ("%s: %s; check the disk"):format(label, why), "io" end
      return total
    end
    local ok, message, code = take(part)
    if not ok then return nil, ("%s: %s"):format(label, message), code end
    total = total + #part
  end
end

--- Gives the bytes of a file, or of standard input for `-`, to `take` part by part, whatever
--- their number, and returns it. A device, which may never end, is read as M.read does.
---@param path string
---@param take fun(part: string): any, string?, string? nil, message, code to stop
---@return integer? bytes, string? message, string? code
function M.each(path, take)
  local ok, why, code = refuse(path)
  if not ok then return nil, why, code end
  if path == "-" then return pass_on(io.stdin, M.label(path), take) end
  if ok == true then
    local text, message, name = M.read(path)
    if not text then return nil, message, name end
    ok, message, name = take(text)
    if not ok then return nil, message, name end
    return #text
  end
  local f, err = io.open(path, "rb")
  if not f then return nil, err .. "; check its permissions", "io" end
  local total, message, name = pass_on(f, path, take)
  f:close()
  return total, message, name
end

--- The 1-based line that holds byte `pos` of `text`, and the byte's place in it.
---@param text string
---@param pos integer
---@return integer line, integer column
function M.line_at(text, pos)
  local line, last = 1, 0
  for at in text:gmatch("()\n") do
    if at >= pos then break end
    line, last = line + 1, at
  end
  return line, pos - last
end

--- The file's name without folders and without its last extension.
---@param path string
---@return string
function M.stem(path)
  local base = path == "-" and "stdin" or path:match("([^/]+)/*$") or path
  local stem = base:match("^(.+)%.[^.]*$")
  return stem and not stem:find("^%.+$") and stem or base -- "..." would name another folder
end

return M
