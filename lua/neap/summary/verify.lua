-- Whether what a model wrote may stand for steps: every number, path, id and name as the steps have
-- it, every step one of them, nothing of the user's changed. Fails closed: what cannot be found is
-- refused, and said. Linear in the steps and in the answer. next: desk.lua
local core = require("neap.core")
local disguise = require("neap.summary.disguise")
local money = require("neap.summary.money")
local notes = require("neap.summary.notes")
local spans = require("neap.summary.span")

local M = {}

M.FAULTS = 20 -- that are told of one answer

-- What a number is written with; "one" is mostly none.
local NUMBER_WORDS = {}
for _, words in ipairs({
  "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
  "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety",
  "hundred thousand million billion trillion dozen half twice thrice double triple",
}) do
  for word in words:gmatch("%a+") do
    NUMBER_WORDS[word], NUMBER_WORDS[word .. "s"] = true, true
  end
end

-- ---- what the steps hold --------------------------------------------------------------------

---@class neap.Source
---@field grounds userdata of the core: what terms and names stand there, and where they end
---@field text string
local Source = {}
Source.__index = Source

local function source_of(texts)
  local text = table.concat(texts, "\n")
  return setmetatable({ grounds = core.grounds(text), text = text }, Source)
end

-- Does the value stand in it with borders at both ends? Words of numbers also in capitals, amounts
-- with their currency.
function Source:holds(value)
  if NUMBER_WORDS[value:lower()] then return self.grounds:word(value) end
  if not money.is_amount(value) then return self.grounds:holds(value) end
  self.amounts = self.amounts or select(2, money.amounts(self.text))
  return self.amounts[value] ~= nil
end

-- Is it in the text, in small letters?
function Source:says(piece)
  self.lower = self.lower or self.text:lower()
  return self.lower:find(piece, 1, true) ~= nil
end

-- Of the model itself; in a change of the state stands its reason.
local SAID = { text = true, thought = true, call = true, state = true }
-- Notes of which all is seen: a finding, or what is open, is no fact because it was noted.
local SHOWN = { facts = true, goal = true, constraints = true, requests = true }

