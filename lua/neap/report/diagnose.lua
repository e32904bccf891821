-- Which symptoms a replayed recording shows, by how much, and what to turn. A symptom is a measure
-- beyond a limit; the limits are experience, not law. next: ../cli/diagnose.lua
local core = require("neap.core")
local compare = require("neap.report.compare")
local grid = require("neap.report.grid")
local tally = require("neap.report.tally")

local M = {}

---@class neap.Symptom
---@field symptom string
---@field value number
---@field limit number
---@field evidence string
---@field advice string

local function share(part, whole)
  return whole > 0 and part / whole or 0
end

local function percent(x)
  return ("%.1f %%"):format(100 * x)
end

local LIMITS = { full = 0.85, lost = 0.1 }

local function is_full(line)
  return (line.watermark_p95 or 0) > LIMITS.full
end

local function lost_of(line)
  local far = tally.far(line.facts)
  return share(far.gone, far.cited), far
end

-- "below the 0.2 it has, -o giant": which way to turn an option that this policy has, else nil.
local function turned(policy, name, way)
  local option = (core.json.decode(policy.options or "{}") or {})[name]
  local value = option and compare.number(option.value)
  if type(value) ~= "number" then return nil end
  return ("%s the %.14g it has (-o %s=…)"):format(way, value, name)
end

-- A lower floor loses more, and a higher one fills more: where both hurt, only room helps.
local function advise_room(line, policy)
  local lower = turned(policy, "floor", "below")
  if lost_of(line) > LIMITS.lost or not lower then return "a larger window" end
  return "a larger window, or a floor " .. lower
end

