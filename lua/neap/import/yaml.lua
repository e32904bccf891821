-- A small part of YAML, as tools that record HTTP traffic write it: block maps and lists,
-- plain, quoted, literal and folded scalars, empty flow collections, !!binary. It gives
-- nodes with their lines, and JSON of them in the order of the file. Anything else
-- (anchors, tags, filled flow collections, …) is refused with its line. next: yaml_scalars.lua
local core = require("neap.core")
local scalars = require("neap.import.yaml_scalars")
local json = core.json

local M = {}

---@class neap.YamlNode
---@field kind "map"|"list"|"scalar"
---@field line integer
---@field keys string[]?     of a map, in order
---@field values neap.YamlNode[]?
---@field text string?       of a string
---@field json string?       of any other scalar
---@field binary boolean?    base64 of bytes

local DEPTH = 100

local Parser = {}
Parser.__index = Parser

function Parser:fail(what)
  local text = "%s is not in the part of YAML that is read here; leave it out"
  self.refuse(self.at, text:format(what))
end

-- Skips blank lines and comments; the indent of the line found, or nil at the end.
function Parser:indent()
  while self.at <= #self.lines do
    local line = self.lines[self.at]
    local spaces, first = line:match("^( *)(%S?)")
    if line:find("^%.%.%.%s*$") or line:find("^%-%-%-") and self.at > 1 then
      self.last_line, self.at = self.at, #self.lines + 1
      return nil
    elseif first ~= "" and first ~= "#" then
      return #spaces
    elseif line:find("^ *\t") then
      self:fail("a tab as indent")
    end
    self.at = self.at + 1
  end
end

-- A key at the begin of `text`: its text and what follows the colon; nil when there is
-- none.
local function split_key(text)
  local quote = text:match("^['\"]")
  if quote then
    local stop = scalars.close(text, 2, quote)
    local rest = stop and text:match("^%s*:(.*)$", stop + 1)
    if not rest or not rest:find("^%s") and rest ~= "" then return nil end
    return scalars.unquote({ text:sub(2, stop - 1) }, quote), rest
  end
  if text:find("^[%[{|>&*!%%@`#]") or text:find("^%?%f[%s\0]") then return nil end
  local colon = text:find(":%s") or text:find(":$")
  if not colon or colon == 1 then return nil end
  return scalars.trim_end(text:sub(1, colon - 1)), text:sub(colon + 1)
end

local function is_item(text)
  return text == "-" or text:sub(1, 2) == "- "
end

