-- Real tools over a copy of a project: ls, grep, read, run, edit, write. What they answer is
-- the same on every machine: paths are relative, names sorted, the locale is C, and nothing
-- of the caller's environment is passed on. next: ../agent_loop.lua
local M = {}
M.__index = M

local function quote(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

local function capture(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  pipe:close()
  return text
end

local function read_file(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local text = f:read("a")
  f:close()
  return text
end

local function write_file(path, text)
  local f = assert(io.open(path, "wb"))
  assert(f:write(text))
  assert(f:close())
end

local function count_lines(text)
  local _, n = text:gsub("\n", "")
  return n
end

--- Copies `project` to a folder of its own; close() removes it.
---@param project string
---@return table
function M.open(project)
  local home = capture("mktemp -d"):match("[^\n]+")
  assert(home, "no temporary folder; set TMPDIR to a folder that can be written")
  assert(os.execute(("cp -R %s %s"):format(quote(project), quote(home .. "/project"))))
  return setmetatable({ home = home, folder = home .. "/project" }, M)
end

function M:close()
  os.execute("rm -rf " .. quote(self.home))
end
M.__close = M.close

-- A command in the project's folder, with an empty environment but for the search path.
function M:shell(command)
  local inner = ("cd %s && %s"):format(quote(self.folder), command)
  local clean = 'env -i PATH="$PATH" HOME=/nonexistent LC_ALL=C TZ=UTC sh -c '
  return capture(clean .. quote(inner) .. " 2>&1 </dev/null")
end

-- The path of a file of the project, or nil when it leads out of it.
function M:path(name)
  if name:sub(1, 1) == "/" or ("/" .. name .. "/"):find("/../", 1, true) then return nil end
  return self.folder .. "/" .. name
end

function M:ls(a)
  return self:shell("ls -1Ap -- " .. quote(a.path))
end

function M:grep(a)
  local found = ("grep -IrnHE -e %s -- %s"):format(quote(a.pattern), quote(a.path))
  local text = self:shell(found .. " | sort -t: -k1,1 -k2,2n")
  text = text:gsub("^%./", ""):gsub("\n%./", "\n")
  return text == "" and "no line matches\n" or text
end

function M:read(a)
  local path = self:path(a.path)
  local text = path and read_file(path)
  if not text then return "error: " .. a.path .. " cannot be read\n" end
  local out, n = {}, 0
  if text:sub(-1) ~= "\n" then text = text .. "\n" end
  for line in text:gmatch("([^\n]*)\n") do
    n = n + 1
    if n >= (a.first or 1) and n <= (a.last or math.huge) then
      out[#out + 1] = ("%4d  %s\n"):format(n, line)
    end
  end
  return table.concat(out)
end

-- make words its complaints differently from version to version: they are left out.
function M:run(a)
  local text = self:shell("(" .. a.command .. "\n); echo \"[exit code $?]\"")
  return (text:gsub("make: [^\n]*\n", ""))
end

function M:edit(a)
  local path = self:path(a.path)
  local text = path and read_file(path)
  if not text then return "error: " .. a.path .. " cannot be read\n" end
  local from, to = text:find(a.old, 1, true)
  if not from then return "error: " .. a.path .. ": the old text is not there\n" end
  if text:find(a.old, to + 1, true) then
    return "error: " .. a.path .. ": the old text is there more than once\n"
  end
  write_file(path, text:sub(1, from - 1) .. a.new .. text:sub(to + 1))
  return ("%s: line %d: %d lines replaced by %d\n"):format(
    a.path,
    count_lines(text:sub(1, from - 1)) + 1,
    count_lines(a.old),
    count_lines(a.new)
  )
end

function M:write(a)
  local path = self:path(a.path)
  if not path then return "error: " .. a.path .. " is outside the project\n" end
  write_file(path, a.text)
  return ("%s: %d lines written\n"):format(a.path, count_lines(a.text))
end

local KNOWN = { ls = true, grep = true, read = true, run = true, edit = true, write = true }

--- Runs a call; what went wrong is told in the answer, as the model would see it.
---@param name string
---@param arguments table
---@return string
function M:call(name, arguments)
  if not KNOWN[name] then return "error: there is no tool " .. name .. "\n" end
  return self[name](self, arguments)
end

local function schema(name, description, properties, required)
  return {
    type = "function",
    ["function"] = {
      name = name,
      description = description,
      parameters = { type = "object", properties = properties, required = required },
    },
  }
end

local function text(description)
  return { type = "string", description = description }
end

local function number(description)
  return { type = "integer", description = description }
end

-- What the model is told about the tools, in the shape that OpenAI's chat takes.
M.schemas = {
  schema("ls", "Lists a folder of the project.", {
    path = text("the folder"),
  }, { "path" }),
  schema("grep", "Searches a file or folder for an extended regular expression.", {
    path = text("file or folder"),
    pattern = text("the expression"),
  }, { "path", "pattern" }),
  schema("read", "Reads a file with line numbers, or some lines of it.", {
    path = text("the file"),
    first = number("first line"),
    last = number("last line"),
  }, { "path" }),
  schema("run", "Runs a shell command in the project's folder.", {
    command = text("the command"),
  }, { "command" }),
  schema("edit", "Replaces a piece of a file that occurs exactly once.", {
    path = text("the file"),
    old = text("what stands there"),
    new = text("what is to stand there"),
  }, { "path", "old", "new" }),
  schema("write", "Writes a whole file.", {
    path = text("the file"),
    text = text("its text"),
  }, { "path", "text" }),
}

return M
