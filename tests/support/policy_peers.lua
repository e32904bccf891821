-- Asks packages of the npm registry what they would show of a case's messages. They are looked
-- for where `make bench NPM=1` puts them, or below NEAP_POLICY_PEERS; nothing is installed here.
-- next: policy_peers.mjs
local core = require("neap.core")
local shared = require("tests.support.shared")
local sources = require("tests.support.sources")

local M = {}

--- What is installed for which peer: a package and its version.
M.PACKAGES = {
  langchain = { "langchain", "1.5.14" },
  openclaw = { "openclaw", "2026.9.6" },
  pi = { "@mariozechner/pi-coding-agent", "0.73.1" },
  gemini = { "@google/gemini-cli-core", "0.61.0" },
}

--- The folder that holds them.
---@return string
function M.dir()
  local tmp = (os.getenv("TMPDIR") or "/tmp") .. "/neap-bench-npm"
  local bench = (os.getenv("NEAP_BENCH_PEERS") or tmp) .. "-policies"
  return os.getenv("NEAP_POLICY_PEERS") or bench
end

-- The package's version, or nil and why it cannot be asked.
local function installed(package)
  local path = ("%s/node_modules/%s/package.json"):format(M.dir(), package[1])
  local text = shared.read(path)
  if not text then return nil, package[1] .. " is not installed; `make bench NPM=1` does so" end
  local version = core.json.decode(text).version
  if version ~= package[2] then
    return nil, ("%s is %s, and the cases are of %s"):format(package[1], version, package[2])
  end
  if not os.execute("command -v node >/dev/null") then return nil, "node is not here" end
  return version
end

--- What the case's peer shows in each turn, or nil and why it cannot be asked.
---@param case table
---@return string[]? shown, string? why
function M.shown(case)
  local peer = case.peer
  local ok, why = installed(assert(M.PACKAGES[peer:match("^%a+")], peer))
  if not ok then return nil, why end
  local input = os.tmpname()
  local f = assert(io.open(input, "wb"))
  f:write(core.json.encode({
    peer = peer,
    options = next(case.options or {}) and case.options or nil,
    window = case.window or 200000,
    clock = case.clock or nil,
    messages = sources.messages(case.history),
  }))
  f:close()
  local words = { "tests/support/policy_peers.mjs", M.dir(), input }
  local command = { "node" }
  for _, word in ipairs(words) do
    command[#command + 1] = shared.quote(word)
  end
  local pipe = assert(io.popen(table.concat(command, " "), "r"))
  local out = pipe:read("a")
  assert(pipe:close(), "node failed")
  os.remove(input)
  return core.json.decode(out)
end

return M
