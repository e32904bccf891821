-- What the text of a policy gives away: names that do not exist, options that nobody reads, hooks
-- that never run. One finding is one line: what is wrong, and what to do. An `error` always fails
-- when its line is reached; a `warning` is most likely not what was meant. next: dryrun.lua
local core = require("neap.core")
local scopes = require("neap.check.scopes")
local spelling = require("neap.spelling")

local M = {}
local json = core.json

---@class neap.Finding
---@field level "error"|"warning"
---@field file string
---@field line integer?
---@field what string

-- What is asked of the economy; it is a plain table, which answers nil to what it does not have.
M.ECONOMY = { "cold", "floor", "front", "height", "quote", "read", "write" }

-- What people look for under another name.
local INSTEAD = {
  print = "use ctx:log(…)",
  os = "a policy has no clock; use ctx.now",
  io = "a policy has no files; keep data in ctx.state",
  load = "a policy cannot make code; write a function",
  dofile = "use require for files of the policy's folder",
  debug = "a policy cannot look into itself; use ctx:log(…)",
  collectgarbage = "memory is freed between calls; leave it out",
  coroutine = "only compact sleeps, by ctx:ask and ctx:summarize",
  unpack = "use table.unpack",
  warn = "use ctx:log(…)",
  ["math.random"] = "use ctx.random(…), which is recorded",
  ["math.randomseed"] = "ctx.random(…) needs no seed",
  ["math.pow"] = "use neap.pow(x, y)",
  ["math.sin"] = "it differs between machines; there are neap.exp, neap.ln, neap.pow",
  ["math.cos"] = "it differs between machines; there are neap.exp, neap.ln, neap.pow",
  ["string.dump"] = "a policy cannot make code; write a function",
  ["os.time"] = "use ctx.now",
}

local function set(...)
  local out = {}
  for _, list in ipairs({ ... }) do
    for _, name in ipairs(list) do
      out[name] = true
    end
  end
  return out
end

