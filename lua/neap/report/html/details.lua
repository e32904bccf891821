-- The details that the HTML report shows, from the runs of a recording to the members `detail`
-- of their lines: strings, so that they pass from process to process as they are.
-- next: pack.lua, page.lua
local pack = require("neap.report.html.pack")
local tally = require("neap.report.tally")
local compare = require("neap.report.compare")

local M = {}

local MEASURES = {
  "turns",
  "input_tokens",
  "cached_tokens",
  "currency",
  "epochs",
  "rewritten_tokens",
  "watermark_p95",
  "usage_p95",
  "density",
  "density_rare",
  "words",
  "constraints",
  "needs",
  "pollution",
  "exposed",
  "repeats",
  "calls_again",
  "recalls",
  "recalled_tokens",
  "overflow",
  "refused",
  "hook_errors",
  "steps_left",
}

local function measures(line)
  local out = { cost = compare.number(line.cost), far = tally.far(line.facts) }
  for _, name in ipairs(MEASURES) do
    out[name] = line[name]
  end
  local f = line.facts
  out.facts = { cited = f.cited, present = f.present, noted = f.noted, pointed = f.pointed }
  out.facts.gone = f.gone
  return out
end

--- Packs what was watched of one recording's runs: `line.watched` becomes `line.detail`.
---@param lines table[] one a policy; each with `watched`, of neap.Watch, and `said`
---@param full_at integer which of them has no window
---@param head table { name, form, path }
function M.seal(lines, full_at, head)
  local base = lines[full_at].watched
  for c, line in ipairs(lines) do
    local about = line.said or {}
    about.measures = measures(line)
    local run, texts = pack.run(line.watched, base, about)
    line.detail = { run = run, texts = texts }
    if c == full_at then
      line.detail.recording, line.detail.texts_of_recording = pack.recording(base, head)
    end
  end
  for _, line in ipairs(lines) do
    line.watched, line.said = nil, nil
  end
end

return M
