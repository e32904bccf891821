-- Does a search find what a later step needed? For each fact that a message of a recording
-- cites, the words of that message are the query, once without the cited identifier and once
-- with it; the entries before the message are searched; a hit is the fact's source (the first
-- entry that showed it, or the one that is credited) among the best three. Beside stock FTS5.
-- The weights of core/store/rank.c were chosen on the recordings of one half and are reported
-- on the other. --half=1|2, --most=N facts of a recording, --no-stock, --json. next:
-- bench_recall.c
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")

local want = { most = 30, stock = true }
for _, word in ipairs(arg) do
  local name, value = word:match("^%-%-(%w+)=(%d+)$")
  if name then
    want[name] = tonumber(value)
  elseif word == "--no-stock" then
    want.stock = false
  elseif word == "--json" then
    want.json = true
  else
    error(word .. ": --half=N, --most=N, --no-stock and --json are known")
  end
end

local dir = shared.path("traces")
if not dir then
  io.stderr:write("tests/bench/recall.lua: skipped: the recordings are not there\n")
  os.exit(0)
end

local engine = assert(core.engine({ fixed_secret = true }))

local function open(name)
  return assert(engine:session({ name = name, window = 1000000000, no_log = true }))
end

-- The sessions of one file, as messages that a session takes.
local function load(path)
  local ok, sessions = pcall(import.load, path, { lenient = true, lean = true })
  return ok and sessions or {}
end

-- All facts that are cited, and which entries each message has.
local function read(recording)
  local session, spans = open("read"), {}
  for i, message in ipairs(recording.messages) do
    local from = session:entry_count()
    if not session:append(message) then break end
    spans[i] = { from = from + 1, to = session:entry_count() }
  end
  local texts, steps = {}, {}
  for id = 1, session:entry_count() do
    texts[id], steps[id] = session:text(id), session:entry(id).step
  end
  local facts = session:citations()
  session:close()
  for _, fact in ipairs(facts) do
    fact.far = steps[fact.by] - steps[fact.credited] > 10
  end
  return facts, spans, texts
end

-- Spread evenly; by message.
local function choose(facts, spans, most)
  local by = {}
  local step = math.max(1, #facts / most)
  local at, k = 1, 1
  while k <= #facts do
    local fact = facts[k]
    while at <= #spans and spans[at].to < fact.by do
      at = at + 1
    end
    if at > #spans then break end
    by[at] = by[at] or {}
    table.insert(by[at], fact)
    k = math.floor(k + step)
  end
  return by
end

local function query_of(span, texts, without)
  local parts = {}
  for id = span.from, span.to do
    local text = texts[id]
    if without then
      local at, out = 1, {}
      while true do
        local from, to = text:find(without, at, true)
        if not from then break end
        out[#out + 1] = text:sub(at, from - 1)
        at = to + 1
      end
      out[#out + 1] = text:sub(at)
      text = table.concat(out, " ")
    end
    parts[#parts + 1] = text
  end
  return table.concat(parts, "\n")
end

local stock = {}

local function stock_open()
  local program = shared.build() .. "/tests/bench/bench_recall"
  stock.input = os.tmpname()
  stock.asked = {}
  stock.file = assert(io.open(stock.input, "wb"))
  stock.program = program
end

local function is_source(fact, id)
  return id == fact.first or id == fact.credited
end

local tally = {}

local function count(form, what, hit, far)
  local row = tally[form] or { facts = 0, far = 0 }
  tally[form] = row
  row[what] = (row[what] or 0) + (hit and 1 or 0)
  if far then row[what .. " far"] = (row[what .. " far"] or 0) + (hit and 1 or 0) end
end

local function ask(session, form, fact, query, what, far)
  local hits = assert(session:recall(query, 3))
  local found = false
  for _, hit in ipairs(hits) do
    found = found or is_source(fact, hit.entry)
  end
  count(form, what, found, far)
  if want.stock then
    stock.file:write(("Q %d\n%s\n"):format(#query, query))
    table.insert(stock.asked, { form = form, fact = fact, what = what, far = far })
  end
end

local function measure(form, recording)
  local facts, spans, texts = read(recording)
  local by = choose(facts, spans, want.most)
  if not next(by) then return end
  local session, told = open("ask"), 0
  if want.stock then stock.file:write("R\n") end
  for i = 1, #spans do
    for _, fact in ipairs(by[i] or {}) do
      local far = fact.far
      tally[form] = tally[form] or { facts = 0, far = 0 }
      tally[form].facts = tally[form].facts + 1
      tally[form].far = tally[form].far + (far and 1 or 0)
      if want.stock then
        for id = told + 1, session:entry_count() do
          stock.file:write(("D %d %d\n%s\n"):format(id, #texts[id], texts[id]))
        end
        told = session:entry_count()
      end
      ask(session, form, fact, query_of(spans[i], texts, fact.identifier), "without", far)
      ask(session, form, fact, query_of(spans[i], texts), "with", far)
    end
    session:append(recording.messages[i])
  end
  session:close()
end

local function stock_close()
  stock.file:close()
  local command = shared.quote(stock.program) .. " < " .. shared.quote(stock.input)
  local pipe, k = assert(io.popen(command)), 0
  for line in pipe:lines() do
    k = k + 1
    local asked = stock.asked[k]
    local names = { "unicode61", "trigram" }
    local n = 0
    for list in (line .. ";"):gmatch("(.-);") do
      n = n + 1
      local found = false
      for id in list:gmatch("%d+") do
        found = found or is_source(asked.fact, tonumber(id))
      end
      count(asked.form, names[n] .. " " .. asked.what, found, asked.far)
    end
  end
  pipe:close()
  os.remove(stock.input)
end

if want.stock then stock_open() end
local number = 0
for _, form in ipairs(core.list(dir)) do
  local st = core.stat(dir .. "/" .. form)
  if st and st.type == "directory" and form ~= "LICENSES" then
    for _, name in ipairs(core.list(dir .. "/" .. form)) do
      number = number + 1
      if not want.half or number % 2 + 1 == want.half then
        for _, recording in ipairs(load(dir .. "/" .. form .. "/" .. name)) do
          measure(form, recording)
        end
      end
    end
  end
end
if want.stock then stock_close() end

local WHAT = { "without", "with" }
local WHO = want.stock and { "", "unicode61 ", "trigram " } or { "" }
local total = { facts = 0, far = 0 }
local forms = {}
for form, row in pairs(tally) do
  forms[#forms + 1] = form
  for key, n in pairs(row) do
    total[key] = (total[key] or 0) + n
  end
end
table.sort(forms)
tally["all"] = total
forms[#forms + 1] = "all"

local function share(n, of)
  return of > 0 and ("%5.1f"):format(100 * (n or 0) / of) or "    -"
end

if not want.json then
  local head = ("%-28s %6s"):format("source in the best three, %", "facts")
  for _, who in ipairs(WHO) do
    for _, what in ipairs(WHAT) do
      head = head .. ("  %18s"):format(who .. what)
    end
  end
  print(head)
end
for _, form in ipairs(forms) do
  local row = tally[form]
  if want.json then
    row.form = form
    print(core.json.encode(row))
  else
    local line = ("%-28s %6d"):format(form, row.facts)
    for _, who in ipairs(WHO) do
      for _, what in ipairs(WHAT) do
        local key = who .. what
        local far = share(row[key .. " far"], row.far)
        line = line .. ("  %18s"):format(share(row[key], row.facts) .. " /" .. far)
      end
    end
    print(line)
  end
end
engine:close()
