-- Outputs of shards put together: lines by recording and contestant, and whether they belong to one
-- comparison. A merge adds up, and what was not made in the same way must not be added.
-- next: compare.lua
local core = require("neap.core")
local files = require("neap.files")
local visible = require("neap.report.visible")
local session = require("neap.cli.session")
local shards = require("neap.cli.shards")
local failure = require("neap.cli.fail")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

local SAID = { table.unpack(shards.PASSED) }
table.move(shards.FLAGS, 1, #shards.FLAGS, #SAID + 1, SAID)

--- The first line of what a shard prints: which one it is, of how many recordings' files, and the
--- options under which it replayed. Shards of one comparison differ in the first alone.
---@param opts table
---@param window integer as it was resolved
---@param count integer of files
---@return table
function M.head(opts, window, count)
  local options = {}
  for _, name in ipairs(SAID) do
    options[name] = opts[name]
  end
  options.window = window
  return { shard = json.array({ opts.shard[1], opts.shard[2] }), files = count,
    options = options }
end

M.HEAD_ORDER = { "shard", "files", "options", table.unpack(SAID) }

local function is_count(value)
  return math.type(value) == "integer" and value >= 1
end

local NUMBERS = { window = true, reserve = true, think = true }

-- Are the options of the kinds that the command line makes them?
local function are_options(options)
  if type(options) ~= "table" or not is_count(options.window) then return false end
  for _, name in ipairs(SAID) do
    local value, kind = options[name], "string"
    if NUMBERS[name] then kind = "integer" end
    if name == "lenient" or name == "branches" then kind = "boolean" end
    if value ~= nil and (math.type(value) or type(value)) ~= kind then return false end
  end
  return true
end

-- Is the line such a first line? It came from a file: nothing of it is sure.
local function is_head(line)
  if type(line) ~= "table" or not is_count(line.files) or not are_options(line.options) then
    return false
  end
  local shard = line.shard
  return type(shard) == "table" and is_count(shard[1]) and is_count(shard[2])
    and shard[1] <= shard[2]
end

local function spelled(value)
  return value == nil and "none" or tostring(value)
end

-- Fails where two outputs were not made in the same way.
local function same(first, one)
  for _, name in ipairs(SAID) do
    local a, b = spelled(first.head.options[name]), spelled(one.head.options[name])
    if a ~= b then
      local text = "%s was made with --%s %s, %s with %s; merge the shards of one comparison"
      fail(text:format(first.label, name, a, one.label, b))
    end
  end
  local a, b = first.head, one.head
  if a.shard[2] ~= b.shard[2] or a.files ~= b.files then
    local text = "%s is shard %d/%d of %d files, %s is %d/%d of %d; "
      .. "merge the shards of one comparison"
    fail(text:format(first.label, a.shard[1], a.shard[2], a.files, one.label, b.shard[1],
      b.shard[2], b.files))
  end
end

-- Fails unless the heads are those of all shards of one comparison, each once; its options.
local function agree(heads)
  local first, have = heads[1], {}
  for _, one in ipairs(heads) do
    same(first, one)
    local i = one.head.shard[1]
    if have[i] then
      local text = "%s and %s are both shard %d/%d; give each shard once"
      fail(text:format(have[i], one.label, i, one.head.shard[2]))
    end
    have[i] = one.label
  end
  for i = 1, first.head.shard[2] do
    if not have[i] then
      local text = "shard %d/%d is missing; give the outputs of all %d"
      fail(text:format(i, first.head.shard[2], first.head.shard[2]))
    end
  end
  return first.head.options
end

--- Adds the groups of what a shard printed, its head first: lines of one session follow each other.
---@param text string
---@param label string whose text it is
---@param groups table[][] one group a session, one line a contestant
---@param heads table[]
function M.collect(text, label, groups, heads)
  local last, is_begun
  for row in text:gmatch("[^\n]+") do
    local line, why = json.decode(row)
    local begins = is_head(line)
    local is_line = is_begun and type(line) == "table" and line.trace and line.file
    if not begins and not is_line then
      local text_of = "%s: is no output of neap compare --shard: %s"
      fail(text_of:format(label, why or visible.line(row:sub(1, 60))))
    end
    if begins then
      heads[#heads + 1] = { head = line, label = label }
      is_begun, last = true, nil
      goto continue
    end
    if not last or last[1].file ~= line.file or last[1].trace ~= line.trace then
      last = {}
      groups[#groups + 1] = last
    end
    last[#last + 1] = line
    ::continue::
  end
end

-- Fails where a recording's lines are not those of the same contestants as another's: their sums
-- would be of different policies.
local function check_rows(lines, others)
  if #lines ~= #others then
    local text = "%s has %d rows, %s has %d; merge shards of the same policies"
    fail(text:format(lines[1].trace, #lines, others[1].trace, #others))
  end
  for c, line in ipairs(lines) do
    local other = others[c]
    if line.policy ~= other.policy or line.reference ~= other.reference then
      local text = "%s was replayed under %s where %s was under %s; "
        .. "merge shards of the same policies"
      fail(text:format(lines[1].trace, line.policy, others[1].trace, other.policy))
    end
    if line.policy_sha256 ~= other.policy_sha256 then
      local text = "policy %s was another for %s than for %s; run its shards with the same file"
      fail(text:format(line.policy, lines[1].trace, others[1].trace))
    end
  end
end

--- Groups in the order of the files, each with a line for every contestant.
---@param groups table[][]
---@return table[][]
function M.in_order(groups)
  local places = {}
  for i, lines in ipairs(groups) do
    places[lines] = i
    check_rows(lines, groups[1])
  end
  table.sort(groups, function(a, b)
    if a[1].file ~= b[1].file then return a[1].file < b[1].file end
    return places[a] < places[b]
  end)
  return groups
end

-- What the shards decided, and what only they can do, cannot be said again.
local SETTLED = { { "policies", "-p" }, { "settings", "-o" }, { "sweep", "--sweep" },
  { "jobs", "-j" }, { "shard", "--shard" }, { "details", "--details" } }

-- From now on the options are those of the shards.
local function take_options(opts, said)
  for _, one in ipairs(SETTLED) do
    if opts[one[1]] then fail(("%s: the shards have settled it; leave it away"):format(one[2])) end
  end
  for name, value in pairs(said) do
    opts[name] = opts[name] or value
  end
  for _, name in ipairs(shards.PASSED) do
    if opts[name] ~= said[name] then
      local text = "--%s %s: the shards were made with %s; leave it away"
      fail(text:format(name, opts[name], said[name] or "none"))
    end
  end
end

--- Groups that shards wrote to files earlier, and their contestants. The options become theirs.
---@param opts table
---@param paths_of_shards string[]
---@return table[][] groups
---@return table[] contestants
function M.files(opts, paths_of_shards)
  local groups, list, heads = {}, {}, {}
  for _, path in ipairs(paths_of_shards) do
    M.collect(check(files.read(path)), files.label(path), groups, heads)
  end
  if #heads == 0 then fail("there is nothing to merge; the files hold no line") end
  take_options(opts, agree(heads))
  session.check_any(#groups)
  for c, line in ipairs(groups[1]) do
    local reference = line.reference == true
    list[c] = {
      label = line.policy,
      reference = reference,
      unbounded = reference and line.policy == "full",
      oracle = reference and line.policy == "oracle",
    }
  end
  return M.in_order(groups), list
end

return M
