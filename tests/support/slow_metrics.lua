-- What `neap replay` measures, computed again from what each prompt showed: every citation
-- against every entry, nothing kept up to date. Shares no code with what it checks; it looks at
-- a session's entries and at nothing that counts them. next: ../spec/metrics_spec.lua
local idents = require("tests.support.slow_idents")

local M = {}

local SOURCE = { result = "result", memory = "result", evidence = "result" }
local MODEL = { text = true, thought = true, call = true }
local FIXED = { system = true, tools = true }

-- Who wrote an entry: "fixed", "task", "user", "model", "result" or "other".
local function origin(e)
  if FIXED[e.kind] then return "fixed" end
  if MODEL[e.kind] then return "model" end
  if SOURCE[e.kind] then return "result" end
  if e.kind == "user" or e.kind == "file" then return e.region == "task" and "task" or "user" end
  return "other"
end

local Slow = {}
Slow.__index = Slow

function M.new(options)
  return setmetatable({
    threshold = 2,
    window = options.window,
    price = options.price,
    entries = {},
    known = {}, -- CJK identifiers that some text had as a run of their own
    turns = {},
  }, Slow)
end

-- ---- entries and what they hold -------------------------------------------------------------

-- Known CJK identifiers inside runs: the longest at each place, from left to right, up to `stop`.
local function known_in(self, list, from, stop, add)
  local i = from
  while i <= stop do
    local step = 1
    for n = 8, 2, -1 do
      local fits = true
      for k = i, i + n - 1 do
        fits = fits and list[k] and idents.is_cjk(list[k][2])
      end
      local text = fits and idents.joined(list, i, i + n - 1)
      if text and self.known[text] then
        add(text, "cjk")
        step = n
        break
      end
    end
    i = i + step
  end
  return i
end

