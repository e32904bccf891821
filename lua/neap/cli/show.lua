-- neap show: the prompt of one turn as the model would see it, with what each part is in the
-- margin. next: explain.lua
local core = require("neap.core")
local replay = require("neap.report.replay")
local grid = require("neap.report.grid")
local terminal = require("neap.report.terminal")
local visible = require("neap.report.visible")
local show_replay = require("neap.cli.replay")
local session = require("neap.cli.session")
local failure = require("neap.cli.fail")

local M = {}
local json = core.json

-- What a part of the prompt is, for margin and JSON.
local function describe(s, id)
  local e = s:entry(id)
  return {
    region = e.region,
    entry = id,
    kind = e.kind,
    rung = e.rung,
    tokens = e.tokens,
    full_tokens = e.full_tokens,
    tool = e.tool ~= "" and e.tool or nil,
    text = s:shown(id),
  }
end

-- The text of a notice: the content of the message that its segment holds, or the text of the
-- part at its end.
local function notice_text(bytes)
  local part = bytes:match('({"text":"[^{}]*"})$')
  if part then return json.decode(part).text end
  local message = json.decode((bytes:gsub("^[%s,]+", ""):gsub("[%s,]+$", "")))
  if type(message) ~= "table" then return bytes end
  return type(message.content) == "string" and message.content or bytes
end

--- Every part of the prompt in order.
---@param s table a session
---@return table[]
function M.parts(s)
  local parts = {}
  for _, segment in ipairs(s:segments()) do
    if segment.kind == "message" then
      for _, id in ipairs(segment.entries) do
        local part = describe(s, id)
        if part.rung ~= "dropped" and part.text then parts[#parts + 1] = part end
      end
    elseif segment.kind == "notice" then
      local text = notice_text(segment.bytes)
      parts[#parts + 1] = { region = "hot", kind = "notice", tokens = segment.tokens, text = text }
    elseif #segment.bytes > 0 and segment.tokens > 0 then
      parts[#parts + 1] = {
        region = "fixed",
        kind = "head",
        tokens = segment.tokens,
        text = segment.bytes,
      }
    end
  end
  return parts
end

-- "hot     17 result   masked    12 of 3,120"
local function margin(part)
  local of = part.full_tokens and part.full_tokens ~= part.tokens
  local tokens = grid.thousands(part.tokens)
  if of then tokens = tokens .. " of " .. grid.thousands(part.full_tokens) end
  local id = part.entry and tostring(part.entry) or "–"
  local pad = (" "):rep(math.max(0, 4 - utf8.len(id)))
  local line = ("%-6s %s%s  %-8s %-9s  %s"):format(
    part.region,
    pad,
    id,
    part.kind,
    part.rung or "",
    tokens
  )
  return line:gsub("%s+$", "")
end

-- A part as text: a heading, then its lines behind a bar.
local function render_part(part, paint)
  local head = margin(part) .. (part.tool and "  " .. part.tool or "")
  local is_less = part.rung and part.rung ~= "full"
  local lines = { paint(is_less and "yellow" or "dim", visible.line(head)) }
  local bar = paint("dim", "     │ ")
  for line in (visible.text(part.text) .. "\n"):gmatch("(.-)\n") do
    lines[#lines + 1] = bar .. line
  end
  return table.concat(lines, "\n") .. "\n"
end

local function render_regions(account, setting)
  local names, cells = {}, {}
  for name in pairs(account.regions) do
    names[#names + 1] = name
  end
  table.sort(names)
  for i, name in ipairs(names) do
    cells[i] = ("%s %s"):format(name, grid.thousands(account.regions[name]))
  end
  local budget, tokens = grid.thousands(account.budget), grid.thousands(account.tokens)
  local what = "turn %d: %s of %s tokens, %s cached, epoch %d; %s; %s\n%s\n"
  local cached = grid.thousands(account.cached)
  local all, gone = table.concat(cells, ", "), ""
  if account.dangling then
    gone = ("dangling: %s of what was gone\n"):format(grid.count(account.dangling, "reading"))
  end
  return visible.text(
    what:format(account.turn, tokens, budget, cached, account.epoch, all, setting, gone)
  )
end

--- A prompt as people read it.
---@param parts table[] of M.parts
---@param account table
---@param setting string the policy and the window
---@param paint fun(style: string, text: string): string
---@return string
function M.render(parts, account, setting, paint)
  local texts = { render_regions(account, setting) }
  for _, part in ipairs(parts) do
    texts[#texts + 1] = render_part(part, paint)
  end
  return table.concat(texts)
end

local ORDER = { "region", "entry", "kind", "rung", "tokens", "full_tokens", "tool", "text" }

local HELP = {
  window = "a window of %s",
  reserve = "a reserve of at most %s",
  entry = "entry %s shorter by that much",
  tools = "tool schemas shorter by that much",
}

-- Each of these changes alone would be enough.
local function help(changes)
  local parts = {}
  for i, c in ipairs(changes) do
    local value = c.at_least or c.at_most or c.entry
    parts[i] = HELP[c.change]:format(value and grid.thousands(value))
  end
  return table.concat(parts, ", or ")
end

-- A turn that does not fit has no prompt: say by what.
local function no_prompt(account)
  local text = "turn %d does not fit: %s tokens too many for a budget of %s; it would with "
    .. help(account.overflow.help)
  local short, budget = grid.thousands(account.overflow.short), grid.thousands(account.budget)
  failure.fail(text:format(account.turn, short, budget), 1)
end

local function print_parts(state, o, opts)
  local parts = M.parts(state.session)
  if opts.json then
    for _, part in ipairs(parts) do
      io.stdout:write(json.encode(part, ORDER), "\n")
    end
    return
  end
  local paint = terminal.painter(terminal.has_color())
  terminal.page(M.render(parts, state.account, show_replay.setting(state, o), paint))
end

--- neap show
function M.show(opts, args)
  if opts.raw and opts.json then
    failure.fail("--raw prints nothing but the request; leave out --json")
  end
  local recording = session.load_one(args[1], opts)
  local o = session.project_options(opts)
  local seen, last = {}, nil
  o.stop_at = opts.turn
  o.on_turn = function(account, body)
    session.hook_errors(account, recording.name, seen)
    if account.turn == opts.turn then session.log_lines(account, recording.name) end
    last = body
  end
  local state = failure.check(replay.run(recording, o))
  session.check_turn(args[1], state, opts.turn)
  if state.account.overflow then
    local account = state.account
    replay.close(state)
    no_prompt(account)
  end
  if opts.raw then
    io.stdout:write(last)
  else
    print_parts(state, o, opts)
  end
  replay.close(state)
  return 0
end

return M
