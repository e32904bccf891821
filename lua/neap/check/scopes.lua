-- One walk over a policy's tokens: which names are local, which hold a context, an entry, a span
-- or the options, and what is asked of them. It says what it found and judges nothing. The file
-- is one that Lua has compiled. next: lint.lua
local tokens = require("neap.check.tokens")

local M = {}

---@class neap.Use
---@field name string
---@field line integer
---@field type string?  of what it was asked: "context", "entry", "span", "options", "economy", …

---@class neap.Facts
---@field globals neap.Use[]     names read that no local stands for
---@field written neap.Use[]     such names that are written
---@field fields neap.Use[]      fields and methods asked of something whose type is known
---@field assigned neap.Use[]    fields of such that are written
---@field keys neap.Use[]        keys of table arguments; type is the method's
---@field reads table<string, boolean> every name behind a dot, whatever it was asked of
---@field every_option boolean   options are read by computed names
---@field methods table<string, boolean> every method that is called
---@field next_loops integer[]   lines of loops over next
---@field modules string[]       what require is given

-- What the parameters of a hook are.
local HOOKS = {
  admit = { "context", "entry", "options" },
  rank = { "context", "entry", "options" },
  compact = { "context", "options" },
  assemble = { "context", "options" },
  overflow = { "context", "options" },
  recall = { "context", "query", "options" },
}
local CONTEXT_NAMES = { ctx = true, context = true, _ = true, _ctx = true }

-- What a field or a call of something gives.
local GIVES = {
  ["context.economy"] = "economy",
  ["context:entries"] = "entries",
  ["context:span"] = "span",
}

local BINARY = {
  ["or"] = { 1, 1 },
  ["and"] = { 2, 2 },
  ["<"] = { 3, 3 },
  [">"] = { 3, 3 },
  ["<="] = { 3, 3 },
  [">="] = { 3, 3 },
  ["~="] = { 3, 3 },
  ["=="] = { 3, 3 },
  ["|"] = { 4, 4 },
  ["~"] = { 5, 5 },
  ["&"] = { 6, 6 },
  ["<<"] = { 7, 7 },
  [">>"] = { 7, 7 },
  [".."] = { 9, 8 },
  ["+"] = { 10, 10 },
  ["-"] = { 10, 10 },
  ["*"] = { 11, 11 },
  ["/"] = { 11, 11 },
  ["//"] = { 11, 11 },
  ["%"] = { 11, 11 },
  ["^"] = { 14, 13 },
}
local UNARY = { ["not"] = true, ["#"] = true, ["-"] = true, ["~"] = true }
local UNARY_LIMIT = 12

local Walk = {}
Walk.__index = Walk

-- ---- tokens -------------------------------------------------------------------------------

function Walk:is(text)
  local t = self.list[self.at]
  return t.text == text and (t.kind == "op" or t.kind == "keyword")
end

function Walk:take()
  local t = self.list[self.at]
  if t.kind ~= "end" then self.at = self.at + 1 end
  return t
end

function Walk:accept(text)
  if not self:is(text) then return false end
  self:take()
  return true
end

-- ---- scopes -------------------------------------------------------------------------------

function Walk:open()
  self.scope = { up = self.scope, vars = {} }
end

function Walk:close()
  self.scope = self.scope.up
end

function Walk:declare(name, type)
  self.scope.vars[name] = { type = type }
end

function Walk:find(name)
  local s = self.scope
  while s do
    if s.vars[name] then return s.vars[name] end
    s = s.up
  end
end

