-- Questions that a prompt should be enough to answer: the task, what must and must not be, what
-- comes next, and facts that later steps of the recording use, as gaps in the lines that brought
-- them. Each with what the recording expects and where the prompt has it. next: ../cli/probe.lua
local truth = require("neap.report.truth")

local M = {}

local GAP = "____"
local LINE = 160 -- bytes of a line that is shown around a gap
local MOST_FACTS = 10

---@class neap.Probe
---@field id string
---@field question string
---@field expected string[]  texts that an answer holds
---@field state string       where the prompt has them: present, noted, pointed or gone
---@field entry integer?     that brought it

local function first_line(text, most)
  local line = text:match("%S[^\n]*") or ""
  if #line <= most then return line end
  return line:sub(1, (utf8.offset(line, 0, most + 1) or most + 1) - 1)
end

local function task_of(session)
  for id = 1, session:entry_count() do
    local e = session:entry(id)
    if e.kind == "user" and e.region == "task" then return id, session:text(id) or "" end
  end
end

-- What the recording's next step does: its calls, or the beginning of what it says.
local function next_step(session, from)
  local calls, said = {}, nil
  for id = from + 1, session:entry_count() do
    local kind = session:kind(id)
    if kind == "call" then calls[#calls + 1] = session:entry(id).tool end
    if kind == "text" and not said then said = first_line(session:text(id) or "", LINE) end
  end
  if #calls > 0 then return "Which tool is called next?", calls end
  if said and said ~= "" then return "What is said next?", { said } end
end

-- Where the name stands by itself, not as a part of a longer one.
local function find_name(text, name)
  local from, to = text:find(name, 1, true)
  while from do
    local before, after = text:sub(from - 1, from - 1), text:sub(to + 1, to + 1)
    if from == 1 then before = "" end
    local joins = name:find("^[%w_]") and before:find("[%w_]")
      or name:find("[%w_]$") and after:find("[%w_]")
    if not joins then return from, to end
    from, to = text:find(name, to + 1, true)
  end
end

-- The newest result or user message that holds the name, and its line.
local function source_of(session, name, last)
  for id = last, 1, -1 do
    local kind = session:kind(id)
    local e = (kind == "result" or kind == "user") and session:entry(id)
    local text = e and e.region == "hot" and session:text(id)
    local at = text and find_name(text, name)
    if at then
      local from = at
      while from > 1 and text:byte(from - 1) ~= 10 do
        from = from - 1
      end
      local line = text:sub(from):match("[^\n]*")
      return id, line, e
    end
  end
end

-- The line with a gap for the name, cut to what is around it.
local function with_gap(line, name)
  local a, b = find_name(line, name)
  local before, after = line:sub(1, a - 1), line:sub(b + 1)
  local from = utf8.len(before) and utf8.offset(before, -math.min(utf8.len(before), LINE // 2)) or 1
  local to = utf8.len(after) and utf8.offset(after, math.min(utf8.len(after), LINE // 2) + 1)
  before, after = before:sub(from or 1), after:sub(1, (to or #after + 1) - 1)
  return (before .. GAP .. after):gsub("^%s+", ""):gsub("%s+$", "")
end

local function place(e)
  local what = e.kind == "result" and "the result of " .. (e.tool ~= "" and e.tool or "a call")
    or "a message of the user"
  if e.path ~= "" then what = what .. " " .. e.path end
  return ("%s, step %d"):format(what, e.step)
end

-- Names that steps from `turn` on write, the soonest first, each once.
local function later_names(facts, step)
  local list, seen = {}, {}
  for i = 1, #facts, 3 do
    local name = facts[i + 2]
    if facts[i + 1] >= step and not seen[name] then
      seen[name] = true
      list[#list + 1] = name
    end
  end
  return list
end

--- The questions for the prompt of a session that has just been assembled, in their order.
---@param session table
---@param watched neap.Truth what the recording says must be kept, fed with every turn
---@param facts table       of the whole recording: session:facts()
---@param step integer      the step that the prompt is for
---@param last integer      the newest entry before that step; what is behind it is the step
---@return neap.Probe[]
function M.questions(session, watched, facts, step, last)
  local list = {}
  local function ask(question, expected, entry, state)
    local states = {}
    for i, text in ipairs(expected) do
      states[i] = state or truth.state_in(session, text, last)
    end
    local id = ("%s%d"):format("q", #list + 1)
    list[#list + 1] =
      { id = id, question = question, expected = expected, state = states[1], entry = entry }
  end
  local id, task = task_of(session)
  if id then ask("What is the task?", { first_line(task, LINE) }, id) end
  for _, one in ipairs(watched.texts) do
    if #one.holders > 0 and one.holders[1].id <= last then
      ask("What has to be, or must not be? (one of several)", { one.text }, one.holders[1].id)
    end
  end
  local question, expected = next_step(session, last)
  if question then ask(question, expected, nil, "expected") end
  local n = 0
  for _, name in ipairs(later_names(facts, step)) do
    if n >= MOST_FACTS then break end
    local source, line, e = source_of(session, name, last)
    if source then
      n = n + 1
      local text = "What stands in the gap? %s (%s)"
      ask(text:format(with_gap(line, name), place(e)), { name }, source)
    end
  end
  return list
end

--- Is an answer right: does it hold every expected text, capitals aside?
---@param probe neap.Probe
---@param answer string
---@return boolean
function M.is_right(probe, answer)
  local text = answer:lower()
  for _, one in ipairs(probe.expected) do
    if not text:find(one:lower(), 1, true) then return false end
  end
  return true
end

return M