local function advise_memory(line, policy, seen)
  local parts = { "let marks stay instead of dropping" }
  if not seen.offers_recall then parts[2] = 'offer recall (tools = {"recall", "read"})' end
  local higher = not is_full(line) and turned(policy, "floor", "above")
  parts[#parts + 1] = higher and "or a floor " .. higher or "or a larger window"
  return table.concat(parts, ", ")
end

local function advise_trim(_, policy)
  local less = turned(policy, "giant", "below")
  local how = less and ", a giant " .. less or " (in admit)"
  return ("trim results when they come%s, or mask older ones"):format(how)
end

-- Each looks at a recording's line and what was seen on the way; the value, and what it is made of.
-- Advice that depends on the policy is asked for: what it has already is not advised.
local CHECKS = {
  {
    name = "turns do not fit",
    limit = 0,
    advice = "a larger window, or trim giants in admit; neap show --turn N says what is enough",
    look = function(line)
      return line.overflow, ("%d of %d turns"):format(line.overflow, line.turns)
    end,
  },
  {
    name = "the window is nearly full",
    limit = LIMITS.full,
    advice = advise_room,
    look = function(line)
      return line.watermark_p95, line.watermark_p95 and percent(line.watermark_p95) .. " at p95"
    end,
  },
  {
    name = "a pile nobody uses",
    limit = 0.25,
    below = true,
    advice = advise_trim,
    look = function(line, seen)
      local text = line.density and percent(line.density) .. " of the tokens were used again"
      local is_large = line.watermark_p95 and line.watermark_p95 >= 0.25 -- a small pile is none
      if not is_large or seen.results == 0 then return nil end
      return line.density, text
    end,
  },
  {
    name = "facts are lost",
    limit = LIMITS.lost,
    advice = advise_memory,
    look = function(line)
      local lost, far = lost_of(line)
      return lost, ("%d of %d cited more than 10 steps later"):format(far.gone, far.cited)
    end,
  },
  {
    name = "a summary lost them",
    limit = 0,
    advice = "more tokens for summaries, or a model that writes them; neap explain TRACE NAME",
    look = function(_, seen)
      local text = "%d facts of folded steps are in no summary"
      return seen.folded_away, text:format(seen.folded_away)
    end,
  },
  {
    name = "a constraint was not shown",
    limit = 0,
    advice = "e:hold() or e:pin() what the user says, in admit; or keep it in the state",
    look = function(line)
      local c = line.constraints
      if not c then return nil end
      local lost = c.due - c.present - c.noted
      return share(lost, c.due), ("%d of %d, turns times constraints"):format(lost, c.due)
    end,
  },
  {
    name = "done, and done again",
    limit = 0,
    advice = "mask instead of dropping calls, or note what is done in the state",
    look = function(line)
      local text = "%d of %d calls made again had no result in the prompt"
      return line.repeats, text:format(line.repeats, line.calls_again)
    end,
  },
  {
    name = "the same call over and over",
    limit = 2,
    advice = "look at the tool and its error; no policy mends that",
    look = function(_, seen)
      return seen.most_same, ("%d times in a row: %s"):format(seen.most_same, seen.same or "")
    end,
  },
  {
    name = "arguments that are no JSON object",
    limit = 0,
    advice = "fewer or simpler tools in the prompt (ctx:tools); look at their schemas",
    look = function(_, seen)
      return seen.malformed, ("%d of %d calls"):format(seen.malformed, seen.calls)
    end,
  },
  {
    name = "slow and dear: rewritten too often",
    limit = 0.2,
    advice = "change many entries in one rewrite (shrink to a floor, mask with slack)",
    look = function(line)
      local rewrites = line.epochs - 1
      if line.turns < 5 then return nil end
      local text = "%d rewrites in %d turns, %s of the tokens from the cache"
      return share(rewrites, line.turns),
        text:format(rewrites, line.turns, percent(share(line.cached_tokens, line.input_tokens)))
    end,
  },
  {
    name = "the beginning changes by itself",
    limit = 0,
    advice = "take clock times and random ids out of the system text and the tool list",
    look = function(_, seen)
      return seen.warnings, grid.count(seen.warnings, "warning")
    end,
  },
  {
    name = "a refuted fact stands alone",
    limit = 0,
    advice = "keep what refutes it in the state, or mask the entry that said it",
    look = function(line)
      return line.exposed, line.exposed and percent(line.exposed) .. " of the turns after it"
    end,
  },
  {
    name = "hooks fail",
    limit = 0,
    advice = "neap check POLICY",
    look = function(line)
      return line.hook_errors, grid.count(line.hook_errors, "error")
    end,
  },
}

---@class neap.Seen
local Seen = {}
Seen.__index = Seen

--- What is counted on the way of a replay.
---@return neap.Seen
function M.new()
  return setmetatable({
    warnings = 0,
    folded_away = 0,
    malformed = 0,
    calls = 0,
    results = 0,
    most_same = 0,
    row = 0,
  }, Seen)
end

---@param account table
---@param body string? the request
function Seen:turn(account, body)
  if body and body:find('"neap_recall"', 1, true) then self.offers_recall = true end
  self.warnings = self.warnings + #(account.warnings or {})
end

--- A step's facts that are gone: those whose source is folded.
---@param measure table
---@param session table
function Seen:measure(measure, session)
  for _, one in ipairs(measure.gone_list) do
    local e = session:entry(one.credited)
    if e and e.folded then self.folded_away = self.folded_away + 1 end
  end
end

--- At the end: calls, their arguments, and runs of the same call.
---@param session table
function Seen:finish(session)
  local before
  for id = 1, session:entry_count() do
    local kind = session:kind(id)
    if kind == "result" then self.results = self.results + 1 end
    if kind == "call" then
      local text, tool = session:text(id) or "", session:entry(id).tool
      self.calls = self.calls + 1
      local value = text == "" and {} or core.json.decode(text)
      local is_object = type(value) == "table" and not core.json.is_array(value)
      if not is_object then self.malformed = self.malformed + 1 end
      local key = tool .. "\0" .. text
      self.row = key == before and self.row + 1 or 1
      before = key
      if self.row > self.most_same then
        self.most_same, self.same = self.row, tool
      end
    end
  end
end

--- The symptoms of a recording.
---@param line table of the trace
---@param seen neap.Seen
---@param policy table  what session:policy() tells
---@return neap.Symptom[]
function M.symptoms(line, seen, policy)
  local out = {}
  for _, check in ipairs(CHECKS) do
    local value, evidence = check.look(line, seen)
    local is_beyond = value and (check.below and value < check.limit or not check.below
      and value > check.limit)
    if is_beyond then
      local advice = check.advice
      if type(advice) == "function" then advice = advice(line, policy, seen) end
      out[#out + 1] = { symptom = check.name, value = value, limit = check.limit,
        evidence = evidence, advice = advice }
    end
  end
  return out
end

-- ---- budgets from data ----------------------------------------------------------------------

--- The value that 95 % of the whole numbers do not exceed; 0 for none.
---@param list integer[]
---@return integer
function M.p95(list)
  if #list == 0 then return 0 end
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  return sorted[(#sorted * 95 + 99) // 100]
end

return M
