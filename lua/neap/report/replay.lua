-- Feeds a recording to a session, message by message: before each assistant message the prompt
-- is assembled from what came before (a turn), then the step is appended and measured.
-- next: tally.lua, ../cli/replay.lua
local core = require("neap.core")
local answers = require("neap.report.answers")
local extract = require("neap.summary.extract")
local refuting = require("neap.report.refuting")
local observe = require("neap.report.observe")
local prices = require("neap.models.prices")
local tally = require("neap.report.tally")

local M = {}

M.DEFAULT_WINDOW = 200000

---@class neap.ReplayOptions
---@field policy string?       path of the policy file; nil: the empty policy
---@field options string?      the policy's options, a JSON object
---@field window integer?      nil: 200,000
---@field reserve integer?     nil: the default; 0: none
---@field format string?       "openai" (default), "responses", "anthropic", "gemini" or "text"
---@field encoding string?
---@field model string?        its encoding, factor and images; nil: any of the format's
---@field request string?      the request's other members, a JSON object
---@field prices string?      whose prices, by a model's name: the cost is in dollars
---@field think integer?      seconds between turns; nil: as recorded, or none
---@field cache string?       "5m", "1h" or "none": how long a cache with marks keeps a prompt
---@field unbounded boolean?   no window at all
---@field shadow string?     path of a policy that runs beside it and sends nothing
---@field shadow_options string?
---@field lenient boolean?     skip messages that the session refuses
---@field observe boolean?    measure density, repeated calls, constraints and needs too
---@field stop_at integer?     end after this turn's prompt
---@field progress (fun(recording: neap.Recording): fun(done: integer?, total: integer?))?
---@field summarize (fun(ask: table): string?)? answers asks; nil: the extractive summarizer
---@field on_turn fun(account: table, body: string?, session: table)?
---@field on_account fun(account: table, session: table)? without the body, which is not made
---@field on_shadow fun(account: table)?
---@field on_measure (fun(measure: table, account: table): string?)? "stop" ends the replay
---@field on_refused fun(text: string)?
---@field still (fun(): boolean?, string?)? asked when the policy is loaded: whether it may run

-- The largest window that a session takes: more than any recording holds.
local UNBOUNDED = 1000000000000

-- Opening an engine loads a vocabulary, which takes longer than many a recording: one serves
-- all replays, whose sessions leave nothing in it.
local engine

local function open(recording, o)
  local why, name
  if not engine then
    engine, why, name = core.engine({ fixed_secret = true })
    if not engine then return nil, why, name end
  end
  local reserve = o.reserve == 0 and -1 or o.reserve
  local session, wrong, code = engine:session({
    name = recording.name,
    policy = o.policy,
    options = o.options,
    format = o.format or "openai",
    encoding = o.encoding,
    model = o.model,
    prices = o.prices,
    cache = o.cache,
    window = o.unbounded and UNBOUNDED or o.window or M.DEFAULT_WINDOW,
    reserve = o.unbounded and -1 or reserve,
    no_reload = true,
    no_log = true,
  })
  if not session then return nil, wrong, code end
  if not o.still then return session end
  local ok, changed = o.still() -- what was read is what was looked at before
  if ok then return session end
  session:close()
  return nil, changed
end

local function refused(recording, i, why)
  return ("%s:%d: %s"):format(recording.path, recording.lines[i], why)
end

local function prepare(session, recording, o)
  local ok, why, code = true, nil, nil
  if recording.tools then ok, why, code = session:set_tools(recording.tools) end
  if not ok then return nil, ("%s: tools: %s"):format(recording.path, why), code end
  if o.request then ok, why, code = session:set_request(o.request) end
  if not ok then return nil, why, code end
  return true
end

-- What the policy asks a model is answered at once: it goes on at the next turn.
local function answer_asks(state)
  return extract.answer_all(state.session, nil, state.answer, state.o.summarize ~= nil)
end

local function answer_shadow(state)
  return extract.answer_all(state.session, "shadow_", state.shadow.answer,
    state.o.summarize ~= nil)
end

-- The shadow's own account of the turn, and its asks.
local function take_shadow(state, i)
  local shadow, session = state.shadow, state.session
  if not session:has_shadow() then return nil, "the shadow has ended: it ran out of memory" end
  local text, why, code = session:shadow_account()
  if not text then return nil, why, code end
  shadow.account = core.json.decode(text)
  shadow.sums:turn(shadow.account)
  if shadow.observer then shadow.observer:turn(shadow.view, shadow.account, i) end
  if shadow.o.on_turn then shadow.o.on_turn(shadow.account) end
  return answer_shadow(state)
end

-- Tells the session when the turn is: by --think, or by the newest time in the recording.
-- Times that go back are of another clock, and left out.
local function tell_time(state, recording, i)
  local think, now = state.o.think, state.now
  if think then
    now = think > 0 and (state.turn + 1) * think * 1000 or nil
  else
    for n = state.timed + 1, i - 1 do
      local t = recording.times[n]
      if t and t > (now or 0) then now = t end
    end
    state.timed = i - 1
  end
  if not now or now == state.now then return true end
  state.now = now
  return state.session:set_now(now)
