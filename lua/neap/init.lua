-- neap for Lua programs: sessions that assemble prompts, and token counts. Misuse raises; what
-- the world does comes back as nil, message, code. next: meta.lua, ../../core/bind/core.c
local core = require("neap.core")
local asking = require("neap.summary.asking")
local desks = require("neap.summary.desk")
local paths = require("neap.paths")
local state = require("neap.state")
local handing = require("neap.handover")

local M = {
  _VERSION = "neap " .. core.version,
  _DESCRIPTION = "a context engine for LLM agents",
  _COPYRIGHT = "MIT; see LICENSE",
  json = core.json,
  null = core.json.null,
  codes = core.codes,
}

local MESSAGE_ORDER = { "kind", "role", "name", "content", "tool_calls", "tool_call_id" }

---@class neap.Session
local Session = {}
Session.__index = Session
Session.__name = "neap.Session"

local function open_session(self)
  return self.raw or error("the session is closed", 3)
end

-- A table as JSON; text that is JSON already stays as it is.
local function to_json(value, order)
  if type(value) == "string" or value == nil then return value end
  return core.json.encode(value, order)
end

-- What is to be appended, as JSON.
local function as_json(value, method)
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "table" then return core.json.encode(value, MESSAGE_ORDER) end
  local text = "bad argument #1 to '%s' (a table or its JSON is expected, got %s)"
  error(text:format(method, kind == "nil" and "nothing" or "a " .. kind), 3)
end

local OPTIONS = {
  name = true,
  policy = true,
  options = true,
  format = true,
  encoding = true,
  model = true,
  prices = true,
  cache = true,
  window = true,
  reserve = true,
  alarm = true,
  failures = true,
  durable = true,
  no_reload = true,
  no_tools = true,
  unchecked = true,
  state_schema = true,
  state_share = true,
}
local OTHERS = {
  store = true,
  tenant = true,
  data = true,
  compress = true,
  tools = true,
  request = true,
  summarize = true,
  notes = true,
  shadow = true,
  shadow_options = true,
  on_store_failure = true,
  handover = true,
}

