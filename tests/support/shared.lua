-- What specs need from their surroundings: the folder of shared test data (which may be
-- absent: then the case is skipped, with this reason), the built program, scratch files.
-- next: ../spec/layers_spec.lua
local M = {}

local function readable(path)
  local f = io.open(path, "rb")
  if f then f:close() end
  return f ~= nil
end

--- The folder of shared data, or nil when it is not there.
---@return string?
function M.dir()
  local dir = os.getenv("NEAP_SHARED") or "../shared"
  return readable(dir .. "/README.md") and dir or nil
end

--- The path of a file or folder of the shared data, or nil and the reason to skip with:
---     local path, why = shared.path("corpus/chinese.txt")
---     if not path then return pending(why) end
---@param name string
---@return string?, string?
function M.path(name)
  local dir = M.dir()
  if not dir then return nil, "the shared data is not here" end
  return dir .. "/" .. name
end

--- The whole of a file, or nil and the reason.
---@param path string
---@return string?, string?
function M.read(path)
  local f, err = io.open(path, "rb")
  if not f then return nil, err end
  local text = f:read("a")
  f:close()
  return text
end

--- The folder of the build under test.
---@return string
function M.build()
  return os.getenv("NEAP_BUILD") or "build"
end

--- The built program.
---@return string
function M.program()
  return os.getenv("NEAP_BIN") or (M.build() .. "/neap")
end

--- A word for the shell.
---@param word string
---@return string
function M.quote(word)
  return "'" .. tostring(word):gsub("'", "'\\''") .. "'"
end

--- Runs the program with `args` (a list of words), standard input from `input` if given.
---@param args string[]
---@param input string?
---@return integer code, string out, string err
function M.run(args, input)
  local words = { M.quote(M.program()) }
  for i, word in ipairs(args) do
    words[i + 1] = M.quote(word)
  end
  local out, err, inp = os.tmpname(), os.tmpname(), "/dev/null"
  if input then
    inp = os.tmpname()
    local f = assert(io.open(inp, "wb"))
    f:write(input)
    f:close()
  end
  local command = ("%s <%s >%s 2>%s"):format(table.concat(words, " "), inp, out, err)
  local _, how, code = os.execute(command)
  if how == "signal" then code = 128 + code end
  local stdout, stderr = M.read(out), M.read(err)
  os.remove(out)
  os.remove(err)
  if input then os.remove(inp) end
  return code, stdout, stderr
end

--- A folder of its own for a spec's files, in the build; emptied first.
---@param name string
---@return string
function M.scratch(name)
  local dir = M.build() .. "/scratch/" .. name
  os.execute("rm -rf " .. M.quote(dir) .. " && mkdir -p " .. M.quote(dir))
  return dir
end

return M
