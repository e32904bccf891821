-- neap replay: every turn of recordings under one policy. next: ../report/replay.lua
local core = require("neap.core")
local replay = require("neap.report.replay")
local compare = require("neap.report.compare")
local tally = require("neap.report.tally")
local grid = require("neap.report.grid")
local growth = require("neap.report.growth")
local visible = require("neap.report.visible")
local terminal = require("neap.report.terminal")
local prices = require("neap.models.prices")
local session = require("neap.cli.session")
local failure = require("neap.cli.fail")

local M = {}
local json, thousands, share = core.json, grid.thousands, grid.share

local function write_request(dir, name, body)
  local path = dir .. "/" .. name
  local f, why = io.open(path, "wb")
  if not f then failure.fail(why .. "; check the folder") end
  local ok, wrong = f:write(body)
  if ok then
    ok, wrong = f:close()
  end
  if not ok then failure.fail(("%s: %s; free some space"):format(path, wrong)) end
end

-- Where the requests of a recording go, or nil. Two recordings of one name would overwrite
-- each other's.
local function request_dir(opts, recording, used)
  if not opts.requests then return nil end
  local dir = opts.requests .. "/" .. recording.name
  if used[dir] then
    local text = "%s: a trace before it is named %s too; replay them to different folders"
    failure.fail(text:format(recording.path, recording.name))
  end
  used[dir] = true
  local ok, why = core.mkdir(dir)
  if not ok then failure.fail(("%s: %s; check the folder"):format(dir, why)) end
  return dir
end

