-- Tool schemas of the providers as chat schemas: name, description and parameters keep their
-- bytes; what a chat schema has no place for goes to the session's meta. next: exchanges.lua
local core = require("neap.core")
local build = require("neap.import.build")
local json = core.json

local M = {}

local RAW = {
  description = true,
  parameters = true,
  parametersJsonSchema = true,
  input_schema = true,
  inputSchema = true,
  format = true,
  ["function"] = true,
  functionDeclarations = true,
  function_declarations = true,
}

local KNOWN = { type = true, name = true, description = true, strict = true }
local PLACES = { "input_schema", "parameters", "parametersJsonSchema", "inputSchema" }
for _, place in ipairs(PLACES) do
  KNOWN[place] = true
end

-- A tool that takes free text is called with one argument that holds it.
local FREE = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}'

local function parameters_of(tool)
  for _, place in ipairs(PLACES) do
    local raw = tool[place]
    if json.kind(raw) == "object" then return raw end
  end
  if tool.type == "custom" then return json.raw(FREE) end
end

local add

local function add_all(out, raw)
  local items = json.kind(raw) == "array" and json.items(raw) or {}
  for _, item in ipairs(items) do
    add(out, item, true)
  end
end

-- One tool; `bare` ones may have no parameters at all.
add = function(out, raw, bare)
  local tool = json.decode(raw, RAW)
  local is_object = type(tool) == "table" and not json.is_array(tool) and not json.is_raw(tool)
  local nested = is_object and (tool.functionDeclarations or tool.function_declarations)
  if nested then return add_all(out, nested) end
  if is_object and json.kind(tool["function"]) == "object" then
    out.list[#out.list + 1] = json.raw(raw)
    return
  end
  local parameters = is_object and parameters_of(tool)
  bare = bare and is_object and (tool.type == nil or tool.type == "function")
  if not is_object or type(tool.name) ~= "string" or not (parameters or bare) then
    out.kept[#out.kept + 1] = json.raw(raw)
    return
  end
  local f = { name = tool.name, description = tool.description, parameters = parameters }
  f.parameters = f.parameters or json.raw('{"type":"object","properties":{}}')
  f.strict = not build.absent(tool.strict) and tool.strict or nil
  out.list[#out.list + 1] = { type = "function", ["function"] = f }
  local rest = build.rest(tool, KNOWN)
  if rest then
    rest.name = tool.name
    out.kept[#out.kept + 1] = rest
  end
end

--- A list of tools in any provider's form as a list of chat schemas.
---@param source neap.Source
---@param raw any a raw slice
---@return string? tools, table? kept what has no place in them
function M.convert(source, raw)
  local out = { list = json.array(), kept = json.array() }
  add_all(out, raw)
  if json.is_raw(raw) and not raw.raw:find("^[%[n]") then out.kept[1] = raw end
  if #out.kept > 0 then source:note("tools kept in meta", #out.kept) end
  local kept = #out.kept > 0 and out.kept or nil
  if #out.list == 0 then return nil, kept end
  return build.one_line(build.encode(out.list)), kept
end

return M
