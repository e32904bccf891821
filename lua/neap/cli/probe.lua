-- neap probe: the questions that the prompt of one turn should be enough to answer, with what the
-- recording expects; and whether given answers are right. next: ../report/probe.lua
local core = require("neap.core")
local files = require("neap.files")
local grid = require("neap.report.grid")
local probe = require("neap.report.probe")
local replay = require("neap.report.replay")
local truth = require("neap.report.truth")
local visible = require("neap.report.visible")
local show_replay = require("neap.cli.replay")
local session = require("neap.cli.session")
local failure = require("neap.cli.fail")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

local function facts_of(recording, o)
  local base = { unbounded = true, format = o.format, encoding = o.encoding, lenient = o.lenient }
  local state = check(replay.run(recording, base))
  local facts = state.session:facts()
  replay.close(state)
  return facts
end

-- Replays up to the step behind the turn; the questions about the turn's prompt.
local function questions_of(recording, o, turn, path)
  local facts, watched = facts_of(recording, o), truth.new(recording)
  local last, at
  o.on_account = function(account)
    if account.turn == turn and account.overflow then
      local text = "%s: turn %d does not fit and was not sent; give a larger window"
      fail(text:format(path, turn), 1)
    end
  end
  o.on_turn = function(account, _, s)
    watched:take_in(s)
    if account.turn == turn then
      last, at = s:entry_count(), account.step
    end
  end
  o.on_measure = function(_, account)
    if account.turn == turn then return "stop" end
  end
  local state = check(replay.run(recording, o))
  session.check_turn(path, state, turn)
  return probe.questions(state.session, watched, facts, at, last), state
end

-- Answers by the question's id, each of one that is asked, and one for each.
local function read_answers(path, list)
  local answers, asked = {}, {}
  for _, one in ipairs(list) do
    asked[one.id] = true
  end
  local text, n = check(files.read(path)), 0
  for line in (text .. "\n"):gmatch("(.-)\r?\n") do
    n = n + 1
    if line:find("%S") then
      local one, why = json.decode(line)
      if type(one) ~= "table" or type(one.id) ~= "string" or type(one.answer) ~= "string" then
        local text_ = "%s:%d: %s; lines such as {\"id\":\"q1\",\"answer\":\"…\"} are expected"
        fail(text_:format(files.label(path), n, why or "is no answer"))
      end
      local wrong = not asked[one.id]
          and ("there is no question %s; they are q1 to q%d"):format(one.id, #list)
        or answers[one.id] and one.id .. " is answered twice; leave one away"
      if wrong then fail(("%s:%d: %s"):format(files.label(path), n, wrong)) end
      answers[one.id] = one.answer
    end
  end
  return answers
end

local ORDER = { "trace", "turn", "policy", "id", "question", "expected", "state", "entry", "answer",
  "right" }

local function print_json(list, about)
  for _, one in ipairs(list) do
    local line = { id = one.id, question = one.question, expected = json.array(one.expected) }
    line.state, line.entry, line.answer, line.right = one.state, one.entry, one.answer, one.right
    for name, value in pairs(about) do
      line[name] = value
    end
    io.stdout:write(json.encode(line, ORDER), "\n")
  end
end

local function print_text(list, setting, turn, is_judged)
  visible.write(("turn %d, %s: %s\n"):format(turn, setting, grid.count(#list, "question")))
  for _, one in ipairs(list) do
    visible.write("\n", one.id, "  ", visible.line(one.question), "\n")
    for _, text in ipairs(one.expected) do
      visible.write("    expected: ", visible.line(text), "\n")
    end
    if one.state ~= "expected" then visible.write("    in the prompt: ", one.state, "\n") end
    local how = one.right and "right" or one.answer and "wrong" or "not answered"
    if is_judged then visible.write("    ", how, "\n") end
  end
end

--- neap probe
function M.probe(opts, args)
  local o = session.project_options(opts)
  local recording = session.load_one(args[1], opts)
  local list, state = questions_of(recording, o, opts.turn, args[1])
  local setting = show_replay.setting(state, o)
  local about = { trace = recording.name, turn = opts.turn, policy = state.policy.name }
  replay.close(state)
  local answers, right, without = opts.answers and read_answers(opts.answers, list), 0, 0
  for _, one in ipairs(answers and list or {}) do
    one.answer = answers[one.id]
    one.right = probe.is_right(one, one.answer or "")
    right = right + (one.right and 1 or 0)
    without = without + (one.answer and 0 or 1)
  end
  if opts.json then
    print_json(list, about)
  else
    print_text(list, setting, opts.turn, answers ~= nil)
    local rest = without > 0 and (", %d not answered"):format(without) or ""
    if answers then visible.write(("\n%d of %d right%s\n"):format(right, #list, rest)) end
  end
  return answers and right < #list and 1 or 0
end

return M