--- "did you mean NAME?", or what there is.
---@param name string
---@param known table<string, boolean>
---@return string
local function advice(name, known)
  local list, best, least = {}, nil, #name < 6 and 3 or 4
  for word in pairs(known) do
    list[#list + 1] = word
  end
  table.sort(list)
  for _, word in ipairs(list) do
    local d = #name <= 24 and spelling.distance(name, word) or 99
    if d < least then
      best, least = word, d
    end
  end
  if best then return ("did you mean %s?"):format(best) end
  if #list == 0 then return "there are none" end
  return "there are " .. table.concat(list, ", ")
end

-- ---- the names there are ------------------------------------------------------------------

local function load_names()
  local n = json.decode(core.policy_names())
  local types = {
    context = set(n.context.fields, n.context.methods),
    entry = set(n.entry.fields, n.entry.methods),
    span = set(n.span.fields, n.span.methods),
    economy = set(M.ECONOMY),
  }
  local libraries = {}
  for name, list in pairs(n.libraries) do
    libraries["global " .. name] = set(list)
  end
  local keys = {}
  for method, list in pairs(n.keys) do
    keys[(method == "trim" and "entry:" or "context:") .. method] = set(list)
  end
  return { globals = set(n.globals), types = types, libraries = libraries, keys = keys }
end

-- ---- findings of one file -----------------------------------------------------------------

local Lint = {}
Lint.__index = Lint

function Lint:say(level, line, text, ...)
  local what = select("#", ...) > 0 and text:format(...) or text
  local list = self.findings
  list[#list + 1] = { level = level, file = self.file, line = line, what = what }
end

function Lint:globals(facts)
  for _, use in ipairs(facts.written) do
    local text = "global '%s' is written, which fails; write local, or keep it in ctx.state"
    self:say("error", use.line, text, use.name)
  end
  for _, use in ipairs(facts.globals) do
    if not self.names.globals[use.name] then
      local what = INSTEAD[use.name] or advice(use.name, self.names.globals)
      self:say("warning", use.line, "global '%s' is not known, and is nil; %s", use.name, what)
    end
  end
end

local OF = { context = "ctx", entry = "an entry", span = "a span", economy = "ctx.economy" }

function Lint:field(use)
  local known = self.names.types[use.type] or self.names.libraries[use.type]
  if use.type == "options" then known = self.options end
  if not known or known[use.name] then return end
  local library = use.type:match("^global (.*)$")
  if library then
    local name = library .. "." .. use.name
    local what = INSTEAD[name] or advice(use.name, known)
    self:say("warning", use.line, "%s is not known, and is nil; %s", name, what)
  elseif use.type == "options" then
    local text = "option '%s' is read but not declared; %s"
    self:say("error", use.line, text, use.name, advice(use.name, known))
  else
    local text = "%s has no '%s'; %s"
    self:say("error", use.line, text, OF[use.type], use.name, advice(use.name, known))
  end
end

function Lint:assigned(use)
  if use.type == "context" and use.name == "state" then return end
  if use.type == "options" then
    local text = "option '%s' is written, which lasts for this call only; use a local"
    self:say("warning", use.line, text, use.name)
  elseif OF[use.type] and use.type ~= "economy" then
    local text = "field '%s' of %s cannot be set; use its methods, or ctx.state"
    self:say("error", use.line, text, use.name, OF[use.type])
  end
end

function Lint:fields(facts)
  local set_here = {}
  for _, use in ipairs(facts.assigned) do
    set_here[use.type .. "." .. use.name .. use.line] = true
    self:assigned(use)
  end
  for _, use in ipairs(facts.fields) do
    if not set_here[use.type .. "." .. use.name .. use.line] then self:field(use) end
  end
  for _, use in ipairs(facts.keys) do
    local known = self.names.keys[use.type]
    if known and not known[use.name] then
      local method = use.type:match(":(.*)$")
      local text = "%s has no argument '%s'; %s"
      self:say("error", use.line, text, method, use.name, advice(use.name, known))
    end
  end
end

function Lint:file_of(facts)
  self:globals(facts)
  self:fields(facts)
  for _, line in ipairs(facts.next_loops) do
    self:say("warning", line, "each step of next walks the whole table; use pairs")
  end
end

-- ---- findings of the whole ----------------------------------------------------------------

-- The line on which the policy's own file first has this as a name.
local function line_of(text, pattern)
  local number = 0
  for line in (text .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    if line:find(pattern) and not line:find("^%s*%-%-") then return number end
  end
end

function Lint:unread(policy, every, text)
  for _, facts in ipairs(every) do
    if facts.every_option then return end
  end
  for _, name in ipairs(policy.option_names) do
    local read = false
    for _, facts in ipairs(every) do
      read = read or facts.reads[name]
    end
    if not read then
      local line = line_of(text, "%f[%w_]" .. name .. "%f[^%w_]%s*=") or line_of(text, "options")
      self:say("warning", line, "option '%s' is never read; read o.%s, or leave it out", name, name)
    end
  end
end

local NEVER = {
  recall = "hook 'recall' never runs, the model has no neap_recall; add tools = { \"recall\" }",
  rank = "hook 'rank' never runs, nothing shrinks: overflow is the policy's own; call ctx:shrink",
  migrate = "hook 'migrate' never runs while no state_version is set; set one",
}

function Lint:hooks(policy, every, text)
  local hooks, shrinks = policy.hooks, false
  for _, facts in ipairs(every) do
    shrinks = shrinks or facts.methods.shrink or facts.reads.shrink
  end
  local never = {
    recall = hooks.recall and not policy.tools,
    rank = hooks.rank and hooks.overflow and not shrinks,
    migrate = hooks.migrate and policy.state_version == 0,
  }
  for _, hook in ipairs({ "migrate", "rank", "recall" }) do
    local place = "%f[%w_]" .. hook .. "%f[^%w_]"
    if never[hook] then self:say("warning", line_of(text, place), NEVER[hook]) end
  end
end

--- Looks at the files of a policy that has been loaded.
---@param path string of the policy
---@param policy table {hooks, tools, state_version, sources = {{name, text}}, option_names}
---@return neap.Finding[]
function M.look(path, policy)
  local folder = path:match("^(.*/)[^/]*$") or ""
  local lint = { findings = {}, names = load_names(), options = set(policy.option_names) }
  setmetatable(lint, Lint)
  local every = {}
  for i, source in ipairs(policy.sources) do
    lint.file = i == 1 and path or folder .. source.name
    every[i] = scopes.facts(source.text)
    lint:file_of(every[i])
  end
  lint.file = path
  lint:unread(policy, every, policy.sources[1].text)
  lint:hooks(policy, every, policy.sources[1].text)
  return lint.findings
end

return M
