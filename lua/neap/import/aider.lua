-- aider's chat history in Markdown: "#### " lines are the user's, "> " lines the
-- program's, the rest is the model's. The program ends its own lines with two blanks, so
-- that headings and quotes of the model are told apart, where the file still has them.
-- The program's lines and commands that ask the model nothing are kept aside, whole.
-- next: claude_console.lua
local build = require("neap.import.build")
local core = require("neap.core")
local lines = require("neap.import.lines")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "aider", about = "aider chat histories (Markdown)" }

local START = "^# aider chat started at (.*)$"

function M.detect(_, head)
  local text = head:sub(1, 4096)
  if text:find("^%s*# aider chat started at ") then return 95 end
  return text:find("\n# aider chat started at ", 1, true) and 90 or 0
end

-- How a line is marked: user, console, start, or nothing. `strict` files end marked lines
-- with two blanks.
local function mark_of(line, strict, fenced)
  local started = line:match(START)
  if started then return "start", started end
  local plain = not strict or line:find("  $")
  if line:find("^####$") or line:find("^#### ") then
    if plain then return "user", line:sub(6):gsub("  $", "") end
  elseif line:find("^>$") or line:find("^> ") then
    local quoted = fenced and not strict
    if plain and not quoted then return "console", line:sub(3):gsub("  $", "") end
  end
end

-- For each line, the next one that ends as the program's do, from it on.
local function endings(list)
  local next_end, at = {}, nil
  for i = #list, 1, -1 do
    if list[i] and list[i]:find("%S  $") then at = i end
    next_end[i] = at
  end
  return next_end
end

-- The program marks only the first of several lines it prints at once, right below a line
-- of its own, and ends only the last: where that is, or nil for a quote of the model's.
local function printed_to(list, next_end, number, above)
  if not above or not list[number]:find("^> ") then return nil end
  local last = next_end[number]
  if last and last > number and not mark_of(list[last], true, false) then return last end
end

local function put_printed(blocks, list, from, to)
  for i = from, to do
    local line = list[i]
    if line and i == from then line = line:sub(3) end
    if line and i == to then line = line:sub(1, -3) end
    if line then lines.put(blocks, "console", i, line) end
  end
end

-- Blocks of a whole file. Blank lines end marked blocks; in the model's text they stay.
local function blocks_of(list, strict)
  local blocks, next_end, number, fenced = {}, endings(list), 1, false
  while number <= #list do
    local line, last = list[number], blocks[#blocks]
    local kind, text, to
    if line then kind, text = mark_of(line, strict, fenced) end
    local above = strict and last and last.kind ~= "model" and not last.closed
    if line and not kind then to = printed_to(list, next_end, number, above) end
    if kind then
      fenced = false
      lines.put(blocks, kind, number, text)
      if kind == "start" then blocks[#blocks].closed = true end
    elseif to then
      put_printed(blocks, list, number, to)
      number = to
    elseif line then
      if last and last.kind ~= "model" then last.closed = true end
      if last and last.kind == "model" or not lines.is_blank(line) then
        lines.put(blocks, "model", number, line)
      end
      if line:find("^%s*```") then fenced = not fenced end
    end
    number = number + 1
  end
  return blocks
end

-- A command asks the model when the model answers it: what comes next, console aside, is
-- its.
local function asks(blocks, i)
  for k = i + 1, #blocks do
    if blocks[k].kind == "model" then return true end
    if blocks[k].kind ~= "console" then return false end
  end
  return false
end

-- A command whose output goes to the model: what is printed below it belongs to it.
local function shows_output(text)
  return text:find("^/run%f[%W]") or text:find("^/test%f[%W]") or text:find("^!")
end

local function user_text(source, blocks, i, text)
  if not shows_output(text) then return text end
  local parts = { text }
  while blocks[i + 1] and blocks[i + 1].kind == "console" do
    i = i + 1
    parts[#parts + 1] = table.concat(blocks[i].lines, "\n")
    blocks[i].taken = true
    source.counts.records = source.counts.records + 1
    source.counts.merged = source.counts.merged + 1
  end
  return table.concat(parts, "\n")
end

local function read_block(source, state, blocks, i)
  local block = blocks[i]
  if block.taken then return end
  local role, text = "user", table.concat(block.lines, "\n")
  source.counts.records = source.counts.records + 1
  if block.kind == "console" then
    return lines.aside(source, state.aside, "console", block.line, text)
  elseif block.kind == "user" then
    if text:find("^/%a") or text:find("^!") or lines.is_blank(text) then
      if not asks(blocks, i) then
        return lines.aside(source, state.aside, "command", block.line, text)
      end
      text = user_text(source, blocks, i, text)
    end
  else
    role, text = "assistant", lines.join(block.lines)
  end
  state.session:add({ role = role, content = text }, nil, block.line)
end

-- Ends a session. One without a message is none: what it kept aside goes to its
-- neighbour.
local function close(source, state, sessions)
  local session, aside = state.session, state.aside
  if #session.messages == 0 then
    if state.started then
      source.counts.records = source.counts.records + 1
      lines.aside(source, aside, "session without a message", state.line, state.started)
    end
    return aside
  end
  local header = state.started and not source.lean and { started = state.started } or nil
  steps.header(source, session, header, aside)
  sessions[#sessions + 1] = session:finish()
  return json.array()
end

local function open(source, block, sessions, aside)
  local state = { session = build.session(source, M.name, #sessions + 1), aside = aside }
  state.line = block.line
  state.started = block.kind == "start" and block.lines[1] or nil
  return state
end

function M.read(source)
  local list = lines.of(source)
  local strict = source.text:find("\n#### [^\n]*  \r?\n") ~= nil
  local blocks, sessions, aside, state = blocks_of(list, strict), {}, json.array(), nil
  for i, block in ipairs(blocks) do
    if block.kind == "start" or not state then
      aside = state and close(source, state, sessions) or aside
      state = open(source, block, sessions, aside)
    end
    if block.kind ~= "start" then read_block(source, state, blocks, i) end
  end
  aside = state and close(source, state, sessions) or aside
  local last = sessions[#sessions]
  if #aside > 0 and last then
    last.meta = last.meta or { form = M.name }
    last.meta.aside = last.meta.aside or json.array()
    table.move(aside, 1, #aside, #last.meta.aside + 1, last.meta.aside)
  end
  return sessions
end

return M
