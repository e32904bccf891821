-- A long session of a coding agent, made by arithmetic alone and so the same everywhere: some
-- 2,250 messages in 1,000 turns, 390 tokens a message, most of them results of tools, and one
-- of 50,000 tokens in every thousand messages. Later texts and calls repeat paths, names and
-- numbers of results, recent ones more often: there is something to keep. next: economy.lua
local core = require("neap.core")

local M = {}

local WORDS, PARTS = {}, {}
for word in ([[the of to and a in is it you that he was for on are with as his they be at one have
  this from or had by hot but some what there we can out other were all your when up use word how
  said an each she which do their time if will way about many then them would write like so these
  her long make thing see him two has look more day could go come did my sound no most number who
  over know water than call first people may down side been now find any new work part take get
  place made live where after back little only round man year came show every good me give our
  under name very through just form much great think say help low line before turn cause same
  mean differ move right boy old too does tell sentence set three want air well also play]]):gmatch(
  "%a+"
) do
  WORDS[#WORDS + 1] = word
end
for part in ([[handler request session buffer token stream parser config index cursor budget policy
  message artifact cache prefix render encode decode merge shard worker queue retry timeout logger
  metric schema record field value node edge graph store client server socket event loop batch
  chunk offset limit window summary prompt tool result call state update insert delete select
  commit branch diff patch module import export error status code path file column range scope
  symbol table]]):gmatch("%a+") do
  PARTS[#PARTS + 1] = part
end

local ENDINGS = { "c", "h", "lua", "ts", "py", "json", "md" }
-- Tokens of a result, of equal weight: few are long.
local SIZES = { 8, 30, 50, 80, 110, 150, 200, 260, 330, 430, 560, 760, 1100, 1700, 2900 }
local GIANT, GIANT_EVERY, GIANT_AT = 50000, 1000, 330
local BYTES = 2.45 -- that a token has, in lines such as these

local Maker = {}
Maker.__index = Maker

-- 1 .. n
function Maker:draw(n)
  local x = self.seed
  x = x ~ (x << 13)
  x = x ~ (x >> 7)
  x = x ~ (x << 17)
  self.seed = x
  return (x >> 1) % n + 1
end

function Maker:pick(list)
  return list[self:draw(#list)]
end

function Maker:prose(tokens)
  local out, n = {}, self:draw(9)
  for i = 1, tokens do
    local word = self:pick(WORDS)
    if i == 1 or n == 0 then
      word = word:sub(1, 1):upper() .. word:sub(2)
      n = 6 + self:draw(14)
    end
    n = n - 1
    out[i] = word .. (n == 0 and "." or "")
  end
  return table.concat(out, " ")
end

function Maker:name()
  return self:pick(PARTS) .. "_" .. self:pick(PARTS) .. "_" .. self:draw(900)
end

function Maker:path()
  local where, name = self:pick(PARTS), self:pick(PARTS)
  return ("src/%s/%s_%d.%s"):format(where, name, self:draw(400), self:pick(ENDINGS))
end

-- Lines of one kind each, as tools print them.
local LINES = {
  function(m, i)
    return ("%5d\t  const %s = this.%s(%d, %s);"):format(
      i, m:pick(PARTS), m:name(), m:draw(4096), m:pick(PARTS)
    )
  end,
  function(m)
    local call = ("%s(%s, %s);"):format(m:name(), m:pick(PARTS), m:pick(PARTS))
    return ("%s:%d: %s"):format(m:path(), m:draw(2000), call)
  end,
  function(m)
    return ("12:%02d:%02d.%03d WARN [%s] %s %s id=%08x took %d ms"):format(
      m:draw(60) - 1, m:draw(60) - 1, m:draw(999), m:pick(PARTS), m:pick(WORDS), m:pick(WORDS),
      m:draw(1 << 31), m:draw(9999)
    )
  end,
  function(m)
    return ('  {"id": %d, "%s": "%s %s", "ok": %s},'):format(
      m:draw(99999), m:pick(PARTS), m:pick(WORDS), m:pick(WORDS), m:draw(2) == 1
    )
  end,
  function(m)
    return ("ok %s %s %s (%d ms)"):format(m:pick(WORDS), m:pick(PARTS), m:pick(WORDS), m:draw(900))
  end,
  function(m)
    return ("%s  %s.%s(); // %s %s"):format(
      m:draw(2) == 1 and "+" or "-", m:pick(PARTS), m:name(), m:pick(WORDS), m:pick(WORDS)
    )
  end,
}

local function names_of(line, into)
  for name in line:gmatch("[%w_/.:]+") do
    if #name > 6 and name:find("%d") and name:find("[_/]") then into[#into + 1] = name end
  end
end

-- A result; some of its names are kept to be cited.
function Maker:output(tokens)
  local line, out, bytes = self:pick(LINES), {}, 0
  while bytes < tokens * BYTES do
    local text = line(self, #out + 1)
    if #out % 8 == 3 then names_of(text, self.names) end
    out[#out + 1], bytes = text, bytes + #text + 1
  end
  return table.concat(out, "\n")
end

-- Two of three from what came last, the others from anywhere.
function Maker:cited()
  local names = self.names
  if #names == 0 then return self:path() end
  if self:draw(3) < 3 then return names[math.max(1, #names - self:draw(12) + 1)] end
  return names[self:draw(#names)]
end

function Maker:call()
  self.calls = self.calls + 1
  local tool = self:pick({ "read", "bash", "grep", "edit", "write", "fetch" })
  local args = { path = (self:cited():gsub(":.*", "")), limit = self:draw(200) }
  if tool == "write" or tool == "edit" then
    args.content = self:output(self:pick({ 40, 90, 150, 260, 460 }))
  end
  local text = core.json.encode(args)
  local id = ("call_%06d"):format(self.calls)
  return { id = id, type = "function", ["function"] = { name = tool, arguments = text } }
end

function Maker:add(message)
  self.count = self.count + 1
  self.out[self.count] = core.json.encode(message)
end

function Maker:result_tokens()
  local n = self.count
  local place = n % GIANT_EVERY
  local due = n // GIANT_EVERY + 1
  if place < GIANT_AT or self.giants >= due then return self:pick(SIZES) end
  self.giants = due
  return GIANT
end

function Maker:step()
  local calls = {}
  for i = 1, ({ 1, 1, 1, 1, 1, 1, 1, 1, 2, 3 })[self:draw(10)] do
    calls[i] = self:call()
  end
  local text = self:prose(self:pick({ 20, 50, 80, 120, 210 })) .. " See " .. self:cited() .. "."
  self:add({ role = "assistant", content = text, tool_calls = calls })
  for _, call in ipairs(calls) do
    local content = self:output(self:result_tokens())
    self:add({ role = "tool", tool_call_id = call.id, content = content })
  end
end

--- The messages of a session of so many turns, one JSON text each, as a trace has them: before
--- every assistant message is a turn.
---@param turns integer
---@return string[]
function M.messages(turns)
  local m = { seed = 20261130, out = {}, count = 0, calls = 0, giants = 0, names = {} }
  setmetatable(m, Maker)
  m:add({ role = "system", content = m:prose(1500) })
  local done = 0
  while done < turns do
    m:add({ role = "user", content = m:prose(m:pick({ 40, 90, 150, 240, 430 })) })
    for _ = 1, 2 + m:draw(11) do
      if done < turns then m:step() end
      done = done + 1
    end
    local last = m:prose(m:pick({ 250, 400, 550 })) .. " So it is " .. m:cited() .. "."
    if done < turns then m:add({ role = "assistant", content = last }) end
    done = done + 1
  end
  return m.out
end

return M
