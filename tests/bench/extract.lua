-- What the extractive summarizer notes of that which later steps take from a folded span: facts
-- (identifiers), and rare plain words beside them, against keeping heads and tails of the same
-- messages, heads alone, tails alone, random lines, and the lines with the most new names for
-- their length, each in as many tokens as the summary has. What the headings of a summary cost
-- is paid by it alone. Halves are by hash of the file's name: cue words and weights of
-- lua/neap/summary were chosen on half 1. --half=1|2, --json. next: spans.lua
local core = require("neap.core")
local extract = require("neap.summary.extract")
local spans = require("tests.bench.spans")
local words = require("neap.summary.words")

local want = {}
for _, word in ipairs(arg) do
  local half = word:match("^%-%-half=([12])$")
  if half then
    want.half = tonumber(half)
  elseif word == "--json" then
    want.json = true
  else
    error(word .. ": --half=1, --half=2 and --json are known")
  end
end

local encoding = assert(core.encoding("o200k_base"))

local function count(text)
  return encoding:count(text)
end

-- ---- what else one could keep -----------------------------------------------------------------

-- The messages of a span, without their headings.
local function messages_of(text)
  local out, now = {}, nil
  for line in text:gmatch("([^\n]*)\n?") do
    local heading = line:match("^%[step %d+%]$")
    local rest = line:match("^<think>(.*)") or line:match("^A%l+: (.*)")
    rest = rest or line:match("^Observation: (.*)")
    if line:find("^%[user") then rest = "" end
    if heading then
      now = nil
    elseif rest then
      now = { rest }
      out[#out + 1] = now
    elseif now then
      now[#now + 1] = line
    end
  end
  for i, message in ipairs(out) do
    out[i] = table.concat(message, "\n")
  end
  return out
end

-- The most tokens of each message so that all together have no more than `room`.
local function share(sizes, room)
  local low, high = 0, room
  while low < high do
    local middle, sum = (low + high + 1) // 2, 0
    for _, n in ipairs(sizes) do
      sum = sum + math.min(n, middle)
    end
    if sum <= room then
      low = middle
    else
      high = middle - 1
    end
  end
  return low
end

-- Heads and tails of messages: `part` of the tokens of each is its head.
local function cut(part)
  return function(messages, room)
    local sizes, out = {}, {}
    for i, message in ipairs(messages) do
      sizes[i] = count(message)
    end
    local each = share(sizes, room)
    for i, message in ipairs(messages) do
      local head = math.ceil(each * part)
      if sizes[i] <= each then
        out[i] = message
      else
        out[i] = encoding:fit(message, head)
          .. "\n"
          .. encoding:fit(message, each - head, "character", true)
      end
    end
    return table.concat(out, "\n")
  end
end

-- Lines in the order that `worth` gives them, as long as they fit.
local function best_lines(worth)
  return function(messages, room)
    local list, out, used = {}, {}, 0
    for _, message in ipairs(messages) do
      for line in message:gmatch("[^\n]+") do
        list[#list + 1] = { line = line, worth = worth(line, #list), at = #list }
      end
    end
    table.sort(list, function(a, b)
      if a.worth ~= b.worth then return a.worth > b.worth end
      return a.at < b.at
    end)
    for _, one in ipairs(list) do
      local tokens = count(one.line) + 1
      if used + tokens <= room then
        used = used + tokens
        out[#out + 1] = one.line
      end
    end
    return table.concat(out, "\n")
  end
end

local function by_chance(_, i)
  return tonumber(core.sha256("1 " .. i):sub(1, 8), 16)
end

local seen = {}
local function by_names(line)
  local fresh = 0
  for name in words.names(line) do
    if not seen[name] then fresh = fresh + 1 end
    seen[name] = true
  end
  return fresh / (#line + 10)
end

local WAYS = {
  { "ends", cut(0.5) },
  { "heads", cut(1) },
  { "tails", cut(0) },
  { "random", best_lines(by_chance) },
  { "dense", best_lines(by_names) },
}

-- ---- what is noted ----------------------------------------------------------------------------

local OUTER = "^[./:@#-]*(.-)[./:@#-]*$"

-- Everything that stands in a text as an identifier or a word of its own.
local function names_in(text)
  local set = {}
  for run in text:gmatch("[%w_./:@#-]+") do
    set[run:match(OUTER)] = true
    set[run:match("^(.-)[./:@#-]*$")] = true
    for word in run:gmatch("%a+") do
      set[word] = true
    end
  end
  return set
end

local function noted(list, text)
  local set, n = names_in(text), 0
  for _, name in ipairs(list) do
    local other = name:find("[\x80-\xff]") and text:find(name, 1, true)
    if set[name] or other then n = n + 1 end
  end
  return n
end

-- ---- rows -------------------------------------------------------------------------------------

local rows = {}

local function add(form, field, n)
  rows[form] = rows[form] or {}
  rows[form][field] = (rows[form][field] or 0) + n
end

local function tally(form, way, span, text)
  add(form, way .. " facts", noted(span.facts, text))
  add(form, way .. " words", noted(span.words, text))
end

local function measure(form, span)
  local text = extract.summarize(span.text, span.max_tokens, count) or ""
  local room, messages = count(text), messages_of(span.text)
  add(form, "spans", 1)
  add(form, "tokens", room)
  add(form, "facts", #span.facts)
  add(form, "words", #span.words)
  tally(form, "extract", span, text)
  for _, way in ipairs(WAYS) do
    seen = {}
    tally(form, way[1], span, way[2](messages, room))
  end
end

if not spans.all(want.half, measure) then
  io.stderr:write("tests/bench/extract.lua: skipped: the recordings are not there\n")
  os.exit(0)
end

local forms, total = {}, {}
for form, row in pairs(rows) do
  forms[#forms + 1] = form
  for field, n in pairs(row) do
    total[field] = (total[field] or 0) + n
  end
end
table.sort(forms)
rows.all = total
forms[#forms + 1] = "all"

local NAMES = { "extract" }
for i, way in ipairs(WAYS) do
  NAMES[i + 1] = way[1]
end

local function percent(n, of)
  return of > 0 and ("%5.1f"):format(100 * n / of) or "    -"
end

if not want.json then
  local head = ("%-24s %5s %7s %5s"):format("noted of what is used, %", "spans", "tokens", "facts")
  for _, field in ipairs({ "facts", "words" }) do
    for _, name in ipairs(NAMES) do
      head = head .. ("%8s"):format(field == "words" and name:sub(1, 5) .. " w" or name)
    end
  end
  print(head .. "  facts/kilotoken")
end
for _, form in ipairs(forms) do
  local row = rows[form]
  if want.json then
    row.form = form
    print(core.json.encode(row))
  elseif row.facts > 0 then
    local line = ("%-24s %5d %7d %5d"):format(form, row.spans, row.tokens, row.facts)
    for _, field in ipairs({ "facts", "words" }) do
      for _, name in ipairs(NAMES) do
        line = line .. ("%8s"):format(percent(row[name .. " " .. field], row[field]))
      end
    end
    local ours, ends = row["extract facts"] / row.tokens, row["ends facts"] / row.tokens
    print(line .. ("  %5.2f %5.2f"):format(1000 * ours, 1000 * ends))
  end
end
