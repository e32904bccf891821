-- The gallery of the shipped policies, policies/README.md: for each what it does, whose it is, a
-- picture of how it fills the window, and what it costs and loses on the shipped recordings.
-- `make docs` runs this file; a test compares. next: ../cli/manual.lua
local core = require("neap.core")
local compare = require("neap.report.compare")
local grid = require("neap.report.grid")
local import = require("neap.import")
local replay = require("neap.report.replay")

local M = {}

local DIR, RECORDINGS = "policies", "examples/recordings"
local SHOWN = "english" -- the recording of the pictures
local WINDOW, COLUMN = 16000, 2 -- turns that share a column of the picture

local function names(dir, ending)
  local list = {}
  for _, name in ipairs(assert(core.list(dir))) do
    list[#list + 1] = name:match("^([^.].*)%." .. ending .. "$")
  end
  return list
end

local function recordings()
  local list = {}
  for _, name in ipairs(names(RECORDINGS, "jsonl")) do
    for _, one in ipairs(assert(import.load(("%s/%s.jsonl"):format(RECORDINGS, name)))) do
      list[#list + 1] = one
    end
  end
  return list
end

-- A recording under a policy (none: everything, without a window): its line, and its turns.
local function play(recording, policy)
  local turns = {}
  local state = assert(replay.run(recording, {
    policy = policy and ("%s/%s.lua"):format(DIR, policy),
    window = WINDOW,
    unbounded = not policy,
    observe = true,
    on_turn = function(account)
      turns[#turns + 1] = account
    end,
  }))
  replay.close(state)
  return replay.summary(recording, state), turns, state.policy
end

-- ---- the picture --------------------------------------------------------------------------

local LEVELS = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

--- How full the window is, two turns a column, and below it where the prompt was written anew.
---@param turns table[] accounts
---@return string fill, string rewrites
function M.picture(turns)
  local fill, marks, epoch = {}, {}, 1
  for i = 1, #turns, COLUMN do
    local most, anew = 0, false
    for n = i, math.min(i + COLUMN - 1, #turns) do
      most = math.max(most, turns[n].tokens / turns[n].budget)
      anew, epoch = anew or turns[n].epoch ~= epoch, turns[n].epoch
    end
    fill[#fill + 1] = LEVELS[math.max(1, math.min(#LEVELS, math.ceil(most * #LEVELS)))]
    marks[#marks + 1] = anew and "^" or " "
  end
  return table.concat(fill), (table.concat(marks):gsub(" +$", ""))
end

-- ---- the text -----------------------------------------------------------------------------

local HEAD = [[
# The policies

<!-- made by `make docs` -->

Each is one file, to be read in a sitting: its head says what it does, whose it is and with what
numbers, and shows an example that is run. Take one by its name (`-p tide`), change its numbers
(`-o keep=5`), or copy it and begin from there. [The guide](../docs/policies.md) has all that a
policy can ask for.

What they cost and lose is measured on the shipped recordings (%s turns) in a window of %s
tokens, as `make run` does: *cost* as a share of sending everything; *epochs*: rewrites + 1; of
the %d facts that the model used more than 10 steps after they were shown those that were still
*present*, *noted* in a summary, *pointed* at by a mark, or *gone*. The pictures are of the
recording `%s`: how full the window is, two turns a column, and `^` where what was sent before
is written anew. Policies of systems have their numbers; where these are tokens of a window of
200,000, an option `per` shrinks them to a smaller one.

]]

local function row_text(row, full)
  local far, share = row.facts_far, grid.share
  return ("cost %s %%, %d epochs; present %s, noted %s, pointed %s, gone %s"):format(
    share(row.cost, full.cost),
    row.epochs,
    share(far.present, far.cited),
    share(far.noted, far.cited),
    share(far.pointed, far.cited),
    share(far.gone, far.cited)
  )
end

local function section(name, policy, turns, row, full)
  local fill, marks = M.picture(turns)
  local form = "## [%s](%s.lua)\n\n%s\nSource: %s.\n\n```\n%s\n%s\n%s\n```\n\n"
  local picture = form:format(
    name,
    name,
    policy.about,
    policy.source,
    fill,
    marks,
    row_text(row, full)
  )
  return picture
end

--- The whole of policies/README.md.
---@return string
function M.text()
  local all, base = recordings(), {}
  for i, recording in ipairs(all) do
    base[i] = play(recording)
  end
  local full, parts = compare.row(base, base), {}
  for _, name in ipairs(names(DIR, "lua")) do
    local lines, shown, policy = {}, nil, nil
    for i, recording in ipairs(all) do
      local line, turns, of = play(recording, name)
      lines[i], policy = line, of
      if recording.name == SHOWN then shown = turns end
    end
    parts[#parts + 1] = section(name, policy, assert(shown), compare.row(lines, base), full)
  end
  local thousands = grid.thousands
  local head = HEAD:format(thousands(full.turns), thousands(WINDOW), full.facts_far.cited, SHOWN)
  return head .. table.concat(parts):gsub("\n+$", "\n")
end

-- As a program: gallery.lua FILE
if arg and arg[0] and arg[0]:find("gallery%.lua$") and arg[1] then
  local f = assert(io.open(arg[1], "wb"))
  assert(f:write(M.text()))
  assert(f:close())
end

return M