-- Lines that continue a scalar: those indented deeper than its parent, with blank ones
-- between.
function Parser:continued(indent)
  local parts = {}
  while self.at < #self.lines do
    local line = self.lines[self.at + 1]
    local spaces, first = line:match("^( *)(%S?)")
    if first ~= "" and #spaces <= indent then break end
    parts[#parts + 1] = scalars.trim(line)
    self.at = self.at + 1
  end
  while parts[#parts] == "" do
    parts[#parts], self.at = nil, self.at - 1
  end
  return parts
end

function Parser:quoted(text, quote, line)
  local parts, from = { text:sub(2) }, 1
  while true do
    local part = parts[#parts]
    local stop = scalars.close(part, from, quote)
    if stop then
      parts[#parts] = part:sub(1, stop - 1)
      if not part:find("^%s*$", stop + 1) and not part:find("^%s+#", stop + 1) then
        self:fail("text after a closing quote")
      end
      break
    end
    self.at = self.at + 1
    if self.at > #self.lines then
      self.refuse(line, "a quoted text is not closed; check that the file is whole")
    end
    parts[#parts + 1] = self.lines[self.at]
  end
  self.at = self.at + 1
  local value, why = scalars.unquote(parts, quote)
  if not value then self.refuse(line, why) end
  return { kind = "scalar", line = line, text = value }
end

function Parser:block_scalar(header, indent, line)
  local style, chomp, given = scalars.header(header)
  if not style then self:fail("the header " .. header) end
  local parts, width = {}, given and math.max(indent, 0) + given
  self.at = self.at + 1
  while self.at <= #self.lines do
    local text = self.lines[self.at]
    local spaces, first = text:match("^( *)(.?)")
    if first ~= "" then
      width = width or #spaces
      if #spaces < width or width <= indent then break end
    end
    parts[#parts + 1] = width and text:sub(width + 1) or ""
    self.at = self.at + 1
  end
  return { kind = "scalar", line = line, text = scalars.block(parts, style, chomp) }
end

function Parser:plain(text, indent, line)
  if text:find("^[&*!%%@`]") or text:find("^%?%f[%s\0]") then
    self:fail(("what begins with %q"):format(text:sub(1, 1)))
  end
  local remark = text:find("%s#")
  local first = remark and scalars.trim_end(text:sub(1, remark - 1)) or text
  local parts = self:continued(indent)
  self.at = self.at + 1
  if #parts == 0 then
    local value = scalars.resolve(first)
    if value then return { kind = "scalar", line = line, json = value } end
  end
  return { kind = "scalar", line = line, text = scalars.fold(first, parts) }
end

-- What stands below a key or a dash with nothing beside it.
function Parser:below(indent, in_map, line)
  self.at = self.at + 1
  local found = self:indent()
  local deeper = found and found > indent
  local beside = in_map and found == indent
  beside = beside and is_item(self.lines[self.at]:sub(found + 1))
  if deeper or beside then return self:block(found) end
  return { kind = "scalar", line = line, json = "null" }
end

function Parser:value(text, indent, in_map)
  local line = self.at
  text = scalars.trim(text)
  if text == "" or text:sub(1, 1) == "#" then return self:below(indent, in_map, line) end
  if text:find("^[|>]") then return self:block_scalar(text, indent, line) end
  local binary = text:match("^!!binary%s+([|>].*)$")
  if binary then
    local node = self:block_scalar(binary, indent, line)
    node.binary = true
    return node
  end
  local quote = text:match("^['\"]")
  if quote then
    -- The line's own end counts inside of quotes.
    local begin = #scalars.trim_end(self.lines[line]) - #text + 1
    return self:quoted(self.lines[line]:sub(begin), quote, line)
  end
  if text == "[]" or text == "{}" then
    self.at = self.at + 1
    local kind = text == "[]" and "list" or "map"
    return { kind = kind, line = line, keys = {}, values = {} }
  end
  if text:find("^[%[{]") then self:fail("a filled flow collection") end
  return self:plain(text, indent, line)
end

function Parser:map(indent)
  local node = { kind = "map", line = self.at, keys = {}, values = {} }
  local seen = {}
  while self:indent() == indent do
    local text = self.lines[self.at]:sub(indent + 1)
    local key, rest = split_key(text)
    if not key or is_item(text) then self:fail("a line without a key") end
    if seen[key] then
      self.refuse(self.at, ("the key %q stands twice; keep one"):format(key:sub(1, 40)))
    end
    seen[key] = true
    node.keys[#node.keys + 1] = key
    node.values[#node.values + 1] = self:value(rest, indent, true)
  end
  return node
end

function Parser:list(indent)
  local node = { kind = "list", line = self.at, keys = {}, values = {} }
  while self:indent() == indent and is_item(self.lines[self.at]:sub(indent + 1)) do
    local text = self.lines[self.at]:sub(indent + 2)
    local inner = text:match("^%s*(.*)$")
    local value
    if split_key(inner) or is_item(inner) then
      -- The item begins beside its dash: read it as if it stood below.
      local column = indent + 1 + #text - #inner
      self.lines[self.at] = (" "):rep(column) .. inner
      value = self:block(column)
    else
      value = self:value(text, indent, false)
    end
    node.values[#node.values + 1] = value
  end
  return node
end

function Parser:block(indent)
  self.depth = self.depth + 1
  if self.depth > DEPTH then self.refuse(self.at, "is nested too deeply; flatten it") end
  local text = self.lines[self.at]:sub(indent + 1)
  local node
  if is_item(text) then
    node = self:list(indent)
  elseif split_key(text) then
    node = self:map(indent)
  else
    node = self:value(text, indent - 1, false)
  end
  self.depth = self.depth - 1
  return node
end

--- The document in `text`. `refuse(line, why)` must not return.
---@param text string
---@param refuse fun(line: integer, why: string)
---@return neap.YamlNode
function M.parse(text, refuse)
  local lines = {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    lines[#lines + 1] = line:gsub("\r$", "")
  end
  if lines[1]:find("^%-%-%-%s*$") then lines[1] = "" end
  local state = { lines = lines, at = 1, depth = 0, refuse = refuse }
  local parser = setmetatable(state, Parser)
  local indent = parser:indent()
  if not indent then refuse(1, "holds no YAML; check the file") end
  local node = parser:block(indent)
  if parser:indent() then
    refuse(parser.at, "the indent fits nothing above; check that the file is whole")
  end
  return node
end

--- The JSON of a node.
---@param node neap.YamlNode
---@return string
function M.json(node)
  if node.kind == "scalar" then return node.json or json.encode(node.text) end
  local parts = {}
  for i, value in ipairs(node.values) do
    local key = node.kind == "map" and json.encode(node.keys[i]) .. ":" or ""
    parts[i] = key .. M.json(value)
  end
  local inner = table.concat(parts, ",")
  return node.kind == "map" and "{" .. inner .. "}" or "[" .. inner .. "]"
end

--- The member of a map, or nil.
---@param node neap.YamlNode?
---@param key string
---@return neap.YamlNode?
function M.get(node, key)
  for i, name in ipairs(node and node.kind == "map" and node.keys or {}) do
    if name == key then return node.values[i] end
  end
end

return M
