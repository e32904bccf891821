-- VCR cassettes in YAML: recorded HTTP requests and responses. Those of a provider's chat
-- are handed to its importer, a request with its response each, which makes sessions of
-- them: the last request of a conversation and what came back. Streams are put together
-- first. Other interactions, and those with an error, are kept aside. next: yaml.lua
local core = require("neap.core")
local build = require("neap.import.build")
local chat = require("neap.import.chat_log")
local sources = require("neap.import.source")
local sse = require("neap.import.sse")
local yaml = require("neap.import.yaml")
local json = core.json

local M = { name = "vcr", about = "VCR cassettes of provider requests (YAML)" }

function M.detect(_, head)
  local text = "\n" .. head
  if not text:find("\n%-? ?request:") and not text:find("\n *request:") then return 0 end
  return text:find("\ninteractions:") or text:find("\nhttp_interactions:") and 90 or 0
end

-- Whose endpoint it is, by the end of its path.
local ENDPOINTS = {
  { "/chat/completions$", "openai" },
  { "/responses$", "responses" },
  { "/messages$", "anthropic" },
  { ":generateContent$", "gemini" },
  { ":streamGenerateContent$", "gemini" },
}

local function text_at(node, ...)
  for _, key in ipairs({ ... }) do
    node = yaml.get(node, key)
  end
  return node and node.kind == "scalar" and not node.binary and node.text or nil
end

local function provider_of(request)
  local path = (text_at(request, "uri") or ""):gsub("[?#].*$", "")
  for _, endpoint in ipairs(ENDPOINTS) do
    if path:find(endpoint[1]) then return endpoint[2], path end
  end
  return nil, path
end

-- A body as JSON on one line: parsed by who recorded it, or as it was sent.
local function body_of(side, provider)
  local parsed = yaml.get(side, "parsed_body")
  if parsed and parsed.kind ~= "scalar" then return yaml.json(parsed) end
  local body = yaml.get(side, "body")
  local text = body and (text_at(side, "body") or text_at(body, "string"))
  if not text then return nil end
  local whole = text:find("^%s*[{%[]") and json.decode(text) ~= nil
  if whole then return build.one_line(text) end
  return provider and sse.response(provider, text)
end

local function failed(response)
  local code = yaml.get(yaml.get(response, "status"), "code")
  local number = code and tonumber(code.json or code.text)
  return number ~= nil and number >= 400
end

local function kind_of(interaction, provider, path)
  local request = yaml.get(interaction, "request")
  if not provider then
    local host = path:match("^%a+://([^/]*)") or "no address"
    return "interaction with " .. host
  end
  local no_answer = failed(yaml.get(interaction, "response"))
  local why = no_answer and "failed request" or "unread request"
  return ("%s (%s)"):format(why, text_at(request, "method") or "no method")
end

-- Sorts the interactions: those of providers, in order, and what is kept aside.
local function sort(source, list, aside)
  local order, by_name = {}, {}
  for _, interaction in ipairs(list) do
    local request = yaml.get(interaction, "request")
    local response = yaml.get(interaction, "response")
    local provider, path = provider_of(request)
    local sent = provider and not failed(response) and body_of(request)
    if sent and sent:sub(1, 1) == "{" then
      local log = by_name[provider]
      if not log then
        log = { name = provider, rows = {}, lines = {} }
        by_name[provider], order[#order + 1] = log, log
      end
      local answer = body_of(response, provider)
      if not answer then source:note("answers that could not be read") end
      local row = answer and '{"request":%s,"response":%s}' or '{"request":%s}'
      log.rows[#log.rows + 1] = row:format(sent, answer)
      log.lines[#log.rows] = interaction.line
      -- Headers hold cookies and keys, and nothing that was said.
      source:note("interactions without their headers")
    else
      source.counts.records = source.counts.records + 1
      local kind = kind_of(interaction, provider, path)
      source:aside(aside, kind, interaction.line, yaml.json(interaction))
    end
  end
  return order
end

-- Adds what the reader of a log counted.
local function add_counts(into, counts)
  for key, value in pairs(counts) do
    if type(value) == "table" then
      add_counts(into[key], value)
    else
      into[key] = (into[key] or 0) + value
    end
  end
end

-- The provider's importer reads a row each interaction; what it says of a row is said of
-- the interaction's line.
local function read_log(source, log, read)
  local how = { lenient = source.lenient, lean = source.lean }
  local inner = sources.new(source.path, table.concat(log.rows, "\n"), how)
  inner.path, inner.name = source.path, source.name
  local ok, sessions = pcall(read, inner)
  if ok then
    add_counts(source.counts, inner.counts)
    return sessions
  end
  if not sources.is_stop(sessions) then error(sessions, 0) end
  local row, why = sessions.text:sub(#source.path + 1):match("^:(%d+): (.*)$")
  local line = log.lines[tonumber(row)] or log.lines[1]
  source:stop(line, why or sessions.text, sessions.code)
end

local READERS = { openai = chat.read }

local function reader_of(name)
  return READERS[name] or require("neap.import." .. name).read
end

local function interactions_of(source)
  local root = yaml.parse(source.text, function(line, why)
    source:stop(line, why, "shape")
  end)
  local list = yaml.get(root, "interactions") or yaml.get(root, "http_interactions")
  if not list or list.kind ~= "list" then
    local why = "there is no list of interactions; check that the file is whole"
    source:stop(root.line, why)
  end
  return list.values
end

function M.read(source)
  local ok, at = core.utf8_valid(source.text)
  if not ok then
    local _, line = source.text:sub(1, at - 1):gsub("\n", "")
    source:stop(line + 1, "a byte is not UTF-8; convert the file to UTF-8", "utf8")
  end
  local aside, sessions = json.array(), {}
  for _, log in ipairs(sort(source, interactions_of(source), aside)) do
    for _, session in ipairs(read_log(source, log, reader_of(log.name))) do
      local n = #sessions + 1
      sessions[n] = session
      session.name = n > 1 and ("%s#%d"):format(source.name, n) or source.name
      session.format, session.counts = M.name, source.counts
      for i, row in ipairs(session.lines) do
        session.lines[i] = log.lines[row] or log.lines[1]
      end
    end
  end
  if not sessions[1] then
    source:stop(1, "no interaction is a chat with a known provider; name another file")
  end
  if #aside > 0 then
    local meta = sessions[1].meta or {}
    sessions[1].meta, meta.aside = meta, meta.aside or json.array()
    table.move(aside, 1, #aside, #meta.aside + 1, meta.aside)
  end
  return sessions
end

return M
