-- Does `about` keep what a later step needs? Each result of the recordings that a later message
-- cites is shown in a quarter of its tokens, by several ways; counted is how many of the cited
-- identifiers stand in what is shown. The query of `about` is what is known when the result comes
-- in: the task, what the model said before the call, the call's arguments. The halves are apart:
-- what is chosen on the first is reported on the second. --half=1|2, --share=25, --most=N results
-- of a recording, --json. No figure is judged here. next: recall.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")

local want = { share = 25, most = 20 }
for _, word in ipairs(arg) do
  local name, value = word:match("^%-%-(%w+)=(%d+)$")
  if name then
    want[name] = tonumber(value)
  elseif word == "--json" then
    want.json = true
  else
    error(word .. ": --half=N, --share=PERCENT, --most=N and --json are known")
  end
end

local dir = shared.path("traces")
if not dir then
  io.stderr:write("tests/bench/about.lua: skipped: the recordings are not there\n")
  os.exit(0)
end

local LEAST = 400 -- tokens: less is shown whole
local ONE = 2000 -- bytes of each part of a query

local enc = assert(core.encoding("o200k_base"))
local engine = assert(core.engine({ fixed_secret = true }))

local function load(path)
  local ok, sessions = pcall(import.load, path, { lenient = true, lean = true })
  return ok and sessions or {}
end

-- Results with what is cited of each: { text, queries, identifiers }.
local function results_of(recording)
  local s = assert(engine:session({ name = "about", window = 1000000000, no_log = true }))
  for _, message in ipairs(recording.messages) do
    if not s:append(message) then break end
  end
  local cited, list, task = {}, {}, ""
  for _, fact in ipairs(s:citations()) do
    local by = cited[fact.credited] or {}
    cited[fact.credited] = by
    if not by[fact.identifier] then
      by[fact.identifier] = true
      by[#by + 1] = fact.identifier
    end
  end
  local said, call = "", ""
  for id = 1, s:entry_count() do
    local e = s:entry(id)
    local text = s:text(id)
    if e.kind == "user" and task == "" then task = text end
    if e.kind == "text" or e.kind == "thought" then said = text end
    if e.kind == "call" then call = text end
    if e.kind == "result" and cited[id] and enc:count(text) >= LEAST then
      local parts = { task:sub(1, ONE), said:sub(1, ONE), call:sub(1, ONE) }
      for i, part in ipairs(parts) do
        parts[i] = part:gsub("%s+", " ")
      end
      list[#list + 1] = { text = text, parts = parts, identifiers = cited[id] }
    end
  end
  s:close()
  return list
end

-- A line of its own for the way to show a result: its words, and the order of its figures.
local WAYS = {
  { "ends", function(_, _)
    return "all"
  end },
  { "head", function(_, n)
    return "1-" .. n
  end },
  { "about task", function(r)
    return "about " .. r.parts[1]
  end },
  { "about said", function(r)
    return "about " .. r.parts[2]
  end },
  { "about call", function(r)
    return "about " .. r.parts[3]
  end },
  { "about all", function(r)
    return "about " .. table.concat(r.parts, " ")
  end },
}

-- Lines by lot until the tokens are used up: what chance keeps.
local function by_lot(text, tokens)
  local lines, r = {}, 12345
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    lines[#lines + 1] = line
  end
  for i = #lines, 2, -1 do
    r = (r * 1103515245 + 12345) % 2147483648
    local j = r // 8 % i + 1
    lines[i], lines[j] = lines[j], lines[i]
  end
  local kept, used = {}, 0
  for _, line in ipairs(lines) do
    local n = enc:count(line .. "\n")
    if used + n <= tokens then
      kept[#kept + 1], used = line, used + n
    end
  end
  return table.concat(kept, "\n")
end

-- What `about` itself makes of a judge that knows nothing.
local function dice()
  local r = 54321
  return function()
    r = (r * 1103515245 + 12345) % 2147483648
    return 1 + r // 64 % 1000
  end
end

local tally = { results = 0, cited = 0 }

local function count(name, text, identifiers)
  for _, identifier in ipairs(identifiers) do
    if text:find(identifier, 1, true) then tally[name] = (tally[name] or 0) + 1 end
  end
end

local function measure(r)
  local tokens = enc:count(r.text) * want.share // 100
  local _, lines = r.text:gsub("\n", "")
  tally.results, tally.cited = tally.results + 1, tally.cited + #r.identifiers
  count("by lot", by_lot(r.text, tokens), r.identifiers)
  local lot = core.project(enc, r.text, "about x", { tokens = tokens, score = dice() })
  count("lot, marked", lot and lot.text or "", r.identifiers)
  for _, way in ipairs(WAYS) do
    local words = way[2](r, lines + 1)
    local p = core.project(enc, r.text, words:match("^about%s*$") and "all" or words, {
      tokens = tokens,
    })
    count(way[1], p and p.text or "", r.identifiers)
  end
end

local number = 0
for _, form in ipairs(core.list(dir)) do
  local st = core.stat(dir .. "/" .. form)
  if st and st.type == "directory" and form ~= "LICENSES" then
    for _, name in ipairs(core.list(dir .. "/" .. form)) do
      number = number + 1
      if not want.half or number % 2 + 1 == want.half then
        for _, recording in ipairs(load(dir .. "/" .. form .. "/" .. name)) do
          local list = results_of(recording)
          local step = math.max(1, #list / want.most)
          for k = 1, #list, step do
            measure(list[math.floor(k)])
          end
        end
      end
    end
  end
end

local names = { "by lot", "lot, marked" }
for i, way in ipairs(WAYS) do
  names[i + 2] = way[1]
end
if not want.json then
  local head = "of %d identifiers of %d results, in %d %% of their tokens, are shown, %%"
  print(head:format(tally.cited, tally.results, want.share))
end
for _, name in ipairs(names) do
  local share = tally.cited > 0 and 100 * (tally[name] or 0) / tally.cited or 0
  if want.json then
    local line = { name = "about: " .. name, value = core.json.raw(("%.1f"):format(share)) }
    line.unit = "%"
    print(core.json.encode(line, { "name", "value", "unit" }))
  else
    print(("%-12s %6.1f"):format(name, share))
  end
end
enc:close()
engine:close()
