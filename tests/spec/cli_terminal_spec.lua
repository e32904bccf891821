-- What is done on a terminal and nowhere else: colour, a pager, progress; and the lines below a
-- replay's table. A terminal is had from script(1), where it is here. next: cli_replay_spec.lua
local core = require("neap.core")
local growth = require("neap.report.growth")
local terminal = require("neap.report.terminal")
local shared = require("tests.support.shared")
local columns_of = require("neap.report.width")
local quote = shared.quote

local TRACE = "examples/recordings/planted.jsonl"
local SHOW = { "show", TRACE, "--turn", "30", "-p", "tide", "-w", "16000" }
local DIR = shared.scratch("cli_terminal")

-- What the program writes on a terminal of 20 lines; nil when there is none to be had.
local function on_terminal(words, env, columns)
  if not os.execute("script -qec true /dev/null </dev/null >/dev/null 2>&1") then return nil end
  local stty = "stty rows 20 cols %d && env -u NO_COLOR TERM=xterm"
  local parts = { stty:format(columns or 100), env or "" }
  parts[#parts + 1] = quote(shared.program())
  for _, word in ipairs(words) do
    parts[#parts + 1] = quote(word)
  end
  local form = "script -qec %s /dev/null </dev/null 2>&1"
  local p = assert(io.popen(form:format(quote(table.concat(parts, " ")))))
  local text = p:read("a")
  p:close()
  return (text:gsub("\r\n", "\n"))
end

local NONE = "there is no script(1), or no terminal for it to make"

describe("neap recall", function()
  it("keeps each hit to one line of the terminal, wide characters as two", function()
    local store = shared.scratch("cli_terminal_recall") .. "/neap.db"
    local engine = assert(core.engine({ store = store, fixed_secret = true }))
    local s = assert(engine:session({ name = "长跑-1" }))
    for _, text in ipairs({ ("泵在七号厅 "):rep(30), ("the pump 泵 runs "):rep(20), "泵" }) do
      assert(s:append(core.json.encode({ role = "user", content = text }, { "role" })))
    end
    s:close()
    engine:close()
    local words = { "recall", "--store", store, "泵" }
    for _, columns in ipairs({ 40, 80, 81 }) do
      local out = on_terminal(words, nil, columns)
      if not out then return pending(NONE) end
      local lines, longest = 0, 0
      for line in out:gmatch("([^\n]*)\n") do
        lines = lines + 1
        local id, step, text = line:match("^(.-)\t(.-)\t(.*)$")
        assert.are.equal("长跑-1/", id:sub(1, -2))
        assert.are.equal("step 0", step)
        longest = math.max(longest, columns_of.of(text))
        assert.is_true(24 + columns_of.of(text) - 8 <= columns, line) -- "长跑-1/1" has 8 columns
      end
      assert.are.equal(3, lines)
      assert.is_true(16 + 8 + longest >= columns - 1, "no more is cut than has to be")
    end
    local _, plain = shared.run(words)
    assert.is_nil(plain:find("\t[^\n]*\t\n"))
    assert.is_true(#plain > 400)
  end)
end)

describe("neap session show", function()
  it("keeps each event to one line of the terminal", function()
    local store = shared.scratch("cli_terminal_show") .. "/neap.db"
    local engine = assert(core.engine({ store = store, fixed_secret = true }))
    local s = assert(engine:session({ name = "run" }))
    for _, text in ipairs({ ("泵在七号厅 "):rep(30), ("the pump 泵 runs "):rep(20), "泵" }) do
      assert(s:append(core.json.encode({ role = "user", content = text }, { "role" })))
    end
    s:close()
    engine:close()
    local words = { "session", "show", "run", "--store", store }
    for _, columns in ipairs({ 50, 80, 81 }) do
      local out = on_terminal(words, nil, columns)
      if not out then return pending(NONE) end
      local lines, longest = 0, 0
      for line in out:gmatch("([^\n]*)\n") do
        lines = lines + 1
        longest = math.max(longest, columns_of.of((line:gsub("\r", ""))))
      end
      assert.are.equal(5, lines)
      assert.is_true(longest <= columns and longest >= columns - 1, columns .. ": " .. longest)
    end
    local _, plain = shared.run(words)
    assert.truthy(plain:find(("泵在七号厅 "):rep(8), 1, true))
  end)
end)

describe("the width of a text", function()
  it("counts wide characters twice, and what is put on another not at all", function()
    for text, want in pairs({
      ["abc"] = 3,
      ["七号厅"] = 6,
      ["e\u{301}"] = 1,
      ["한국"] = 4,
      ["ｱ"] = 1,
      ["🚀!"] = 3,
      ["—…"] = 2,
      ["\xff\xfe"] = 2,
      [""] = 0,
    }) do
      assert.are.equal(want, columns_of.of(text), text)
    end
  end)

  it("is what a cut keeps to", function()
    assert.are.equal("七号…", columns_of.cut("七号厅里", 6))
    assert.are.equal("七号厅", columns_of.cut("七号厅", 6))
    assert.are.equal("七…", columns_of.cut("七号厅", 4))
    assert.are.equal("ab…", columns_of.cut("abcd", 3))
    assert.are.equal("", columns_of.cut("abcd", 0))
    for most = 0, 12 do
      assert.is_true(columns_of.of(columns_of.cut("a七e\u{301}号🚀b厅", most)) <= most)
    end
  end)
end)

describe("neap show", function()
  it("prints the exact bytes of the request with --raw", function()
    local words = { table.unpack(SHOW) }
    words[#words + 1] = "--raw"
    local code, out, err = shared.run(words)
    assert.are.equal(0, code, err)
    local requests = { "replay", TRACE, "-p", "tide", "-w", "16000", "--requests", DIR }
    assert.are.equal(0, (shared.run(requests)))
    assert.are.equal(shared.read(DIR .. "/planted/0030.json"), out)
    assert.is_table(core.json.decode(out))
  end)

  it("has no colour where there is no terminal", function()
    local _, out = shared.run(SHOW)
    assert.is_nil(out:find("\27", 1, true))
  end)

  it("is coloured on a terminal, and without the colours is the same", function()
    local out = on_terminal(SHOW, "PAGER=cat")
    if not out then return pending(NONE) end
    local _, plain = shared.run(SHOW)
    assert.truthy(out:find("\27[2m     │ \27[0m", 1, true))
    assert.truthy(out:find("\27[33m", 1, true))
    assert.are.equal(plain, (out:gsub("\27%[%d+m", "")))
  end)

  it("honours NO_COLOR", function()
    local out = on_terminal(SHOW, "PAGER=cat NO_COLOR=1")
    if not out then return pending(NONE) end
    local _, plain = shared.run(SHOW)
    assert.are.equal(plain, out)
  end)

  it("goes through the pager when it is longer than the screen, and only then", function()
    local out = on_terminal(SHOW, "PAGER='head -n 1'")
    if not out then return pending(NONE) end
    assert.are.equal(1, select(2, out:gsub("\n", "")))
    local first = { "show", TRACE, "--turn", "1", "-p", "tide", "--json" }
    out = on_terminal(first, "PAGER='head -n 1'")
    assert.is_true(select(2, out:gsub("\n", "")) > 1)
  end)

  it("is printed when the pager is not there", function()
    local out = on_terminal(SHOW, "PAGER=no-such-pager")
    if not out then return pending(NONE) end
    assert.is_true(select(2, out:gsub("\n", "")) > 100)
  end)
end)

describe("neap watch on a terminal", function()
  it("draws its table", function()
    local words = { "watch", TRACE, "-p", "tide", "-w", "16000", "--rounds", "1" }
    local out = on_terminal(words)
    if not out then return pending(NONE) end
    assert.matches("^policy tide, version 1 .-\ntrace .-\nplanted [^\n]+\n$", out)
  end)
end)

describe("below the table of a replay", function()
  it("stand the heights of the turns and what made them grow", function()
    local _, out = shared.run({ "replay", TRACE, "-p", "tide", "-w", "16000" })
    local form = "\n\n(tokens [^\n]+)\n(grown by [^\n]+)\n(room for [^\n]+)\n$"
    local line, causes, left = out:match(form)
    assert.is_string(line)
    local _, json = shared.run({ "replay", TRACE, "-p", "tide", "-w", "16000", "--json" })
    local most, turn, n = 0, 0, 0
    for row in json:gmatch("[^\n]+") do
      local account = core.json.decode(row)
      if account.tokens and account.tokens > most then most, turn = account.tokens, account.turn end
      n = n + (account.turn and 1 or 0)
    end
    assert.are.equal(n, utf8.len(line:match("^tokens (%S+)")))
    assert.truthy(line:find(("the most in turn %d"):format(turn), 1, true))
    local last = 101
    local count = 0
    for share in causes:gmatch("(%d+%.%d) %%") do
      assert.is_true(tonumber(share) <= last)
      last, count = tonumber(share), count + 1
    end
    assert.are.equal(3, count)
    form = "^room for ([%d,]+) more steps of ([%d,]+) tokens each"
    local steps, per_step = left:match(form)
    assert.is_string(steps, left)
    local less = left:match("; with results of at most 250 tokens: for ([%d,]+)$")
    local number = function(text) return tonumber((text:gsub(",", ""))) end
    assert.is_true(number(per_step) > 0)
    assert.is_true(less == nil or number(less) > number(steps), left)
  end)

  it("are blocks from the lowest to the highest, at most sixty", function()
    assert.are.equal("▁▄█", growth.sparkline({ 0, 50, 100 }))
    assert.are.equal("█", growth.sparkline({ 7 }))
    local many = {}
    for i = 1, 1000 do
      many[i] = i
    end
    assert.are.equal(60, utf8.len(growth.sparkline(many)))
    assert.are.equal("█", growth.sparkline(many):sub(-#"█"))
  end)

  -- What is said after turns that brought results of these shown tokens, and `other` tokens more.
  local function said_after(results, other, room, o)
    local entries, outlook, account, grown = {}, growth.outlook(), { tokens = 100 }, {}
    local session = {}
    function session.entry_count() return #entries end
    function session.kind(_, id) return entries[id].kind end
    function session.entry(_, id) return entries[id] end
    outlook:turn(account, session)
    for i, tokens in ipairs(results) do
      entries[#entries + 1] = { kind = "text", tokens = other, full_tokens = other }
      entries[#entries + 1] = { kind = "result", tokens = tokens, full_tokens = tokens * 20 }
      account = { tokens = account.tokens + tokens + other, rewrite = o and o.rewrite == i or nil }
      outlook:turn(account, session)
      if not account.rewrite then grown[#grown + 1] = tokens + other end
    end
    local n, sum = math.min(8, #grown), 0
    for i = #grown - n + 1, #grown do
      sum = sum + grown[i]
    end
    account.growth = n > 0 and sum // n or 2310
    account.steps_left, account.budget = room // account.growth, account.tokens + room
    return outlook:line(account)
  end

  it("tell the room that is left, one step in the singular", function()
    local form = "room for %s of 2,310 tokens%s before something must go"
    assert.are.equal(form:format("0 more steps", " each"), said_after({}, 0, 0))
    assert.are.equal(form:format("1 more step", ""), said_after({}, 0, 2310))
    assert.are.equal(form:format("2 more steps", " each"), said_after({}, 0, 4620))
  end)

  it("say what shorter results would leave, of what is shown of them", function()
    -- by hand: 1,050 + 50 a turn, of which 250 + 50 would be left; 33,000 / 300
    local same = { 1050, 1050, 1050, 1050, 1050, 1050, 1050, 1050, 1050, 1050 }
    local form = "room for 30 more steps of 1,100 tokens each before something must go; "
      .. "with results of at most 250 tokens: for 110"
    assert.are.equal(form, said_after(same, 50, 33000))
    -- what was cut when it came, however long it had been, is not cut once more
    assert.is_nil(said_after({ 200, 240, 250 }, 50, 33000):find("with results", 1, true))
    -- a giant that came with a rewrite is in neither number
    local giant = { 250, 250, 40000, 250, 250, 250, 250, 250, 250 }
    form = "room for 100 more steps of 300 tokens each before something must go"
    assert.are.equal(form, said_after(giant, 50, 30000, { rewrite = 3 }))
  end)

  it("name the three largest causes, equal ones by their names", function()
    local text = growth.causes({ texts = 10, users = 10, ["results of b"] = 60, calls = 20 })
    assert.are.equal("grown by results of b 60.0 %, calls 20.0 %, texts 10.0 %", text)
    assert.is_nil(growth.causes({}))
  end)
end)

describe("what the core knows of the system", function()
  it("is a file's time to the nanosecond, a clock that goes forward, and waiting", function()
    local st = assert(core.stat("README.md"))
    assert.is_true(st.mtime_ns >= 0 and st.mtime_ns < 1000000000)
    local before = core.ticks_ms()
    core.sleep_ms(2)
    assert.is_true(core.ticks_ms() > before)
    assert.has_error(function()
      core.sleep_ms(-1)
    end)
  end)

  it("is no terminal where there is none", function()
    assert.is_nil(core.terminal(0))
    assert.is_nil(core.terminal(99))
  end)
end)

describe("progress", function()
  it("is silent where standard error is no terminal", function()
    local _, _, err = shared.run({ "replay", TRACE, "-p", "tide", "-w", "16000" })
    assert.are.equal("", err)
    local progress = terminal.progress("x")
    progress(1, 2)
    progress()
  end)
end)

describe("a table on a narrow terminal", function()
  local grid = require("neap.report.grid")
  local ROWS = {
    { "title", "size", "turns" },
    { "a title that says very much of what it is about", "1,000", "10" },
    { "another", "2", "100" },
  }
  local ALIGN = { "l", "r", "r" }

  -- The longest line.
  local function width(text)
    local most = 0
    for line in text:gmatch("[^\n]+") do
      most = math.max(most, utf8.len(line))
    end
    return most
  end

  local function fit(columns)
    local rows, align, gone = grid.fit(ROWS, ALIGN, columns, { "turns", "nothing", "size" })
    return grid.format(rows, align), table.concat(gone, " ")
  end

  it("cuts its words first, then leaves out what is missed the least", function()
    local whole = grid.format(ROWS, ALIGN)
    assert.same({ whole, "" }, { fit(nil) })
    assert.same({ whole, "" }, { fit(width(whole)) })
    for columns = width(whole) - 1, 38, -1 do
      local text, gone = fit(columns)
      assert.equal("", gone)
      assert.equal(columns, width(text))
      assert.truthy(text:find("…", 1, true))
    end
    local text, gone = fit(37)
    assert.equal("turns", gone)
    assert.is_true(width(text) <= 37 and text:find("size", 1, true) ~= nil)
    text, gone = fit(30)
    assert.equal("turns size", gone)
    assert.is_true(width(text) <= 30)
    -- what cannot be made to fit stays as narrow as it gets
    assert.equal(24, width((fit(5))))
    assert.equal("title", ROWS[1][1])
    assert.equal(3, #ROWS[2])
  end)

  it("fits the verbs that print one, and is whole where it is piped", function()
    local words = { "compare", TRACE, "-p", "tide", "-p", "full", "-w", "16000" }
    local out = on_terminal(words, nil, 80)
    if not out then return pending(NONE) end
    local table_text = out:gsub("\r\27%[K", ""):match("\n\n(policy.*)no room for words")
    assert.is_true(width(assert(table_text, out)) <= 80)
    local _, piped = shared.run(words)
    assert.truthy(piped:find("words\n", 1, true))
    assert.is_nil(piped:find("no room", 1, true))
  end)
end)
