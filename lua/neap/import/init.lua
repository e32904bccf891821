-- Reads a recorded session in any known form into messages of the native form. An importer is
-- one file that gives a name, a score for "is it yours?" and a reader; nothing it finds is
-- dropped without being counted. next: source.lua, build.lua, native.lua
local core = require("neap.core")
local files = require("neap.files")
local build = require("neap.import.build")
local folder = require("neap.import.opencode_folder")
local sources = require("neap.import.source")

local M = {}

-- Reading order is also the order in which equal scores win.
local FORMS = {
  "native",
  "openai",
  "claude_code",
  "mini_swe_agent",
  "swe_agent",
  "openhands",
  "tau2",
  "who_and_when",
  "toolbench",
  "webvoyager",
  "crosswoz",
  "aider",
  "claude_console",
  "vcr",
  "codex",
  "copilot_cli",
  "gemini_cli",
  "pi",
  "cline",
  "inspect_eval",
  "opencode",
  "responses",
  "anthropic",
  "gemini",
}

--- The known forms: name and what it is.
---@return {name: string, about: string}[]
function M.forms()
  local list = {}
  for i, name in ipairs(FORMS) do
    local importer = require("neap.import." .. name)
    list[i] = { name = name, about = importer.about }
  end
  return list
end

local function names()
  return table.concat(FORMS, ", ")
end

local HEAD = 64 << 10

--- The form that a recording most looks like.
---@param path string
---@param text string
---@return table? importer, integer score
function M.detect(path, text)
  local first = text:find("\n", 1, true) or #text -- a first line is judged whole
  local head, tail = text:sub(1, math.max(HEAD, first)), text:sub(-4096)
  local best, found = 0, nil
  for _, name in ipairs(FORMS) do
    local importer = require("neap.import." .. name)
    local score = importer.detect(path, head, tail)
    if score > best then
      best, found = score, importer
    end
  end
  return found, best
end

-- The score from which a form is known for sure; below it, a reader's complaint may only mean
-- that the text is of no form that is known here.
local SURE = 60

-- What is wrong with a text, and what it was taken for when that was a guess.
local function complaint(why, importer, score)
  if not score or score >= SURE then return why end
  local guess = "%s (taken for the form %s; neap import --list names the forms)"
  return guess:format(why, importer.name)
end

local function choose(path, text, from)
  if not from then return M.detect(path, text) end
  for _, name in ipairs(FORMS) do
    if name == from then return (require("neap.import." .. name)) end
  end
end

-- Why nothing could be made of a text.
local function unknown(label, text, from)
  if from then
    return nil, ("unknown form %s; known are %s"):format(from, names()), "arg"
  end
  local ok, at = core.utf8_valid(text)
  if not ok then
    local line, column = files.line_at(text, at)
    local what = "%s:%d: byte %d of the line is not UTF-8; a recording is JSON text"
    return nil, what:format(label, line, column), "utf8"
  end
  local what = "%s:1: no known form of recording; neap import --list names them"
  return nil, what:format(label), "shape"
end

local SQLITE = "SQLite format 3\0"
local OWN_ID = "neap" -- the store's application id, four bytes of SQLite's header

-- Why a file of SQLite is no recording; nil for a text. The header's first 72 bytes tell, by
-- the file format that SQLite documents.
local function database(label, text)
  if text:sub(1, #SQLITE) ~= SQLITE then return nil end
  if text:sub(69, 72) ~= OWN_ID then
    return label .. ": is another program's SQLite file, no recording; neap import --list names "
      .. "the forms"
  end
  return label .. ": is neap's store, no recording; neap session list --store FILE names what it "
    .. "holds, neap session replay runs one again, neap recall finds words in it"
end

-- What `neap session export` writes has the prompts too, which a recording is without.
local function exported(label, text)
  if not text:find('^{"neap_session":') then return nil end
  return label .. ":1: is a stored session that was exported, no recording; neap session import "
    .. "FILE puts it into a store, and neap session replay NAME runs it again there"
end

-- A session that is kept as many files.
local function load_folder(path, options)
  local text, skipped, code = folder.read(path, sources.LIMITS, options.lenient)
  if not text then return nil, skipped, code end
  local sessions, why, name = M.load_text(path, text, options)
  if not sessions then return nil, why, name end
  local counts = sessions[1].counts
  counts.skipped = counts.skipped + skipped
  return sessions
end

--- Reads a recording. `options`: lenient (skip and count what cannot be read), from (the form's
--- name), lean (leave out per-message meta), as (whose view of a log of several agents).
---@param path string a file, or - for standard input
---@param options {lenient: boolean?, from: string?, lean: boolean?, as: string?}?
---@return neap.Recording[]? sessions, string? message, string? code
function M.load(path, options)
  options = options or {}
  if folder.place(path) then return load_folder(path, options) end
  local text, why, code = files.read(path, sources.LIMITS)
  if not text then return nil, why, code end
  return M.load_text(path, text, options)
end

--- The same for a text in memory; `path` names it in messages.
---@param path string
---@param text string
---@param options table?
---@return neap.Recording[]? sessions, string? message, string? code
function M.load_text(path, text, options)
  options = options or {}
  local label = files.label(path)
  if text:sub(1, 3) == "\xEF\xBB\xBF" then text = text:sub(4) end
  if not text:find("%S") then
    return nil, label .. ": is empty; a recording has at least one message", "shape"
  end
  local kept = database(label, text) or exported(label, text)
  if kept then return nil, kept, "shape" end
  local importer, score = choose(path, text, options.from)
  if not importer then return unknown(label, text, options.from) end
  if options.as and not importer.speakers then
    local what = "%s: has one speaker, as the form %s; leave out --as"
    return nil, what:format(label, importer.name), "arg"
  end
  local source = sources.new(path, text, options)
  local ok, sessions = pcall(importer.read, source)
  if not ok then
    if not sources.is_stop(sessions) then error(sessions, 0) end
    return nil, complaint(sessions.text, importer, score), sessions.code
  end
  for _, session in ipairs(sessions) do
    if #session.messages == 0 then
      local why = ("%s: session %s holds no message"):format(label, session.name)
      return nil, complaint(why, importer, score), "shape"
    end
  end
  if #sessions == 0 then return nil, label .. ":1: holds no session", "shape" end
  return sessions
end

--- Writes the native text of a session: its first line and its messages, piece by piece, since
--- a recording may be large.
---@param session neap.Recording
---@param write fun(piece: string)
function M.write(session, write)
  local head = { neap = 1, meta = session.meta }
  if session.tools then head.tools = core.json.raw(session.tools) end
  write(build.one_line(core.json.encode(head, build.HEAD_ORDER)))
  for _, message in ipairs(session.messages) do
    write("\n")
    write(message)
  end
  write("\n")
end

--- The native text of a session, whole.
---@param session neap.Recording
---@return string
function M.native(session)
  local pieces = {}
  M.write(session, function(piece)
    pieces[#pieces + 1] = piece
  end)
  return table.concat(pieces)
end

return M
