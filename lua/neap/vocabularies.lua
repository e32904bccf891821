-- The encodings there are: those built in, and the vocabularies that the user has imported.
-- next: cli/vocab.lua
local core = require("neap.core")

local M = {}

M.ENDING = ".neapready"

--- What the user has imported, by name; `file` is each one's path. A file that is none is left
--- out, and told to `warn`.
---@param warn fun(text: string)?
---@return table[]
function M.imported(warn)
  local dir, built_in, found = core.vocab_dir(), {}, {}
  for _, info in ipairs(core.encodings()) do
    built_in[info.name] = true
  end
  for _, item in ipairs(core.list(dir) or {}) do
    local name = item:sub(-#M.ENDING) == M.ENDING and item:sub(1, -#M.ENDING - 1)
    if name and not built_in[name] then
      local enc, why = core.encoding(name, dir)
      if enc then
        local info = enc:info()
        info.file = dir .. "/" .. item
        found[#found + 1] = info
        enc:close()
      elseif warn then
        warn(why)
      end
    end
  end
  return found
end

--- All encodings: the built-in ones, then the imported ones by name.
---@param warn fun(text: string)?
---@return table[]
function M.all(warn)
  local list = core.encodings()
  for _, info in ipairs(M.imported(warn)) do
    list[#list + 1] = info
  end
  return list
end

local function write(path, bytes)
  local f, why = io.open(path, "wb")
  if not f then return nil, why end
  local written, bad = f:write(bytes)
  local closed, worse = f:close()
  if not written or not closed then return nil, ("%s: %s"):format(path, bad or worse) end
  return true
end

--- Writes the file of a new encoding as a whole: whoever uses an older one keeps it, and of
--- several that are written at once the last one stays.
---@param name string
---@param image string
---@return string? path, string? message
function M.keep(name, image)
  local dir = core.vocab_dir()
  local ok, why = core.mkdir(dir)
  if not ok then return nil, ("%s: %s; name a folder with NEAP_DATA"):format(dir, why) end
  local path = dir .. "/" .. name .. M.ENDING
  local new, no = core.fresh(path)
  if not new then return nil, ("%s: %s; check who may write there"):format(path, no) end
  local done, bad = write(new, image)
  if done then
    done, bad = os.rename(new, path)
    bad = not done and ("%s: %s"):format(path, bad)
  end
  if not done then
    os.remove(new)
    return nil, ("%s; check the disk and who may write there"):format(bad)
  end
  return path
end

return M
