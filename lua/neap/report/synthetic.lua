-- Made-up sessions whose truth is known: what each step needs, what must not be lost, what was
-- refuted. By a seed and by arithmetic alone, so the same everywhere. With side tracks that nobody
-- comes back to, results that are far too large, parallel calls, Chinese, pictures, and
-- constraints that come late. next: ../cli/import.lua
local core = require("neap.core")
local build = require("neap.import.build")

local M = {}
local json = core.json

local WORDS = {}
local LIST = [[the of to and a in is it for on are with as his they be at one have this from or had
  by some what there we can out other were all your when up use how said an each she which do their
  time if will way about many then them would write like so these long make thing see him two has
  look more day could go come did sound no most number who over know water than call first people
  may down side been now find any new work part take get place made live where after back only]]
for word in LIST:gmatch("%a+") do
  WORDS[#WORDS + 1] = word
end
local PARTS = { "pump", "valve", "ledger", "router", "parser", "queue", "cache", "index", "worker",
  "gateway", "schema", "mailer", "session", "bridge", "turbine", "sensor" }
local TOWNS = { "青石镇", "柳河口", "白云渡", "东山屯", "南塘里", "北固坡", "长安里", "松林寨" }
local CONSTRAINTS = {
  "Never edit the file %s.ini; it belongs to another team.",
  "You must keep the port of the %s below 9000.",
  "Do not restart the %s while the nightly job runs.",
  "Always write the names of the %s in small letters.",
  "不要改动%s的日志格式。",
}
-- The smallest picture there is: one white pixel.
local PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4"
  .. "DwABAQEAfn4d1wAAAABJRU5ErkJggg=="

local Maker = {}
Maker.__index = Maker

-- 1 .. n
function Maker:draw(n)
  local x = self.x
  x = x ~ (x << 13)
  x = x ~ (x >> 7)
  x = x ~ (x << 17)
  self.x = x
  return (x >> 1) % n + 1
end

function Maker:pick(list)
  return list[self:draw(#list)]
end

function Maker:lines(n)
  local out = {}
  for i = 1, n do
    local line = {}
    for k = 1, 5 + self:draw(9) do
      line[k] = self:pick(WORDS)
    end
    out[i] = table.concat(line, " ")
  end
  return out
end

-- A fact that no other has: a text that later steps write word for word.
function Maker:fact()
  self.facts = self.facts + 1
  local n = self.facts
  local forms = {
    ("port %d"):format(8000 + n),
    ("ERR_%04d"):format(1000 + n * 7),
    ("src/%s_%d.c:%d"):format(self:pick(PARTS), n, 10 + self:draw(900)),
    ("%s-%d"):format(self:pick(PARTS), 100 + n),
    ("仓库编号%s%d"):format(self:pick(TOWNS), 200 + n),
  }
  return forms[self:draw(#forms)]
end

function Maker:add(message)
  self.lines_out[#self.lines_out + 1] = build.encode(message)
end

-- ---- results --------------------------------------------------------------------------------

local TOOLS = { "read", "grep", "run", "fetch" }
local OVERSIZED = 14 -- one result in so many

-- A result with a fact somewhere in it.
function Maker:result_with(fact)
  local n = self:draw(OVERSIZED) == 1 and 120 + self:draw(200) or 3 + self:draw(24)
  local lines = self:lines(n)
  table.insert(lines, self:draw(n + 1), ("%s: %s"):format(self:pick(PARTS), fact))
  return table.concat(lines, "\n")
end

local function call_of(id, tool, path)
  return build.call(id, tool, json.encode({ path = path }))
end

-- One step: what the model says, its calls and their results. `facts` are what they bring.
function Maker:step(text, facts, needs)
  local calls, results = json.array(), {}
  for k, fact in ipairs(facts) do
    self.calls = self.calls + 1
    local id = ("call_%d"):format(self.calls)
    local path = ("%s/%d.log"):format(self:pick(PARTS), self.calls)
    calls[k] = call_of(id, self:pick(TOOLS), path)
    results[k] = { role = "tool", tool_call_id = id, content = self:result_with(fact) }
  end
  local message = { role = "assistant", content = text }
  if #calls > 0 then message.tool_calls = calls end
  if #needs > 0 then message.meta = { needs = json.array(needs) } end
  self:add(message)
  for _, result in ipairs(results) do
    self:add(result)
  end
  self.steps = self.steps + 1
end

-- ---- the story ------------------------------------------------------------------------------

-- A constraint that has not been given yet.
function Maker:constraint()
  local n = #self.truth.constraints + 1
  local text = CONSTRAINTS[(n - 1) % #CONSTRAINTS + 1]:format(self:pick(PARTS) .. n)
  self.truth.constraints[n] = text
  return text
end

-- What the step goes back to: facts of earlier steps, near ones more often, none that was refuted.
function Maker:needs_of(step)
  local needs, known = {}, self.known
  for _ = 1, #known > 0 and self:draw(3) - 1 or 0 do
    local back = self:draw(3) == 1 and self:draw(#known) or self:draw(math.min(#known, 6))
    local one = known[#known - back + 1]
    if not needs[one.text] and one.step < step then
      needs[one.text] = true
      needs[#needs + 1] = one.text
    end
  end
  return needs
end

function Maker:main_step(step)
  local facts, needs = {}, self:needs_of(step)
  for k = 1, self:draw(6) == 1 and 1 + self:draw(2) or 1 do
    facts[k] = self:fact()
  end
  local said = #needs > 0 and ("I go by %s."):format(table.concat(needs, " and ")) or "Next."
  self:step(said, facts, { table.unpack(needs) })
  for _, fact in ipairs(facts) do
    self.known[#self.known + 1] = { text = fact, step = step }
  end
end

-- Steps on another matter; nothing of them is needed again.
function Maker:side_track(steps)
  self:step("First another matter.", { self:fact() }, {})
  for _ = 2, steps do
    self:step("On with that.", { self:fact() }, {})
  end
end

-- Something is believed, and two steps later refuted.
function Maker:mistake()
  local fact = ("the fault is in %s_%d"):format(self:pick(PARTS), self.steps)
  local by = ("it is not %s_%d"):format(self:pick(PARTS), self.steps + 2)
  self:step("I look for the fault.", { fact }, {})
  self:step(("So %s."):format(fact), { self:fact() }, { fact })
  self:step("I try it.", { by }, {})
  table.insert(self.truth.refuted, { fact = fact, by = by })
end

function Maker:say(text, has_picture)
  if not has_picture then return self:add({ role = "user", content = text }) end
  self:add({ role = "user", content = json.array({
    { type = "text", text = text },
    { type = "image_url", image_url = { url = PIXEL } },
  }) })
end

local function tools()
  return build.inferred_tools(TOOLS)
end

-- Answers end a thinking loop: the user speaks between.
function Maker:story(steps)
  self:add({ role = "system", content = "You keep a plant running. Be brief." })
  self:say(("Find out why the %s stops. %s %s"):format(
    self:pick(PARTS), self:constraint(), self:constraint()))
  while self.steps < steps do
    local kind = self:draw(16)
    if kind == 1 and self.steps + 5 < steps then
      self:side_track(2 + self:draw(3))
    elseif kind == 2 and self.steps + 3 < steps then
      self:mistake()
    elseif kind == 3 then
      self:step("That is done.", {}, {})
      self:say("Go on. " .. self:constraint(), self:draw(2) == 1)
    else
      self:main_step(self.steps + 1)
    end
  end
end

--- A session as the text of a native recording. Its first line holds the truth, the steps what
--- they need.
---@param seed integer
---@param steps integer? 60
---@return string
function M.session(seed, steps)
  local self = setmetatable({
    x = (seed * 2654435761) ~ 88172645463325252,
    lines_out = {},
    facts = 0,
    calls = 0,
    steps = 0,
    known = {},
    truth = { constraints = json.array(), refuted = json.array() },
  }, Maker)
  if self.x == 0 then self.x = 1 end
  for _ = 1, 8 do
    self:draw(2) -- seeds that are near each other begin alike
  end
  self:story(steps or 60)
  local meta = { synthetic = seed, truth = self.truth }
  local order = { "neap", "tools", "meta" }
  local head = json.encode({ neap = 1, tools = json.raw(tools()), meta = meta }, order)
  return head .. "\n" .. table.concat(self.lines_out, "\n") .. "\n"
end

return M
