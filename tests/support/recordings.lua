-- Recordings and policies for specs of verbs, written into a folder of the spec. next: shared.lua
local core = require("neap.core")
local json = core.json

local M = {}

-- A recording in which the model reads `steps` files and later names what stood in them.
function M.recording(steps, size)
  local lines = { '{"role":"system","content":"Be brief."}' }
  lines[2] = '{"role":"user","content":"Find the fault in the parser."}'
  local function add(message)
    lines[#lines + 1] = json.encode(message, { "role" })
  end
  for i = 1, steps do
    local seen = i > 12 and ("As ERR_%d says."):format(1000 + i - 12) or "Next."
    local f = { name = "read", arguments = json.encode({ path = ("src/f%d.c"):format(i) }) }
    local call = { id = "c" .. i, type = "function", ["function"] = f }
    add({ role = "assistant", content = seen, tool_calls = json.array({ call }) })
    local text = ("ERR_%d "):format(1000 + i) .. ("plain words here and there\n"):rep(size)
    add({ role = "tool", tool_call_id = "c" .. i, content = text })
  end
  add({ role = "assistant", content = "Done." })
  return table.concat(lines, "\n") .. "\n"
end

M.MASK = [[
return {
  api = 1, name = "mask", about = "Masks all but the newest.",
  options = { keep = { default = 3, min = 1, help = "results shown" } },
  assemble = function(ctx, o)
    for e in ctx:entries({ kind = "result", at = "full", except_last = o.keep }) do
      e:mask("old")
    end
  end,
}
]]

M.THROWS = 'return { api = 1, name = "throws",\n  assemble = function() error("no") end }\n'

--- What writes a text under a name into a folder and gives its path.
---@param dir string
---@return fun(name: string, text: string): string
function M.writer(dir)
  return function(name, text)
    local path = dir .. "/" .. name
    local f = assert(io.open(path, "wb"))
    f:write(text)
    assert(f:close())
    return path
  end
end

--- The rows of an output in lines of JSON.
---@param text string
---@return table[]
function M.rows(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do
    list[#list + 1] = assert(json.decode(line))
  end
  return list
end

return M
