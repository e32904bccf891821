-- Claude Code's terminal, copied as text: "> " begins what the user typed, "⏺" or "●"
-- what the model says or calls, "  ⎿" what the terminal shows of a result (folded, so
-- results are not whole), "✻ Thinking…" its thoughts. Continued lines are indented, and
-- lose that indent. A text and the call right after it are one message. The rest (boxes,
-- notices, commands that ask the model nothing, output that belongs to no call) is kept
-- aside. next: toolbench.lua
local core = require("neap.core")
local build = require("neap.import.build")
local lines = require("neap.import.lines")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "claude_console", about = "Claude Code's terminal, copied as text" }

local BULLETS = { "⏺", "●" }
local FOLD = "⎿"

function M.detect(_, head)
  if head:find("^%s*[%[{]") or head:find("^%s*# aider") then return 0 end
  local text = "\n" .. head
  if not text:find("\n⏺ ") and not text:find("\n● ") then return 0 end
  return (text:find("\n *⎿ ") or text:find("\n> ")) and 80 or 0
end

-- What a line at the left margin begins, and its text; nothing for an indented one.
local function mark_of(line)
  for _, bullet in ipairs(BULLETS) do
    local text = line:sub(1, #bullet) == bullet and line:sub(#bullet + 1)
    if text and (text == "" or text:find("^%s")) then return "model", text:sub(2) end
  end
  local folded = line:match("^%s*" .. FOLD .. "(.*)$")
  if folded then return "output", folded:gsub("^\u{A0}", " "):match("^%s*(.*)$") end
  if line:find("^>%s") or line == ">" then return "user", line:sub(3) end
  local thought = line:match("^✻ Thinking(.*)$")
  if thought then return "thought", thought:gsub("^…", ""):match("^%s*(.*)$") end
  if line:find("^%S") then return "console", line end
end

-- How much of a continued line's indent is the terminal's.
local INDENT = { model = 2, user = 2, thought = 2, output = 5, console = 0 }

local function dedent(line, n)
  local have = #line:match("^ *")
  return line:sub(math.min(have, n) + 1)
end

local function blocks_of(list)
  local blocks = {}
  for number, line in ipairs(list) do
    local kind, text
    if line then kind, text = mark_of(line) end
    local last = blocks[#blocks]
    if kind then
      local joined = kind == "console" and last and last.kind == "console"
      if not joined then
        last = { kind = kind, line = number, lines = {} }
        blocks[#blocks + 1] = last
      end
      last.lines[#last.lines + 1] = text
    elseif line and (last or not lines.is_blank(line)) then
      if not last then
        last = { kind = "console", line = number, lines = {} }
        blocks[1] = last
      end
      last.lines[#last.lines + 1] = dedent(line, INDENT[last.kind])
    end
  end
  return blocks
end

local ELLIPSIS = "…"

-- What stands in parentheses to the end of a text, and whether the terminal cut it there.
local function arguments_of(text)
  local cut = text:sub(-#ELLIPSIS) == ELLIPSIS
  local whole = cut and text:sub(1, -#ELLIPSIS - 1) or text
  return whole:match("^%((.*)%)$"), cut
end

-- A block as a call: its tool, what the terminal shows of its arguments, whether that is
-- cut. Words alone name a tool only where a result follows.
local function call_of(block, next_block)
  local text = lines.join(block.lines)
  local shows = next_block ~= nil and next_block.kind == "output"
  local name, rest = text:match("^(%u[%w_]*)(%(.*)$")
  if not name then
    name, rest = text:match("^([%w_%-]+ %- [%w_%- ]+%(MCP%))(%(.*)$")
  end
  if name then
    local input, cut = arguments_of(rest)
    if input then return name, input, cut end
    if shows then return name, rest, false end
  end
  local words = text:match("^%u%a+ %u%a+$") or text:match("^%u%a+$")
  if shows and words then return words, nil, false end
end

local Reader = {}
Reader.__index = Reader

-- The assistant's message that a call or a text joins, or a new one.
function Reader:message(line, joins)
  if joins then
    self.source.counts.merged = self.source.counts.merged + 1
    return self.last
  end
  local message = { role = "assistant", content = json.null }
  if self.thought then
    message.reasoning, self.thought = table.concat(self.thought, "\n\n"), nil
    self.source.counts.merged = self.source.counts.merged + 1
  end
  self.drafts[#self.drafts + 1] = { message = message, line = line }
  return message
end

function Reader:model(block, next_block)
  local name, input, cut = call_of(block, next_block)
  if not name then
    local message = self:message(block.line, false)
    message.content = lines.join(block.lines)
    self.last, self.call = message, nil
    return
  end
  local message = self:message(block.line, self.last and not self.last.tool_calls)
  local arguments = input and json.encode({ input = input }) or "{}"
  -- A name as providers take it; the terminal's own stays in meta.
  local plain = name:gsub("[^%w_-]+", "_"):gsub("_$", "")
  self.call = build.call(self.serial(), plain, arguments)
  message.tool_calls = json.array({ self.call })
  if not self.source.lean then
    local meta = { arguments_cut = cut or nil, tool = plain ~= name and name or nil }
    message.meta = next(meta) and meta or nil
  end
  self.last, self.result = message, nil
end

-- All that is shown of one call is one result.
function Reader:output(block)
  local text = lines.join(block.lines)
  if not self.call then return self:aside("output without a call", block, text) end
  if self.result then
    self.result[#self.result + 1] = text
    self.source.counts.merged = self.source.counts.merged + 1
    return
  end
  local call, parts = self.call, { text }
  local message = { role = "tool", tool_call_id = call.id, name = call["function"].name }
  message.is_error = text:find("^Error") and true or nil
  self.result = parts
  self.drafts[#self.drafts + 1] = { message = message, parts = parts, line = block.line }
  self.last = nil
end

function Reader:aside(kind, block, text)
  lines.aside(self.source, self.kept, kind, block.line, text)
end

-- A command asks the model when the model answers it.
local function asks(blocks, i)
  for k = i + 1, #blocks do
    local kind = blocks[k].kind
    if kind == "model" or kind == "thought" then return true end
    if kind == "user" then return false end
  end
  return false
end

function Reader:user(block, answered)
  local text = lines.join(block.lines)
  self.last, self.call = nil, nil
  if text == "" or text:find("^/%a") and not answered then
    return self:aside("command", block, text)
  end
  local message = { role = "user", content = text }
  self.drafts[#self.drafts + 1] = { message = message, line = block.line }
end

function Reader:think(block)
  local text = lines.join(block.lines)
  self.last, self.call = nil, nil
  if self.thought then
    self.source.counts.merged = self.source.counts.merged + 1
    self.thought[#self.thought + 1] = text
  else
    self.thought, self.thought_block = { text }, block
  end
end

function Reader:block(blocks, i)
  local block = blocks[i]
  self.source.counts.records = self.source.counts.records + 1
  if block.kind == "model" then return self:model(block, blocks[i + 1]) end
  if block.kind == "output" then return self:output(block) end
  if block.kind == "thought" then return self:think(block) end
  if block.kind == "user" then
    self:drop_thought()
    return self:user(block, asks(blocks, i))
  end
  self.last, self.call = nil, nil
  self:aside("console", block, lines.join(block.lines))
end

-- A thought that nothing follows.
function Reader:drop_thought()
  if not self.thought then return end
  local text = table.concat(self.thought, "\n\n")
  self:aside("thought without a message", self.thought_block, text)
  self.thought = nil
end

function M.read(source)
  local session = build.session(source, M.name)
  local reader = setmetatable({ source = source, drafts = {} }, Reader)
  reader.kept, reader.serial = json.array(), steps.serial()
  local blocks = blocks_of(lines.of(source))
  for i in ipairs(blocks) do
    reader:block(blocks, i)
  end
  reader:drop_thought()
  for _, draft in ipairs(reader.drafts) do
    if draft.parts then draft.message.content = table.concat(draft.parts, "\n") end
    session:add(draft.message, nil, draft.line)
  end
  steps.header(source, session, nil, reader.kept)
  return { session:finish() }
end

return M
