-- Puts what `make run` prints into the README, in place of the table that stands there.
--     make run | lua5.4 tests/support/readme_table.lua
-- next: ../spec/readme_spec.lua
local function read(path)
  local f = assert(io.open(path, "rb"))
  local text = f:read("a")
  f:close()
  return text
end

local fresh = io.read("a")
assert(fresh:find("policy", 1, true), "standard input is not what `make run` prints")
local text, n = read("README.md"):gsub("(```sh\nmake run\n```\n```text\n).-(```\n)", function(a, b)
  return a .. fresh:gsub("%s+$", "") .. "\n" .. b
end)
assert(n == 1, "README.md has no table behind `make run`")
local f = assert(io.open("README.md", "wb"))
f:write(text)
f:close()