end

-- The turn before a step: assembles, accounts, tells.
local function take_turn(state, i)
  local session, sums = state.session, state.sums
  local body, why, code
  if state.o.on_turn then
    body, why, code = session:prompt()
  else
    body, why, code = session:assemble()
  end
  if not body and code ~= "budget" then return nil, why, code end
  local text, wrong = session:account()
  if not text then return nil, wrong end
  local answered, message, name = answer_asks(state)
  if not answered then return nil, message, name end
  local account = core.json.decode(text)
  state.turn = state.turn + 1
  account.turn = state.turn
  sums:turn(account)
  state.account = account
  if state.observer then state.observer:turn(session, account, i) end
  if state.shadow then
    local ok, no, kind = take_shadow(state, i)
    if not ok then return nil, no, kind end
  end
  if state.o.on_turn then state.o.on_turn(account, body, session) end
  if state.o.on_account then state.o.on_account(account, session) end
  return true
end

--- A cost as it is told: in units, or in dollars where there are prices.
---@param state table
---@param cost number in units
---@return number
function M.money(state, cost)
  local dollars = state.o.prices and state.sums.price.dollars
  return tally.round(cost * (dollars and dollars / 1000000 or 1), dollars ~= nil)
end

local function take_step(state, i)
  if state.observer then state.observer:step(state.session, i) end
  local m = state.session:measure()
  state.sums:measure(m)
  for _, one in ipairs(m.pointed_list) do
    one.cost = M.money(state, state.sums:pointed_cost(one))
  end
  local shadow = state.shadow
  if shadow then shadow.sums:measure(state.session:shadow_measure()) end
  if shadow and shadow.observer then shadow.observer:step(shadow.view, i) end
  return state.o.on_measure and state.o.on_measure(m, state.account)
end

-- Appends message `i`, with a turn before it when it begins a step.
local function feed(state, recording, i)
  local role, o = recording.roles[i], state.o
  local is_step = role == "assistant" and state.begun
  if is_step then
    local ok, why, code = tell_time(state, recording, i)
    if ok then ok, why, code = take_turn(state, i) end
    if not ok then return nil, why, code end
    if o.stop_at and state.turn >= o.stop_at then return "stop" end
  end
  local ok, why, code = state.session:append(recording.messages[i])
  if not ok then
    if not o.lenient then return nil, refused(recording, i, why), code end
    if o.on_refused then o.on_refused(refused(recording, i, why)) end
    return true
  end
  ok, why, code = refuting.take(state.session, recording.messages[i])
  if not ok then return nil, refused(recording, i, why), code end
  if is_step and take_step(state, i) == "stop" then return "stop" end
  state.begun = state.begun or (role ~= "system" and role ~= "developer")
  return true
end

local function answerer(recording, session, o)
  local all = answers.new(recording, session, o.summarize)
  return all, function(ask)
    return all:answer(ask)
  end
end

local function start_shadow(state, window, recording)
  local o, session = state.o, state.session
  local ok, why, name = session:shadow(o.shadow, o.shadow_options)
  if not ok then return nil, why, name end
  state.shadow = {
    session = session,
    o = { prices = o.prices, unbounded = o.unbounded, on_turn = o.on_shadow },
    sums = tally.new(prices.of(o), window),
    policy = session:shadow_policy(),
  }
  if o.observe then
    state.shadow.view = observe.shadow(session)
    state.shadow.observer = observe.new(recording)
  end
  state.shadow.answers, state.shadow.answer = answerer(recording, session, o)
  return true
end

