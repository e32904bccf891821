-- Summaries that a careful writer made of the shipped recordings, in words of their own: what a
-- check refuses of them is a false alarm, but for the lines that say what nothing has shown.
-- next: notes_spec.lua
local delta = require("neap.summary.delta")
local import = require("neap.import")
local notes = require("neap.summary.notes")
local replay = require("neap.report.replay")
local spans = require("neap.summary.span")
local verify = require("neap.summary.verify")

-- The grounds of the n-th ask for a summary of a recording.
local function grounds_of(name, n)
  local recording = assert(import.load("examples/recordings/" .. name, { lean = true }))[1]
  local found, asked = nil, 0
  local state = assert(replay.run(recording, {
    policy = "policies/three_tier.lua",
    options = '{"hot":2,"every":3}',
    window = 10000000,
    summarize = function(ask)
      asked = asked + 1
      if asked == n then found = verify.grounds(spans.of(ask), notes.new()) end
      return "noted"
    end,
  }))
  replay.close(state)
  return assert(found)
end

local function check(name, n, honest, invented)
  local grounds = grounds_of(name, n)
  local function code_of(line)
    local changes, faults = delta.parse(line)
    if #faults == 0 then faults = verify.changes(changes, grounds) end
    return faults[1] and faults[1].code .. ": " .. faults[1].what or "fine"
  end
  for _, line in ipairs(honest) do
    assert.equal("fine", code_of(line), line)
  end
  for _, line in ipairs(invented) do
    assert.truthy(code_of(line):find("^invented"), line)
  end
end

describe("an honest summary", function()
  it("of English steps is taken", function()
    check("english.jsonl", 3, {
      "ADD facts 7: nightly.log, first night: data/q1.txt has 405 lines, checked with tally.conf",
      "ADD facts 7: Four kinds of errors: E104 bad date, E107 wrong number of fields, E115 not "
        .. "enough stock, E117 too many open lots",
      "ADD facts 7: E107 is at lines 36, 61, 114, 133 and 160 of data/q1.txt",
      "ADD facts 7: E104 is on lines 298-306",
      "ADD findings 7: Each E117 is followed by an E115, so E115 is likely a follow-up error",
      "ADD facts 7: the nightly run (pid 4438) began on 2024-03-22 at 02:00:07",
      "ADD handles 7: logs/nightly.log, data/q1.txt, tally.conf",
      "ADD facts 7: free space was 14.2 GiB, so disk space isn't the problem",
      "ADD open 7: Why are the dates on lines 298 to 306 bad? The README may say.",
    }, {
      "ADD facts 7: the nightly run began at 00:07",
      "ADD facts 7: E104 is on lines 298-307999",
      "ADD facts 7: free space was 14.3 GiB",
      "ADD facts 7: Five kinds of errors",
    })
  end)

  it("of Chinese steps is taken", function()
    check("chinese.jsonl", 3, {
      "ADD facts 7: 第56、73、138行超过95字节，每个汉字占3个字节",
      "ADD facts 7: src/parse.h 中 LINE_BYTES 是 96，fgets 会把长行切成两段",
      "ADD facts 7: main.c 的 book() 用 fgets(line, sizeof line, f) 逐行读取",
      "ADD findings 7: 根因：LINE_BYTES 太小，中文备注容易超长",
      "ADD handles 7: src/main.c、src/parse.h、tally.conf",
      "ADD facts 7: tally 支持 check、stock、reorder、losses、tax、lots 六个命令",
      "ADD open 7: 是否把 LINE_BYTES 调大，还没有决定",
    }, {
      "ADD facts 7: 第 56 行超过 95万 字节",
      "ADD facts 7: LINE_BYTES 是 128",
    })
    check("chinese.jsonl", 7, {
      "ADD facts 19: money_format 用 %lld.%02lld 输出，part 取绝对值后负号可能丢失",
      "ADD facts 19: 货币 EUR，tax_permille 190，reorder_point 10，reorder_to 40，ROUND_HALF_UP",
      "ADD findings 19: EUR 后面有空格，配置的注释被当成了值的一部分",
      "ADD handles 19: src/money.c 第36-46行，src/conf.c 的 trim() 和 set_long()",
    }, {
      "ADD findings 19: SKU-1022 的损耗显示为 0.27，应为 -0.27",
    })
  end)
end)
