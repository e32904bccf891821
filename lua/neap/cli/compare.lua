-- neap compare: every policy over every recording, one row a policy. With -j the recordings
-- are shared out to processes of this program; what is printed does not depend on it.
-- next: ../report/compare.lua
local core = require("neap.core")
local compare = require("neap.report.compare")
local oracle = require("neap.report.oracle")
local replay = require("neap.report.replay")
local grid = require("neap.report.grid")
local terminal = require("neap.report.terminal")
local visible = require("neap.report.visible")
local html = require("neap.cli.html")
local merge = require("neap.cli.merge")
local session = require("neap.cli.session")
local shards = require("neap.cli.shards")
local show_replay = require("neap.cli.replay")
local contestants = require("neap.cli.contestants")
local failure = require("neap.cli.fail")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

local function write_policy(text)
  local path = os.tmpname()
  local f = check(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

-- What to do where a policy has no option of the name that is swept.
local function with_hint(why, sweeps)
  for _, sweep in ipairs(sweeps or {}) do
    local name = sweep:match("^[^=]*")
    if why:find(("option '%s' is not known"):format(name), 1, true) then
      local hint = "%s; --sweep is for every -p: for one alone, repeat -p POLICY -o %s=…"
      return hint:format(why, name)
    end
  end
  return why
end

-- One line for a recording under a contestant. `told` is the oracle for it, which the run without
-- a window makes.
local function run_one(recording, one, opts, seen, told)
  local o = session.options(opts, one.setting)
  o.policy, o.unbounded, o.progress, o.observe = one.path, one.unbounded, nil, true
  local looker = html.watch(opts, one)
  o.on_account = function(account, live)
    session.hook_errors(account, ("%s, %s"):format(one.label, recording.name), seen)
    if looker then looker:turn(account, live) end
  end
  o.on_measure = looker and function(m)
    looker:measure(m)
  end
  if one.oracle then o.policy = write_policy(told) end
  local state, why = replay.run(recording, o)
  if one.oracle then os.remove(o.policy) end
  if not state then fail(with_hint(why, opts.sweep)) end
  if one.unbounded then told = oracle.text(state.session) end
  local line = replay.summary(recording, state)
  if looker then html.keep(line, looker, one, state.session) end
  replay.close(state)
  if one.reference then
    line.policy, line.reference, line.policy_sha256 = one.label, true, nil
  end
  return line, told
end

-- Calls each line by its policy's name, or by what was given with -p where two have one name and
-- are not the same contestant: a copy of tide that still calls itself so.
local function name_lines(lines, list)
  local owners, shared = {}, {}
  for c, line in ipairs(lines) do
    local path = list[c].path or list[c].label
    if not list[c].unbounded then
      local owner = owners[line.policy]
      shared[line.policy] = shared[line.policy] or owner ~= nil and owner ~= path
      owners[line.policy] = owner or path
    end
  end
  for c, line in ipairs(lines) do
    local one = list[c]
    if shared[line.policy] and not one.reference then line.policy = visible.line(one.label) end
    if one.setting then line.policy = line.policy .. " " .. table.concat(one.setting, " ") end
  end
end

-- The lines of a recording, one a contestant: first the one without a window, which tells what
-- will be cited.
local function run_all(recording, list, opts, seen, progress)
  local lines, told = {}, nil
  for c, one in ipairs(list) do
    if one.unbounded then lines[c], told = run_one(recording, one, opts, seen) end
  end
  for c, one in ipairs(list) do
    progress(c - 1)
    lines[c] = lines[c] or run_one(recording, one, opts, seen, told)
  end
  name_lines(lines, list)
  return lines
end

-- Lines of this process, as a list of groups: one group a session, one line a contestant.
-- `file` is the place of the recording's file among the arguments.
local function run_here(opts, args, list)
  local groups, seen = {}, {}
  -- Shards run beside each other: their lines would mix.
  local progress = opts.shard and function() end or terminal.progress("replays")
  for i, path in ipairs(args) do
    local shard = opts.shard or { 1, 1 }
    if (i - 1) % shard[2] == shard[1] - 1 then
      for place, recording in ipairs(session.load_or_skip(path, opts)) do
        local lines = run_all(recording, list, opts, seen, function(c)
          progress((i - 1) * #list + c, #args * #list)
        end)
        for _, line in ipairs(lines) do
          line.file = i
        end
        if lines[1].watched then
          html.seal(lines, list, opts, recording, place)
        end
        groups[#groups + 1] = lines
      end
    end
  end
  progress()
  return groups
end

-- What a shard is told besides the options of every replay.
local function shard_words(opts)
  local parts = contestants.words(opts)
  if opts.html or opts.details then parts[#parts + 1] = "--details" end
  return parts
end

local function run_shards(opts, args)
  local jobs, groups, heads = math.min(opts.jobs, #args), {}, {}
  for i, text in ipairs(shards.run("compare", opts, shard_words(opts), args, jobs)) do
    merge.collect(text, "shard " .. i, groups, heads)
  end
  return merge.in_order(groups)
end

-- A row per contestant over all groups.
local function rows_of(groups, list)
  local full
  local columns = {}
  for c, one in ipairs(list) do
    columns[c] = {}
    for g, lines in ipairs(groups) do
      columns[c][g] = lines[c]
    end
    if one.unbounded then full = columns[c] end
  end
  local rows = {}
  for c, one in ipairs(list) do
    local row = compare.row(columns[c], full)
    local first = columns[c][1]
    row.policy, row.policy_sha256 = first.policy, first.policy_sha256
    row.reference = one.reference or nil
    row.unbounded, row.oracle = one.unbounded or nil, one.oracle or nil
    rows[c] = row
  end
  compare.mark_best(rows)
  compare.mark_reach(rows)
  return rows
end

local COLUMNS = {
  "policy",
  "turns",
  "input",
  "cached",
  "cost",
  "of full",
  "epochs",
  "cited",
  "present",
  "noted",
  "pointed",
  "gone",
  "reach",
  "all",
  "words",
  "overflow",
  "errors",
}
local ALIGN = { "l" }
for i = 2, #COLUMNS do
  ALIGN[i] = "r"
end

-- What a narrow terminal goes without first.
local LEAST =
  { "words", "all", "reach", "input", "epochs", "cached", "noted", "pointed", "present" }

local function cells(row, full)
  local share, thousands = grid.share, grid.thousands
  local far = row.facts_far
  local name = (row.best and "* " or "  ") .. row.policy .. (row.unbounded and " (unbounded)" or "")
  return {
    name,
    row.turns,
    thousands(row.input_tokens),
    share(row.cached_tokens, row.input_tokens),
    show_replay.cost(row),
    share(row.cost, full.cost),
    row.epochs,
    far.cited,
    share(far.present, far.cited),
    share(far.noted, far.cited),
    share(far.pointed, far.cited),
    share(far.gone, far.cited),
    row.reach and ("%.0f"):format(100 * row.reach) or "–",
    share(row.facts.gone, row.facts.cited),
    share(row.words.present, row.words.cited),
    row.overflow,
    row.hook_errors,
  }
end

-- ---- means over recordings ----------------------------------------------------------------

local MEANS = {
  { "cost", "cost" },
  { "gone", "gone" },
  { "words", "words" },
  { "density", "dense" },
  { "density_rare", "rare" },
  { "constraints", "rules" },
  { "repeats", "hidden" },
  { "needs_gone", "needs" },
  { "exposed", "stale" },
}
local RANGED = { cost = true, gone = true, words = true }
local BALANCED = { "cost", "gone" }

local function add_mean(row, one, is_ranged)
  row[#row + 1] = one and ("%.1f"):format(100 * one.mean) or "–"
  if not is_ranged then return end
  local range = one and one.interval
  local text = range and ("%.0f–%.0f"):format(100 * range[1], 100 * range[2])
  row[#row + 1] = text or "–"
end

-- The second table: what a recording has on average, with intervals, and what a form has.
local function mean_rows(rows)
  local is_mixed = rows[1].forms > 1
  local head, align = { "policy" }, { "l" }
  for _, one in ipairs(MEANS) do
    head[#head + 1] = one[2]
    if RANGED[one[1]] then head[#head + 1] = "95 %" end
  end
  for _, name in ipairs(is_mixed and BALANCED or {}) do
    table.move({ "=" .. name, "95 %" }, 1, 2, #head + 1, head)
  end
  for i = 2, #head do
    align[i] = "r"
  end
  local out = { head }
  for _, row in ipairs(rows) do
    local line = { row.policy .. (row.unbounded and " (unbounded)" or "") }
    for _, one in ipairs(MEANS) do
      add_mean(line, row.means[one[1]], RANGED[one[1]])
    end
    for _, name in ipairs(is_mixed and BALANCED or {}) do
      add_mean(line, row.balanced[name], true)
    end
    out[#out + 1] = line
  end
  return out, align
end

local LEAST_MEANS = { "rules", "hidden", "rare", "dense", "words" }
local NO_MEANS = { ["95 %"] = { "–" } }
for _, one in ipairs(MEANS) do
  NO_MEANS[one[2]] = { "–" }
end

-- Only where there are intervals: a mean of three says nothing that the first table does not.
local function print_means(rows)
  local cost = rows[1].means.cost -- nothing has one where no recording has a turn
  if not cost or not cost.interval then return end
  local list, align = mean_rows(rows)
  list, align = grid.without(list, align, NO_MEANS)
  local gone
  list, align, gone = grid.fit(list, align, terminal.columns(), LEAST_MEANS)
  local head = "\nmeans of the recordings' shares in %%, with 95 %% intervals%s\n"
    .. "dense, rare: tokens that later steps used; rules: constraints shown; hidden: of calls "
    .. "made\nagain, those whose earlier result was not shown%s\n\n"
  local mixed = rows[1].forms > 1 and ("; = means of the %d forms' means"):format(rows[1].forms)
  local planned = rows[1].means.needs_gone
    and "; needs: what steps need by the plan\nand is gone; stale: turns that show a refuted fact"
  visible.write(head:format(mixed or "", planned or ""))
  visible.write(grid.format(list, align), grid.left_out(gone))
end

-- Where random loses no more than oracle does, no row has a reach.
local function reach_legend(rows)
  for _, row in ipairs(rows) do
    if row.reach then
      return "reach: the share of the way from random's gone to oracle's; "
        .. "all: gone at any distance\n"
    end
  end
  return "all: gone at any distance\n"
end

-- Turns and cited facts are the recordings' and not the policies': the head tells them, and the
-- columns are left out, as are those in which nothing happened.
local function print_table(rows, opts, count)
  local o = session.options(opts)
  local full
  for _, row in ipairs(rows) do
    if row.unbounded then full = row end
  end
  local turns, cited = tostring(full.turns), grid.thousands(full.facts_far.cited)
  local idle = { turns = { turns }, cited = { tostring(full.facts_far.cited) } }
  idle.noted = { "0.0", "–" }
  idle.reach, idle.overflow, idle.errors = { "–" }, { "0" }, { "0" }
  local out = { COLUMNS }
  for _, row in ipairs(rows) do
    out[#out + 1] = cells(row, full)
  end
  local shown, align = grid.without(out, ALIGN, idle)
  local gone
  shown, align, gone = grid.fit(shown, align, terminal.columns(), LEAST)
  local head = "%d recording%s, %s turn%s, window %s, format %s; "
    .. "* no other is both cheaper and misses less\n"
  visible.write(
    head:format(
      count,
      count == 1 and "" or "s",
      grid.thousands(full.turns),
      full.turns == 1 and "" or "s",
      grid.thousands(o.window),
      o.format or "openai"
    ),
    show_replay.legend(o, cited .. " "),
    reach_legend(rows),
    "references: full (unbounded: no window), random, ",
    "oracle (told which entries will be cited)\n\n",
    grid.format(shown, align),
    grid.left_out(gone)
  )
  print_means(rows)
end

local function print_json(groups, rows, is_shard)
  local order = table.move(replay.TRACE_ORDER, 1, #replay.TRACE_ORDER, 1, {})
  for _, lines in ipairs(groups) do
    for _, line in ipairs(lines) do
      if not is_shard then
        line.file, line.reference, line.detail = nil, nil, nil
      end
      io.stdout:write(json.encode(line, order), "\n")
    end
  end
  if is_shard then return end
  for _, row in ipairs(rows) do
    io.stdout:write(json.encode(row, compare.ROW_ORDER), "\n")
  end
end

-- 1 when a turn did not fit, and says so, but for a shard, of whose rows others have a part. Each
-- row has the same turns, so they are not added up.
local function exit_code(groups, is_shard)
  local over, most, turns, count = {}, 0, 0, 0
  for _, lines in ipairs(groups) do
    for i, line in ipairs(lines) do
      over[i] = (over[i] or 0) + line.overflow
    end
    turns = turns + lines[1].turns
  end
  for _, n in ipairs(over) do
    most, count = math.max(most, n), count + (n > 0 and 1 or 0)
  end
  if most == 0 or is_shard then return most > 0 and 1 or 0 end
  local what = "%s%d of %s did not fit the budget, in %s; give a larger window"
  local rows = count == 1 and "one row" or ("%d of %d rows"):format(count, #over)
  failure.warn(what:format(count > 1 and "at most " or "", most, grid.count(turns, "turn"), rows))
  return 1
end

-- What was asked for: from files, from other processes, or from this one.
local function gather(opts, args)
  if opts.merge then return merge.files(opts, args) end
  if opts.details and not opts.shard then
    fail("--details: only a shard's lines hold them; give it with --shard, or --html FILE")
  end
  session.check_once(args)
  local list = contestants.list(opts)
  session.options(opts)
  if (opts.jobs or 1) == 1 or #args == 1 or opts.shard then
    return run_here(opts, args, list), list
  end
  return run_shards(opts, args), list
end

--- neap compare
function M.compare(opts, args)
  local report <close> = html.open(opts)
  local groups, list = gather(opts, args)
  if opts.shard then
    local head = merge.head(opts, session.options(opts).window, #args)
    io.stdout:write(json.encode(head, merge.HEAD_ORDER), "\n")
    print_json(groups, {}, true)
    return exit_code(groups, true)
  end
  session.check_any(#groups)
  local rows = rows_of(groups, list)
  if report then html.write(report, rows, groups, session.options(opts)) end
  if opts.json then
    print_json(groups, rows, false)
  else
    print_table(rows, opts, #groups)
  end
  return exit_code(groups)
end

return M
