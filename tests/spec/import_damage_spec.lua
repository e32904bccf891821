-- Importers of logs on recordings that are cut off, or whose members are missing, of
-- another type, or doubled: a reason in one line with its place, or sessions that read
-- back; with --lenient, what is skipped is counted. Never a fault of ours. next:
-- count_verbs_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")
local json = core.json

local DIR = "tests/cases/import/"
local CASES = {
  ["swe_calls.traj"] = "swe_agent",
  ["swe_text.traj"] = "swe_agent",
  ["openhands.jsonl"] = "openhands",
  ["openhands_old.jsonl"] = "openhands",
  ["tau2.json"] = "tau2",
  ["who.json"] = "who_and_when",
  ["toolbench.json"] = "toolbench",
  ["toolbench_tree.json"] = "toolbench",
  ["webvoyager.json"] = "webvoyager",
  ["crosswoz.json"] = "crosswoz",
  ["aider.md"] = "aider",
  ["claude_console.md"] = "claude_console",
  ["cassette.yaml"] = "vcr",
}

local function one_try(text, form, lenient)
  local how = { from = form, lenient = lenient }
  local sessions, why, code = import.load_text("x", text, how)
  if not sessions then
    assert.truthy(why:find("^x"), why)
    assert.falsy(why:find("\n", 1, true), why)
    assert.is_string(code)
    return false
  end
  for _, session in ipairs(sessions) do
    local native = import.native(session)
    assert.is_true(core.utf8_valid(native))
    local again = assert(import.load_text("y", native))
    assert.are.equal(native, import.native(again[1]))
  end
  return true
end

local function try(text, form, seed, lenient)
  local ok, why = pcall(one_try, text, form, lenient)
  if ok then return why end
  local shown = type(why) == "table" and tostring(why.message) or tostring(why)
  error(("seed %d: %s\n%s"):format(seed, shown, text), 0)
end

local function seeded()
  local seed = tonumber(os.getenv("NEAP_SEED")) or os.time()
  math.randomseed(seed)
  return seed
end

local OTHERS = { 7, -1.5, true, "text", "" }

-- Another value than `value`, of another type.
local function another(value)
  local kind = math.random(#OTHERS + 4)
  if kind <= #OTHERS then return OTHERS[kind] end
  if kind == #OTHERS + 1 then return json.null end
  if kind == #OTHERS + 2 then return json.array({ value }) end
  if kind == #OTHERS + 3 then return { a = value } end
  return json.array()
end

-- All containers of a value, in a fixed order.
local function containers(value, list)
  if type(value) ~= "table" or json.is_raw(value) then return list end
  list[#list + 1] = value
  local keys = {}
  for key in pairs(value) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, key in ipairs(keys) do
    containers(value[key], list)
  end
  return list
end

-- Removes, replaces or doubles a member of a random container.
local function damage(value)
  local list = containers(value, {})
  local at = list[math.random(#list)]
  local keys = {}
  for key in pairs(at) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    return tostring(a) < tostring(b)
  end)
  if #keys == 0 then return end
  local key, how = keys[math.random(#keys)], math.random(3)
  if how == 2 then
    at[key] = another(at[key])
  elseif json.is_array(at) then
    if how == 1 then
      table.remove(at, key)
    else
      table.insert(at, key, at[key])
    end
  else
    at[key] = nil
  end
end

local function records(text)
  local list = {}
  if json.decode(text) ~= nil then return { text } end
  for line in text:gmatch("[^\n]+") do
    list[#list + 1] = line
  end
  return list
end

describe("importers of logs", function()
  for name, form in pairs(CASES) do
    local text = assert(shared.read(DIR .. name))

    it("bear cuts of " .. name .. " at any byte", function()
      local seed = seeded()
      for _ = 1, 80 do
        try(text:sub(1, math.random(0, #text)), form, seed, math.random(2) == 1)
        try(text:sub(math.random(#text)), form, seed, math.random(2) == 1)
      end
    end)

    it("bear lines of " .. name .. " that are lost or doubled", function()
      local seed = seeded()
      for _ = 1, 60 do
        local lines = {}
        for line in text:gmatch("[^\n]*\n?") do
          lines[#lines + 1] = line
        end
        local at = math.random(#lines)
        if math.random(2) == 1 then
          table.remove(lines, at)
        else
          table.insert(lines, at, lines[at])
        end
        try(table.concat(lines), form, seed, math.random(2) == 1)
      end
    end)

    if not name:find("%.md$") and not name:find("%.yaml$") then
      it("bear members of " .. name .. " that are lost or of another type", function()
        local seed, read, lenient_read = seeded(), 0, 0
        for _ = 1, 150 do
          local list = records(text)
          local at = math.random(#list)
          local value = json.decode(list[at])
          damage(value)
          list[at] = json.encode(value)
          local bad = table.concat(list, "\n")
          if try(bad, form, seed, false) then read = read + 1 end
          if try(bad, form, seed, true) then lenient_read = lenient_read + 1 end
        end
        -- Most members are not what an import hangs on, and lenient never reads less.
        assert.is_true(read > 0)
        assert.is_true(lenient_read >= read)
      end)
    end
  end

  for _, case in ipairs({
    { "swe_agent", '{"history":[\n{"role":"robot"}]}', ":2: a message needs a role" },
    { "swe_agent", '{"history":7,"trajectory":null}', ":1: history must be a list" },
    { "openhands", '{"history":[{"id":1}]}', ":1: an event needs its action" },
    { "openhands", '\n{"history":{}}', ":2: a run needs its history" },
    { "tau2", '{"simulations":[\n{"messages":7}]}', ":1: messages must be a list" },
    { "who_and_when", '{"history":[]}', ":1: no agent speaks" },
    {
      "toolbench",
      '{"answer_generation":{"train_messages":[[\n{"role":"function"}]]}}',
      ":2: a function's result needs its call",
    },
    { "webvoyager", '[{"role":"user"}]', ":1: content is missing" },
    { "crosswoz", '{"1":{"messages":[{"role":"bot"}]}}', ":1: a message needs a role" },
    { "vcr", "a: 1\n", ":1: there is no list of interactions" },
  }) do
    it(("say where %s is wrong: %s"):format(case[1], case[3]), function()
      local none, why = import.load_text("f", case[2], { from = case[1] })
      assert.is_nil(none)
      assert.are.equal("f" .. case[3], why:sub(1, #case[3] + 1))
    end)
  end
end)
