-- Packages of the npm registry to measure against, in a scratch folder outside of this one.
-- next: tokens.lua, economy.lua
local core = require("neap.core")
local shared = require("tests.support.shared")

local M = {}

--- The folder with the packages, what is missing installed; or nil and why not. Each list has a
--- folder of its own: npm takes away what it is not asked for.
---@param packages {[1]: string, [2]: string}[] names and versions
---@param what string
---@return string? folder, string? why
function M.install(packages, what)
  if not os.execute("command -v npm >/dev/null && command -v node >/dev/null") then
    return nil, "npm and node are not here; install them to compare"
  end
  local dir = os.getenv("NEAP_BENCH_PEERS") or (os.getenv("TMPDIR") or "/tmp") .. "/neap-bench-npm"
  local quote = shared.quote
  if what ~= "tokens" then dir = dir .. "-" .. what end
  local words = { "mkdir -p", quote(dir), "&& cd", quote(dir), "&& { [ -f package.json ] ||" }
  words[#words + 1] = "echo '{\"private\":true}' > package.json; } && npm install --silent"
  words[#words + 1] = "--no-audit --no-fund --no-save --ignore-scripts"
  for _, package in ipairs(packages) do
    words[#words + 1] = quote(package[1] .. "@" .. package[2])
  end
  if not os.execute(table.concat(words, " ") .. " >&2") then
    io.stderr:write("bench: npm could not install everything into ", dir, "\n")
  end
  return dir
end

--- What node prints for a program and its arguments: objects, a line each.
---@param words string[]
---@return table[] rows, boolean? ok
function M.node(words)
  local quoted = { "node --expose-gc" }
  for i, word in ipairs(words) do
    quoted[i + 1] = shared.quote(word)
  end
  local f = assert(io.popen(table.concat(quoted, " ")))
  local list = {}
  for line in f:lines() do
    list[#list + 1] = core.json.decode(line)
  end
  return list, f:close()
end

return M