--- Replays a recording. The session stays open for those who look into it; close it.
---@param recording neap.Recording
---@param o neap.ReplayOptions
---@return table? state, string? message, string? code
function M.run(recording, o)
  local session, message, code = open(recording, o)
  if not session then return nil, message, code end
  local state = { session = session, o = o, turn = 0, timed = 0, begun = false }
  local window = not o.unbounded and (o.window or M.DEFAULT_WINDOW) or nil
  state.sums = tally.new(prices.of(o), window)
  state.policy = session:policy()
  state.answers, state.answer = answerer(recording, session, o)
  local function give_up(why, name)
    session:close()
    return nil, why, name
  end
  local ok, why, name = prepare(session, recording, o)
  if o.observe then state.observer = observe.new(recording) end
  if ok and o.shadow then ok, why, name = start_shadow(state, window, recording) end
  if not ok then return give_up(why, name) end
  local tell = o.progress and o.progress(recording) or function() end
  for i = 1, #recording.messages do
    tell(i - 1, #recording.messages)
    ok, why, name = feed(state, recording, i)
    if not ok or ok == "stop" then break end
  end
  tell()
  if not ok then return give_up(why, name) end
  local refuted = o.observe and refuting.result(session, state.turn) or {}
  for _, one in ipairs({ state, state.shadow }) do
    if one.observer then
      one.observed = one.observer:result(one.view or session, one.sums.tokens)
      for key, value in pairs(refuted) do
        one.observed[key] = one.observed[key] or value
      end
    end
  end
  return state
end

--- Closes what run() left open.
---@param state table
function M.close(state)
  state.session:close()
end

--- The line of a trace: what was measured, and only that.
---@param recording neap.Recording
---@param state table
---@return table
function M.summary(recording, state)
  local sums = state.sums
  local dollars = state.o.prices and sums.price.dollars
  local line = {
    trace = recording.name,
    form = recording.format,
    policy = state.policy.name,
    policy_sha256 = state.policy.sha256,
    turns = sums.turns,
    input_tokens = sums.tokens,
    cached_tokens = sums.cached,
    billed_cached_tokens = prices.is_real(sums.price) and sums.billed or nil,
    cost = M.money(state, sums.cost),
    currency = dollars and "USD" or nil,
    epochs = sums.rewrites + 1,
    rewritten_tokens = sums.rewritten,
    recalls = sums.recalls,
    recalled_tokens = sums.recalled,
    region_tokens = sums:region_means(),
    watermark_p95 = tally.p95(sums.watermark),
    usage_p95 = not state.o.unbounded and tally.p95(sums.usage) or nil,
    facts = sums.facts,
    words = sums.words,
    overflow = sums.overflow,
    refused = sums.refused,
    dangling = sums.dangling,
    hook_errors = sums.hook_errors,
    answers = state.answers and state.answers:who(),
    steps_left = not state.o.unbounded and state.account and state.account.steps_left or nil,
  }
  for name, value in pairs(state.observed or {}) do
    line[name] = value
  end
  return line
end

M.TURN_ORDER = {
  "trace",
  "turn",
  "step",
  "tokens",
  "exact",
  "factor",
  "estimate",
  "margin",
  "drift",
  "budget",
  "cached",
  "billed_cached",
  "written",
  "cold",
  "epoch",
  "regions",
  "rungs",
  "growth",
  "steps_left",
  "alarm",
  "warnings",
  "changed",
  "log",
  "pollution",
  "refuted",
  "steps",
  "uses",
  "source",
  "text",
  "dangling",
  "request",
  "overflow",
  "entry",
  "kind",
  "from",
  "to",
  "why",
  "by",
  "sent",
  "short",
  "entries",
  "help",
  "what",
  "where",
  "was",
  "bytes",
  "shadow",
  "policy",
  "cost",
  "rewrite",
  "tokens_more",
  "cost_more",
  "facts",
  "cited",
  "gone",
  "gone_more",
  "hook_failures",
}

M.TRACE_ORDER = {
  "trace",
  "form",
  "policy",
  "policy_sha256",
  "turns",
  "input_tokens",
  "cached_tokens",
  "billed_cached_tokens",
  "cost",
  "currency",
  "epochs",
  "rewritten_tokens",
  "recalls",
  "recalled_tokens",
  "watermark_p95",
  "usage_p95",
  "region_tokens",
  "rung_tokens",
  "density",
  "density_rare",
  "facts",
  "words",
  "constraints",
  "needs",
  "pollution",
  "refutations",
  "polluted_steps",
  "exposed",
  "repeats",
  "calls_again",
  "overflow",
  "refused",
  "dangling",
  "hook_errors",
  "answers",
  "steps_left",
  "planted",
  "due",
  "needed",
  "cited",
  "present",
  "noted",
  "pointed",
  "gone",
  "by_distance",
  "1-3",
  "4-10",
  "11-20",
  "21-50",
  "51+",
  "by_class",
  "path",
  "name",
  "number",
  "code",
  "hash",
  "url",
  "cjk",
  "quote",
  "shadow",
  "more",
}

--- What the shadow's line has more than the live one's.
---@param line table of a trace
---@param shadow table
---@return table
function M.more(line, shadow)
  local dollars = line.currency ~= nil
  return {
    input_tokens = shadow.input_tokens - line.input_tokens,
    cost = tally.round(shadow.cost - line.cost, dollars),
    epochs = shadow.epochs - line.epochs,
    gone = shadow.facts.gone - line.facts.gone,
  }
end

--- The line of a turn as the contract has it.
---@param recording neap.Recording
---@param a table the account
---@param price neap.Price
---@param request string?
---@return table
function M.turn_line(recording, a, price, request)
  return {
    trace = recording.name,
    turn = a.turn,
    step = a.step,
    tokens = a.tokens,
    exact = a.exact,
    factor = a.factor,
    estimate = a.estimate,
    margin = a.margin,
    drift = a.drift,
    budget = a.budget,
    cached = a.cached,
    billed_cached = prices.is_real(price) and a.billed_cached or nil,
    written = prices.is_real(price) and a.written or nil,
    cold = a.cold,
    epoch = a.epoch,
    regions = a.regions,
    rungs = a.rungs,
    growth = a.growth,
    steps_left = a.steps_left,
    alarm = a.alarm,
    warnings = a.warnings,
    changed = a.changed,
    log = a.log,
    pollution = a.pollution,
    dangling = a.dangling,
    overflow = a.overflow,
    shadow = a.shadow,
    request = request,
  }
end

return M
