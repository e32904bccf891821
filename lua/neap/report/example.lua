-- The example in a policy's head comment, run: a small history in shorthand, and what each
-- entry is shown as once the policy has done its work. Tests and `neap check` use it. The form
-- is in docs/policies.md. next: ../../../policies/mask_observations.lua
local core = require("neap.core")
local asking = require("neap.summary.asking")
local extract = require("neap.summary.extract")

local M = {}

local RUNGS = {
  full = true,
  trimmed = true,
  reference = true,
  masked = true,
  dropped = true,
  folded = true,
}
local WORDS = {}
local LIST = "time wind water stone light paper north letter river garden morning silver "
  .. "window bridge yellow market corner winter summer island harbor village mountain forest"
for word in LIST:gmatch("%a+") do
  WORDS[#WORDS + 1] = word
end

-- About n tokens of plain words in lines of ten; another seed gives other lines.
local function filler(n, seed)
  local out, state = {}, seed * 7919 + 1
  for i = 1, n do
    state = (state * 1103515245 + 12345) % 2147483648
    out[i] = WORDS[(state >> 16) % #WORDS + 1]
  end
  local lines = {}
  for i = 1, n, 9 do
    lines[#lines + 1] = table.concat(out, " ", i, math.min(i + 8, n))
  end
  return table.concat(lines, "\n")
end

-- ---- reading ------------------------------------------------------------------------------

-- `window=4000 keep=1`: session settings and options of the policy.
local function parse_settings(text, example)
  for name, value in text:gmatch("(%S+)=(%S+)") do
    local v = math.tointeger(tonumber(value)) or tonumber(value) or value
    if value == "true" or value == "false" then v = value == "true" end
    if name == "window" or name == "reserve" then
      example[name] = v
    else
      example.options[name] = v
    end
  end
end

-- `result 900 "src/a.c:17" -> masked`
local function parse_line(text, line)
  local body, rung = text:match("^(.-)%s*%->%s*(%a+)$")
  body = body or text
  if rung and not RUNGS[rung] then
    return nil, ("line %d: there is no rung %q"):format(line, rung)
  end
  local quoted = body:match('"(.-)"')
  body = body:gsub('%s*".-"', "")
  local kind, rest = body:match("^(%a+)%s*(.-)$")
  local item = { kind = kind, line = line, rung = rung or "full", quoted = quoted, text = text }
  if kind == "call" then
    item.tool, item.path = rest:match("^(%S+)%s*(.*)$")
    if item.tool then return item end
  elseif kind == "user" or kind == "text" or kind == "result" or kind == "system" then
    item.tokens = math.tointeger(tonumber(rest))
    if item.tokens then return item end
  end
  local form = "line %d: %q is no line of an example; write `result 900 -> masked`"
  return nil, form:format(line, text)
end

--- The examples of a policy's head comment.
---@param text string the policy file
---@return table[]? examples, string? message
function M.parse(text)
  local list, example, number = {}, nil, 0
  for line in (text .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    local comment = line:match("^%-%-(.*)$")
    if not comment then break end
    local settings = comment:match("^%s*example:%s*(.*)$")
    if settings then
      example = { line = number, options = {}, items = {} }
      parse_settings(settings, example)
      list[#list + 1] = example
    elseif example and comment:match("^%s%s%s*%S") then
      local item, why = parse_line(comment:match("^%s*(.-)%s*$"), number)
      if not item then return nil, why end
      example.items[#example.items + 1] = item
    else
      example = nil
    end
  end
  return list
end

-- ---- running ------------------------------------------------------------------------------

local function content(item, seed)
  local text = filler(math.max(1, item.tokens), seed)
  return item.quoted and item.quoted .. "\n" .. text or text
end

-- Messages are kept with the items of their entries, in order.
local Messages = {}
Messages.__index = Messages

function Messages:add(message, item)
  self[#self + 1] = { message = message, items = { item } }
end

-- Calls that follow one another are one parallel batch, and join a text right before them.
function Messages:call(item)
  local last = self[#self]
  if not last or last.message.role ~= "assistant" then
    self:add({ role = "assistant" }, nil)
    last = self[#self]
  end
  self.ids = self.ids + 1
  local id = ("c%d"):format(self.ids)
  local arguments = core.json.encode({ path = item.path })
  last.message.tool_calls = last.message.tool_calls or {}
  table.insert(last.message.tool_calls, {
    id = id,
    type = "function",
    ["function"] = { name = item.tool, arguments = arguments },
  })
  table.insert(last.items, item)
  table.insert(self.waiting, id)
  return true
end

function Messages:result(item, seed)
  local id = table.remove(self.waiting, 1)
  if not id then return nil, ("line %d: a result without a call"):format(item.line) end
  self:add({ role = "tool", tool_call_id = id, content = content(item, seed) }, item)
  return true
end

-- The items of an example as chat messages.
local function messages(example)
  local list = setmetatable({ ids = 0, waiting = {} }, Messages)
  for i, item in ipairs(example.items) do
    local ok, why = true, nil
    if item.kind == "call" then
      ok, why = list:call(item)
    elseif item.kind == "result" then
      ok, why = list:result(item, i)
    else
      local role = item.kind == "text" and "assistant" or item.kind
      list:add({ role = role, content = content(item, i) }, item)
    end
    if not ok then return nil, why end
  end
  return list
end

-- One turn; a hook that fails in an example is a fault of the policy.
local function turn(session)
  local ok, why, code = session:prompt()
  if not ok then return nil, why, code end
  local errors = core.json.decode(session:account()).hook_errors
  if errors and errors[1] then return nil, errors[1] end
  return extract.answer_all(session, nil, asking.answerer(session))
end

-- Plays the history: a prompt before each assistant message and one at the end.
local function play(session, list)
  for _, m in ipairs(list) do
    local ok, why = true, nil
    if m.message.role == "assistant" then
      ok, why = turn(session)
    end
    if not ok then return nil, why end
    ok, why = session:append(core.json.encode(m.message))
    if not ok then return nil, why end
  end
  return turn(session)
end

local function compare(session, list, path)
  local id = 0
  for _, m in ipairs(list) do
    for _, item in ipairs(m.items) do
      local e
      repeat -- summaries are entries too, but not of the example
        id = id + 1
        e = session:entry(id)
      until not e or e.kind ~= "summary"
      local rung = e and e.rung or "nothing"
      if rung ~= item.rung then
        local form = "%s:%d: the example expects %q to be %s, but it is %s"
        return nil, form:format(path, item.line, item.text, item.rung, rung)
      end
    end
  end
  return true
end

local function run_one(engine, path, example)
  local list, why = messages(example)
  if not list then return nil, path .. ": " .. why end
  local session, message = engine:session({
    name = "example " .. example.line,
    policy = path,
    options = core.json.encode(example.options),
    window = example.window or 8000,
    reserve = example.reserve,
    no_reload = true,
  })
  if not session then return nil, message end
  local ok
  ok, why = play(session, list)
  if ok then
    ok, why = compare(session, list, path)
  else
    why = ("%s:%d: the example does not run: %s"):format(path, example.line, why)
  end
  session:close()
  return ok, why
end

--- Runs every example in the head comment of the policy at `path`. No example is no failure:
--- the second value is how many there were.
---@param path string
---@return true? ok, string|integer message_or_count
function M.run(path)
  local f, err = io.open(path, "rb")
  if not f then return nil, err end
  local text = f:read("a")
  f:close()
  local list, why = M.parse(text)
  if not list then return nil, path .. ":" .. why:gsub("^line ", "") end
  if #list == 0 then return true, 0 end
  local engine, message = core.engine({ data = core.data_dir(), fixed_secret = true })
  if not engine then return nil, message end
  for _, example in ipairs(list) do
    local ok
    ok, why = run_one(engine, path, example)
    if not ok then
      engine:close()
      return nil, why
    end
  end
  engine:close()
  return true, #list
end

return M
