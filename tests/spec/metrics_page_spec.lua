-- The page on metrics has every name that replay and compare print, as data and as columns.
-- next: compare_spec.lua
local core = require("neap.core")
local compare = require("neap.report.compare")
local replay = require("neap.report.replay")
local shared = require("tests.support.shared")
local json = core.json

local DIR = shared.scratch("metrics_page")
local FILES = {}
for i, name in ipairs({ "english", "planted", "chinese" }) do
  FILES[i] = ("examples/recordings/%s.jsonl"):format(name)
end

-- What stands in backticks on the page, alone.
local function defined()
  local names = {}
  for name in assert(shared.read("docs/metrics.md")):gmatch("`([^`\n]+)`") do
    names[name] = true
  end
  return names
end

-- The names of all members, at any depth, into `names`.
local function collect(value, names)
  if type(value) ~= "table" or json.is_raw(value) then return end
  for key, one in pairs(value) do
    if type(key) == "string" then names[key] = true end
    collect(one, names)
  end
end

local function printed(...)
  local names, words = {}, { ... }
  table.move(FILES, 1, #FILES, #words + 1, words)
  table.insert(words, 2, "--json")
  local code, out, err = shared.run(words)
  assert.is_true(code < 2, err)
  local lines = 0
  for line in out:gmatch("[^\n]+") do
    collect(assert(json.decode(line)), names)
    lines = lines + 1
  end
  assert.is_true(lines > #FILES)
  return names
end

local function missing(names)
  local page, list = defined(), {}
  for name in pairs(names) do
    if not page[name] then list[#list + 1] = name end
  end
  table.sort(list)
  return table.concat(list, " ")
end

describe("the page on metrics", function()
  local WAYS = {
    { "replay", "-p", "tide", "-w", "16000" },
    { "replay", "-p", "three_tier", "-w", "16000", "-f", "anthropic", "--think", "900" },
    { "replay", "-p", "tide", "-w", "16000", "--shadow", "hysteresis" },
    { "replay", "-p", "hysteresis", "-w", "1500", "-r", "0", "--prices", "gpt-4.1" },
    { "compare", "-p", "mask_observations", "-p", "codex", "-w", "12000" },
    { "compare", "-p", "tide", "-w", "12000", "-f", "gemini", "--prices", "gpt-4.1" },
  }
  for _, way in ipairs(WAYS) do
    it("has what is printed by " .. table.concat(way, " "), function()
      assert.are.equal("", missing(printed(table.unpack(way))))
    end)
  end

  it("has every name that a line may have", function()
    local names = {}
    for _, order in ipairs({ replay.TURN_ORDER, replay.TRACE_ORDER, compare.ROW_ORDER }) do
      for _, name in ipairs(order) do
        names[name] = true
      end
    end
    assert.are.equal("", missing(names))
  end)

  it("has the columns of the tables", function()
    local words = { "compare", "-p", "tide", "-w", "12000" }
    for _, path in ipairs(FILES) do
      words[#words + 1], words[#words + 2] = path, DIR .. "/" .. path:match("[^/]+$")
      local copy = assert(io.open(words[#words], "wb"))
      copy:write(shared.read(path))
      copy:close()
    end
    local code, out, err = shared.run(words)
    assert.are.equal(0, code, err)
    local names, heads = {}, 0
    for head in out:gmatch("\npolicy ([^\n]+)") do
      heads = heads + 1
      for column in head:gsub("of full", "of_full"):gsub("95 %%", "95_%%"):gmatch("%S+") do
        names[column:gsub("_", " ")] = true
      end
    end
    assert.are.equal(2, heads)
    assert.is_true(names["of full"] and names["95 %"])
    assert.are.equal("", missing(names))
  end)
end)
