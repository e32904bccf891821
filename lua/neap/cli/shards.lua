-- A verb's work shared out to processes of this program: the commands, and what they print.
-- next: merge.lua
local core = require("neap.core")
local failure = require("neap.cli.fail")

local M = {}
local fail, check = failure.fail, failure.check

--- Options of a replay that mean the same in every process.
M.PASSED = { "window", "reserve", "format", "encoding", "model", "prices", "think", "cache",
  "from", "as" }

--- Those without a value.
M.FLAGS = { "lenient", "branches" }

function M.quote(word)
  return "'" .. tostring(word):gsub("'", "'\\''") .. "'"
end

-- The command of shard i of n: this program, the same options.
local function command(verb, opts, words, args, i, n)
  local parts = { M.quote(core.exe_dir() .. "/neap"), verb, "--shard", i .. "/" .. n }
  for _, name in ipairs(M.PASSED) do
    if opts[name] then
      table.move({ "--" .. name, M.quote(opts[name]) }, 1, 2, #parts + 1, parts)
    end
  end
  for _, flag in ipairs(M.FLAGS) do
    if opts[flag] then parts[#parts + 1] = "--" .. flag end
  end
  table.move(words, 1, #words, #parts + 1, parts)
  parts[#parts + 1] = "--"
  for _, path in ipairs(args) do
    parts[#parts + 1] = M.quote(path)
  end
  return table.concat(parts, " ")
end

--- Runs the verb in n processes, beside each other; what each has printed. Fails when one does.
---@param verb string
---@param opts table
---@param words string[] further words of the command, quoted where they must be
---@param args string[] the recordings
---@param n integer
---@return string[]
function M.run(verb, opts, words, args, n)
  if core.exe_dir() == "" then fail("-j needs the neap program; use -j 1 here") end
  for _, path in ipairs(args) do
    if path == "-" then fail("- cannot be read by several processes; use -j 1") end
  end
  local pipes, texts, failed = {}, {}, nil
  for i = 1, n do
    pipes[i] = check(io.popen(command(verb, opts, words, args, i, n), "r"))
  end
  for i = 1, n do
    texts[i] = pipes[i]:read("a")
    local _, _, code = pipes[i]:close()
    if code ~= 0 and code ~= 1 then failed = i end
  end
  if failed then fail(("shard %d of %d failed; its reason is above"):format(failed, n)) end
  return texts
end

return M
