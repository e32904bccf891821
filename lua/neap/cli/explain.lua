-- neap explain: the life of one entry over a whole recording: when it came, what it is, each
-- change with its turn, reason and place in the policy, who cited it. next: check.lua
local core = require("neap.core")
local replay = require("neap.report.replay")
local grid = require("neap.report.grid")
local session = require("neap.cli.session")
local failure = require("neap.cli.fail")

local M = {}
local json = core.json

local function entry_id(text)
  local id = text:match("^#?(%d+)$")
  if id then return math.tointeger(tonumber(id)) end
  failure.fail(("%s is no entry; entries are numbers, neap show prints them"):format(text))
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
  local changes, seen = {}, {}
  local first_turn
  o.on_turn = function(account, _, s)
    session.hook_errors(account, recording.name, seen)
    if not first_turn and s:entry(id) then first_turn = account.turn end
    for _, change in ipairs(account.changed or {}) do
      if change.entry == id then
        change.turn = account.turn
        changes[#changes + 1] = change
      end
    end
  end
  return failure.check(replay.run(recording, o)), changes, function()
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
  local what = "%s, step %d, %s tokens, region %s%s"
  return what:format(parts[1], e.step, grid.thousands(e.full_tokens), e.region, pair or "")
end

local function now(e)
  if not e.listed then return "it has not been in a prompt yet" end
  local kept = e.pinned and ", pinned" or e.held and ", held" or ""
  if e.rung == "full" then return "shown in full" .. kept end
  if e.rung == "dropped" then return "not shown; a notice stands for it" end
  return ("shown as %s, %s tokens%s"):format(e.rung, grid.thousands(e.tokens), kept)
end

local function print_life(id, e, text, changes, first_turn, citations)
  local out = { ("entry %d: %s"):format(id, identity(e)), "  " .. glimpse(text) }
  out[#out + 1] = first_turn and ("turn %d: first in a prompt"):format(first_turn)
    or "no turn has come after it"
  for _, c in ipairs(changes) do
    local sent = c.sent and "" or " (before it was sent)"
    local by = c.by ~= "" and "  " .. c.by or ""
    local why = c.why ~= "" and c.why or "no reason"
    out[#out + 1] = ("turn %d: %s → %s%s: %s%s"):format(c.turn, c.from, c.to, sent, why, by)
  end
  for _, c in ipairs(citations) do
    out[#out + 1] = ("step %d: entry %d cites %s"):format(c.step, c.by, c.identifier)
  end
  out[#out + 1] = "at the end: " .. now(e)
  io.stdout:write(table.concat(out, "\n"), "\n")
end

local ORDER = { "entry", "kind", "tool", "path", "step", "region", "first_turn", "changes" }

--- neap explain
function M.explain(opts, args)
  local id = entry_id(args[2])
  local recording = session.load_one(args[1], opts)
  local state, changes, first = collect(recording, session.options(opts), id)
  local s = state.session
  local e = s:entry(id)
  if not e then
    local n = s:entry_count()
    replay.close(state)
    failure.fail(("%s: has entries 1 to %d, there is no %d"):format(args[1], n, id))
  end
  local citations = cited_by(s, id)
  if opts.json then
    e.entry, e.id, e.first_turn = id, nil, first()
    e.changes, e.cited_by = json.array(changes), json.array(citations)
    io.stdout:write(json.encode(e, ORDER), "\n")
  else
    print_life(id, e, s:text(id), changes, first(), citations)
  end
  replay.close(state)
  return 0
end

return M
