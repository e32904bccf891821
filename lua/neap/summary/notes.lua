-- Structured notes: what a summary says, as data. An item is one fact: key, section, step, text;
-- and, where they apply, version, refuted (the step that showed it), done or answered (the step
-- that did it), why. Text and data are one: render writes a line an item, parse reads the same
-- items back, so that what a log holds is enough. A change never rewrites: it adds an item, or
-- gives an old one a field. next: delta.lua
local templates = require("neap.summary.templates")
local worth = require("neap.summary.worth")

local M = {}

--- The sections in the order of rendering, and the letter of their keys. Items keep their key when
--- they are refuted or done.
M.SECTIONS = {
  { name = "goal", letter = "G" },
  { name = "constraints", letter = "C" },
  { name = "facts", letter = "F" },
  { name = "refuted", letter = "R" },
  { name = "decisions", letter = "D" },
  { name = "findings", letter = "N" },
  { name = "handles", letter = "H" },
  { name = "progress", letter = "P" },
  { name = "open", letter = "O" },
  { name = "requests", letter = "U" }, -- the user's; rendered with what is open
  { name = "done", letter = "X" },
}

M.TEXT = 600 -- bytes of an item's text; a user's line may have more
M.WHY = 300
M.ARROW = " → " -- between a text and why it is so

local LETTER, SECTION = {}, {}
for _, one in ipairs(M.SECTIONS) do
  LETTER[one.name], SECTION[one.letter] = one.letter, one.name
end

--- Is it the name of a section?
---@param name string
---@return boolean
function M.is_section(name)
  return LETTER[name] ~= nil
end

--- Where the item is rendered: what is refuted, or done, has left its section.
---@param item neap.Note
---@return string
function M.place(item)
  if item.refuted then return "refuted" end
  if item.done or item.answered then return "done" end
  return item.section == "requests" and "open" or item.section
end

---@class neap.Note
---@field key string
---@field section string
---@field step integer
---@field text string
---@field version integer?  from 2 on
---@field why string?
---@field refuted integer?
---@field done integer?
---@field answered integer?

---@class neap.Notes
---@field items neap.Note[] in the order in which they came
---@field left_out integer  items that had no room any more

---@return neap.Notes
function M.new()
  return { items = {}, left_out = 0 }
end

-- ---- text -----------------------------------------------------------------------------------

-- One line without controls. What separates a text from its reason does not stand in either.
local function tidy(text)
  text = text:gsub("[%c\127]+", " "):match("^%s*(.*%S)") or "" -- linear, also over many spaces
  return (text:gsub(" → ", " -> "))
end
M.tidy = tidy

