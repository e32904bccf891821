-- The extractive summarizer: sections with steps, nothing that the span does not hold, never more
-- than it may have; and three_tier, which folds with it, over the shipped recordings.
-- next: ../../lua/neap/summary/extract.lua
local core = require("neap.core")
local extract = require("neap.summary.extract")
local lines = require("neap.summary.lines")
local replay = require("neap.report.replay")
local import = require("neap.import")

local SPAN = [==[
[step 3]
<think>I suspect the pump is at fault. I will read core/pump.c because it sets MAX_FLOW.</think>
Action: {"action": "read", "args": {"path": "core/pump.c"}}
Observation: 1  #define MAX_FLOW 4711
2  plain words only
3  int pump_open(struct pump *p);
[step 4]
Action: {"action": "bash", "args": {"command": "make test"}}
Observation: src/valve.c:88: error: E2001 is undefined
\\[step 9] is what a result says of itself
[step 5]
Answer: The valve was ruled out: src/valve.c:88 is not the cause. We still need to check E2001.
[user]
Keep the flow below 500 in config/flow.json.
]==]

local CHINESE = [==[
[step 2]
Answer: 已决定采用缓存方案，因为查询 db/index.sql 耗时 320 毫秒。
Action: {"action": "read", "args": {"path": "数据/报表.csv"}}
Observation: 错误：第 17 行的编号 A-1093 找不到
连接超时的原因可能是防火墙配置没有更新，需要进一步确认端口 5432 是否开放
]==]

local function has(text, piece)
  assert(text:find(piece, 1, true), ("%q is not in:\n%s"):format(piece, text))
end

-- Every name of a summary stands in the span; steps and headings are the summarizer's.
local function check_names(summary, span)
  local words = require("neap.summary.words")
  for line in summary:gmatch("[^\n]+") do
    if line:sub(1, 2) == "- " then
      local text = line:gsub("%[step %d+%]", "")
      for name in words.names(text) do
        assert(span:find(name, 1, true), ("%q is not in the span"):format(name))
      end
    else
      assert(line:find("^## "), line)
    end
  end
end

