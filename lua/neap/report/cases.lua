-- Regression cases of a team's own sessions: at a turn of a recording, under a policy, the
-- prompt holds some words or does not, an entry stands at a rung. The form is in
-- docs/policies.md. next: ../cli/check.lua, ../../../tests/cases/policies.cases
local core = require("neap.core")
local json = core.json

local M = {}

local RUNGS = {
  full = true,
  trimmed = true,
  reference = true,
  masked = true,
  dropped = true,
  folded = true,
}

-- ---- reading ------------------------------------------------------------------------------

-- Words of a line; one in double quotes is a JSON string. nil and a reason for a bad one.
local function words_of(line)
  local words, at = {}, 1
  while true do
    at = line:find("%S", at)
    if not at or line:sub(at, at) == "#" then return words end
    local word, after
    if line:sub(at, at) == '"' then
      word, after = json.decode_at(line, at)
      if type(word) ~= "string" then return nil, "a text in double quotes ends in this line" end
    else
      word, after = line:match("^(%S+)()", at)
    end
    words[#words + 1] = word
    at = after
  end
end

local function whole(text)
  return text and text:match("^%d+$") and math.tointeger(tonumber(text)) or nil
end

-- What `turn N …` asks for, as a case; nil when it cannot be read.
local function parse_case(w)
  local case = { turn = whole(w[2]), what = w[3] }
  if not case.turn or case.turn < 1 then return nil end
  if (case.what == "contains" or case.what == "lacks") and #w == 4 and w[4] ~= "" then
    case.text = w[4]
    return case
  elseif case.what == "entry" and w[5] == "is" and #w == 6 then
    case.entry, case.rung = whole(w[4]), w[6]
    return case.entry and RUNGS[case.rung] and case or nil
  elseif #w == 7 and table.concat(w, " ", 3, 5) == "takes at most" and w[7] == "tokens" then
    case.tokens = whole(w[6])
    return case.tokens and case or nil
  end
end

-- `name=value` words as a table; nil and the word that is none.
local function settings(w, from)
  local out = {}
  for i = from, #w do
    local name, value = w[i]:match("^([%a_][%w_]*)=(.*)$")
    if not name then return nil, w[i] end
    out[name] = value
  end
  return out
end

local FORM = "%s is no case; write: turn N contains TEXT, turn N lacks TEXT, "
  .. "turn N entry E is RUNG, or turn N takes at most T tokens"

local Reader = {}
Reader.__index = Reader

function Reader:trace(w)
  local set, bad = settings(w, 3)
  if not w[2] or bad then return "trace PATH [session=N] is expected" end
  for name, value in pairs(set) do
    if name ~= "session" or not whole(value) then return "trace PATH [session=N] is expected" end
  end
  self.now = { trace = w[2], session = whole(set.session) or 1, policy = self.now.policy }
end

function Reader:policy(w)
  local set, bad = settings(w, 3)
  if not w[2] or bad then return "policy NAME [window=N] [option=value…] is expected" end
  local policy = { name = w[2], options = {} }
  for name, value in pairs(set) do
    if name == "window" or name == "reserve" then
      policy[name] = whole(value)
      if not policy[name] then return name .. " is a whole number of tokens" end
    elseif name == "format" then
      policy.format = value
    else
      policy.options[name] = json.decode(value) ~= nil and json.raw(value) or value
    end
  end
  self.now = { trace = self.now.trace, session = self.now.session, policy = policy }
end

function Reader:turn(w, line, text)
  local case = parse_case(w)
  if not case then return FORM:format(text) end
  if not self.now.trace then return "a line `trace PATH` comes before the first case" end
  case.line, case.written = line, text
  if not self.now.cases then
    self.now.cases = {}
    self.groups[#self.groups + 1] = self.now
  end
  table.insert(self.now.cases, case)
end

--- Groups of cases: each has `trace`, `session`, `policy` (nil: the caller's) and `cases`.
---@param text string
---@return table[]? groups, string|integer message_or_count, integer? line
function M.parse(text)
  local reader = setmetatable({ groups = {}, now = {} }, Reader)
  local number, count = 0, 0
  for line in (text .. "\n"):gmatch("(.-)\r?\n") do
    number = number + 1
    local w, why = words_of(line)
    local read = w and w[1] and w[1]:match("^%l+$") and rawget(Reader, w[1])
    if not w then return nil, why, number end
    if read then
      why = read(reader, w, number, line:match("^%s*(.-)%s*$"))
    elseif w[1] then
      why = "a line begins with trace, policy, turn or #"
    end
    if why then return nil, why, number end
    count = count + (read == Reader.turn and 1 or 0)
  end
  return reader.groups, count
end

-- ---- judging ------------------------------------------------------------------------------

local JUDGES = {}

function JUDGES.contains(case, view)
  if view.text:find(case.text, 1, true) then return nil end
  return ("the prompt does not contain %s"):format(json.quote(case.text))
end

function JUDGES.lacks(case, view)
  if not view.text:find(case.text, 1, true) then return nil end
  return ("the prompt contains %s"):format(json.quote(case.text))
end

function JUDGES.entry(case, view)
  local e = view.session:entry(case.entry)
  if not e then return ("there is no entry %d yet"):format(case.entry) end
  if e.rung == case.rung then return nil end
  return ("entry %d is %s, not %s"):format(case.entry, e.rung, case.rung)
end

function JUDGES.takes(case, view)
  if view.account.tokens <= case.tokens then return nil end
  return ("the prompt takes %d tokens"):format(view.account.tokens)
end

--- Judges the cases of one turn; the faults go into the cases. Without a body nothing was sent.
---@param cases table[]
---@param account table
---@param body string?
---@param session table
---@param text string all that the prompt shows
function M.judge(cases, account, body, session, text)
  local view = { account = account, session = session, text = text }
  for _, case in ipairs(cases) do
    case.judged = true
    if body then
      case.fault = JUDGES[case.what](case, view)
    else
      case.fault = ("the prompt does not fit, by %d tokens"):format(account.overflow.short)
    end
  end
end

return M
