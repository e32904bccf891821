-- An agent that does real work: it mends the program in examples/project with real tools, in a
-- copy, and every prompt goes through the engine under a policy. Only the model is missing: what
-- it decides is read from a script. What the tools answer is not.
--     lua5.4 examples/agent_loop.lua [-o FOLDER] [NAME…]
-- With -o each session is written to FOLDER/NAME.jsonl as a recording; examples/recordings was
-- made this way. The same bytes come out on every machine. next: scripts/english.lua
package.path = package.path .. ";lua/?.lua;lua/?/init.lua"
package.cpath = package.cpath .. ";build/lua/?.so"

local neap = require("neap")
local tools = require("examples.scripts.tools")

local json = neap.json
local WINDOW = 32000
local NAMES = { "english", "chinese", "planted" }

-- ---- the model, which is a script ---------------------------------------------------------

local Model = {}
Model.__index = Model

function Model.open(script)
  return setmetatable({ steps = script.steps, at = 0, calls = 0, answers = 0 }, Model)
end

-- What the user says before the model's next turn, if anything.
function Model:user_says()
  local step = self.steps[self.at + 1]
  if not step or not step.user then return nil end
  self.at = self.at + 1
  return step.user
end

function Model:is_done()
  return self.at >= #self.steps
end

function Model:tool_calls(step)
  local list = {}
  for i = 2, #step do
    self.calls = self.calls + 1
    list[#list + 1] = {
      id = ("call_%03d"):format(self.calls),
      type = "function",
      ["function"] = { name = step[i].name, arguments = json.encode(step[i].arguments) },
    }
  end
  return #list > 0 and list or nil
end

-- The message of the next turn. A real model would read `prompt`; this one has learnt its part.
function Model:message(prompt)
  assert(json.decode(prompt).messages, "the prompt is no request body")
  self.at = self.at + 1
  self.answers = self.answers + 1
  local step = self.steps[self.at]
  return { role = "assistant", content = step[1], tool_calls = self:tool_calls(step) }
end

-- The body that a provider would send back.
local function response(message)
  local reason = message.tool_calls and "tool_calls" or "stop"
  return json.encode({ choices = { { index = 0, message = message, finish_reason = reason } } })
end

-- ---- the recording ------------------------------------------------------------------------

local ORDER = { "neap", "meta", "role", "tool_call_id", "content" }

local function recorder(script)
  local lines = {}
  local function add(value)
    lines[#lines + 1] = json.encode(value, ORDER) .. "\n"
  end
  add({
    neap = 1,
    meta = { name = script.name, made_by = "examples/agent_loop.lua" },
    tools = tools.schemas,
  })
  return { add = add, lines = lines }
end

local function save(path, lines)
  local f = assert(io.open(path, "wb"))
  assert(f:write(table.concat(lines)))
  assert(f:close())
end

-- ---- the loop -----------------------------------------------------------------------------

local function play(script)
  local model, record = Model.open(script), recorder(script)
  local project <close> = tools.open("examples/project")
  local session <close> = assert(neap.session({
    policy = "policies/tide.lua",
    window = WINDOW,
    tools = json.encode(tools.schemas),
  }))
  local most = 0

  local function say(role, content)
    local message = { role = role, content = content }
    assert(session:add(message))
    record.add(message)
  end

  say("system", script.system)
  say("user", script.task)
  while not model:is_done() do
    local words = model:user_says()
    if words then say("user", words) end
    local prompt = assert(session:prompt())
    most = math.max(most, session:account().tokens)
    local message = model:message(prompt)
    assert(session:add_response(response(message)))
    record.add(message)
    for call in session:calls() do
      local text = project:call(call.name, json.decode(call.arguments))
      assert(session:result(call, text))
      record.add({ role = "tool", tool_call_id = call.id, content = text })
    end
  end
  local fits = most <= session:account().budget and "fits" or "does not fit"
  local form = "%s: %d steps, %d calls, the largest prompt %s a window of %d"
  print(form:format(script.name, model.answers, model.calls, fits, WINDOW))
  return record.lines
end

-- ---- the command line ---------------------------------------------------------------------

local function is_known(name)
  for _, known in ipairs(NAMES) do
    if name == known then return true end
  end
  return false
end

local function main(words)
  local folder, names, i = nil, {}, 1
  while words[i] do
    if words[i] == "-o" then
      folder = words[i + 1] or error("agent_loop: -o needs a folder")
      i = i + 1
    elseif words[i] == "-h" or words[i] == "--help" then
      print("usage: lua5.4 examples/agent_loop.lua [-o FOLDER] [NAME…]")
      print("names: " .. table.concat(NAMES, ", ") .. "; -o writes the recordings to FOLDER")
      return
    elseif not is_known(words[i]) then
      local form = "agent_loop: there is no script %s; there are %s\n"
      io.stderr:write(form:format(words[i], table.concat(NAMES, ", ")))
      os.exit(2)
    else
      names[#names + 1] = words[i]
    end
    i = i + 1
  end
  for _, name in ipairs(#names > 0 and names or NAMES) do
    local lines = play(require("examples.scripts." .. name))
    if folder then save(folder .. "/" .. name .. ".jsonl", lines) end
  end
end

main(arg)
