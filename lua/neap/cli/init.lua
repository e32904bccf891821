-- The command line: finds the verb, reads its options, runs it, turns failures into one line
-- and an exit code. next: options.lua, then the verb's own file
local options = require("neap.cli.options")
local args = require("neap.cli.args")
local failure = require("neap.cli.fail")
local visible = require("neap.report.visible")
local core = require("neap.core")

local M = {}

local function run_verb(word, words)
  local verb = options.verb(word)
  if not verb then args.unknown_verb(word) end
  local opts, rest = args.parse(verb, words)
  if opts.help then
    io.stdout:write(args.verb_help(verb))
    return 0
  end
  local module = require("neap.cli." .. verb.module)
  return module[verb.name](opts, rest) or 0
end

local function dispatch(words)
  local word = words[1]
  if word == nil then
    io.stderr:write(args.program_help())
    return 2
  elseif word == "--help" or word == "-h" or word == "help" then
    local verb = words[2] and (options.verb(words[2]) or args.unknown_verb(words[2]))
    io.stdout:write(verb and args.verb_help(verb) or args.program_help())
    return 0
  elseif word == "--version" then
    io.stdout:write("neap ", core.version, "\n")
    return 0
  elseif word:sub(1, 1) == "-" then
    failure.fail(("unknown option %s; neap --help lists the verbs"):format(word))
  end
  return run_verb(word, { table.unpack(words, 2) })
end

-- A failure of ours keeps its text; anything else is a fault and says where it was.
local function on_error(e)
  if failure.is(e) then return e end
  return { text = "internal error: " .. debug.traceback(tostring(e), 2), code = 2, fault = true }
end

-- When memory runs out, Lua passes its own message by on_error.
local function as_failure(result)
  if type(result) == "table" then return result end
  return { text = tostring(result) .. "; give smaller input, or more memory", code = 2 }
end

--- Runs the program; returns its exit code.
---@param words string[] the arguments, as in `arg`
---@return integer
function M.main(words)
  local ok, result = xpcall(dispatch, on_error, words)
  if not ok then
    result = as_failure(result)
    if result.fault then
      io.stderr:write("neap: ", visible.text(result.text), "\n")
    else
      failure.warn(result.text)
    end
    io.stdout:flush()
    return result.code
  end
  local written, why = io.stdout:flush()
  if not written then
    failure.warn("standard output: " .. why .. "; free some space or close the pipe later")
    return 2
  end
  return result
end

return M