local function spans(path, tokens)
  local list = {}
  local state = assert(replay.run(assert(import.load(path))[1], {
    policy = "policies/three_tier.lua",
    options = core.json.encode({ summary = tokens }),
    window = 16000,
    summarize = function(ask)
      list[#list + 1] = ask
      return (extract.summarize(ask.text, ask.max_tokens))
    end,
  }))
  replay.close(state)
  return list, state
end

describe("the extractive summarizer", function()
  it("has names alone of a step in one line, every fact in one of its own", function()
    local text = table.concat({
      "[step 3]",
      'Action: {"action": "ls", "args": {"path": "src/lib"}}',
      "Observation: pump_4.c",
      "valve_7.c,",
      "`LOW_FLOW_2`",
      "LOW_FLOW_2",
      "MAX_FLOW_9 is 4711 in pump_4.c",
      "hose_1.c",
      "<system-reminder>",
      "words",
      ("- and so it goes on and on\n"):rep(40),
      "[step 4]",
      'Action: {"action": "ls", "args": {"path": "src/app"}}',
      "Observation: tank_2.c",
      "## The tank_5 is full",
      "☐ mend hose_8",
      ("- and so it goes on and on\n"):rep(40),
    }, "\n")
    local out = assert(extract.summarize(text, 300))
    has(out, "- [step 3] pump_4.c, valve_7.c, LOW_FLOW_2, hose_1.c\n")
    has(out, "- [step 3] MAX_FLOW_9 is 4711 in pump_4.c\n")
    has(out, "- [step 4] tank_2.c\n") -- not with those of another step
    has(out, "- [step 4] The tank_5 is full\n")
    has(out, "- [step 4] mend hose_8\n")
    has(out, "## Files touched\n- ls: src/lib [step 3], src/app [step 4]")
    assert.is_nil(out:find("system-reminder", 1, true))
    local cites = {} -- what the desk makes notes of: the last step, and no other
    for step in out:match("%- ls: ([^\n]+)"):gmatch("%[step (%d+)%]") do
      cites[#cites + 1] = step
    end
    assert.same({ "3", "4" }, cites)
  end)

  it("sorts what it finds into sections, each line with its step", function()
    local out = assert(extract.summarize(SPAN, 1000))
    has(out, "## Confirmed facts\n- [step 3] 1 #define MAX_FLOW 4711" and "#define MAX_FLOW 4711")
    has(out, "## Files touched\n- core/pump.c: read [step 3]")
    has(out, "## Errors\n- [step 4] src/valve.c:88: error: E2001 is undefined")
    has(out, "## Refuted or failed\n- [step 5] The valve was ruled out")
    has(out, "- [step 5] We still need to check E2001.")
    has(out, "## Goal\n- [step 5] Keep the flow below 500 in config/flow.json.")
    has(out, "## Done\n- [step 4] bash make test")
  end)

  it("says what was only suspected", function()
    local out = assert(extract.summarize(
      "[step 1]\nAnswer: It probably fails because lib/a.c:7 is wrong.\n"
        .. 'Action: {"action": "bash", "args": {"command": "make test && echo no more"}}\n'
        .. "Observation: nothing was said about it by any of the tools that were asked\n",
      300))
    has(out, "(unconfirmed)")
  end)

  it("does not take a result's line for a heading", function()
    for _, item in ipairs(lines.collect(SPAN)) do
      assert.is_true(item.step == nil or item.step <= 5)
    end
  end)

  it("writes Chinese headings over Chinese text", function()
    local out = assert(extract.summarize(CHINESE, 600))
    has(out, "## 错误\n- [step 2] 错误：第 17 行的编号 A-1093 找不到")
    has(out, "## 决策\n- [step 2] 已决定采用缓存方案")
    assert.is_nil(out:find("## Goal", 1, true))
  end)

  it("has nothing to say of nothing", function()
    for _, text in ipairs({ "", "\n\n", "[step 1]\n", "no heading at all" }) do
      local out, why = extract.summarize(text, 100)
      assert.is_nil(out)
      assert.is_string(why)
    end
  end)

  it("stays linear on long lines and odd bytes", function()
    local odd = "[step 1]\nObservation: " .. ("a1/"):rep(100000) .. "\n" .. ("\xff\xc3"):rep(50000)
    local words = "[step 1]\nAnswer: " .. ("no end of words "):rep(20000)
    extract.summarize(odd, 500)
    extract.summarize(words, 500)
  end)
end)

describe("summaries of recordings", function()
  for _, name in ipairs({ "english", "chinese", "planted" }) do
    local path = ("examples/recordings/%s.jsonl"):format(name)

    it("hold only what their span holds, within their tokens: " .. name, function()
      local enc = assert(core.encoding("o200k_base"))
      local function count(text)
        return enc:count(text)
      end
      local list = spans(path, 400)
      assert.is_true(#list > 2)
      local known = {}
      for _, ask in ipairs(list) do
        assert.are.equal("summary", ask.kind)
        local out = assert(extract.summarize(ask.text, ask.max_tokens, count))
        assert.is_true(enc:count(out) <= 400, out)
        check_names(out, ask.text)
        assert.are.equal(out, extract.summarize(ask.text, ask.max_tokens, count))
        assert.are.equal(out, extract.summarize(ask.text, ask.max_tokens, count, known))
        assert.are.equal(out, extract.summarize(ask.text, ask.max_tokens, count, known))
      end
    end)

    it("stand for what three_tier folds, and hold cited facts: " .. name, function()
      local _, state = spans(path, 1000)
      assert.are.equal(0, state.sums.hook_errors)
      assert.are.equal(0, state.sums.overflow)
      assert.is_true(state.account.regions.warm > 0)
      assert.is_true(state.sums.facts.noted > 0)
    end)
  end
end)

describe("three_tier", function()
  it("keeps the hot steps, and goes on without a model's answer", function()
    local recording = assert(import.load("examples/recordings/english.jsonl"))[1]
    local warm = false
    local state = assert(replay.run(recording, {
      policy = "policies/three_tier.lua",
      window = 16000,
      stop_at = 40,
      summarize = function()
        return nil
      end,
      on_turn = function(account)
        warm = warm or account.regions.warm ~= nil
      end,
    }))
    replay.close(state)
    assert.is_false(warm)
    assert.are.equal(0, state.sums.hook_errors)
  end)

  it("tells of what it folds in the account", function()
    local recording = assert(import.load("examples/recordings/english.jsonl"))[1]
    local folded, made = 0, 0
    local state = assert(replay.run(recording, {
      policy = "policies/three_tier.lua",
      window = 16000,
      stop_at = 40,
      on_turn = function(account)
        for _, change in ipairs(account.changed) do
          if change.to == "folded" then folded = folded + 1 end
          if change.from == "absent" then made = made + 1 end
        end
      end,
    }))
    local s, kept = state.session, 0
    for id = 1, s:entry_count() do
      local e = s:entry(id)
      if e.rung == "folded" then
        assert.are.equal("summary", s:entry(e.folded).kind)
        assert.is_nil(s:shown(id))
        kept = kept + 1
      end
    end
    replay.close(state)
    assert.is_true(made > 3 and folded > 20 and kept == folded)
  end)
end)
