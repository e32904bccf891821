-- neap diff: what two policies show at one turn, entry by entry; or why the beginning of one
-- policy's prompt changed between two turns. next: show.lua
local core = require("neap.core")
local replay = require("neap.report.replay")
local grid = require("neap.report.grid")
local visible = require("neap.report.visible")
local paths = require("neap.paths")
local session = require("neap.cli.session")
local show = require("neap.cli.show")
local failure = require("neap.cli.fail")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

-- Runs to a turn; returns the state, still open, whose last prompt is that turn's.
local function run_to(recording, opts, policy, turn, on_turn, still)
  local o = session.options(opts)
  o.policy, o.stop_at, o.on_turn, o.still = policy, turn, on_turn, still
  local state = check(replay.run(recording, o))
  session.check_turn(recording.path, state, turn)
  return state
end

-- What a prompt shows, by entry: rung, tokens and text of each; and what stands in no entry: the
-- head with the tools, notices, and what frames messages.
local OTHERS = { "head", "notice", "frame" }

local function shown_by_entry(state)
  local by_entry, others = {}, { head = 0, notice = 0, frame = state.account.tokens }
  for _, part in ipairs(show.parts(state.session)) do
    if part.entry then
      by_entry[part.entry] = part
    else
      others[part.kind] = others[part.kind] + part.tokens
    end
    others.frame = others.frame - part.tokens
  end
  return by_entry, others
end

local function differing(a, b, count)
  local list = {}
  for id = 1, count do
    local x, y = a[id], b[id]
    if (x and x.rung) ~= (y and y.rung) or (x and x.text) ~= (y and y.text) then
      list[#list + 1] = id
    end
  end
  return list
end

local function side(part)
  if not part then return { "not shown", "0" } end
  return { part.rung, grid.thousands(part.tokens) }
end

-- The kinds of what stands in no entry of which one prompt has more than the other.
local function unequal(first, second)
  local list = {}
  for _, kind in ipairs(OTHERS) do
    if first[kind] ~= second[kind] then list[#list + 1] = kind end
  end
  return list
end

local function print_two(states, ids, a, b, others)
  local head = {}
  for i = 1, 2 do
    local account, name = states[i].account, states[i].policy.name
    head[i] = ("%s: %s tokens"):format(name, grid.thousands(account.tokens))
  end
  local rows = { { "entry", "kind", "first", "tokens", "second", "tokens", "" } }
  for _, id in ipairs(ids) do
    local e = states[1].session:entry(id)
    local x, y = side(a[id]), side(b[id])
    rows[#rows + 1] = { id, e.kind, x[1], x[2], y[1], y[2], e.tool }
  end
  for _, kind in ipairs(unequal(others[1], others[2])) do
    local x, y = grid.thousands(others[1][kind]), grid.thousands(others[2][kind])
    rows[#rows + 1] = { "–", kind, "", x, "", y, "" }
  end
  local what = "turn %d, first %s, second %s; %d entries differ\n"
  visible.write(what:format(states[1].account.turn, head[1], head[2], #ids))
  if #rows > 1 then
    visible.write(grid.format(rows, { "r", "l", "l", "r", "l", "r", "l" }))
  end
end

-- "turn 9": as far as it was sent.
local function check_sent(state, recording, turn)
  if not state.account.overflow then return end
  replay.close(state)
  local what = "%s: turn %d does not fit %s and was not sent; neap show says what would help"
  local whose = state.policy.name and "under " .. visible.line(state.policy.name) or "its budget"
  fail(what:format(recording.path, turn, whose), 1)
end

local function two_policies(recording, opts, words, turn)
  local states = {}
  for i = 1, 2 do
    states[i] = run_to(recording, opts, check(paths.policy(words[i])), turn)
    check_sent(states[i], recording, turn)
  end
  local a, first = shown_by_entry(states[1])
  local b, second = shown_by_entry(states[2])
  local others = { first, second }
  local ids = differing(a, b, states[1].session:entry_count())
  if opts.json then
    for _, id in ipairs(ids) do
      local row = { entry = id, kind = states[1].session:entry(id).kind }
      row.first = a[id] and { rung = a[id].rung, tokens = a[id].tokens } or json.null
      row.second = b[id] and { rung = b[id].rung, tokens = b[id].tokens } or json.null
      io.stdout:write(json.encode(row, { "entry", "kind", "first", "second" }), "\n")
    end
    for _, kind in ipairs(unequal(others[1], others[2])) do
      local row = { kind = kind, first = { tokens = others[1][kind] } }
      row.second = { tokens = others[2][kind] }
      io.stdout:write(json.encode(row, { "kind", "first", "second" }), "\n")
    end
  else
    print_two(states, ids, a, b, others)
  end
  replay.close(states[1])
  replay.close(states[2])
  return 0
end

-- Whether b is the next entry and went the same way for the same reason.
local function follows(a, b)
  if not b or b.entry ~= a.entry + 1 then return false end
  return a.from == b.from and a.to == b.to and a.why == b.why and a.by == b.by
end

-- Changes as lines; entries that follow one another and went the same way share one.
local function print_changes(changes)
  local i = 1
  while i <= #changes do
    local first, last = changes[i], i
    while follows(changes[last], changes[last + 1]) do
      last = last + 1
    end
    local who = last == i and ("entry %d"):format(first.entry)
      or ("entries %d–%d"):format(first.entry, changes[last].entry)
    local line = "  %s: %s → %s: %s  %s"
    line = line:format(who, first.from, first.to, first.why, first.by)
    visible.write(visible.line((line:gsub("%s+$", ""))), "\n")
    i = last + 1
  end
end

-- Changes of what had been sent, between two turns of one policy.
local function two_turns(recording, opts, from, to)
  local policy, still = session.policy((opts.pair or {})[1])
  if from > to then
    from, to = to, from
  end
  local rewrites, unsent = {}, false
  local state = run_to(recording, opts, policy, to, function(account)
    unsent = unsent or (account.turn == from and account.overflow ~= nil)
    if account.turn <= from or not account.rewrite then return end
    local changes = {}
    for _, change in ipairs(account.changed) do
      if change.sent then changes[#changes + 1] = change end
    end
    local turn = { turn = account.turn, cached = account.cached, tokens = account.tokens }
    turn.epoch, turn.changed = account.epoch, json.array(changes)
    rewrites[#rewrites + 1] = turn
  end, still)
  if unsent then state.account.overflow = state.account.overflow or {} end
  check_sent(state, recording, unsent and from or to)
  for _, r in ipairs(rewrites) do
    if opts.json then
      io.stdout:write(json.encode(r, { "turn", "epoch", "tokens", "cached", "changed" }), "\n")
    else
      local what = "turn %d: rewritten after %s of %s tokens\n"
      visible.write(what:format(r.turn, grid.thousands(r.cached), grid.thousands(r.tokens)))
      print_changes(r.changed)
    end
  end
  if #rewrites == 0 and not opts.json then
    local what = "turn %d begins with the whole of turn %d: nothing that was sent changed\n"
    visible.write(what:format(to, from))
  end
  replay.close(state)
  return 0
end

--- neap diff
function M.diff(opts, args)
  local words, turns = opts.pair or {}, opts.turns
  if not (#words == 2 and #turns == 1) and not (#words <= 1 and #turns == 2) then
    fail("neap diff needs two -p and one --turn, or one -p and two --turn; neap diff --help")
  end
  local recording = session.load_one(args[1], opts)
  if #words == 2 then return two_policies(recording, opts, words, turns[1]) end
  return two_turns(recording, opts, turns[1], turns[2])
end

return M
