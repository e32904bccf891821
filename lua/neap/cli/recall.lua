-- neap recall: finds entries of the sessions in the store by words. next: doctor.lua
local core = require("neap.core")
local terminal = require("neap.report.terminal")
local visible = require("neap.report.visible")
local width = require("neap.report.width")
local opened = require("neap.cli.opened")
local failure = require("neap.cli.fail")

local M = {}

local json = core.json
local ORDER = { "id", "session", "step", "score", "void", "snippet" }
local MOST = 100

-- The store opened for writing, so that what is not indexed yet can be; where it may not be
-- written, for reading.
local function open(opts)
  local path = opened.existing(opts)
  local how = { store = path, tenant = opts.tenant, fixed_secret = true }
  local engine, why, code = core.engine(how)
  if engine or code ~= "readonly" then return failure.check(engine, why) end
  how.readonly = true
  return failure.check(core.engine(how))
end

local function row(hit, named)
  return {
    id = named and tostring(hit.entry) or hit.session .. "/" .. hit.entry,
    session = hit.session,
    step = hit.step,
    score = json.raw(("%.3f"):format(hit.score)),
    void = hit.voided,
    snippet = hit.snippet,
  }
end

-- What of the line's text stands behind a tab, on a terminal.
local function tabbed(text)
  return (width.of(text) // 8 + 1) * 8
end

-- A line of its own for each hit, also on a terminal, which would break a longer one.
local function print_hit(one, columns)
  local id, step = visible.line(one.id), "step " .. one.step
  local text = (one.void and "(rolled back) " or "") .. visible.line(one.snippet)
  if columns then
    local left = columns - tabbed(id) - tabbed(step)
    text = left > 0 and width.cut(text, left) or ""
  end
  io.stdout:write(id, "\t", step, "\t", text, "\n")
end

--- neap recall
function M.recall(opts, words)
  local k = opts.hits or 10
  if k > MOST then failure.fail(("-k %d: at most %d are given"):format(k, MOST)) end
  local query = table.concat(words, " ")
  local engine = open(opts)
  local hits, why = engine:recall(query, opts.stored, k)
  engine:close()
  failure.check(hits, why)
  local columns = terminal.columns()
  for _, hit in ipairs(hits) do
    local one = row(hit, opts.stored ~= nil)
    if opts.json then
      io.stdout:write(json.encode(one, ORDER), "\n")
    else
      print_hit(one, columns)
    end
  end
  if #hits > 0 then return 0 end
  failure.warn("no entry matches; try other words: names, error codes, file names")
  return 1
end

return M
