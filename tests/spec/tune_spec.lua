-- neap tune: the front, the search, the halves, and that the commands it prints give its numbers.
-- next: synthetic_spec.lua
local core = require("neap.core")
local tune = require("neap.report.tune")
local shared = require("tests.support.shared")
local json = core.json

local DIR = shared.scratch("tune")
local FILES = {}
for i, name in ipairs({ "english", "planted", "chinese" }) do
  FILES[i] = ("examples/recordings/%s.jsonl"):format(name)
end

local function generator(seed)
  local x = seed * 2654435761 + 88172645463325252
  return function(n)
    x = x ~ (x << 13)
    x = x ~ (x >> 7)
    x = x ~ (x << 17)
    return (x >> 1) % n + 1
  end
end

describe("the front", function()
  it("is what no other point beats, on random points", function()
    for seed = 1, 200 do
      local draw, points = generator(seed), {}
      for i = 1, draw(12) do
        points[i] = { cost = draw(6), gone = draw(6), order = i, places = {} }
      end
      local is_in = {}
      for _, one in ipairs(tune.front(points)) do
        is_in[one] = true
      end
      for _, a in ipairs(points) do
        local beaten, twin = false, false
        for _, b in ipairs(points) do
          local no_worse = b.cost <= a.cost and b.gone <= a.gone
          beaten = beaten or no_worse and (b.cost < a.cost or b.gone < a.gone)
          twin = twin or (b.cost == a.cost and b.gone == a.gone and b.order < a.order)
        end
        assert.are.equal(not beaten and not twin, is_in[a] or false, "seed " .. seed)
      end
    end
  end)
end)

