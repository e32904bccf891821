-- What the verbs on recordings share: loading traces, reading the options that open a session.
-- next: replay.lua, compare.lua, show.lua
local core = require("neap.core")
local import = require("neap.import")
local files = require("neap.files")
local paths = require("neap.paths")
local found = require("neap.sessions")
local prices = require("neap.models.prices")
local replay = require("neap.report.replay")
local terminal = require("neap.report.terminal")
local trust = require("neap.trust")
local visible = require("neap.report.visible")
local failure = require("neap.cli.fail")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

-- name=value words as one JSON object: a value is JSON if it reads as such, else text.
local function policy_options(words)
  if not words then return nil end
  local object = {}
  for _, word in ipairs(words) do
    local name, value = word:match("^([%a_][%w_]*)=(.*)$")
    if not name then fail(("-o %s: NAME=VALUE is expected, as in -o keep=5"):format(word)) end
    if object[name] then fail(("-o %s: %s is set twice; give it once"):format(word, name)) end
    local ok = json.decode(value) ~= nil
    object[name] = ok and json.raw(value) or value
  end
  return json.encode(object)
end

local function check_format(name)
  if name == nil or prices.formats[name] then return end
  local known = {}
  for format in pairs(prices.formats) do
    known[#known + 1] = format
  end
  table.sort(known)
  fail(("format %s is not built in; known are %s"):format(name, table.concat(known, ", ")))
end

local function check_encoding(name)
  if name then require("neap.cli.count").encoding(name):close() end
end

-- The row of a model, which must have one where nothing else says how to count.
local function check_model(name, encoding)
  local row = name and core.model(name)
  if not name or row or encoding then return row end
  local known = {}
  for i, one in ipairs(core.models()) do
    known[i] = one.name
  end
  local text = "model %s is not in the table; give its encoding with -e, or one of %s"
  fail(text:format(name, table.concat(known, ", ")))
end

-- Prices of that name must be known, in dollars too.
local function check_prices(name)
  local row = name and core.cache(name)
  if not name or row and row.dollars then return end
  local text = "--prices %s: no such price is in the table; give a model's name, as one of %s"
  fail(text:format(name, table.concat(prices.priced(), ", ")))
end

local LIVES = { ["5m"] = true, ["1h"] = true, none = true }

-- Only where the host says what is kept, and for how long.
local function check_cache(opts)
  local life = opts.cache
  if not life then return end
  if not LIVES[life] then fail(("--cache %s: 5m, 1h or none is expected"):format(life)) end
  local price = prices.of({ prices = opts.prices, model = opts.model, format = opts.format })
  if price.marks > 0 then return end
  local text = "--cache %s: the cache of %s is not asked; give -f anthropic, or leave it out"
  fail(text:format(life, price.name))
end

local function read_body(path)
  if not path then return nil end
  local text = check(files.read(path))
  local value, why, _, pos = json.decode(text)
  if value == nil then
    fail(("%s:%d: %s; a JSON object is expected"):format(path, files.line_at(text, pos), why))
  end
  if type(value) ~= "table" or json.is_array(value) or json.is_raw(value) then
    fail(path .. ":1: is no JSON object; it holds members such as model and max_tokens")
  end
  return text
end

local function progress(recording)
  return terminal.progress(visible.line(recording.name) .. ", messages")
end

--- The policy that a word names; without one that of the project, if it has one that is trusted.
---@param word string?
---@return string? path
---@return function? still of the project's, for replay's options: it may change while we run
function M.policy(word)
  if word then return (check(paths.policy(word))) end
  local path, why, still = trust.project()
  if why then fail(why) end
  if path then
    failure.warn(("the policy of this project is used, %s; -p names another"):format(path))
  end
  return path, still
end

--- The same as M.options for verbs that take the project's policy where none is named.
---@param opts table
---@return neap.ReplayOptions
function M.project_options(opts)
  local o = M.options(opts)
  if not o.policy then
    o.policy, o.still = M.policy()
  end
  if not o.policy and opts.option then
    fail(("-o %s: whose option is it? give the policy with -p"):format(opts.option[1]))
  end
  return o
end

--- The options of a replay, from those of the command line.
---@param opts table
---@param settings string[]? the policy's options, where they are not those of -o
---@return neap.ReplayOptions
function M.options(opts, settings)
  check_format(opts.format)
  check_encoding(opts.encoding)
  local row = check_model(opts.model, opts.encoding)
  check_prices(opts.prices)
  check_cache(opts)
  local window = opts.window or row and row.window or 200000
  if opts.reserve and opts.reserve >= window then
    local text = "-r %d leaves nothing of a window of %d; give a smaller reserve"
    fail(text:format(opts.reserve, window))
  end
  return {
    policy = opts.policy and check(paths.policy(opts.policy)) or nil,
    options = policy_options(settings or opts.option),
    window = window,
    reserve = opts.reserve,
    format = opts.format,
    encoding = opts.encoding,
    model = opts.model,
    prices = opts.prices,
    think = opts.think,
    cache = opts.cache,
    shadow = opts.shadow and check(paths.policy(opts.shadow)) or nil,
    request = read_body(opts.body),
    lenient = opts.lenient,
    on_refused = failure.warn,
    progress = progress,
  }
end

--- Loads one file's sessions; fails with its reason. `path` may be an id of `neap sessions`.
---@param path string
---@param opts table
---@return neap.Recording[]
function M.load(path, opts)
  path = check(found.resolve(path))
  local how = { lenient = opts.lenient, from = opts.from, as = opts.as, lean = true }
  how.branches = opts.branches
  local sessions = check(import.load(path, how))
  collectgarbage() -- the text is several times the largest thing that is kept of it
  local skipped = sessions[1].counts.skipped
  if skipped > 0 then
    local what = skipped == 1 and "1 line was skipped" or skipped .. " lines were skipped"
    failure.warn(("%s: %s; neap import tells more"):format(path, what))
  end
  return sessions
end

--- The same for one file of several: with --lenient one that cannot be read is skipped with a
--- warning.
---@param path string
---@param opts table
---@return neap.Recording[]
function M.load_or_skip(path, opts)
  if not opts.lenient then return M.load(path, opts) end
  local ok, loaded = pcall(M.load, path, opts)
  if ok then return loaded end
  if not failure.is(loaded) then error(loaded, 0) end
  failure.warn(loaded.text .. " (skipped)")
  return {}
end

--- Fails when a recording is given twice, whatever it is called: it would count twice, and in
--- both halves of neap tune what is tried on one would be proved by itself.
---@param args string[]
function M.check_once(args)
  local given = {}
  for _, word in ipairs(args) do
    local path = found.resolve(word) or word
    path = core.realpath(path) or path
    local as = given[path]
    if as then
      local same = as == word and "is given twice" or "is the file of " .. as .. " once more"
      fail(("%s: %s; a recording counts once"):format(word, same))
    end
    given[path] = word
  end
end

--- Fails when of all files nothing could be read.
---@param count integer sessions
function M.check_any(count)
  if count == 0 then fail("none of the recordings could be read; check the paths") end
end

--- The one session of a file that a verb is about.
---@param path string
---@param opts table
---@return neap.Recording
function M.load_one(path, opts)
  local sessions = M.load(path, opts)
  local n = opts.session or 1
  if not sessions[n] then
    fail(("%s: has no session %d; the last is %d"):format(path, n, #sessions))
  end
  return sessions[n]
end

--- Fails when a replay that was to stop at a turn ended before it.
---@param path string
---@param state table
---@param turn integer
function M.check_turn(path, state, turn)
  local has = state.turn
  if has >= turn then return end
  replay.close(state)
  if has == 0 then fail(path .. ": has no turn; one comes before each assistant message") end
  fail(("%s: has %d turn%s, there is no turn %d"):format(path, has, has == 1 and "" or "s", turn))
end

--- Says each new hook error once. `seen` is a set kept by the caller.
---@param account table
---@param where string
---@param seen table<string, boolean>
function M.hook_errors(account, where, seen)
  for _, text in ipairs(account.hook_errors or {}) do
    if not seen[text] then
      seen[text] = true
      failure.warn(("%s, turn %d: %s"):format(where, account.turn, text))
    end
  end
end

--- Says what hooks logged in a turn, line by line.
---@param account table
---@param where string
function M.log_lines(account, where)
  for _, text in ipairs(account.log or {}) do
    failure.warn(("%s, turn %d: log: %s"):format(where, account.turn, text))
  end
end

local PREFIX = {
  clock = "the %s holds a clock time",
  id = "the %s holds what looks like a random id",
  order = "members of the %s stand in another order than in the session before",
  changed = "the %s is another one than in the session before",
}
local WHERE = { system = "system text", tools = "tool list" }

--- What was noticed about the bytes that begin every prompt: a warning a finding.
---@param account table
---@param name string of the recording
---@param seen table<string, boolean>
function M.prefix_warnings(account, name, seen)
  for _, w in ipairs(account.warnings or {}) do
    local what = PREFIX[w.what]:format(WHERE[w.where])
    local text = "%s: %s (%s): where it changes, no prompt is found in the provider's cache"
    local line = text:format(name, what, visible.line(w.bytes))
    if not seen[line] then failure.warn(line) end
    seen[line] = true
  end
end

return M
