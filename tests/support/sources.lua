-- Cases of the policies that reproduce a public source: a history in shorthand, and how much of
-- each result the model has seen turn by turn, a letter a result: F full, T trimmed, R a reference,
-- M a mark, D dropped, S behind a summary. The histories are made so that a token is four
-- characters, as most of the sources count. next: ../spec/policy_sources_spec.lua
local core = require("neap.core")
local extract = require("neap.summary.extract")

local M = {}

M.FILE = "tests/cases/sources.jsonl"

--- The cases, in the file's order.
---@return table[]
function M.read()
  local list = {}
  for line in io.lines(M.FILE) do
    list[#list + 1] = core.json.decode(line)
  end
  return list
end

-- Words of four characters, each a token of o200k_base, and of cl100k_base.
local WORDS = { " the", " and", " for", " you", " are", " not", " all", " can", " one", " use" }

--- A text of exactly n tokens and 4 n characters; another seed gives another.
---@param n integer
---@param seed integer
---@return string
function M.text(n, seed)
  local out, state = {}, seed * 7919 + 1
  for i = 1, n do
    state = (state * 1103515245 + 12345) % 2147483648
    out[i] = WORDS[(state >> 16) % #WORDS + 1]
  end
  return table.concat(out)
end

-- ---- a history as messages ----------------------------------------------------------------

-- A call; `say+read` is one with a text beside it.
local function assistant(tool, id)
  local content = tool:match("^say%+") and "Now the words that are of use." or nil
  local f = { name = tool:gsub("^say%+", ""), arguments = core.json.encode({ path = id }) }
  local calls = { { id = id, type = "function", ["function"] = f } }
  return { role = "assistant", content = content, tool_calls = calls }
end

-- The items one by one: "3x read 100" is three.
local function one_by_one(history)
  local list = {}
  for _, item in ipairs(history) do
    local times, rest = item:match("^(%d+)x (.*)$")
    for _ = 1, tonumber(times) or 1 do
      list[#list + 1] = rest or item
    end
  end
  return list
end

--- The messages of a history, each with what it is; `idle` are the seconds that pass before the
--- next turn, beside the one that passes anyway.
---@param history string[] "user 20", "text 30", "idle 400", "3x read 1000": calls and results
---@return table[]
function M.messages(history)
  local list, idle = {}, 0
  local function add(message)
    list[#list + 1], idle = { message = message, idle = idle }, 0
  end
  for i, item in ipairs(one_by_one(history)) do
    local what, n = item:match("^(%S+) (%d+)$")
    n = assert(math.tointeger(tonumber(n)), item)
    if what == "idle" then
      idle = n
    elseif what == "user" then
      add({ role = "user", content = M.text(n, i) })
    elseif what == "text" then
      add({ role = "assistant", content = M.text(n, i) })
    else
      add(assistant(what, "c" .. i))
      add({ role = "tool", tool_call_id = "c" .. i, content = M.text(n, i) })
    end
  end
  list[#list + 1] = { idle = idle } -- the last turn
  return list
end

-- ---- neap's own ---------------------------------------------------------------------------

local LETTERS = { full = "F", trimmed = "T", reference = "R", masked = "M", dropped = "D" }

local function letters(session)
  local out = {}
  for id = 1, session:entry_count() do
    local e = session:entry(id)
    if e.kind == "result" then out[#out + 1] = LETTERS[e.rung] or "S" end
  end
  return table.concat(out)
end

local function open(policy, options, window)
  local engine = assert(core.engine({ data = core.data_dir(), fixed_secret = true }))
  local session = assert(engine:session({
    name = "source",
    policy = "policies/" .. policy .. ".lua",
    options = options and core.json.encode(options),
    window = window or 200000,
    reserve = -1,
    no_reload = true,
  }))
  return session, engine
end

--- The values of a policy's options where nobody says otherwise.
---@param policy string
---@return table
function M.options(policy)
  local session, engine = open(policy)
  local values = {}
  for name, row in pairs(core.json.decode(session:policy().options)) do
    if type(row) == "table" and row.default ~= nil then row = row.default end
    values[name] = core.json.is_raw(row) and tonumber(row.raw) or row
  end
  session:close()
  engine:close()
  return values
end

--- What neap's policy shows in each turn, and the last turn's account and body.
---@param case table
---@return string[] shown, table account, string body
function M.play(case)
  local session, engine = open(case.policy, case.options, case.window)
  local now, shown, account, body = 1700000000000, {}, nil, nil
  for _, m in ipairs(M.messages(case.history)) do
    if not m.message or m.message.role == "assistant" then
      now = now + 1000 + m.idle * 1000
      if case.clock then assert(session:set_now(now)) end
      body = assert(session:prompt())
      account = core.json.decode(assert(session:account()))
      assert(not (account.hook_errors or {})[1], (account.hook_errors or {})[1])
      shown[#shown + 1] = letters(session)
      assert(extract.answer_all(session))
    end
    if m.message then assert(session:append(core.json.encode(m.message))) end
  end
  session:close()
  engine:close()
  return shown, account, body
end

return M
