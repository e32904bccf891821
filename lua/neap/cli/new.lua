-- neap new: a commented policy to start from. next: check.lua
local core = require("neap.core")
local failure = require("neap.cli.fail")
local paths = require("neap.paths")

local M = {}

local TEMPLATE = [[
-- %s: the newest results in full, older ones shortened.
--
-- Try it:   neap check %s.lua
--           neap watch RECORDING -p %s.lua -w 16000   (and change this file)
--           neap compare RECORDING -p %s.lua -p tide -w 16000
--
-- What follows is run by `neap check`: a small history, and how each entry is shown after it.
--
-- example: window=8000 keep=1
--   user 20
--   call read src/a.c
--   result 900          -> trimmed
--   call read src/b.c
--   result 900

return {
  api = 1, -- of policies; this neap knows 1
  name = "%s",
  about = "The newest results in full; older ones shortened.",

  -- Set from outside by name: -o keep=5
  options = {
    keep = { default = 10, min = 1, help = "results shown in full" },
    tokens = { default = 200, min = 20, help = "what is left of an older result" },
  },

  -- Once for each entry, when it has come. Held entries are shortened only as a last resort.
  admit = function(ctx, e)
    if e.kind == "user" then e:hold("what the user said") end
  end,

  -- Each turn, before the prompt is rendered. Changing what was sent before starts a new epoch:
  -- the provider's cache is lost from there on, so change seldom, and much at once.
  assemble = function(ctx, o)
    local old = ctx:entries({ kind = "result", at = "full", except_last = o.keep })
    for e in old do
      e:trim({ tokens = o.tokens, keep = "dense", why = "older than the newest results" })
    end
  end,

  -- How much an entry is worth when the engine must choose what to lower, a number from 0 on.
  rank = function(ctx, e)
    return (1 + e.citations) / e.age
  end,
}
]]

--- neap new
function M.new(_, args)
  local name = args[1]:gsub("%.lua$", "")
  if not name:match("^[%a_][%w_%-]*$") then
    failure.fail(("%s is no name for a policy; use letters, digits, _ and -"):format(args[1]))
  end
  for _, shipped in ipairs(paths.shipped()) do
    if shipped == name then
      failure.fail(name .. ": a shipped policy is called so, and its name means it; give another")
    end
  end
  local path = name .. ".lua"
  if core.stat(path) then failure.fail(path .. ": is there already; give another name") end
  local f, why = io.open(path, "wb")
  if not f then failure.fail(why .. "; check the folder") end
  local ok, wrong = f:write((TEMPLATE:gsub("%%s", name)))
  if ok then
    ok, wrong = f:close()
  end
  if not ok then failure.fail(("%s: %s; free some space"):format(path, wrong)) end
  io.stdout:write(path, "\n")
  return 0
end

return M