local function add_text(self, e, text)
  local found, list = idents.scan(text)
  local function add(name, kind)
    if not e.has[name] then e.order[#e.order + 1] = name end
    e.has[name] = e.has[name] or kind
  end
  for _, one in ipairs(found) do
    local name, kind, place = one[1], one[2], one[3]
    if kind == "cjk" or kind == "run" then
      known_in(self, list, place, place + utf8.len(name) - 1, add)
      if kind == "cjk" then self.known[name] = true end
    end
    if self.known[name] then kind = "cjk" end
    if kind ~= "run" then add(name, kind) end
  end
end

function Slow:take_in(session)
  for id = #self.entries + 1, session:entry_count() do
    local e = session:entry(id)
    local one = { id = id, kind = e.kind, message = e.message, step = e.step, who = origin(e) }
    one.has, one.order, one.text, one.tool = {}, {}, session:text(id) or "", e.tool
    self.entries[id] = one
    if e.kind == "call" then add_text(self, one, e.tool) end
    add_text(self, one, one.text)
  end
end

-- ---- turns ----------------------------------------------------------------------------------

-- What the notices of a prompt name, as they stand there: ": 12 read \"a.c\", 17 bash …".
local function named_in(body)
  local named, notice = {}, "not shown: [%d,]+ entr%l+, [%d,]+ tokens: (.-); neap_read%(id%)%]"
  for list in (body or ""):gmatch(notice) do
    for id in (", " .. list):gmatch(", (%d+) ") do
      named[tonumber(id)] = true
    end
  end
  return named
end

function Slow:turn(session, account, body)
  self:take_in(session)
  local turn = { account = account, step = account.step, shown = {}, sent = not account.overflow }
  turn.full = {}
  turn.named = turn.sent and named_in(body) or {}
  for id = 1, session:entry_count() do
    local e = session:entry(id)
    turn.full[id] = e.full_tokens
    local is_there = e.listed and e.rung ~= "dropped" and turn.sent
    if is_there then
      turn.shown[id] = { rung = e.rung, text = session:shown(id), tokens = e.tokens, pair = e.pair }
    end
  end
  self.turns[#self.turns + 1] = turn
end

-- ---- facts ----------------------------------------------------------------------------------

local STATES = { gone = 1, pointed = 2, noted = 3, present = 4 }

local function state_at(turn, e, name)
  local shown = turn.shown[e.id]
  if not shown then return turn.named[e.id] and "pointed" or "gone" end
  if shown.rung == "full" then return "present" end
  if shown.rung ~= "masked" and idents.holds(shown.text, name) then return "present" end
  return (e.kind == "call" or shown.pair) and "pointed" or "gone"
end

local function is_noted(self, turn, name)
  for id, shown in pairs(turn.shown) do
    local is_summary = self.entries[id].kind == "summary"
    local reads = shown.rung == "full" or shown.rung == "trimmed" or shown.rung == "reference"
    if is_summary and reads and idents.holds(shown.text, name) then return true end
  end
  return false
end

local function distance(n)
  if n <= 3 then return "1-3" end
  if n <= 10 then return "4-10" end
  if n <= 20 then return "11-20" end
  return n <= 50 and "21-50" or "51+"
end

local function no_facts()
  return { cited = 0, present = 0, noted = 0, pointed = 0, gone = 0 }
end

local function count(facts, state)
  facts.cited, facts[state] = facts.cited + 1, facts[state] + 1
end

-- Entries before `by` that hold the name, those that are neither source nor citation left out.
local function holders_of(self, by, name)
  local all, first, credited, others = {}, nil, nil, 0
  for id = 1, by.id - 1 do
    local e = self.entries[id]
    if e.has[name] and e.who ~= "other" then
      all[#all + 1] = e
      first = first or e
      if e.message ~= by.message then
        credited, others = e, others + 1
      end
    end
  end
  return all, first, credited, others
end

-- The state; and where it is only pointed at, the shortest entry that a mark points to.
local function best_state(self, turn, holders, name)
  local best, from = "gone", nil
  for _, e in ipairs(holders) do
    local state = state_at(turn, e, name)
    if STATES[state] > STATES[best] then best = state end
    if state == "pointed" and (not from or turn.full[e.id] < turn.full[from]) then
      from = e.id
    end
  end
  if STATES[best] < STATES.noted and is_noted(self, turn, name) then return "noted" end
  return best, best == "pointed" and from or nil
end

-- A read of the entry for a step: what it does not show, as far as there is room; once a step.
local function recall(turn, m, done, step, from)
  local key, shown, a = step .. " " .. from, turn.shown[from], turn.account
  local cut = turn.full[from] - (shown and shown.tokens or 0)
  if done[key] then return end
  done[key] = true
  m.recalls = m.recalls + 1
  m.recalled = m.recalled + math.max(0, math.min(cut, a.budget - a.tokens))
end

--- What the step that came last has used of the last turn's prompt.
function Slow:step(session)
  local from = #self.entries + 1
  self:take_in(session)
  local turn = self.turns[#self.turns]
  local m = { facts = no_facts(), by_distance = {}, words = { cited = 0, present = 0 } }
  local done = {}
  m.recalls, m.recalled = 0, 0
  for id = from, #self.entries do
    local by = self.entries[id]
    for _, name in ipairs(by.who == "model" and by.order or {}) do
      local holders, first, credited, others = holders_of(self, by, name)
      local is_fact = credited and (first.who == "result" or first.who == "user")
      if is_fact and by.has[name] == "word" then
        if others <= 3 then
          m.words.cited = m.words.cited + 1
          local is_present = best_state(self, turn, holders, name) == "present"
          m.words.present = m.words.present + (is_present and 1 or 0)
        end
      elseif is_fact then
        local class = distance(by.step - credited.step)
        m.by_distance[class] = m.by_distance[class] or no_facts()
        local state, pointer = best_state(self, turn, holders, name)
        if pointer then recall(turn, m, done, by.step, pointer) end
        count(m.facts, state)
        count(m.by_distance[class], state)
      end
    end
  end
  turn.recalls, turn.recalled = m.recalls, m.recalled
  return m
end

-- ---- density --------------------------------------------------------------------------------

local HAN = { 0x4E00, 0x9FFF }

-- Runs of four and more of A-Z a-z _, or of two and more of U+4E00 to U+9FFF, in order.
local function key_runs(text)
  local runs, run, class = {}, "", nil
  local function close()
    if class and utf8.len(run) >= (class == "word" and 4 or 2) then
      runs[#runs + 1] = { run, class }
    end
    run, class = "", nil
  end
  for _, code in utf8.codes(text, true) do
    local c = utf8.char(code)
    local now = c:find("^[A-Za-z_]$") and "word" or code >= HAN[1] and code <= HAN[2] and "han"
    if now ~= class then close() end
    if now then
      run, class = run .. c, now
    end
  end
  close()
  return runs
end

local function keys_of(text)
  local keys, seen = {}, {}
  for _, run in ipairs(key_runs(text)) do
    if not seen[run[1]] and #keys < 20 then keys[#keys + 1] = run end
    seen[run[1]] = true
  end
  return keys
end

local function model_writes(e, key)
  if key[2] == "han" then return e.text:find(key[1], 1, true) ~= nil end
  for _, run in ipairs(key_runs(e.text)) do
    if run[1] == key[1] then return true end
  end
  return false
end

-- How many of a result's keys are written in the step of the turn or later.
local function keys_used(self, keys, step)
  local n = 0
  for _, key in ipairs(keys) do
    key.last = key.last or 0
    if not key.looked then
      key.looked = true
      for _, e in ipairs(self.entries) do
        if e.who == "model" and model_writes(e, key) then key.last = math.max(key.last, e.step) end
      end
    end
    if key.last >= step then n = n + 1 end
  end
  return n
end

-- By name: entries that hold it, the first of them, and the last step in which the model wrote it.
local function census(self)
  local of = {}
  for _, e in ipairs(self.entries) do
    for name in pairs(e.who ~= "other" and e.has or {}) do
      of[name] = of[name] or { holders = 0, first = e, used = 0 }
      of[name].holders = of[name].holders + 1
      if e.who == "model" then of[name].used = e.step end
    end
  end
  return of
end

local function rare_share(e, step, of)
  local all, used = 0, 0
  for name, kind in pairs(e.has) do
    local one = of[name]
    if kind ~= "word" then
      all = all + 1 / one.holders
      local is_fact = one.first.who == "result" or one.first.who == "user"
      if is_fact and one.used >= step then used = used + 1 / one.holders end
    end
  end
  return all > 0 and used / all or 0
end

--- The two densities over all turns.
function Slow:densities()
  local of, tokens, words, rare = census(self), 0, 0, 0
  for _, turn in ipairs(self.turns) do
    if turn.sent then
      tokens = tokens + turn.account.tokens
      for id, shown in pairs(turn.shown) do
        local e = self.entries[id]
        if e.kind == "result" then
          e.keys = e.keys or keys_of(e.text)
          if keys_used(self, e.keys, turn.step) >= self.threshold then
            words = words + shown.tokens
          end
        end
        if e.who == "result" or e.kind == "user" or e.kind == "file" then
          rare = rare + shown.tokens * rare_share(e, turn.step, of)
        end
      end
    end
  end
  return words / tokens, rare / tokens
end

-- ---- the rest -------------------------------------------------------------------------------

--- Calls made again after a success, and those of which no earlier result was shown.
function Slow:repeats(session)
  local again, hidden, step = 0, 0, {}
  for _, turn in ipairs(self.turns) do
    step[turn.step] = turn
  end
  for id, call in ipairs(self.entries) do
    local turn = call.kind == "call" and step[call.step]
    local any, shown = false, false
    for before = id - 1, turn and 1 or id, -1 do
      local e = self.entries[before]
      local same = e.kind == "call" and e.tool == call.tool and e.text == call.text
      local pair = same and e.step < call.step and session:entry(before).pair
      if pair and not session:entry(pair).is_error then
        any = true
        local there = turn.shown[pair]
        shown = shown or there and (there.rung == "full" or there.rung == "trimmed")
      end
    end
    if any then again = again + 1 end
    if any and not shown then hidden = hidden + 1 end
  end
  return again, hidden
end

--- Sums over the turns' accounts: tokens, epochs, what rewrites sent, cost, the 95 % places.
function Slow:sums()
  local s = { tokens = 0, cached = 0, epochs = 1, rewritten = 0, cost = 0, watermark = {} }
  for _, turn in ipairs(self.turns) do
    local a = turn.account
    if turn.sent then
      s.tokens, s.cached = s.tokens + a.tokens, s.cached + a.cached
      local fresh = a.tokens - a.billed_cached - a.written
      s.cost = s.cost + self.price.read * a.billed_cached + self.price.write * a.written + fresh
      s.cost = s.cost + self.price.read * a.tokens * (turn.recalls or 0)
        + self.price.write * (turn.recalled or 0)
      if a.rewrite then
        s.epochs, s.rewritten = s.epochs + 1, s.rewritten + a.tokens - a.cached
      end
      table.insert(s.watermark, a.tokens / self.window)
    end
  end
  table.sort(s.watermark)
  s.p95 = s.watermark[math.ceil(#s.watermark * 0.95)]
  return s
end

return M
