-- What recordings have to fold, as three_tier would: the text of every span that it gives to be
-- summarized, its limit, and what later steps take from it: facts (identifiers) and, as the
-- second measure, rare plain words. The answer is always the same, so that the spans are those
-- of the recording whatever a summarizer would say. next: extract.lua
local core = require("neap.core")
local import = require("neap.import")
local replay = require("neap.report.replay")
local shared = require("tests.support.shared")

local M = {}

local POLICY = "policies/three_tier.lua"

--- Half 1 or 2, by the file's name.
---@param name string
---@return integer
function M.half(name)
  return tonumber(core.sha256(name):sub(1, 2), 16) % 2 + 1
end

-- The last step of a text.
local function last_step(text)
  local last
  for step in ("\n" .. text):gmatch("\n%[step (%d+)%]\n") do
    last = tonumber(step)
  end
  return last
end

-- The spans that were folded, in order; an ask whose fold was refused stands for none.
local function folded(session, asks)
  local by_summary, by_step, spans = {}, {}, {}
  for _, ask in ipairs(asks) do
    by_step[last_step(ask.text) or 0] = ask
  end
  for id = 1, session:entry_count() do
    local e = session:entry(id)
    if e.folded then
      local one = by_summary[e.folded] or { entries = {}, last = 0 }
      by_summary[e.folded] = one
      one.entries[id], one.last = true, math.max(one.last, e.step)
    end
  end
  for id = 1, session:entry_count() do
    local span = by_summary[id]
    local ask = span and by_step[span.last]
    if ask then
      span.text, span.max_tokens, span.step = ask.text, ask.max_tokens, session:entry(id).step
      span.facts, span.words = {}, {}
      spans[#spans + 1] = span
    end
  end
  return spans
end

-- What is used by steps that come after the fold; each name once.
local function add_needs(session, spans, field, words)
  local list = session:facts(words)
  for _, span in ipairs(spans) do
    local seen = {}
    for k = 1, #list, 3 do
      local credited, step, name = list[k], list[k + 1], list[k + 2]
      if span.entries[credited] and step > span.step and not seen[name] then
        seen[name] = true
        table.insert(span[field], name)
      end
    end
  end
end

--- The spans of a recording.
---@param recording neap.Recording
---@return table[]
function M.of(recording)
  local asks = {}
  local state = replay.run(recording, {
    policy = POLICY,
    window = 10000000,
    lenient = true,
    summarize = function(ask)
      asks[#asks + 1] = ask
      return "noted"
    end,
  })
  if not state then return {} end
  local spans = folded(state.session, asks)
  add_needs(state.session, spans, "facts", false)
  add_needs(state.session, spans, "words", true)
  replay.close(state)
  return spans
end

--- Calls `each(form, span)` for all recordings of the shared data; false when it is not there.
---@param half integer? 1, 2 or nil: both
---@param each fun(form: string, span: table)
---@return boolean
function M.all(half, each)
  local dir = shared.path("traces")
  if not dir then return false end
  for _, form in ipairs(core.list(dir)) do
    local folder = dir .. "/" .. form
    local st = core.stat(folder)
    local is_form = st and st.type == "directory" and form ~= "LICENSES"
    for _, name in ipairs(is_form and core.list(folder) or {}) do
      local wanted = not half or M.half(name) == half
      local path = folder .. "/" .. name
      local ok, sessions = pcall(import.load, path, { lenient = true, lean = true })
      for _, recording in ipairs(wanted and ok and sessions or {}) do
        for _, span in ipairs(M.of(recording)) do
          each(form, span)
        end
      end
    end
  end
  return true
end

return M
