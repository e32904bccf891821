-- neap recall: finds entries of the sessions in the store by words. next: doctor.lua
local core = require("neap.core")
local paths = require("neap.paths")
local visible = require("neap.report.visible")
local failure = require("neap.cli.fail")

local M = {}

local json = core.json
local ORDER = { "id", "session", "step", "score", "snippet" }
local MOST = 100

-- The store opened for writing, so that what is not indexed yet can be; where it may not be
-- written, for reading.
local function open(opts)
  local path = opts.store or paths.store()
  if not core.stat(path) then
    failure.fail(path .. ": there is no such store; give one with --store or NEAP_STORE")
  end
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
    snippet = hit.snippet,
  }
end

local function print_hit(one)
  io.stdout:write(visible.line(one.id), "\tstep ", one.step, "\t")
  io.stdout:write(visible.line(one.snippet), "\n")
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
  for _, hit in ipairs(hits) do
    local one = row(hit, opts.stored ~= nil)
    if opts.json then
      io.stdout:write(json.encode(one, ORDER), "\n")
    else
      print_hit(one)
    end
  end
  if #hits > 0 then return 0 end
  failure.warn("no entry matches; try other words: names, error codes, file names")
  return 1
end

return M
