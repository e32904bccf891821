-- What a policy's asks are answered with in a replay: what the recording says was answered to
-- the same request, else the extractive summarizer. next: replay.lua
local core = require("neap.core")
local asking = require("neap.summary.asking")

local M = {}

local function key_of(kind, max_tokens, sha256)
  return ("%s %d %s"):format(kind, max_tokens, sha256)
end

-- Recorded answers by request, in the order in which they were given.
local function index(list)
  local by_key = {}
  for _, one in ipairs(list or {}) do
    if type(one) == "table" and one.sha256 and (one.answer or one.code) then
      local key = key_of(one.kind, one.max_tokens, one.sha256)
      by_key[key] = by_key[key] or { next = 1 }
      table.insert(by_key[key], one)
    end
  end
  return by_key
end

---@class neap.Answers
---@field asked integer
---@field substituted integer   of these, not answered by the recording
local Answers = {}
Answers.__index = Answers

--- Answers for a replay in that session.
---@param recording table its `answers`, if it has some, are as Session:asks() gives them; what the
--- summarizer reads is kept there, as all policies have the same texts summarized
---@param session table of the core
---@param summarize function? answers what is not recorded; nil: the extractive summarizer
---@return neap.Answers
function M.new(recording, session, summarize)
  recording.noted = recording.noted or {}
  return setmetatable({
    by_key = index(recording.answers),
    asked = 0,
    substituted = 0,
    summarize = summarize or asking.answerer(session, recording.noted),
  }, Answers)
end

--- The answer to an ask: a text; or nil, why there is none, and a code.
---@param ask table
---@return string? text, string? why, string? code
function Answers:answer(ask)
  self.asked = self.asked + 1
  local list = next(self.by_key)
    and self.by_key[key_of(ask.kind, ask.max_tokens, core.sha256(ask.text))]
  if not list then
    self.substituted = self.substituted + 1
    return self.summarize(ask)
  end
  local one = list[list.next] or list[#list]
  list.next = list.next + 1
  if one.answer then return one.answer end
  return nil, one.why, one.code
end

--- Who answered: "recorded", "substituted" as soon as one was not, or nil when nothing was
--- asked or the recording has no answers.
---@return string?
function Answers:who()
  if self.asked == 0 or next(self.by_key) == nil then return nil end
  return self.substituted > 0 and "substituted" or "recorded"
end

return M
