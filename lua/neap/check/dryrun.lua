-- A policy at work on a session of all kinds, in every format and at several windows: its hooks
-- must not fail, every prompt must keep its provider's rules and its budget, and the same session
-- must give the same prompts. And what its hooks cost. next: torture.lua
local core = require("neap.core")
local asking = require("neap.summary.asking")
local torture = require("neap.check.torture")

local M = {}
local json = core.json

M.FORMATS = { "openai", "responses", "anthropic", "gemini", "text" }
M.WINDOWS = { 64000, 16000, 6000 }
M.ENTRIES = 1000 -- of the session on which the cost is measured
local LONG_WINDOW = 32000

---@class neap.Run
---@field path string
---@field format string
---@field window integer
---@field decline boolean?  the host has no model that summarizes
---@field measured boolean? hooks are measured

local Play = {}
Play.__index = Play

-- A fault is kept once, whatever runs it comes up in; `where` says in which it did first.
function Play:fault(text)
  local found = self.found
  -- a hook that never ends takes long each time: what it does is known by now
  self.over = self.over or text:find("in one call;", 1, true) or text:find("call is over;", 1, true)
  if found.seen[text] then return end
  found.seen[text] = true
  local where = ("%s, window %d, turn %d"):format(self.run.format, self.run.window, self.turn)
  found[#found + 1] = { level = "error", text = text, where = where }
end

function Play:answer()
  local ask = self.session:next_ask()
  if not ask then return end
  if self.run.decline then
    self.session:answer(ask.id, nil)
  elseif self.run.measured then -- what a model takes is not the hook's cost
    self.session:answer(ask.id, "What was asked for, in few words.")
  else
    local text, why, code = asking.answerer(self.session)(ask)
    self.session:answer(ask.id, text, why, code, true)
  end
end

-- What pins leave no room for is the policy's wish, but most likely not what was meant: said once.
function Play:overflow(short)
  local f = self.found.overflow
  if not f then
    local where = ("%s, window %d, turn %d"):format(self.run.format, self.run.window, self.turn)
    f = { level = "warning", where = "first " .. where, count = 0, short = short }
    self.found.overflow = f
    table.insert(self.found, f)
  end
  f.count = f.count + 1
  f.text = ("%d of the prompts played do not fit, the first by %d tokens; pin less, hold instead")
    :format(f.count, f.short)
end

function Play:prompt()
  self.turn = self.turn + 1
  local body, why, code = self.session:prompt()
  local account = json.decode(self.session:account())
  if self.found.on_account then self.found.on_account(account, self.run) end
  for _, text in ipairs(account.hook_errors or {}) do
    self:fault(text)
  end
  if body then
    local ok, rule = core.check_request(self.run.format, body)
    if not ok then self:fault("a bug of neap: the prompt breaks a rule: " .. rule) end
    self.hash = core.sha256(self.hash .. body)
  elseif code == "budget" then
    self:overflow(account.overflow.short)
  else
    self:fault(why)
  end
  self:answer()
end

-- The model uses the engine's own tools. One format is enough: the answer is the same in all.
function Play:recall()
  local s = self.session
  local calls = {}
  if self.run.format ~= "openai" then return end
  for i, query in ipairs({ "E4711 pressure", "水泵", "" }) do
    calls[i] = { id = "n" .. i, type = "function" }
    calls[i]["function"] = { name = "neap_recall", arguments = json.encode({ query = query }) }
  end
  local message = { role = "assistant", content = "What was it?", tool_calls = calls }
  assert(s:append_response(json.encode({ choices = { { message = message } } })))
  while true do
    local made = s:next_call()
    if not made then break end
    if s:handle(made) then s:append_result(made, "no such tool") end
  end
  self:prompt()
end

-- A prompt before each response and one at the end.
function Play:through(messages)
  local open = false -- items of one response follow one another
  for _, message in ipairs(messages) do
    local is_response = message.role == "assistant"
      or message.role == "model"
      or message.type == "reasoning"
    if is_response and not open then self:prompt() end
    if self.over then return end
    open = message.type == "reasoning"
    local ok, why = self.session:append(json.encode(message))
    if not ok then error("torture: " .. why) end
  end
  self:prompt()
end

local function open_session(run)
  local engine = assert(core.engine({ data = core.data_dir(), fixed_secret = true }))
  local session, why = engine:session({
    name = "check",
    policy = run.path,
    format = run.format,
    window = run.window,
    no_reload = true,
  })
  if not session then
    engine:close()
    return nil, why
  end
  assert(session:set_tools(json.encode(run.tools or torture.tools())))
  return session, engine
end

-- One session; returns the hash of all its prompts, or nil and why it does not open.
local function play(run, messages, found, after)
  local session, engine = open_session(run)
  if not session then return nil, engine end
  local self = setmetatable({ session = session, run = run, found = found }, Play)
  self.turn, self.hash = 0, ""
  if run.measured then session:measure_hooks() end
  self:through(messages)
  if after then
    after(session)
  elseif not self.over then
    self:recall()
  end
  session:close()
  engine:close()
  return self.hash
end

--- Plays the session in every format and window. What was wrong, each fault once.
---@param path string
---@param on_account fun(account: table, run: neap.Run)? sees every turn
---@return table[]? faults {level, text, where}, string? message
function M.play(path, on_account)
  local found = { seen = {}, on_account = on_account }
  for _, format in ipairs(M.FORMATS) do
    local messages = torture.messages(format)
    for i, window in ipairs(M.WINDOWS) do
      local run = { path = path, format = format, window = window, decline = i == 2 }
      local hash, why = play(run, messages, found)
      if not hash then return nil, why end
      if i == #M.WINDOWS and hash ~= play(run, messages, found) then
        found[#found + 1] = {
          level = "error",
          text = "the same session gives other prompts; report it, a sandbox must not",
          where = format,
        }
      end
    end
  end
  return found
end

--- What hooks cost in a plain session of M.ENTRIES entries: a list of {hook, calls, instructions,
--- most, bytes}, of those that the policy has and that take a turn's time.
---@param path string
---@return table[]? costs, string? message
function M.costs(path)
  local list = {}
  local run = { path = path, format = "openai", window = LONG_WINDOW, measured = true }
  local ok, why = play(run, torture.long(M.ENTRIES), { seen = {} }, function(session)
    local has = session:policy_table().hooks
    for _, cost in ipairs(session:hook_costs()) do
      if has[cost.hook] and cost.calls > 0 then list[#list + 1] = cost end
    end
  end)
  if not ok then return nil, why end
  return list
end

return M