describe("the search", function()
  local lists = { { 1, 2, 3, 4, 5 }, { 10, 20, 30, 40 } }

  it("finds the front of a bowl from its rim, and tries nothing twice", function()
    local tried = {}
    local points = tune.search(lists, { 1, 1 }, 100, function(p)
      local key = p[1] .. "," .. p[2]
      assert.is_nil(tried[key])
      tried[key] = true
      return (p[1] - 4) ^ 2 + p[2], (p[1] - 4) ^ 2 + (4 - p[2])
    end)
    local costs = {}
    for _, point in ipairs(tune.front(points)) do
      assert.are.equal(4, point.places[1])
      costs[#costs + 1] = point.places[2]
    end
    assert.are.same({ 1, 2, 3, 4 }, costs)
  end)

  it("ends after so many tries, and passes by what is not allowed", function()
    local n = 0
    local points, refused = tune.search(lists, { 1, 1 }, 5, function(p)
      n = n + 1
      if p[2] == 2 then return nil end
      return -p[1], p[1]
    end)
    assert.are.equal(5, n)
    assert.are.equal(5, #points + refused)
    assert.is_true(refused > 0)
  end)
end)

describe("values to try", function()
  it("stay within the bounds, and keep whole numbers whole", function()
    assert.are.same({ 0.5, 0.75, 1.0 }, tune.values_of(0.5, 0.5, 1))
    assert.are.same({ 5, 10, 15, 20 }, tune.values_of(10, 1))
    assert.are.same({ 1, 2 }, tune.values_of(1, 1))
    assert.are.same({ 0.5, 1.0 }, tune.values_of(1.0, 0, 1))
    assert.are.same({ 0, 0.25, 0.5, 0.75 }, tune.values_of(0.0, 0))
    assert.are.same({ 0, 2, 5, 10 }, tune.values_of(0, 0))
    assert.are.same({ 0, 2, 4 }, tune.values_of(0, 0, 4))
    assert.are.same({ false, true }, tune.values_of(true))
    assert.is_nil(tune.values_of("dense"))
  end)
end)

describe("the halves", function()
  it("are by name alone, and neither is empty", function()
    local names = {}
    for i = 1, 40 do
      names[i] = "run" .. i
    end
    local all = tune.split(names)
    local some = tune.split({ names[7], names[3], names[30], names[12] })
    assert.are.same({ all[7], all[3], all[30], all[12] }, some)
    for seed = 1, 30 do
      local two = tune.split({ "a" .. seed, "b" .. seed })
      assert.are.equal(3, two[1] + two[2], "one in each")
    end
  end)
end)

describe("neap tune", function()
  it("prints the same from several processes, as a table and as data", function()
    for _, how in ipairs({ "--lenient", "--json" }) do
      local words = { "tune", "-p", "tide", "-w", "12000", "--tries", "5", how }
      table.move(FILES, 1, #FILES, #words + 1, words)
      local code, one, err = shared.run(words)
      assert.are.equal(0, code, err)
      for _, jobs in ipairs({ "2", "7" }) do
        table.insert(words, 2, "-j" .. jobs)
        local same, more, why = shared.run(words)
        table.remove(words, 2)
        assert.are.equal(0, same, why)
        assert.are.equal(one, more)
      end
    end
  end)

  -- A share of 1 and a count of 1, a share of 0 and a count of 0 look alike in what a policy tells.
  it("tries values that the policy takes, of shares and of counts", function()
    local text = [[return { api = 1, name = "kinds", options = {
      count = { default = 1, min = 1, max = 9 }, none = { default = 0, min = 0 },
      all = { default = 1.0, min = 0, max = 1 }, nil_ = { default = 0.0, min = 0, max = 1 } },
      assemble = function(ctx, o)
        for e in ctx:entries { kind = "result", except_last = o.count + o.none } do
          e:trim(1 + math.floor(100 * (o.all + o.nil_)))
        end
      end }]]
    local path = DIR .. "/kinds.lua"
    local f = assert(io.open(path, "w"))
    f:write(text)
    f:close()
    local words = { "tune", "-p", path, "-w", "12000", "--tries", "12", "--json" }
    local _, data = shared.run(table.move(FILES, 1, #FILES, #words + 1, words))
    table.remove(words, 8)
    local code, out, err = shared.run(words)
    assert.are.equal(0, code, err)
    assert.is_nil(out:find("does not take", 1, true), out)
    -- in each half the policy as it is, and a value beside each of the four options' own
    assert.is_true(tonumber(out:match(": (%d+) settings tried on")) >= 10, out)
    for line in data:gmatch("[^\n]+") do
      for _, word in ipairs(json.decode(line).setting) do
        assert.truthy(word:find("^count=[1-9]$") or word:find("^none=%d+$") or word == "all=0.5"
          or word:find("^nil_=0%.%d+$"), word)
      end
    end
  end)

  local function tuned(...)
    local words = { "tune", "-p", "tide", "-w", "12000", "--tries", "8", ... }
    return shared.run(table.move(FILES, 1, #FILES, #words + 1, words))
  end

  local function number(value)
    return tonumber(tostring(value))
  end

  -- The last line of a replay.
  local function replayed(words, path)
    local all = table.move(words, 1, #words, 1, {})
    table.move({ "--json", path }, 1, 2, #all + 1, all)
    local _, out = shared.run(all)
    return assert(json.decode(out:match("([^\n]*)\n$")))
  end

  it("prints points whose command gives their numbers", function()
    local giant, floor = "giant=0.1,0.2,0.25", "floor=0,0.6"
    local code, out, err = tuned("--json", "--sweep", giant, "--sweep", floor)
    assert.are.equal(0, code, err)
    local names, count = {}, 0
    for i, path in ipairs(FILES) do
      names[i] = path:match("([^/]*)$") .. "#" .. path:match("([^/]*)%.jsonl$")
    end
    local halves = tune.split(names)
    for line in out:gmatch("[^\n]+") do
      local point = assert(json.decode(line))
      local words = table.move(point.command, 2, #point.command, 1, {})
      local gone, cited, cost, base = 0, 0, 0, 0
      for i, path in ipairs(FILES) do
        if halves[i] == point.half then
          local last = replayed(words, path)
          for _, class in ipairs({ "11-20", "21-50", "51+" }) do
            gone = gone + last.facts.by_distance[class].gone
            cited = cited + last.facts.by_distance[class].cited
          end
          cost = cost + number(last.cost)
          base = base + number(replayed({ "replay", "-w", "1000000000", "-r", "0" }, path).cost)
        end
      end
      count = count + 1
      assert.are.equal(("%.4f"):format(gone / cited), ("%.4f"):format(number(point.gone)))
      assert.near(cost / base, number(point.cost), 0.0006) -- the point says three digits
    end
    assert.is_true(count >= 2)
  end)

  it("prints the same on every run, and each command once", function()
    local _, one = tuned()
    local code, two, err = tuned()
    assert.are.equal(0, code, err)
    assert.are.equal(one, two)
    assert.truthy(one:find("\nneap replay %-p tide .*TRACE…\n"), one)
  end)

  local function write(name, text)
    local dir = (os.getenv("NEAP_BUILD") or "build") .. "/scratch"
    os.execute("mkdir -p '" .. dir .. "'")
    local path = dir .. "/tune_" .. name
    local f = assert(io.open(path, "wb"))
    f:write(text)
    f:close()
    return path
  end

  -- A hook that fails asks for nothing, and a prompt that does not fit is not sent: both are cheap.
  local FAILING = [[
return { api = 1, name = "failing", options = { drop = 0.5, bad = false },
  assemble = function(ctx, o)
    if o.bad then error("bad") end
    if ctx.usage > o.drop then ctx:shrink(0.4 * ctx.budget) end
  end }]]

  it("passes by settings that are cheap because hooks fail", function()
    local path = write("failing.lua", FAILING)
    local words = { "tune", "-p", path, "-w", "12000" }
    table.move({ "--sweep", "bad=true", "--sweep", "drop=0.6" }, 1, 4, #words + 1, words)
    table.move(FILES, 1, #FILES, #words + 1, words)
    local code, out, err = shared.run(words)
    assert.are.equal(0, code, err)
    assert.truthy(out:find("8 settings tried", 1, true), out)
    assert.truthy(out:find("4 settings passed by: more turns did not fit or more", 1, true), out)
    assert.is_nil(out:find("bad=", 1, true))
    table.insert(words, 2, "-j2")
    local _, beside = shared.run(words)
    assert.are.equal(out, beside)
  end)

  it("says when turns did not fit as it is", function()
    local words = { "tune", "-p", "sliding_window", "-w", "300", "-r", "1", "--tries", "1" }
    table.move(FILES, 1, #FILES, #words + 1, words)
    local code, out, err = shared.run(words)
    assert.are.equal(1, code, err)
    assert.matches("%d+ turns did not fit their budget", err)
    table.insert(words, 2, "-j2")
    local same, beside, told = shared.run(words)
    assert.are.same({ code, out, err }, { same, beside, told })
  end)

  it("has a dash where nothing was cited and where there was no turn", function()
    local none = write("none.jsonl", '{"role":"user","content":"hi"}\n')
    local one = write("one.jsonl", '{"role":"user","content":"hi"}\n'
      .. '{"role":"assistant","content":"ho"}\n')
    local words = { "tune", "-p", "tide", "--tries", "1", none, one }
    local code, out, err = shared.run(words)
    assert.are.equal(0, code, err)
    assert.matches("\nhalf %d +– +– +%d+%.%d +– ", out)
    assert.matches("\nhalf %d +%d+%.%d +– +– +– ", out)
    words[#words + 1] = "--json"
    local _, lines = shared.run(words)
    assert.is_nil(lines:find("gone", 1, true))
  end)

  it("refuses a value that was asked for and is not allowed", function()
    for value, why in pairs({ ["2"] = "above the greatest value 1", abc = "must be a number" }) do
      local code, out, err = tuned("--sweep", "floor=" .. value)
      assert.are.same({ 2, "" }, { code, out })
      assert.truthy(err:find("option 'floor'", 1, true) and err:find(why, 1, true), err)
    end
  end)

  it("says what is missing", function()
    for _, case in ipairs({
      { { "tune", FILES[1], "-p", "tide" }, "one recording is not enough" },
      { { "tune", FILES[1], FILES[2] }, "needs --policy" },
      { { "tune", FILES[1], FILES[2], "-p", "full" }, "has no option that is a number" },
      { { "tune", FILES[1], FILES[2], "-p", "tide", "--sweep", "none=1" }, "no such option" },
      { { "tune", FILES[1], FILES[2], "-p", "tide", "--sweep", "floor" }, "NAME=V1,V2" },
    }) do
      local code, out, err = shared.run(case[1])
      assert.are.same({ 2, "" }, { code, out })
      assert.truthy(err:find(case[2], 1, true), err)
    end
  end)
end)