local function texts_of(earlier, from)
  local all, seen, by_step = {}, {}, {}
  for _, item in ipairs(earlier.items) do
    local text = item.text .. "\n" .. (item.why or "")
    all[#all + 1] = text
    if SHOWN[item.section] and not item.refuted then seen[#seen + 1] = text end
  end
  for _, part in ipairs(from.parts) do
    all[#all + 1] = part.text
    by_step[part.step] = by_step[part.step] or {}
    table.insert(by_step[part.step], part.text)
    if not SAID[part.kind] then seen[#seen + 1] = part.text end
  end
  return all, seen, by_step
end

---@class neap.Grounds
---@field known neap.Known? the state object and the task
---@field all neap.Source   the steps, the notes so far, the state object and the task
---@field seen neap.Source  without what the model itself has said
---@field step fun(n: integer): neap.Source

--- What a span and the notes so far hold, to check answers against.
---@param span neap.Span
---@param earlier neap.Notes
---@param known neap.Known? what stands in the prompt beside them
---@return neap.Grounds
function M.grounds(span, earlier, known)
  local all, seen, by_step = texts_of(earlier, span)
  local of_step = {}
  for _, text in ipairs(known and known.texts or {}) do
    all[#all + 1], seen[#seen + 1] = text, text
  end
  return {
    known = known,
    values = {}, -- by text, as values_of() finds them
    span = span,
    notes = earlier,
    all = source_of(all),
    seen = source_of(seen),
    step = function(n)
      of_step[n] = of_step[n] or source_of(by_step[n] or {})
      return of_step[n]
    end,
  }
end

-- ---- one text -------------------------------------------------------------------------------

local function escape(word)
  return (word:gsub("%p", "%%%0"))
end

-- What names another place by a few signs: ../a/b and ~/a/b are not a/b.
local function places_of(text, add)
  if not text:find("[\\~]") and not text:find("../", 1, true) then return end
  for run in text:gmatch("[%w_./\\~@:-]+") do
    if run:find("%.%./") or run:find("~/", 1, true) or run:find("%w\\%w") then
      add((run:gsub("[.:]+$", "")))
    end
  end
end

local MANNERS = { "double", "Double", "half", "Half", "triple", "Triple" }

-- "double quotes" and "half-open" say how, not how many.
local function without_manner(text)
  for _, word in ipairs(MANNERS) do
    if text:find(word, 1, true) then
      local bare = "%f[%a]" .. word
      text = text:gsub(bare .. "(%-%a)", "%1"):gsub(bare .. "( quote)", "%1")
    end
  end
  return text
end

-- Numbers, words with a digit or an underscore in them, and names.
local function values_of(text)
  local out, seen = {}, {}
  local function add(value)
    if not seen[value] then
      seen[value] = true
      out[#out + 1] = value
    end
  end
  for _, word in ipairs(core.terms(without_manner(text))) do
    local is_name = word:find("[%d_]") or word:find("%l%u") or word:find("^[\x80-\xff]")
    if is_name or NUMBER_WORDS[word:lower()] then add(word) end
  end
  for _, name in ipairs(core.cite_scan((text:gsub("</%a+>", " ")))) do -- an end is no path
    if not name:find("^[\x80-\xff]") and not core.is_plain(name) then add(name) end
  end
  for _, run in ipairs(disguise.runs(text)) do
    add(run)
  end
  places_of(text, add)
  for _, amount in ipairs((money.amounts(text))) do
    add(amount)
  end
  return out
end
M.values_of = values_of

-- "step 12" says where, not how many.
local function without_steps(text, steps)
  return (text:gsub("([Ss]teps?%s+)(%d+)", function(word, n)
    if steps[math.tointeger(tonumber(n))] then return word end
  end))
end

-- A name that nobody has named: a capital within a sentence.
local function invented_name(text, source)
  for before, word in text:gmatch("()%f[%w_](%u%l%l+)%f[^%w_]") do
    local ahead = text:sub(1, before - 1):match("(%S*)%s*$")
    local begins = ahead == "" or ahead:find("[.!?:;|(\"'—-]$") or ahead:find("[\x80-\xff]$")
    if not begins and not source.grounds:word(word) then return word end
  end
end

local HEDGES = {
  "some",
  "just over",
  "just under",
  "about",
  "around",
  "roughly",
  "approximately",
  "approx.",
  "approx",
  "circa",
  "nearly",
  "almost",
  "~",
  "≈",
  "约",
  "大约",
  "将近",
  "接近",
}
local AFTER = { "左右", "上下", "多", " or so" }

local function hedged(low, hedge, source)
  local border = hedge:find("^%a") and "%f[%a]" or ""
  for found, n in low:gmatch("(" .. border .. escape(hedge) .. "%s*)(%d[%d.,]*)") do
    local piece = found .. n:gsub("[.,]$", "")
    if not source:says(piece) then return piece end
  end
end

local function hedged_after(low, word, source)
  for piece in low:gmatch("%d[%d.,]*[^%s%d]-" .. word) do
    if #piece < 40 and not source:says(piece) then return piece end
  end
end

-- "about 500" where the steps have 500.
local function rounded(text, source)
  if not text:find("%d") then return nil end
  local low = text:lower()
  for _, hedge in ipairs(HEDGES) do
    local piece = low:find(hedge, 1, true) and hedged(low, hedge, source)
    if piece then return piece end
  end
  for _, word in ipairs(AFTER) do
    local piece = low:find(word, 1, true) and hedged_after(low, word, source)
    if piece then return piece end
  end
end

-- Chinese characters that no step holds: another language than that of the steps.
local function is_foreign(text, source)
  return text:find("[\xE4-\xE9]") and not source.text:find("[\xE4-\xE9]")
end

local function values_in(plain, g)
  local values = g.values[plain] or values_of(plain)
  g.values[plain] = values
  return values
end

-- What is wrong with a text, or nil: a code, words, and the value.
local function check_text(text, g, source)
  local plain = without_steps(text, g.span.steps)
  for _, value in ipairs(values_in(plain, g)) do
    if not source:holds(value) then
      if source ~= g.all and g.all:holds(value) then
        local what = "only the model itself has said %s: no fact, add it to findings or open"
        return "unobserved", what:format(value), value
      end
      return "invented", ("%s does not stand in the steps"):format(value), value
    end
  end
  local name = invented_name(plain, g.all)
  if name then return "invented", ("%s does not stand in the steps"):format(name), name end
  local piece = rounded(plain, g.all)
  if piece then return "rounded", ("the steps do not say %q"):format(piece), piece end
  if is_foreign(plain, g.all) then return "language", "the steps are not in this language" end
end

-- ---- one change -----------------------------------------------------------------------------

-- What the user wants only the user says: word by word.
local function check_users(change, g)
  for _, part in ipairs(g.span.parts) do
    for _, sentence in ipairs(part.kind == "user" and spans.sentences(part) or {}) do
      if sentence == change.text then return nil end
    end
  end
  return "user", "only the user's own words can be a goal or a constraint"
end

local function check_step(change, g)
  if not g.span.steps[change.step] then
    return "step", ("step %d is none of the new steps"):format(change.step)
  end
end

-- Another value than the state object has.
local function check_state(change, g)
  local key, said, state
  for _, text in ipairs(g.known and { change.text or "", change.why or "" } or {}) do
    if not key then
      key, said, state = g.known:contradicted(text)
    end
  end
  if not key then return nil end
  local what = "%s is %s in the state, not %s; say what else is meant, or leave it out"
  return "state", what:format(key, state, said), said
end

-- What the line names stands in the step that it cites, or some of it.
local function check_place(change, g)
  local plain = without_steps(change.text or change.why or "", g.span.steps)
  local values, any = values_in(plain, g), false
  for _, value in ipairs(values) do
    any = any or g.step(change.step):holds(value)
  end
  if #values > 0 and not any then
    return "step", ("step %d holds nothing of what the line names"):format(change.step)
  end
end

local DOABLE = { open = true, requests = true, progress = true }

local function check_key(change, g, used)
  local item = notes.find(g.notes, change.key)
  if not item then return "key", ("the notes have no %s"):format(change.key) end
  if used[change.key] then return "key", ("%s is changed twice"):format(change.key) end
  used[change.key] = true
  if item.section == "goal" or item.section == "constraints" then
    return "user", ("%s is the user's; only the user changes it"):format(change.key)
  end
  if item.section == "requests" and change.verb ~= "done" then
    return "user", ("%s is the user's; it can only be done"):format(change.key)
  end
  if item.refuted then return "key", ("%s is refuted already"):format(change.key) end
  if change.step < item.step then
    return "step", ("%s is of step %d, which is later"):format(change.key, item.step)
  end
  if change.verb == "done" and not DOABLE[item.section] then
    return "key", ("%s is nothing that can be done"):format(change.key)
  end
end

local function check_evidence(change, g)
  if change.verb ~= "done" or g.span.acted[change.step] then return nil end
  return "evidence", ("step %d has no result that could show it"):format(change.step)
end

local function check_size(change)
  if #(change.text or "") > notes.TEXT or #(change.why or "") > notes.WHY then
    return "size", ("a text has at most %d bytes, a reason %d"):format(notes.TEXT, notes.WHY)
  end
end

local function check_both(change, g, source)
  for _, text in ipairs({ change.text or "", change.why or "" }) do
    local code, what, value = check_text(text, g, source)
    if code then return code, what, value end
    source = g.all
  end
end

-- What only the model itself has said, and wants to add as a fact, is added as a finding.
local function check_words(change, g)
  local item = change.key and notes.find(g.notes, change.key)
  local section = item and change.verb == "supersede" and item.section or change.section
  local code, what, value = check_both(change, g, section == "facts" and g.seen or g.all)
  if code == "unobserved" and change.verb == "add" then
    code, what, value = check_both(change, g, g.all)
    if not code then change.section = "findings" end
  end
  return code, what, value
end

local function check_change(change, g, used)
  local code, what, value = check_size(change)
  if not code then code, what, value = check_step(change, g) end
  if not code and change.key then code, what, value = check_key(change, g, used) end
  if not code then code, what, value = check_evidence(change, g) end
  local is_users = change.section == "goal" or change.section == "constraints"
  if not code and is_users then code, what = check_users(change, g) end
  if not code then code, what, value = check_words(change, g) end
  if not code and not is_users then code, what, value = check_state(change, g) end
  if not code then code, what = check_place(change, g) end
  return code and { code = code, line = change.line, what = what, value = value } or nil
end

local function has_results(span)
  for _, part in ipairs(span.parts) do
    if part.kind == "result" then return true end
  end
end

--- What is wrong with changes: { code, line, what, value } each; empty when all may be taken. What
--- is no fact is made a finding.
---@param changes neap.Change[]
---@param g neap.Grounds
---@return table[] faults
function M.changes(changes, g)
  local faults, used = {}, {}
  for _, change in ipairs(changes) do
    if #faults >= M.FAULTS then return faults end
    faults[#faults + 1] = check_change(change, g, used)
  end
  if #changes == 0 and has_results(g.span) then
    local what = "nothing is noted of what the steps have shown"
    faults[#faults + 1] = { code = "sections", what = what }
  end
  return faults
end

-- ---- what the state has overtaken -------------------------------------------------------------

local USERS = { goal = true, constraints = true, requests = true }
local WHY = { en = "the state has %s: %s", zh = "状态中 %s 为 %s" }

--- Notes of which the state object says another value by now: changes that refute them, of the
--- newest step. What the user said stays as it was said.
---@param span neap.Span
---@param earlier neap.Notes
---@param known neap.Known
---@param language "en"|"zh"
---@return neap.Change[]
function M.overtaken(span, earlier, known, language)
  local out, step = {}, 0
  for n in pairs(span.steps) do
    step = math.max(step, n)
  end
  for _, item in ipairs(earlier.items) do
    local is_live = not (item.refuted or USERS[item.section] or item.section == "refuted")
    local key, _, state
    if is_live then
      key, _, state = known:contradicted(item.text)
    end
    if key and item.step <= step then
      local why = WHY[language]:format(key, state)
      out[#out + 1] = { verb = "refute", key = item.key, step = step, why = why }
    end
  end
  return out
end

-- ---- the whole ------------------------------------------------------------------------------

local function must_stay(item)
  local is_open = item.section == "requests" and notes.place(item) == "open"
  return item.section == "goal" or item.section == "constraints" or is_open
end

local function holds_item(list, item)
  for _, own in ipairs(list) do
    if own.section == item.section and own.text == item.text then return true end
  end
end

--- What is wrong with notes that are to be committed: what the user said is there word by word,
--- in the text as in the data.
---@param all neap.Notes     what there is to say
---@param fitted neap.Notes  what there is room for
---@param text string        of it
---@param required neap.Change[]
---@return table[] faults
function M.whole(all, fitted, text, required)
  local faults, back = {}, notes.parse(text)
  local function need(list, item)
    if not holds_item(list, item) then
      local what = "what has to stay is missing: " .. item.text:sub(1, 80)
      faults[#faults + 1] = { code = "missing", what = what, value = item.text }
    end
  end
  for _, change in ipairs(required) do
    if change.verb == "add" then need(all.items, change) end
  end
  for _, item in ipairs(all.items) do
    if must_stay(item) then
      need(fitted.items, item)
      need(back.items, item)
    end
  end
  if #back.items ~= #fitted.items then
    faults[#faults + 1] = { code = "sections", what = "the notes do not read back as they are" }
  end
  return faults
end

return M