-- Replays one recording; its line, and the tokens of each turn. `grown` gets what they were.
local function run_one(recording, o, opts, seen, used, grown)
  local dir = request_dir(opts, recording, used)
  local extension = o.format == "text" and "txt" or "json"
  local heights, outlook = {}, growth.outlook()
  o.on_turn = function(account, body, now)
    outlook:turn(account, now)
    heights[#heights + 1] = account.tokens
    session.hook_errors(account, recording.name, seen)
    session.log_lines(account, recording.name)
    session.prefix_warnings(account, recording.name, seen)
    local name
    if dir and body then
      name = ("%04d.%s"):format(account.turn, extension)
      write_request(dir, name, body)
    end
    if opts.json then
      local line = replay.turn_line(recording, account, prices.of(o), name)
      io.stdout:write(json.encode(line, replay.TURN_ORDER), "\n")
    end
  end
  o.on_shadow = function(account)
    session.hook_errors(account, recording.name .. ", shadow", seen)
  end
  o.observe = true
  local state = failure.check(replay.run(recording, o))
  growth.add(grown, state.session)
  grown.outlook = state.account and outlook:line(state.account)
  replay.close(state)
  local line = replay.summary(recording, state)
  if state.shadow then
    line.shadow = replay.summary(recording, state.shadow)
    line.shadow.trace = nil
    line.shadow.more = replay.more(line, line.shadow)
  end
  if opts.json then io.stdout:write(json.encode(line, replay.TRACE_ORDER), "\n") end
  return line, heights
end

local COLUMNS = {
  "trace",
  "turns",
  "input",
  "cached",
  "cost",
  "epochs",
  "p95",
  "cited",
  "present",
  "noted",
  "pointed",
  "gone",
  "words",
  "overflow",
  "errors",
}

--- A cost as a table shows it: whole units, or dollars and cents.
---@param line table
---@return string
function M.cost(line)
  if line.currency then return ("$%.2f"):format(line.cost) end
  return thousands(math.floor(line.cost + 0.5))
end

-- The cells of a line, or of the sum of several; the first is its name.
local function cells(name, line)
  local far = line.facts_far or tally.far(line.facts)
  local p95 = line.watermark_p95
  return {
    name,
    line.turns,
    thousands(line.input_tokens),
    share(line.cached_tokens, line.input_tokens),
    M.cost(line),
    line.epochs,
    p95 and share(p95, 1) or "–",
    far.cited,
    share(far.present, far.cited),
    share(far.noted, far.cited),
    share(far.pointed, far.cited),
    share(far.gone, far.cited),
    share(line.words.present, line.words.cited),
    line.overflow,
    line.hook_errors,
  }
end

local ALIGN = { "l", "r", "r", "r", "r", "r", "r", "r", "r", "r", "r", "r", "r", "r", "r" }

--- What the numbers mean; three lines.
---@param o neap.ReplayOptions
---@param facts string? how many there are
---@return string
function M.legend(o, facts)
  local price = prices.of(o)
  local unit = o.prices and ("cost: $%g for 1M uncached tokens"):format(price.dollars)
    or "cost: 1 = an uncached token"
  local what = unit
    .. "; cached ×%g, new ×%g (%s, %s); a pointed fact adds a turn\n"
    .. "facts: %sidentifiers cited more than 10 steps after they were shown; shares in %%\n"
    .. "words: rare plain words still shown when used again; epochs: rewrites + 1\n"
  return what:format(price.read, price.write, price.name, price.date, facts or "")
end

--- How a policy is named to people; without one, what happens then.
---@param name string
---@param o neap.ReplayOptions
---@return string
function M.policy_name(name, o)
  if not o.policy then return "none (everything is shown while it fits)" end
  return visible.line(name)
end

--- "policy tide, window 16,000"
---@param state table of a replay
---@param o neap.ReplayOptions
---@return string
function M.setting(state, o)
  local name = M.policy_name(state.policy.name, o)
  return ("policy %s, window %s"):format(name, thousands(o.window))
end

--- Says how many turns did not fit.
---@param n integer
function M.warn_overflow(n)
  local what = "%s did not fit %s budget; give a larger window"
  failure.warn(what:format(grid.count(n, "turn"), n == 1 and "its" or "their"))
end

-- Columns that are left out when nothing of it happened.
local IDLE = { noted = { "0.0", "–" }, p95 = { "–" }, overflow = { "0" }, errors = { "0" } }

--- The rows of a table: headers, a line for each trace, and the sum of several.
---@param lines table[]
---@return any[][]
function M.rows(lines)
  local rows = { COLUMNS }
  for _, line in ipairs(lines) do
    rows[#rows + 1] = cells(line.trace, line)
  end
  if #lines > 1 then rows[#rows + 1] = cells("all " .. #lines, compare.row(lines, lines)) end
  return rows
end

-- What a narrow terminal goes without first.
local LEAST = { "words", "cited", "p95", "input", "epochs", "turns", "cached", "noted", "pointed" }

--- Rows as aligned text, without the columns in which nothing happened, and as wide as the
--- terminal, if there is one.
---@param rows any[][]
---@return string
function M.format(rows)
  local shown, align = grid.without(rows, ALIGN, IDLE)
  local gone
  shown, align, gone = grid.fit(shown, align, terminal.columns(), LEAST)
  return grid.format(shown, align) .. grid.left_out(gone)
end

local function print_table(lines, policy, o)
  local head = "policy %s, window %s, format %s\n"
  local name = M.policy_name(policy.name, o)
  visible.write(
    head:format(name, thousands(o.window), o.format or "openai"),
    M.legend(o),
    "p95: share of the window that 95 % of the prompts do not exceed\n\n",
    M.format(M.rows(lines))
  )
end

-- "less" or "more" by how much, of what.
local function compared(more, of, text)
  local sign = more > 0 and "more" or "less"
  local part = of > 0 and (" (%s %%)"):format(share(math.abs(more), of)) or ""
  return ("%s %s%s"):format(text, sign, part)
end

-- What the shadow would have sent, over all traces.
local function print_shadow(lines, o)
  local shadows = {}
  for i, line in ipairs(lines) do
    shadows[i] = line.shadow
  end
  local live, shadow = compare.row(lines, lines), compare.row(shadows, shadows)
  live.turns, shadow.turns = live.turns or 0, shadow.turns or 0
  if #lines == 1 then -- of several, no share of a window is the 95 % one
    live.watermark_p95, shadow.watermark_p95 = lines[1].watermark_p95, shadows[1].watermark_p95
  end
  local rows = { COLUMNS, cells("live " .. lines[1].policy, live) }
  rows[3] = cells("shadow " .. shadows[1].policy, shadow)
  rows[1] = table.move(COLUMNS, 2, #COLUMNS, 2, { "policy" })
  visible.write("\nthe shadow sent nothing; it would have come to\n", M.format(rows))
  local tokens = shadow.input_tokens - live.input_tokens
  local cost = shadow.cost - live.cost
  local text = compared(tokens, live.input_tokens, thousands(math.abs(tokens)) .. " tokens")
  local sum = o.prices and ("$%.2f"):format(math.abs(cost))
    or thousands(math.floor(math.abs(cost) + 0.5))
  text = text .. ", " .. compared(cost, live.cost, "cost " .. sum)
  local gone = shadow.facts_far.gone - live.facts_far.gone
  local more = gone < 0 and "fewer" or "more"
  local facts = ("%d %s facts gone"):format(math.abs(gone), more)
  visible.write(text, ", ", facts, "\n")
end

-- How the prompts of one recording rose and fell, and what made all of them grow.
local function print_growth(heights, grown)
  local outlook = grown.outlook
  grown.outlook = nil
  local causes = growth.causes(grown)
  if heights and #heights > 0 then visible.write("\n", growth.line(heights), "\n") end
  if causes then visible.write(causes, "\n") end
  if heights and outlook then visible.write(outlook, "\n") end
end

--- neap replay
function M.replay(opts, args)
  local o = session.project_options(opts)
  local lines, seen, used, overflow, grown = {}, {}, {}, 0, {}
  local heights
  session.check_once(args)
  for _, path in ipairs(args) do
    for _, recording in ipairs(session.load_or_skip(path, opts)) do
      local line
      line, heights = run_one(recording, o, opts, seen, used, grown)
      lines[#lines + 1] = line
      overflow = overflow + line.overflow
    end
  end
  session.check_any(#lines)
  if not opts.json then
    print_table(lines, { name = lines[1].policy }, o)
    if o.shadow then print_shadow(lines, o) end
    print_growth(#lines == 1 and heights or nil, grown)
  end
  if overflow > 0 then
    M.warn_overflow(overflow)
    return 1
  end
  return 0
end

return M