local function add(list, name, line, type)
  list[#list + 1] = { name = name, line = line, type = type }
end

-- ---- expressions: each returns what is known of its value: {type=, keys=, text=} ----------

local NOTHING = {}

-- A field or method of a value; `colon`: it is called.
function Walk:field(value, name, line, colon)
  local f = self.facts
  f.reads[name] = true
  if colon then f.methods[name] = true end
  if value.type then add(f.fields, name, line, value.type) end
  local gives = value.type and GIVES[value.type .. (colon and ":" or ".") .. name]
  return { type = gives, field = name, of = value.type, line = line }
end

function Walk:index(value)
  local line = self.list[self.at].line
  local key = self:expr()
  self:accept("]")
  if key.text then return self:field(value, key.text, line, false) end
  if value.type == "options" then self.facts.every_option = true end
  return NOTHING
end

-- Arguments of a call: a list of what is known of them.
function Walk:arguments()
  local t = self.list[self.at]
  if t.kind == "string" then
    self:take()
    return { { text = t.text } }
  elseif self:is("{") then
    return { self:table() }
  end
  self:take()
  local list = {}
  while not self:accept(")") and self.list[self.at].kind ~= "end" do
    list[#list + 1] = self:expr()
    self:accept(",")
  end
  return list
end

-- What a call of a known method is given by name.
function Walk:note_keys(value, method, list)
  local keys = list[method == "summarize" and 2 or 1]
  if not value.type or not keys or not keys.keys then return end
  for _, key in ipairs(keys.keys) do
    add(self.facts.keys, key.name, key.line, value.type .. ":" .. method)
  end
end

function Walk:call(value, name)
  local list = self:arguments()
  if name == "require" and list[1] and list[1].text then
    table.insert(self.facts.modules, list[1].text)
  end
  for _, argument in ipairs(list) do -- pairs(o), or a helper that reads them all
    if name == "pairs" and argument.type == "options" then self.facts.every_option = true end
  end
  return NOTHING, list, value
end

-- Name, or an expression in parentheses.
function Walk:primary()
  local t = self:take()
  if t.kind ~= "name" then
    local value = self:expr()
    self:accept(")")
    return { type = value.type }
  end
  local var = self:find(t.text)
  if var then return { type = var.type, name = t.text, var = var } end
  return { name = t.text, line = t.line, global = t.text ~= "_ENV", type = "global " .. t.text }
end

-- A global is read once it is known that it is not written.
function Walk:settle(value)
  if value.global then add(self.facts.globals, value.name, value.line) end
  value.global = nil
end

function Walk:suffixed()
  local value = self:primary()
  while true do
    local t = self.list[self.at]
    if self:is(".") then
      self:settle(value)
      self:take()
      value = self:field(value, self:take().text, t.line, false)
    elseif self:is("[") then
      self:settle(value)
      self:take()
      value = self:index(value)
    elseif self:is(":") then
      self:settle(value)
      self:take()
      local name = self:take().text
      local result = self:field(value, name, t.line, true)
      self:note_keys(value, name, self:arguments())
      value = { type = result.type, called = true }
    elseif t.kind == "string" or self:is("(") or self:is("{") then
      self:settle(value)
      value = { called = true, (self:call(value, value.name)) }
    else
      return value
    end
  end
end

-- A table constructor: its names, where they stand, and functions that are hooks.
function Walk:table()
  local keys = {}
  self:take()
  while not self:accept("}") and self.list[self.at].kind ~= "end" do
    local t, behind = self.list[self.at], self.list[self.at + 1]
    if t.kind == "name" and behind.text == "=" and behind.kind == "op" then
      keys[#keys + 1] = { name = t.text, line = t.line }
      self:take()
      self:take()
      self:expr(nil, t.text)
    elseif self:accept("[") then
      self:expr()
      self:accept("]")
      self:accept("=")
      self:expr()
    else
      self:expr()
    end
    if not self:accept(",") then self:accept(";") end
  end
  return { keys = keys }
end

-- Parameters and body, up to `end`; `hook`: the name it goes by.
function Walk:body(hook, has_self)
  self:open()
  self:accept("(")
  local names = {}
  while not self:accept(")") and self.list[self.at].kind ~= "end" do
    names[#names + 1] = self:take().text
    self:accept(",")
  end
  local types = CONTEXT_NAMES[names[1]] and HOOKS[hook] or NOTHING
  if has_self then self:declare("self") end
  for i, name in ipairs(names) do
    self:declare(name, types[i] or (name == "ctx" and "context") or nil)
  end
  self:block()
  self:accept("end")
  self:close()
end

function Walk:simple(hook)
  local t = self.list[self.at]
  if t.kind == "number" or self:is("nil") or self:is("true") or self:is("false") then
    self:take()
  elseif t.kind == "string" then
    self:take()
    return { text = t.text }
  elseif self:is("...") then
    self:take()
  elseif self:is("{") then
    return self:table()
  elseif self:accept("function") then
    self:body(hook)
  else
    local value = self:suffixed()
    self:settle(value)
    return value
  end
  return NOTHING
end

function Walk:expr(limit, hook)
  limit = limit or 0
  local value
  local t = self.list[self.at]
  if (t.kind == "op" or t.kind == "keyword") and UNARY[t.text] then
    self:take()
    self:expr(UNARY_LIMIT)
    value = NOTHING
  else
    value = self:simple(hook)
  end
  while true do
    t = self.list[self.at]
    local rank = (t.kind == "op" or t.kind == "keyword") and BINARY[t.text]
    if not rank or rank[1] <= limit then return value end
    self:take()
    local right = self:expr(rank[2])
    value = { type = t.text == "or" and value.type == right.type and value.type or nil }
  end
end

function Walk:list_of()
  local list = { self:expr() }
  while self:accept(",") do
    list[#list + 1] = self:expr()
  end
  return list
end

-- ---- statements ---------------------------------------------------------------------------

local ENDS = { ["end"] = true, ["else"] = true, ["elseif"] = true, ["until"] = true }

function Walk:block()
  while true do
    local t = self.list[self.at]
    if t.kind == "end" or (t.kind == "keyword" and ENDS[t.text]) then return end
    self:statement()
  end
end

function Walk:scoped(stop)
  self:open()
  self:block()
  self:close()
  self:accept(stop)
end

local STATEMENTS = {}

STATEMENTS["if"] = function(self)
  self:expr()
  self:accept("then")
  self:open()
  self:block()
  self:close()
  while true do
    if self:accept("elseif") then
      self:expr()
      self:accept("then")
    elseif not self:accept("else") then
      break
    end
    self:open()
    self:block()
    self:close()
  end
  self:accept("end")
end

STATEMENTS["while"] = function(self)
  self:expr()
  self:accept("do")
  self:scoped("end")
end

STATEMENTS["do"] = function(self)
  self:scoped("end")
end

STATEMENTS["repeat"] = function(self)
  self:open()
  self:block()
  self:accept("until")
  self:expr()
  self:close()
end

STATEMENTS["for"] = function(self)
  local line, names = self.list[self.at].line, { self:take().text }
  while self:accept(",") do
    names[#names + 1] = self:take().text
  end
  local numeric = self:accept("=")
  if not numeric then self:accept("in") end
  local over = self:list_of()[1]
  if not numeric and over.name == "next" and not over.var then
    table.insert(self.facts.next_loops, line)
  end
  self:accept("do")
  self:open()
  for i, name in ipairs(names) do
    self:declare(name, i == 1 and over.type == "entries" and "entry" or nil)
  end
  self:block()
  self:close()
  self:accept("end")
end

STATEMENTS["function"] = function(self)
  local t = self:take()
  local var, name, method = self:find(t.text), t.text, false
  if not self:is(".") and not self:is(":") then
    if not var then add(self.facts.written, name, t.line) end
  elseif not var then
    add(self.facts.globals, name, t.line)
  end
  while self:is(".") or self:is(":") do
    method = self:take().text == ":"
    name = self:take().text
  end
  self:body(name, method)
end

STATEMENTS["local"] = function(self)
  if self:accept("function") then
    local name = self:take().text
    self:declare(name)
    self:body(name)
    return
  end
  local names, values = {}, {}
  repeat
    names[#names + 1] = self:take().text
    if self:accept("<") then
      self:take()
      self:accept(">")
    end
  until not self:accept(",")
  if self:accept("=") then values = self:list_of() end
  for i, name in ipairs(names) do
    self:declare(name, values[i] and values[i].type)
  end
end

STATEMENTS["return"] = function(self)
  local t = self.list[self.at]
  if not (t.kind == "end" or self:is(";") or ENDS[t.text]) then self:list_of() end
  self:accept(";")
end

STATEMENTS["goto"] = function(self)
  self:take()
end

STATEMENTS["break"] = function() end

-- What stands left of `=`.
function Walk:assign(targets)
  local values = self:list_of()
  for i, target in ipairs(targets) do
    if target.global then
      add(self.facts.written, target.name, target.line)
    elseif target.var then
      target.var.type = values[i] and values[i].type or nil
    elseif target.of then
      add(self.facts.assigned, target.field, target.line, target.of)
    end
  end
end

function Walk:statement()
  local t = self.list[self.at]
  if t.kind == "keyword" and STATEMENTS[t.text] then
    self:take()
    STATEMENTS[t.text](self)
    return
  elseif self:accept(";") then
    return
  elseif self:accept("::") then
    self:take()
    self:accept("::")
    return
  end
  local at, targets = self.at, { self:suffixed() }
  while self:accept(",") do
    targets[#targets + 1] = self:suffixed()
  end
  if self:accept("=") then
    self:assign(targets)
  else
    self:settle(targets[1])
  end
  if self.at == at then self:take() end -- never stands still
end

--- Walks over a file.
---@param text string
---@return neap.Facts
function M.facts(text)
  local facts = {
    globals = {},
    written = {},
    fields = {},
    assigned = {},
    keys = {},
    reads = {},
    every_option = false,
    methods = {},
    next_loops = {},
    modules = {},
  }
  local walk = setmetatable({ list = tokens.of(text), at = 1, facts = facts }, Walk)
  walk:open()
  while walk.list[walk.at].kind ~= "end" do
    walk:block()
    if walk.list[walk.at].kind ~= "end" then walk:take() end
  end
  return facts
end

return M
