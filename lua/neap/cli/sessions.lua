-- neap sessions: the recordings of known agents on this machine, the newest first, each with the
-- short id that other verbs take for it. Only reads. next: ../sessions.lua
local core = require("neap.core")
local import = require("neap.import")
local sessions = require("neap.sessions")
local terminal = require("neap.report.terminal")
local grid = require("neap.report.grid")
local visible = require("neap.report.visible")
local failure = require("neap.cli.fail")

local M = {}
local json = core.json

local NEWEST = 20 -- a year's sessions take long to read; --all does
local TITLE = 60

-- The words of a message's content: a text, or the texts of its parts.
local function words(content)
  if type(content) == "string" then return content end
  local texts = {}
  for _, part in ipairs(type(content) == "table" and content or {}) do
    if type(part) == "table" and type(part.text) == "string" then texts[#texts + 1] = part.text end
  end
  return table.concat(texts, "\n")
end

-- True for what agents put in a user's mouth: notes in tags, instructions, commands of their own.
local function is_note(line)
  return line:find("^[<%[]") or line:find("^# AGENTS%.md") or line:find("^/[%w_-]+$")
end

-- The text without the elements in tags that stand before it.
local function without_tags(text)
  for _ = 1, 10 do
    local name = text:match("^%s*<([%w_-]+)")
    local _, stop = text:find("</" .. (name or "") .. ">", 1, true)
    if not name or not stop then break end
    text = text:sub(stop + 1)
  end
  return text
end

-- The first line that a user wrote.
local function title_of(recording)
  local fallback
  for i, role in ipairs(recording.roles) do
    local message = role == "user" and json.decode(recording.messages[i])
    local text = message and words(message.content)
    local line = text and (without_tags(text):match("%S[^\n]*") or text:match("%S[^\n]*"))
    if line and not is_note(line) then return line end
    fallback = fallback or line
  end
  return fallback or ""
end

-- Turns of a replay: assistant messages after something that is not fixed.
local function turns_of(recording)
  local n, begun = 0, false
  for _, role in ipairs(recording.roles) do
    if role == "assistant" and begun then n = n + 1 end
    begun = begun or (role ~= "system" and role ~= "developer")
  end
  return n
end

local function tokens_of(recording, encoding)
  local sum = 0
  for _, message in ipairs(recording.messages) do
    local decoded = json.decode(message)
    sum = sum + encoding:count(words(decoded.content))
    for _, call in ipairs(type(decoded.tool_calls) == "table" and decoded.tool_calls or {}) do
      local f = call["function"]
      if f and type(f.arguments) == "string" then sum = sum + encoding:count(f.arguments) end
    end
  end
  return sum
end

local function describe(one, digits, encoding)
  local row = {
    id = one.id:sub(1, digits),
    date = os.date("!%Y-%m-%d", one.mtime),
    agent = one.agent,
    bytes = sessions.bytes(one),
    path = one.path,
  }
  local list, why = import.load(one.path, { lean = true, lenient = true })
  if not list then
    row.fault = why
    return row
  end
  row.turns = 0
  for _, recording in ipairs(list) do
    row.turns = row.turns + turns_of(recording)
    if encoding then row.tokens = (row.tokens or 0) + tokens_of(recording, encoding) end
  end
  row.title = title_of(list[1])
  return row
end

local function size(bytes)
  if bytes < 1 << 20 then return ("%d KB"):format((bytes + 1023) // 1024) end
  return ("%.1f MB"):format(bytes / (1 << 20))
end

local function shorten(text)
  text = visible.line(text)
  if utf8.len(text) <= TITLE then return text end
  return text:sub(1, utf8.offset(text, TITLE) - 1) .. "…"
end

local HEAD = { "id", "date", "agent", "size", "turns", "tokens", "title" }
local ALIGN = { "l", "l", "l", "r", "r", "r", "l" }
local LEAST = { "turns", "size", "tokens", "date" } -- what a narrow terminal goes without first

local function print_table(rows, total)
  local cells = { HEAD }
  for _, row in ipairs(rows) do
    cells[#cells + 1] = {
      row.id,
      row.date,
      row.agent,
      size(row.bytes),
      row.turns or "–",
      row.tokens and grid.thousands(row.tokens) or "",
      shorten(row.title or "(cannot be read: " .. row.fault .. ")"),
    }
  end
  local shown, align = grid.without(cells, ALIGN, { tokens = { "" } })
  local gone
  shown, align, gone = grid.fit(shown, align, terminal.columns(), LEAST)
  io.stdout:write(grid.format(shown, align), grid.left_out(gone))
  if total > #rows then
    failure.warn(("%d older ones are not listed; --all lists them"):format(total - #rows))
  end
end

local ORDER = { "id", "date", "agent", "bytes", "turns", "tokens", "title", "path", "fault" }

--- neap sessions
function M.sessions(opts)
  local list = sessions.find()
  if #list == 0 then
    local text = "no recordings are found of %s; name a file instead"
    failure.warn(text:format(table.concat(sessions.agents(), ", ")))
    return 0
  end
  local encoding = opts.tokens and require("neap.cli.count").encoding("o200k_base") or nil
  local digits, rows = sessions.digits(list), {}
  local most = opts.all and #list or math.min(#list, NEWEST)
  local progress = terminal.progress("reading sessions")
  for i = 1, most do
    progress(i - 1, most)
    rows[i] = describe(list[i], digits, encoding)
    if opts.json then io.stdout:write(json.encode(rows[i], ORDER), "\n") end
  end
  progress()
  if encoding then encoding:close() end
  if not opts.json then print_table(rows, #list) end
  return 0
end

return M