local function head(item)
  local out = { item.key }
  if item.version then out[#out + 1] = " v" .. item.version end
  out[#out + 1] = " step " .. item.step
  for _, name in ipairs({ "refuted", "done", "answered" }) do
    if item[name] then out[#out + 1] = ("; %s %d"):format(name, item[name]) end
  end
  return "[" .. table.concat(out) .. "]"
end

--- The item's line.
---@param item neap.Note
---@return string
function M.line(item)
  local why = item.why and M.ARROW .. item.why or ""
  return ("- %s %s%s"):format(head(item), item.text, why)
end

--- The text of notes, in the language of the templates ("en" or "zh").
---@param notes neap.Notes
---@param language string
---@return string
function M.render(notes, language)
  local t, by = templates[language], {}
  for _, item in ipairs(notes.items) do
    local place = M.place(item)
    by[place] = by[place] or {}
    table.insert(by[place], M.line(item))
  end
  local out = { t.record }
  for _, section in ipairs(M.SECTIONS) do
    local list = by[section.name]
    if list then
      out[#out + 1] = t.headings[section.name]
      out[#out + 1] = table.concat(list, "\n")
    end
  end
  if notes.left_out > 0 then out[#out + 1] = t.left_out:format(notes.left_out) end
  return table.concat(out, "\n")
end

local function read_head(text)
  local key, rest = text:match("^(%u%d+)(.*)$")
  if not key then return nil end
  local item = { key = key, section = SECTION[key:sub(1, 1)] }
  local version, more = rest:match("^ v(%d+)(.*)$")
  if version then
    item.version, rest = math.tointeger(tonumber(version)), more
  end
  local step, tail = rest:match("^ step (%d+)(.*)$")
  if not step or not item.section then return nil end
  item.step = math.tointeger(tonumber(step))
  for name, at in tail:gmatch("; (%l+) (%d+)") do
    if name ~= "refuted" and name ~= "done" and name ~= "answered" then return nil end
    item[name] = math.tointeger(tonumber(at))
  end
  return item.step and item or nil
end

local function read_line(line)
  local inner, text = line:match("^%- %[([^%]]*)%] (.*)$")
  local item = inner and read_head(inner)
  if not item then return nil end
  local before, why = text:match("^(.*) → (.*)$")
  item.text, item.why = before or text, why
  return item
end

--- Is it the line of a note?
---@param line string
---@return boolean
function M.is_line(line)
  return read_line(line) ~= nil
end

local function left_out(line)
  for _, language in ipairs({ "en", "zh" }) do
    local before, after = templates[language].left_out:match("^(.-)%%d(.*)$")
    local n = line:sub(#before + 1, -#after - 1)
    if line == before .. n .. after and n:find("^%d+$") then return math.tointeger(tonumber(n)) end
  end
end

--- The items of a text that render has written; every other line is passed over. Where two items
--- have one key (notes of two summaries), the later gets a new one.
---@param text string
---@return neap.Notes
function M.parse(text)
  local notes, seen, again = M.new(), {}, {}
  for line in text:gmatch("[^\n]+") do
    local item = read_line(line)
    local gone = not item and left_out(line)
    if gone then notes.left_out = notes.left_out + gone end
    if item then
      if seen[item.key] then again[#again + 1] = item end
      seen[item.key] = true
      notes.items[#notes.items + 1] = item
    end
  end
  for _, item in ipairs(again) do
    item.key = M.next_key(notes, item.section)
  end
  return notes
end

-- ---- change ---------------------------------------------------------------------------------

--- The first free key of a section, behind all that were ever used: the newest item of a section
--- is never left out.
---@param notes neap.Notes
---@param section string
---@return string
function M.next_key(notes, section)
  local letter, most = LETTER[section], 0
  for _, item in ipairs(notes.items) do
    local n = item.key:sub(1, 1) == letter and math.tointeger(tonumber(item.key:sub(2)))
    if n and n > most then most = n end
  end
  return letter .. (most + 1)
end

---@param notes neap.Notes
---@param key string
---@return neap.Note?
function M.find(notes, key)
  for _, item in ipairs(notes.items) do
    if item.key == key then return item end
  end
end

---@param notes neap.Notes
---@return neap.Notes
function M.copy(notes)
  local out = { items = {}, left_out = notes.left_out }
  for i, item in ipairs(notes.items) do
    local one = {}
    for name, value in pairs(item) do
      one[name] = value
    end
    out.items[i] = one
  end
  return out
end

-- What the notes hold, or have overturned at a later step, is not added again.
local function is_known(notes, change)
  for _, item in ipairs(notes.items) do
    if item.text == change.text then
      local was = item.section == "refuted" and item.why and SECTION[item.why:sub(1, 1)]
      local same = item.section == change.section or was == change.section
      if same and (not item.refuted or change.step <= item.refuted) then return true end
    end
  end
  return false
end

local function add(notes, change)
  if is_known(notes, change) then return end
  table.insert(notes.items, {
    key = M.next_key(notes, change.section),
    section = change.section,
    step = change.step,
    text = change.text,
    why = change.why,
    answered = change.answered,
  })
end

-- The newer text stands in the item's place; the older is logged as refuted.
local function supersede(notes, change)
  local item = M.find(notes, change.key)
  if item.text == change.text then return end
  local old = { step = item.step, text = item.text }
  item.version, item.step = (item.version or 1) + 1, change.step
  item.text, item.why = change.text, change.why
  if item.section == "progress" then return end
  table.insert(notes.items, {
    key = M.next_key(notes, "refuted"),
    section = "refuted",
    step = old.step,
    text = old.text,
    refuted = change.step,
    why = item.key,
  })
end

local function mark(notes, change, name)
  local item = M.find(notes, change.key)
  if item[name] then return end
  item[name], item.why = change.step, change.why or item.why
end

--- The notes with changes applied in their order: `{ verb, section?, key?, step, text?, why? }`,
--- which verify has passed; the verb "answer" is code's own, of a request that the model has
--- replied to. The notes given stay as they are. Applying the same changes twice is applying
--- them once.
---@param notes neap.Notes
---@param changes neap.Change[]
---@return neap.Notes
function M.apply(notes, changes)
  local out = M.copy(notes)
  for _, change in ipairs(changes) do
    if change.verb == "add" then
      add(out, change)
    elseif change.verb == "supersede" then
      supersede(out, change)
    elseif change.verb == "refute" then
      mark(out, change, "refuted")
    elseif change.verb == "answer" then
      mark(out, change, "answered")
    else
      mark(out, change, "done")
    end
  end
  return out
end

-- ---- room -----------------------------------------------------------------------------------

-- What may go where room is short, and what a line is worth for being of its section, in names.
-- Goal, constraints and requests that are open never go.
local SPARE = {
  progress = 1,
  done = 0.5,
  findings = 1.5,
  handles = 1,
  facts = 0,
  refuted = 6,
  decisions = 4,
  open = 8,
}

local function newest_keys(notes)
  local keep = {}
  for _, section in ipairs(M.SECTIONS) do
    local key = M.next_key(notes, section.name)
    local n = math.tointeger(tonumber(key:sub(2))) - 1
    keep[key:sub(1, 1) .. n] = true
  end
  return keep
end

-- Takes of what may go the best that fit, each name once: the others are gone.
local function spare(out, most, count, language)
  local keep, gone, items = newest_keys(out), {}, {}
  for _, item in ipairs(out.items) do
    local place = M.place(item)
    local base = not (place == "open" and item.section == "requests") and SPARE[place]
    if base and not keep[item.key] then
      gone[item] = true
      items[#items + 1] = { note = item, is = worth.read({ text = item.text, base = base }) }
    end
  end
  local room = most - count(M.render(M.without(out, gone), language))
  local taken = {}
  worth.choose(items, function(item)
    local cost = count(M.line(item.note) .. "\n")
    if cost > room then return false end
    room, gone[item.note], taken[#taken + 1] = room - cost, nil, item.note
    return true
  end)
  return gone, taken
end

--- Leaves out items, those that say the least that is new for their length first, until the text
--- has at most so many tokens; nil when what must stay has more.
---@param notes neap.Notes
---@param language string
---@param most integer
---@param count fun(text: string): integer
---@return neap.Notes? notes
---@return string? text of it
function M.fit(notes, language, most, count)
  local text = M.render(notes, language)
  if count(text) <= most then return M.copy(notes), text end
  local all = M.copy(notes)
  local gone, taken = spare(all, most, count, language)
  repeat -- counts of parts do not add up exactly, and headings count
    local out = M.without(all, gone)
    out.left_out = all.left_out + #all.items - #out.items
    text = M.render(out, language)
    if count(text) <= most then return out, text end
    local last = table.remove(taken)
    if last then gone[last] = true end
  until not last
  return nil
end

---@param notes neap.Notes
---@param gone table<neap.Note, boolean>
---@return neap.Notes
function M.without(notes, gone)
  local items = {}
  for _, item in ipairs(notes.items) do
    if not gone[item] then items[#items + 1] = item end
  end
  return { items = items, left_out = notes.left_out }
end

return M
