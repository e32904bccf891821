-- The native form: an optional first line {"neap":1,…}, then one chat message or block a line,
-- kept as the bytes it came in. next: openai.lua
local core = require("neap.core")
local build = require("neap.import.build")
local json = core.json

local M = { name = "native", about = "JSONL of chat messages, one a line" }

function M.detect(_, head)
  if head:find('^%s*{%s*"neap"%s*:') then return 100 end
  local line = head:match("^%s*([^\n]*)")
  local named = line:find('"role"%s*:') or line:find('"kind"%s*:')
  if not line:find("^{") or not named then return 0 end
  local value = json.decode(line, { tool_calls = true })
  if type(value) ~= "table" then return 0 end
  local is_block = build.is_block(value) and not build.fault(value)
  return (is_block or type(value.role) == "string") and 60 or 0
end

-- The first line; what it holds besides is kept.
local function read_header(session, source, value, line)
  if value.neap ~= 1 then
    source:stop(line, "was written by a newer neap; install that version")
  end
  if not build.absent(value.tools) then
    if json.kind(value.tools) ~= "array" then source:stop(line, "tools must be a list") end
    session.tools = value.tools.raw
  end
  if not build.absent(value.answers) then
    if json.kind(value.answers) ~= "array" then source:stop(line, "answers must be a list") end
    session.answers = json.decode(value.answers.raw)
  end
  -- A copy: what stays with the session must not hold on to the whole text.
  session.meta = not build.absent(value.meta) and json.raw(value.meta.raw) or nil
end

function M.read(source)
  local session = build.session(source, M.name)
  local first = true
  source:records({ tools = true, meta = true, answers = true }, function(value, raw, line)
    if first and type(value) == "table" and value.neap ~= nil then
      first = false
      return read_header(session, source, value, line)
    end
    first = false
    local why = build.fault(value)
    if why then return source:bad(line, why) end
    session:add(value, raw, line)
  end)
  return { session:finish() }
end

return M