local function check_options(options)
  if type(options) ~= "table" then
    error("bad argument #1 to 'session' (a table of options is expected)", 3)
  end
  for name in pairs(options) do
    if not OPTIONS[name] and not OTHERS[name] then
      local list = {}
      for _, known in ipairs({ OPTIONS, OTHERS }) do
        for word in pairs(known) do
          list[#list + 1] = word
        end
      end
      table.sort(list)
      local text = "bad argument #1 to 'session' (there is no option %s; there are %s)"
      error(text:format(tostring(name), table.concat(list, ", ")), 3)
    end
  end
end

local function check_summarize(f, notes)
  local known = type(notes) == "boolean" or notes == nil or notes == "en" or notes == "zh"
  if not known then
    error("bad argument #1 to 'session' (notes is true, false, \"en\" or \"zh\")", 3)
  end
  if f == nil or f == false or type(f) == "function" then return end
  error("bad argument #1 to 'session' (summarize is a function, or false)", 3)
end

-- A path, or the name of a shipped policy, as on the command line.
local function policy_of(word)
  if type(word) ~= "string" then return word end
  local path, why = paths.policy(word)
  if path or core.stat(word) then return path or word end
  return nil, why
end

local function set_up(self, options)
  local tools, request = to_json(options.tools), to_json(options.request)
  if tools == "{}" then tools = "[]" end -- an empty table is no tools
  local ok, why, code = true, nil, nil
  if tools then ok, why, code = self.raw:set_tools(tools) end
  if ok and request then ok, why, code = self.raw:set_request(request) end
  if ok and self.begins then ok, why, code = handing.begin(self.raw, self.begins) end
  if ok and options.shadow then
    ok, why, code = self:shadow(options.shadow, options.shadow_options)
  end
  if ok then return self end
  self:close()
  return nil, why, code
end

--- Opens a session, or resumes the one of that name in the store.
---@param options table
---@return neap.Session? session, string? message, string? code
function M.session(options)
  check_options(options)
  check_summarize(options.summarize, options.notes)
  local policy, no = policy_of(options.policy)
  if no then return nil, no, "policy" end
  local begins, unfit
  if options.handover then begins, unfit = handing.read(options.handover) end
  if unfit then return nil, unfit, "shape" end
  local engine, why, code = core.engine({
    store = options.store,
    tenant = options.tenant,
    data = options.data,
    on_store_failure = options.on_store_failure,
    compress = options.compress,
  })
  if not engine then return nil, why, code end
  local raw_options = {}
  for name in pairs(OPTIONS) do
    raw_options[name] = options[name]
  end
  raw_options.options, raw_options.policy = to_json(options.options), policy
  raw_options.state_schema = to_json(options.state_schema)
  if begins and begins.state and not raw_options.state_schema then
    raw_options.state_schema = tostring(begins.state.schema)
  end
  local raw, message, name = engine:session(raw_options)
  if not raw then
    engine:close()
    return nil, message, name
  end
  local self = { raw = raw, engine = engine, had_calls = false, unfit = {}, begins = begins }
  self.name = options.name or "session"
  self.summarize = options.summarize
  local language = type(options.notes) == "string" and options.notes or nil
  if options.notes ~= false then self.desk = desks.new(raw, language) end
  return set_up(setmetatable(self, Session), options)
end

--- Appends a chat message, a table or its JSON; or a block: `{ kind = "state", content = "…" }`,
--- the kind being state, memory, evidence or notice.
---@param message table|string
---@return true? ok, string? message, string? code
function Session:add(message)
  local raw = open_session(self)
  self.had_calls, self.first = false, nil
  local ok, why, code = raw:append(as_json(message, "add"))
  if ok or code ~= "json" then return ok, why, code end
  return nil, why .. "; a message is a table or its JSON", code
end

--- Tells the time, in milliseconds since 1970, before a prompt: a policy sees it as ctx.now, and
--- the provider's cache is taken to forget what waited too long.
---@param ms integer
---@return true? ok, string? message, string? code
function Session:set_now(ms)
  return open_session(self):set_now(ms)
end

--- Assembles the next turn: the whole request body. What the policy asks a model meanwhile is
--- answered before it returns, unless the session was opened with `summarize = false`; the
--- policy goes on at the next prompt.
---@return string? body, string? message, string? code
function Session:prompt()
  local body, why, code = open_session(self):prompt()
  if not body then return nil, why, code end
  self.unfit = {}
  local ok, message, name = asking.answer_all(self)
  if not ok then return nil, message, name end
  return body
end

--- Every ask of the session so far: ask, kind, step, max_tokens, sha256, and answer, or code and
--- why there is none. As `answers` in the first line of a native recording they are what a
--- replay is fed.
---@return table[]? asks, string? message, string? code
function Session:asks()
  local text, why, code = open_session(self):asks()
  if not text then return nil, why, code end
  return core.json.decode(text)
end

--- Appends the provider's response body, as it came, or the table that was decoded from it.
---@param response table|string
---@return true? ok, string? message, string? code
function Session:add_response(response)
  local raw = open_session(self)
  local json = as_json(response, "add_response")
  local ok, why, code = raw:append_response(json)
  if not ok then return nil, why, code end
  self.first = raw:next_call()
  self.had_calls = self.first ~= nil
  return true
end

local function next_call(self)
  local raw = open_session(self)
  while true do
    local call = self.first or raw:next_call()
    self.first = nil
    if not call or raw:handle(call) then return call end
  end
end

--- The calls of the last response that are the host's to run; those of neap's own tools are
--- answered on the way.
---@return fun(): table?
function Session:calls()
  open_session(self)
  return function()
    return next_call(self)
  end
end

--- Appends the result of a call.
---@param call table
---@param text string
---@return true? ok, string? message, string? code
function Session:result(call, text)
  return open_session(self):append_result(call, text)
end

--- The arguments of a call with texts in place of pointers: every string in them that is all
--- "neap:17", or "neap:17#41-380", becomes the text of that entry of the session.
---@param call table|string  a call, or its arguments
---@return string? arguments, string? message, string? code
function Session:resolve(call)
  local arguments = type(call) == "table" and call.arguments or call
  if type(arguments) ~= "string" then
    error("resolve takes a call, or its arguments as they came", 2)
  end
  return open_session(self):resolve(arguments)
end

--- Reads a part of an entry again, as the tool neap_read does: the text begins with a line that
--- says where it is from, and ends with one that says what remains.
---@param id integer|string  17, or "SESSION/17" of another session
---@param part? string       "41-380", "head 50", "match timeout", "errors", …; all without
---@param how? {tokens: integer?}
---@return string? text, string? message, string? code
function Session:read(id, part, how)
  return open_session(self):read(tostring(id), part, how and how.tokens)
end

--- Entries of the session that hold words of the query, best first.
---@param query string
---@param how? {k: integer?}  hits at most; 10
---@return {entry: integer, step: integer, score: number, snippet: string}[]? hits
---@return string? message, string? code
function Session:recall(query, how)
  return open_session(self):recall(query, how and how.k)
end

--- Did the last response make calls, so that the model waits for another prompt?
---@return boolean
function Session:pending()
  open_session(self)
  return self.had_calls
end

--- The account of the last turn: tokens, budget, regions, what changed.
---@return table? account, string? message, string? code
function Session:account()
  local text, why, code = open_session(self):account()
  if not text then return nil, why, code end
  local account = core.json.decode(text)
  -- decoding keeps the digits of what is no whole number
  for _, name in ipairs({ "factor", "drift" }) do
    account[name] = account[name] and tonumber(tostring(account[name]))
  end
  for _, name in ipairs({ "cost", "cost_more" }) do
    local shadow = account.shadow
    if shadow and shadow[name] then shadow[name] = tonumber(tostring(shadow[name])) end
  end
  local errors = account.hook_errors
  if errors then table.move(self.unfit, 1, #self.unfit, #errors + 1, errors) end
  return account
end

--- The session for another one to go on with: its state, notes, pins, open items, what is void,
--- refuted or waits to be verified, and pointers, as JSON. `neap.session { handover = … }` opens
--- with it. A policy can fold before: `s:phase("handover")`, then a prompt.
---@return string? json, string? message
function Session:handover()
  local raw = open_session(self)
  return handing.text(self.engine, raw, self.name)
end

--- Keeps bytes with the session, as an entry that no prompt shows: a file, or a large result
--- that the model is to be shown parts of. `about` says what it is of: tool, query, path, kind;
--- and how long it may be read: ttl in seconds after made, in milliseconds since 1970 (the time
--- that the session was told).
---@param bytes string
---@param about table?
---@return integer? id, string? message, string? code
function Session:put(bytes, about)
  return open_session(self):put(bytes, about)
end

--- What was put, or any entry's text: the whole, the lines first_line..last_line, or the bytes
--- from..to (from 0, without the last). `now`, in milliseconds since 1970, is held against its
--- ttl. Codes: "expired", "purged", "notfound".
---@param entry integer
---@param window table?
---@return string? text, string? message, string? code
function Session:get(entry, window)
  return open_session(self):get(entry, window)
end

--- The original text of an entry, whatever is shown of it.
---@param entry integer
---@return string? text, string? message, string? code
function Session:text(entry)
  return open_session(self):text(entry)
end

--- The policy in force: its name, about, source, path, sha256 and options.
---@return table
function Session:policy()
  return open_session(self):policy()
end

--- Looks at the policy file now.
---@return true? ok, string? message, string? code
function Session:reload()
  return open_session(self):reload()
end

--- Runs another policy beside the session's own: it decides every turn from now on, sends
--- nothing, and changes no prompt; the account's `shadow` says what its prompt would have had.
--- Without a policy there is none any more. What it asks a model the extractive summarizer
--- answers.
---@param policy string? a file, or the name of a shipped one
---@param options table|string|nil its options by name
---@return true? ok, string? message, string? code
function Session:shadow(policy, options)
  local raw = open_session(self)
  local path, why = policy_of(policy)
  if why then return nil, why, "policy" end
  return raw:shadow(path, to_json(options))
end

--- What the shadow has come to: turns, and for `live` and `shadow` tokens, cost, epochs, overflow,
--- hook_failures, facts. Nil without one.
---@return table? totals, string? message, string? code
function Session:shadow_account()
  local raw = open_session(self)
  local text, why, code = raw:shadow_totals()
  if not text then return nil, why, code end
  local all = core.json.decode(text)
  if not all.policy then return nil, "the session has no shadow", "notfound" end
  for _, side in ipairs({ all.live, all.shadow }) do
    side.cost = tonumber(tostring(side.cost))
  end
  return all
end

--- Closes the session and its store. Closing twice is fine. True, or nil, a message and a code when
--- what waited for the store could not be written, and is lost.
function Session:close()
  if not self.raw then return true end
  local raw, engine = self.raw, self.engine
  self.raw, self.engine = nil, nil
  raw:close()
  return engine:close()
end

Session.__close = Session.close
Session.__gc = Session.close

function Session:__tostring()
  return self.raw and tostring(self.raw) or "neap.session (closed)"
end

state.add(Session, open_session, as_json)
asking.add(Session, open_session)

local encodings = {}

local function encoding_of(name)
  name = name or "o200k_base"
  if encodings[name] then return encodings[name] end
  local enc, why, code = core.encoding(name)
  encodings[name] = enc
  return enc, why, code
end

--- Tokens of any bytes; the encoding is o200k_base unless named.
---@param text string
---@param encoding string?
---@return integer? tokens, string? message, string? code
function M.count(text, encoding)
  local enc, why, code = encoding_of(encoding)
  if not enc then return nil, why, code end
  return enc:count(text)
end

--- The exact count of a text that arrives bit by bit: `add` gives the tokens so far.
---@param encoding string?
---@return neap.Counter? counter, string? message, string? code
function M.counter(encoding)
  local enc, why, code = encoding_of(encoding)
  if not enc then return nil, why, code end
  return enc:counter()
end

--- Opens a store: its sessions can be listed, copied, written out and read back.
M.store = require("neap.store").open

--- The longest beginning of a text, or its longest end, that has at most so many tokens.
---@param text string
---@param tokens integer
---@param options {at: "character"|"grapheme"|"line", from_end: boolean, encoding: string}?
---@return string? part, string? message, string? code
function M.fit(text, tokens, options)
  options = options or {}
  for name in pairs(options) do
    if name ~= "at" and name ~= "from_end" and name ~= "encoding" then
      error(("bad argument #3 to 'fit' (there is no option %s)"):format(tostring(name)), 2)
    end
  end
  local enc, why, code = encoding_of(options.encoding)
  if not enc then return nil, why, code end
  return enc:fit(text, tokens, options.at, options.from_end)
end

return M
