-- Damages recordings in every way that files get damaged, and holds the importers to their word:
-- a reason in one line with its place, or sessions that read back to themselves; never a fault
-- of ours. next: ../spec/import_fuzz_spec.lua, ../soak/importers.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")

local M = {}

local DIR = "tests/cases/import/"
local PIECES = { "{", "}", "[", "]", '"', ",", ":", "null", "7", "-1.5e3", "\n", "\\", "\xFF", "" }
local VALUES = { "null", "7", '"x"', "[]", "{}", "true", '[{"type":"text"}]' }
local DEEP = {
  ("["):rep(10000) .. ("]"):rep(10000),
  ('{"a":'):rep(10000) .. "1" .. ("}"):rep(10000),
}

local FORMS = {}
for i, form in ipairs(import.forms()) do
  FORMS[i] = form.name
end

--- The recordings that are damaged.
---@return string[]
function M.names()
  local list = {}
  for _, name in ipairs(core.list(DIR)) do
    if not name:find("%.native$") then list[#list + 1] = name end
  end
  return list
end

-- A random member: where its name begins, where its value does and where that ends; nil where
-- the text has none.
local function member(text)
  local members = {}
  for at in text:gmatch('()"[%w_]+"%s*:') do
    members[#members + 1] = at
  end
  if #members == 0 then return nil end
  local at = members[math.random(#members)]
  local _, colon = text:find(":", at, true)
  local after = text:match('^%s*"[^"\\]*"()', colon + 1) or text:match("^%s*[%w.]+()", colon + 1)
  after = after or text:match("^%s*%b[]()", colon + 1) or text:match("^%s*%b{}()", colon + 1)
  return at, colon + 1, after
end

local WAYS = {}

-- One to four cuts, swaps or insertions.
function WAYS.bytes(text)
  for _ = 1, math.random(4) do
    local at = math.random(#text + 1)
    local stop = math.min(#text, at + math.random(0, 40))
    local kind = math.random(3)
    local piece = PIECES[math.random(#PIECES)]
    if kind == 1 then piece = text:sub(at, stop):reverse() end
    if kind == 2 then stop = at - 1 end
    text = text:sub(1, at - 1) .. piece .. text:sub(stop + 1)
  end
  return text
end

function WAYS.cut(text)
  return text:sub(1, math.random(#text))
end

function WAYS.doubled_line(text)
  local lines = {}
  for line in text:gmatch("[^\n]*\n?") do
    lines[#lines + 1] = line
  end
  local i = math.random(#lines)
  table.insert(lines, i, lines[i])
  return table.concat(lines)
end

-- A member that is missing: its name is another one.
function WAYS.missing(text)
  local at = member(text)
  return at and text:sub(1, at) .. "_" .. text:sub(at + 1) or text
end

function WAYS.wrong_type(text)
  local _, value, after = member(text)
  if not after then return text end
  return text:sub(1, value - 1) .. VALUES[math.random(#VALUES)] .. text:sub(after)
end

function WAYS.doubled_member(text)
  local at, _, after = member(text)
  if not after then return text end
  return text:sub(1, after - 1) .. "," .. text:sub(at, after - 1) .. text:sub(after)
end

function WAYS.deep(text)
  local _, value, after = member(text)
  if not after then return DEEP[math.random(2)] end
  return text:sub(1, value - 1) .. DEEP[math.random(2)] .. text:sub(after)
end

local NAMES = { "bytes", "cut", "doubled_line", "missing", "wrong_type", "doubled_member", "deep" }

local function check(what, ok, shown)
  if not ok then error(what .. ": " .. tostring(shown), 0) end
end

local function one_try(text, options)
  local sessions, why, code = import.load_text("x", text, options)
  if not sessions then
    check("the reason names the file", why:find("^x"), why)
    check("the reason is one line", not why:find("\n", 1, true), why)
    check("the reason has a code", type(code) == "string", code)
    return
  end
  for _, session in ipairs(sessions) do
    local native = import.native(session)
    check("what is printed is UTF-8", (core.utf8_valid(native)))
    local again, fault = import.load_text("y", native)
    check("what is printed reads back", again, fault)
    check("and says the same", native == import.native(again[1]))
  end
end

--- Tries `rounds` damages of one recording; raises with the seed, the try and the text.
---@param name string
---@param seed integer
---@param rounds integer
function M.run(name, seed, rounds)
  math.randomseed(seed)
  local text = assert(shared.read(DIR .. name))
  for i = 1, rounds do
    local way = NAMES[i % #NAMES + 1]
    local bad = WAYS[way](text)
    local options = { lenient = i % 2 == 0, branches = i % 5 == 0, lean = i % 11 == 0 }
    options.from = i % 3 == 0 and FORMS[math.random(#FORMS)] or nil
    local ok, why = pcall(one_try, bad, options)
    if not ok then
      local form = "%s, NEAP_SEED=%d, try %d (%s): %s\n%s"
      error(form:format(name, seed, i, way, tostring(why), bad:sub(1, 20000)), 0)
    end
  end
end

return M
