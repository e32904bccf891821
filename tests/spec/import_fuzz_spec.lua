-- Importers on damaged recordings: a reason in one line or a list of sessions, never a fault of
-- ours; what comes out reads back to itself. next: count_verbs_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")

local DIR = "tests/cases/import/"
local PIECES = { "{", "}", "[", "]", '"', ",", ":", "null", "7", "-1.5e3", "\n", "\\", "\xFF", "" }
local FORMS = {}
for i, form in ipairs(import.forms()) do
  FORMS[i] = form.name
end

local VALUES = { "null", "7", '"x"', "[]", "{}", "true", '[{"type":"text"}]' }

-- A member that is missing, or of another type, where the text is still JSON.
local function twist(text)
  local members = {}
  for at in text:gmatch('()"[%w_]+"%s*:') do
    members[#members + 1] = at
  end
  if #members == 0 then return text end
  local at = members[math.random(#members)]
  if math.random(2) == 1 then return text:sub(1, at) .. "_" .. text:sub(at + 1) end
  local _, colon = text:find(":", at, true)
  local after = text:match('^%s*"[^"\\]*"()', colon + 1) or text:match("^%s*[%w.]+()", colon + 1)
  local whole = text:match("^%s*%b[]()", colon + 1) or text:match("^%s*%b{}()", colon + 1)
  after = after or whole
  if not after then return text end
  return text:sub(1, colon) .. VALUES[math.random(#VALUES)] .. text:sub(after)
end

-- Cut off, or with one of its lines doubled.
local function cut(text)
  if math.random(2) == 1 then return text:sub(1, math.random(#text)) end
  local lines = {}
  for line in text:gmatch("[^\n]*\n?") do
    lines[#lines + 1] = line
  end
  local i = math.random(#lines)
  table.insert(lines, i, lines[i])
  return table.concat(lines)
end

-- One to four cuts, swaps or insertions.
local function damage(text)
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

local function one_try(text, from, lenient)
  local sessions, why, code = import.load_text("x", text, { from = from, lenient = lenient })
  if not sessions then
    assert.truthy(why:find("^x"), why)
    assert.falsy(why:find("\n", 1, true), why)
    assert.is_string(code)
    return
  end
  for _, session in ipairs(sessions) do
    local native = import.native(session)
    assert.is_true(core.utf8_valid(native))
    local again = assert(import.load_text("y", native))
    assert.are.equal(native, import.native(again[1]))
  end
end

describe("importers on damaged recordings", function()
  local seed = tonumber(os.getenv("NEAP_SEED")) or os.time()
  for _, name in ipairs(core.list(DIR)) do
    if not name:find("%.native$") then
      it("keep their word for " .. name, function()
        math.randomseed(seed)
        local text = assert(shared.read(DIR .. name))
        for i = 1, 150 do
          local bad = ({ damage, twist, cut })[math.random(3)](text)
          local from = i % 3 == 0 and FORMS[math.random(#FORMS)] or nil
          local ok, why = pcall(one_try, bad, from, i % 2 == 0)
          if not ok then
            local shown = type(why) == "table" and tostring(why.message) or tostring(why)
            error(("seed %d, try %d: %s\n%s"):format(seed, i, shown, bad), 0)
          end
        end
      end)
    end
  end
end)
