-- neap explain: the life of one entry over a whole recording: when it came, what it is, each
-- change with its turn, reason and place in the policy, who cited it and what was shown of it
-- then. With words in place of a number: the entries that hold them. next: check.lua
local core = require("neap.core")
local replay = require("neap.report.replay")
local grid = require("neap.report.grid")
local visible = require("neap.report.visible")
local show_replay = require("neap.cli.replay")
local session = require("neap.cli.session")
local failure = require("neap.cli.fail")

local M = {}
local json = core.json

-- nil for what is no number: words to look for.
local function entry_id(text)
  local id = text:match("^#?(%d+)$")
  return id and math.tointeger(tonumber(id))
end

-- The first line of a text, short enough for one line of a terminal.
local function glimpse(text)
  local line = (text or ""):match("%S[^\n]*") or ""
  line = line:gsub("[%c]", " ")
  if utf8.len(line) and utf8.len(line) > 72 then
    line = line:sub(1, utf8.offset(line, 72) - 1) .. "…"
  elseif not utf8.len(line) then
    line = line:sub(1, 72):gsub("[\x80-\xFF]", "?")
  end
  return line
end

-- Citations of the entry by later ones, one for each identifier and citing entry.
local function cited_by(s, id)
  local list = {}
  for _, c in ipairs(s:citations(id)) do
    if c.credited == id then list[#list + 1] = c end
  end
  return list
end

local function collect(recording, o, id)
  local changes, seen, unsent = {}, {}, {}
  local first_turn
  o.on_turn = function(account, _, s)
    session.hook_errors(account, recording.name, seen)
    if account.overflow then
      unsent[#unsent + 1] = account.turn
      return -- what was tried for it has been taken back
    end
    if not first_turn and id and s:entry(id) then first_turn = account.turn end
    for _, change in ipairs(account.changed or {}) do
      if change.entry == id then
        change.turn, change.step = account.turn, account.step
        changes[#changes + 1] = change
      end
    end
  end
  local state = failure.check(replay.run(recording, o))
  if #unsent > 0 then
    local what = "%s: %d of %d turns did not fit and were not sent, the first is turn %d"
    failure.warn(what:format(recording.path, #unsent, state.turn, unsent[1]))
  end
  return state, changes, function()
    return first_turn
  end
end

-- "result of bash (call 16), step 12, 3,120 tokens, in region hot"
local function identity(e)
  local parts = { e.kind }
  if e.tool ~= "" then
    parts[1] = ("%s %s"):format(e.kind, e.kind == "result" and "of " .. e.tool or e.tool)
  end
  if e.path ~= "" then parts[1] = parts[1] .. " " .. e.path end
  local pair = e.pair and ("; its %s is %d"):format(e.kind == "call" and "result" or "call", e.pair)
  local tokens = e.listed and grid.thousands(e.full_tokens) .. " tokens, " or ""
  local what = "%s, step %d, %sregion %s%s"
  return what:format(parts[1], e.step, tokens, e.region, pair or "")
end

-- A summary may be dropped, or be in another by now.
local function of_summary(s, e)
  local id = e.folded
  local summary = s:entry(id)
  while summary.folded do
    id, summary = summary.folded, s:entry(summary.folded)
  end
  if summary.rung == "full" then return ("not shown; the summary %d stands for it"):format(id) end
  local text = "not shown; of the summary %d that stood for it is left what is %s"
  if summary.rung == "dropped" then text = "not shown, nor is the summary %d that stood for it" end
  return text:format(id, summary.rung)
end

local function now(s, e)
  if e.folded then return of_summary(s, e) end
  if not e.listed then return "it has not been in a prompt yet" end
  local kept = e.pinned and ", pinned" or e.held and ", held" or ""
  if e.rung == "full" then return "shown in full" .. kept end
  if e.rung == "dropped" then return "not shown; a notice stands for it" end
  return ("shown as %s, %s tokens%s"):format(e.rung, grid.thousands(e.tokens), kept)
end

local function change_line(c)
  local sent = c.sent and "" or " (before it was sent)"
  local by = c.by ~= "" and "  " .. c.by or ""
  local why = c.why ~= "" and c.why or "no reason"
  return ("turn %d: %s → %s%s: %s%s"):format(c.turn, c.from, c.to, sent, why, by)
end

-- Citations as one line for each citing entry: what it cites, and at which rung this one was.
-- Step n answers the prompt of turn n, so a change of that turn comes before it.
local function citation_lines(citations, changes)
  local lines, last = {}, nil
  for _, c in ipairs(citations) do
    if last and last.by == c.by then
      last.names[#last.names + 1] = c.identifier
    else
      last = { step = c.step, by = c.by, names = { c.identifier }, rung = "full" }
      for _, change in ipairs(changes) do
        if change.step <= c.step then last.rung = change.to end
      end
      lines[#lines + 1] = last
    end
  end
  for _, line in ipairs(lines) do
    local shown = line.rung == "full" and "" or (" (this was %s)"):format(line.rung)
    local names = table.concat(line.names, ", ")
    line.text = ("step %d: entry %d cites %s%s"):format(line.step, line.by, names, shown)
  end
  return lines
end

-- Changes and citations in the order in which they happened.
local function events(changes, citations)
  local list, cites, k = {}, citation_lines(citations, changes), 1
  for _, change in ipairs(changes) do
    while cites[k] and cites[k].step < change.step do
      list[#list + 1], k = cites[k].text, k + 1
    end
    list[#list + 1] = change_line(change)
  end
  for i = k, #cites do
    list[#list + 1] = cites[i].text
  end
  return list
end

local function print_life(s, id, e, head, changes, first_turn, citations)
  local out = { ("entry %d: %s"):format(id, identity(e)), "  " .. glimpse(s:text(id)), head }
  out[#out + 1] = first_turn and ("turn %d: first in a prompt"):format(first_turn)
    or "no turn has come after it"
  for _, line in ipairs(events(changes, citations)) do
    out[#out + 1] = line
  end
  out[#out + 1] = "at the end: " .. now(s, e)
  for _, line in ipairs(out) do
    visible.write(visible.line(line), "\n")
  end
end

-- The entries whose original text holds the words, with what is shown of them at the end.
local function print_holders(state, o, opts, words)
  local s, rows = state.session, { { "entry", "step", "kind", "tool", "tokens", "at the end", "" } }
  for id = 1, s:entry_count() do
    local text, e = s:text(id), s:entry(id)
    if text and text:find(words, 1, true) then
      local tokens = e.listed and grid.thousands(e.full_tokens) or "–" -- counted in a prompt only
      local rung = e.listed and e.rung or "in no prompt yet"
      rows[#rows + 1] = { id, e.step, e.kind, e.tool, tokens, rung, e.path }
      if opts.json then
        local line = { entry = id, step = e.step, kind = e.kind, rung = e.rung, listed = e.listed }
        io.stdout:write(json.encode(line, { "entry", "step", "kind", "rung", "listed" }), "\n")
      end
    end
  end
  if not opts.json and #rows > 1 then
    local head = show_replay.setting(state, o)
    visible.write(head, "; these hold it, neap explain tells more of each\n")
    visible.write(grid.format(rows, { "r", "r", "l", "l", "r", "l", "l" }))
  end
  if #rows == 1 then failure.warn(("no entry holds %q; give other words"):format(words)) end
  return #rows > 1 and 0 or 1
end

local ORDER = { "entry", "kind", "tool", "path", "step", "region", "first_turn", "changes" }

--- neap explain
function M.explain(opts, args)
  local id = entry_id(args[2])
  local recording = session.load_one(args[1], opts)
  local o = session.project_options(opts)
  local state, changes, first = collect(recording, o, id)
  local s = state.session
  if not id then
    local code = print_holders(state, o, opts, args[2])
    replay.close(state)
    return code
  end
  local e = s:entry(id)
  if not e then
    local n = s:entry_count()
    replay.close(state)
    failure.fail(("%s: has entries 1 to %d, there is no %d"):format(args[1], n, id))
  end
  local citations = cited_by(s, id)
  if opts.json then
    for _, change in ipairs(changes) do
      change.step = nil
    end
    e.entry, e.id, e.first_turn = id, nil, first()
    e.changes, e.cited_by = json.array(changes), json.array(citations)
    io.stdout:write(json.encode(e, ORDER), "\n")
  else
    print_life(s, id, e, show_replay.setting(state, o), changes, first(), citations)
  end
  replay.close(state)
  return 0
end

return M
