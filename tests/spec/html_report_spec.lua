-- The HTML report of neap compare, without a browser: the same bytes however it is made, nothing
-- from elsewhere, hostile text that stays text, data that say what the prompts showed, a size
-- that is kept to. next: html_browser_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local page = require("neap.report.html.page")
local paths = require("neap.paths")
local replay = require("neap.report.replay")
local report_rows = require("neap.report.compare")
local safe = require("neap.report.html.safe")
local compare_report = require("neap.report.compare")
local shared = require("tests.support.shared")
local unpacked = require("tests.support.html_data")
local watch = require("neap.report.html.watch")
local pack = require("neap.report.html.pack")

local json = core.json
local DIR = shared.scratch("html_report")
local ENGLISH = "examples/recordings/english.jsonl"
local CHINESE = "examples/recordings/chinese.jsonl"

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

local function compare(file, ...)
  local words = { "compare", "-w", "16000", "--html", DIR .. "/" .. file, ... }
  local code, out, err = shared.run(words)
  return code, out, err, shared.read(DIR .. "/" .. file)
end

-- The script elements of a page: { attributes, text }.
local function scripts(html)
  local list = {}
  for attributes, text in html:gmatch("<script([^>]*)>(.-)</script>") do
    list[#list + 1] = { attributes = attributes, text = text }
  end
  return list
end

local function blocks(html)
  local by = {}
  for _, one in ipairs(scripts(html)) do
    local id = one.attributes:match('id="(%w+)"')
    if id then by[id] = assert(json.decode(one.text)) end
  end
  return by
end

describe("neap compare --html", function()
  local given = { ENGLISH, CHINESE, "-p", "tide", "-p", "full" }
  local code, out, err, html = compare("page.html", table.unpack(given))

  it("writes the file and prints the table as without it", function()
    assert.equal(0, code, err)
    assert.equal("", err)
    assert.truthy(html)
    local _, plain = shared.run({ "compare", "-w", "16000", table.unpack(given) })
    assert.equal(plain, out)
    assert.is_nil(shared.read(DIR .. "/page.html.part"))
  end)

  it("writes the same bytes again, with -j, and from shards", function()
    local _, _, _, again = compare("again.html", table.unpack(given))
    assert.is_true(again == html, "a second run differs")
    local rc, _, said, parallel = compare("jobs.html", "-j", "2", table.unpack(given))
    assert.equal(0, rc, said)
    assert.is_true(parallel == html, "-j 2 differs")
    local merge = { "--merge" }
    for i = 1, 2 do
      local shard = { "compare", "-w", "16000", "--details", "--shard", i .. "/2" }
      table.move(given, 1, #given, #shard + 1, shard)
      local _, lines = shared.run(shard)
      merge[i + 1] = write("shard" .. i, lines)
    end
    local _, _, _, merged = compare("merged.html", table.unpack(merge))
    assert.is_true(merged == html, "--merge differs")
  end)

  it("says so when lines that are merged hold no details", function()
    local words = { "compare", "-w", "16000", "--shard", "1/1", CHINESE, "-p", "tide" }
    local _, lines = shared.run(words)
    local rc, _, said, merged = compare("bare.html", "--merge", write("bare", lines))
    assert.equal(0, rc)
    assert.matches("give %-%-details with %-%-shard", said)
    assert.matches('id="left%-out">The lines that were put together hold no details', merged)
    assert.is_nil(blocks(merged).g1)
  end)

  it("takes nothing from elsewhere, and its policy allows nothing", function()
    local shell = html:gsub("<script[^>]*>.-</script>", "")
    for _, word in ipairs({ "src=", "@import", "url%(", "<link rel=\"style", "<iframe", "http" }) do
      local at = shell:find(word)
      local is_meta = at and shell:sub(at - 60, at + 60):find("http-equiv", 1, true)
      assert.is_true(not at or is_meta ~= nil, word)
    end
    local policy = html:match('Content%-Security%-Policy" content="([^"]*)"')
    assert.matches("default%-src 'none'", policy)
    assert.is_nil(policy:find("unsafe"))
    local function hash(text)
      return safe.base64((core.sha256(text):gsub("%x%x", function(hex)
        return string.char(tonumber(hex, 16))
      end)))
    end
    local style = html:match("<style>(.-)</style>")
    assert.is_truthy(policy:find("style-src 'sha256-" .. hash(style), 1, true))
    for _, one in ipairs(scripts(html)) do
      if one.attributes == "" then
        assert.is_truthy(policy:find("script-src 'sha256-" .. hash(one.text), 1, true))
      else
        assert.matches('^ type="application/json" id="%w+"$', one.attributes)
      end
    end
  end)

  it("asks neither the clock nor chance, and makes no markup of text", function()
    local code_text
    for _, one in ipairs(scripts(html)) do
      if one.attributes == "" then code_text = one.text end
    end
    for _, word in ipairs({
      "Date", "Math%.random", "performance%.", "innerHTML", "outerHTML", "insertAdjacent",
      "document%.write", "eval%(", "new Function", "fetch%(", "XMLHttp", "import%(",
    }) do
      assert.is_nil(code_text:find(word), word)
    end
  end)

  it("has the table for who has no script", function()
    local body = html:match('<table id="table">(.-)</table>')
    assert.matches("tide", body)
    assert.matches("full %(unbounded%)", body)
    assert.matches("<noscript>", html)
  end)

  it("tells what is wrong with its option", function()
    for _, case in ipairs({
      { { "--html", "-" }, "the report goes to a file" },
      { { "--html", DIR }, "is no file" },
      { { "--html", DIR .. "/none/x.html" }, "/none/x.html: No such file or directory; check" },
      { { "--html", DIR .. "/x.html", "--shard", "1/2" }, "give %-%-html with %-%-merge" },
    }) do
      local rc, _, said = shared.run({ "compare", CHINESE, "-p", "full", table.unpack(case[1]) })
      assert.equal(2, rc)
      assert.matches(case[2], said)
    end
  end)

  it("leaves the old file when the run fails", function()
    local path = write("old.html", "old")
    local rc = shared.run({ "compare", DIR .. "/missing.jsonl", "--html", path })
    assert.equal(2, rc)
    assert.equal("old", shared.read(path))
    assert.is_nil(shared.read(path .. ".part"))
  end)
end)

-- ---- hostile text ---------------------------------------------------------------------------

local EVIL = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>&amp;'\"`"
  .. "\u{2028}\u{2029}\u{202E}\u{0}\u{1B}[31m ]]> {{setting}} %s"

local function hostile_recording()
  local lines = {}
  local function add(message)
    lines[#lines + 1] = json.encode(message, { "role" })
  end
  add({ role = "system", content = EVIL })
  add({ role = "user", content = EVIL .. " ERR_1</script>.txt" })
  for i = 1, 16 do
    local arguments = json.encode({ path = "src/" .. EVIL .. i .. ".c" })
    local f = { name = "read<b>" .. i, arguments = arguments }
    local call = { id = "c" .. i, type = "function", ["function"] = f }
    local seen = i > 12 and "As ERR_" .. (1000 + i - 12) .. " says. " or ""
    add({ role = "assistant", content = seen .. EVIL, tool_calls = json.array({ call }) })
    add({ role = "tool", tool_call_id = "c" .. i, content = "ERR_" .. 1000 + i .. EVIL:rep(40) })
  end
  return table.concat(lines, "\n") .. "\n"
end

describe("a report of hostile recordings", function()
  local trace = write("<img src=x onerror=alert(3)>&'.jsonl", hostile_recording())
  local policy = write("b<b>.lua", [[
return { api = 1, name = "</script><b>", about = "x",
  assemble = function(ctx)
    for e in ctx:entries({ kind = "result", at = "full", except_last = 2 }) do
      e:mask("</script><script>alert(4)</script>\226\128\168")
    end
  end }
]])
  local code, _, err, html = compare("hostile.html", trace, "-p", policy)

  it("has the elements of the page and no others", function()
    assert.equal(0, code, err)
    local n = select(2, html:gsub("<script", ""))
    assert.equal(3, n) -- the head's data, the code, one recording
    assert.equal(3, select(2, html:gsub("</script", "")))
    assert.is_nil(html:find("<img", 1, true))
    assert.is_nil(html:find("<b>", 1, true))
    assert.is_nil(html:find("<!--", 1, true))
    assert.is_nil(html:find("alert(3)>", 1, true))
  end)

  it("has no character that ends a line of script, turns one around or controls", function()
    for _, bytes in ipairs({ "\u{2028}", "\u{2029}", "\u{202E}", "\0", "\27" }) do
      assert.is_nil(html:find(bytes, 1, true))
    end
    assert.is_truthy(core.utf8_valid(html))
  end)

  it("still holds the text, as data", function()
    local by = blocks(html)
    assert.matches("^</script><script>alert%(1%)", by.g1.texts[1])
    local names = table.concat(by.g1.runs[1].run.names, "\n")
    assert.is_truthy(names:find("</script><script>alert(4)", 1, true))
    assert.matches("<img", by.head.groups[1].trace)
  end)
end)

describe("text that is cut", function()
  it("ends with a whole character", function()
    for n = 1, 12 do
      local text = safe.excerpt("aé中😀é中", n)
      assert.is_truthy(core.utf8_valid(text))
      assert.is_nil(text:find("?", 1, true))
    end
    assert.equal("中文", safe.excerpt("中文", 6))
    assert.equal("中…", safe.excerpt("中文", 5))
    assert.equal("?x", safe.excerpt("\xFFx", 10))
  end)
end)

-- ---- data -----------------------------------------------------------------------------------

-- Replays and packs, and beside it writes down what each prompt showed of each entry.
local function packed(path, policy, window)
  local recording = assert(import.load(path, { lean = true }))[1]
  local looker, seen = watch.new(nil, not policy), {}
  local state = assert(replay.run(recording, {
    policy = policy and assert(paths.policy(policy)),
    window = window,
    unbounded = not policy,
    on_turn = function(account, _, s)
      looker:turn(account, s)
      local turn = { tokens = account.tokens, cached = account.cached, epoch = account.epoch }
      turn.regions, turn.step, turn.short = account.regions, account.step, account.overflow
      for id = 1, s:entry_count() do
        local e = s:entry(id)
        turn[id] = e.listed and { e.rung, e.tokens } or { e.rung, 0 }
      end
      seen[#seen + 1] = turn
    end,
    on_measure = function(m)
      looker:measure(m)
    end,
  }))
  local result = looker:result(state.session)
  replay.close(state)
  return result, seen
end

local function same(want, got, form, ...)
  if want ~= got then error(form:format(...) .. (": %s, not %s"):format(got, want), 2) end
end

-- Of each entry in a turn: what the session said, and what the data say.
local function check_turn(run, turn, t)
  for id, state in ipairs(turn) do
    local shown = unpacked.at(run.lives[id], t)
    same(state[2], shown and shown.tokens or 0, "tokens of entry %d in turn %d", id, t)
    local is_absent = state[2] == 0 and shown and shown.rung == "absent"
    if shown and not is_absent then same(state[1], shown.rung, "entry %d in turn %d", id, t) end
  end
end

local function check_run(base, result, seen)
  local core_text = pack.recording(base, { name = "x", form = "native" })
  local run_text, texts = pack.run(result, base, { word = "x" })
  local run = unpacked.run(assert(json.decode(core_text)), assert(json.decode(run_text)))
  assert.equal(#result.entries, #run.entries)
  assert.is_truthy(json.decode(texts))
  for id, e in ipairs(result.entries) do
    for _, field in ipairs({ "kind", "region", "tool", "path", "step", "full", "pair" }) do
      same(e[field], run.entries[id][field], "%s of entry %d", field, id)
    end
  end
  for t, turn in ipairs(seen) do
    local got = run.turns[t]
    same(turn.step, got.step, "step of turn %d", t)
    same(turn.short and turn.short.short, got.short, "what turn %d is short of", t)
    if not turn.short then
      assert.same({ turn.tokens, turn.cached, turn.epoch }, { got.tokens, got.cached, got.epoch })
      for name, tokens in pairs(turn.regions) do
        same(tokens, got.regions[name], "%s in turn %d", name, t)
      end
      check_turn(run, turn, t)
    end
  end
  return run
end

describe("the data of a report", function()
  for _, policy in ipairs({ "tide", "three_tier", "mask_observations", "sliding_window" }) do
    it("say what each prompt of " .. policy .. " showed of each entry", function()
      for _, path in ipairs({ CHINESE, "examples/recordings/planted.jsonl" }) do
        local base = packed(path)
        local result, seen = packed(path, policy, 16000)
        local run = check_run(base, result, seen)
        assert.is_true(#run.own < 60)
      end
    end)
  end

  it("hold turns that did not fit", function()
    local base = packed(ENGLISH)
    local result, seen = packed(ENGLISH, "tide", 700)
    local n = 0
    for _, turn in ipairs(seen) do
      if turn.short then n = n + 1 end
    end
    assert.is_true(n > 0)
    check_run(base, result, seen)
  end)

  it("agree with neap replay on costs, facts not shown, recalls and reasons", function()
    local _, out = shared.run({ "replay", ENGLISH, "-p", "tide", "-w", "16000", "--json" })
    local _, _, _, html = compare("one.html", ENGLISH, "-p", "tide")
    local by, changes, last = blocks(html), 0, nil
    local run = unpacked.run(by.g1.recording, by.g1.runs[1].run)
    for _, life in ipairs(run.lives) do
      for _, change in ipairs(life) do
        if change.why then changes = changes + 1 end
      end
    end
    for line in out:gmatch("[^\n]+") do
      local row = json.decode(line)
      changes = changes - #(row.changed or {})
      if row.facts then last = row end
    end
    local lost, gone, recalls = by.g1.runs[1].run.gone, 0, 0
    for i = 1, #lost, 7 do
      if lost[i + 5] == 0 then gone = gone + 1 end
      if compare_report.number(lost[i + 6]) > 0 then recalls = recalls + 1 end
    end
    assert.is_true(last.facts.gone > 0 and last.facts.pointed > 0)
    assert.equal(last.facts.gone, gone)
    assert.equal(last.facts.gone + last.facts.pointed, #lost // 7)
    assert.equal(last.recalls, recalls)
    assert.equal(0, changes)
  end)
end)

-- The report of two recordings under one policy with so many bytes of details.
local function limited()
  local words = { "compare", "-w", "16000", "--details", "--shard", "1/1", ENGLISH, CHINESE }
  table.move({ "-p", "tide" }, 1, 2, #words + 1, words)
  local _, out = shared.run(words)
  local groups, rows = { {}, {} }, {}
  for text in out:gmatch("[^\n]+") do
    local line = assert(json.decode(text))
    if line.file then table.insert(groups[line.file], line) end
  end
  for c = 1, 4 do -- tide, then the references: the first has no window
    local of, full = { groups[1][c], groups[2][c] }, { groups[1][2], groups[2][2] }
    rows[c] = report_rows.row(of, full)
    rows[c].policy, rows[c].unbounded = of[1].policy, c == 2 or nil
  end
  return function(limit)
    return page.html({ rows = rows, groups = groups, setting = "x", cost = "y", limit = limit })
  end
end

describe("the size of a report", function()
  local report = limited()
  local whole, omission = report(1 << 30)

  it("is kept to by leaving out what is missed least, and that is said", function()
    assert.is_nil(omission)
    local last = #whole
    local shell = #(whole:gsub('<script type="application/json" id="g.-</script>', ""))
    for _, case in ipairs({
      { 140000, "20 MB: what stands in place of entries, and texts of summaries%.$" },
      { 60000, "and the texts of entries%.$" },
      { 30000, "the details of the largest recording; plot and table count them%.$" },
      { 10, "Also left out: the details of the 2 largest recordings" },
    }) do
      local html, said = report(case[1])
      assert.matches(case[2], said)
      assert.is_truthy(html:find('id="left-out"', 1, true))
      assert.is_true(#html < last and #html < shell + case[1] + 1000)
      last = #html
    end
    local fewer = blocks((report(30000)))
    assert.is_nil(fewer.g1)
    assert.is_truthy(fewer.g2)
  end)
end)

-- ---- looks ----------------------------------------------------------------------------------

local function luminance(hex)
  local sum = 0
  for i, weight in ipairs({ 0.2126, 0.7152, 0.0722 }) do
    local c = tonumber(hex:sub(2 * i, 2 * i + 1), 16) / 255
    sum = sum + weight * (c <= 0.04045 and c / 12.92 or ((c + 0.055) / 1.055) ^ 2.4)
  end
  return sum
end

local function contrast(a, b)
  local x, y = luminance(a), luminance(b)
  return (math.max(x, y) + 0.05) / (math.min(x, y) + 0.05)
end

describe("the colours of a report", function()
  local css = assert(shared.read("lua/neap/report/html/page.css"))
  local themes = {}
  for body in css:gmatch("{([^{}]*%-%-page:[^{}]*)}") do
    local theme = {}
    for name, hex in body:gmatch("%-%-([%w-]+): (#%x%x%x%x%x%x)") do
      theme[name] = hex
    end
    themes[#themes + 1] = theme
  end

  it("are the same for who prefers dark and who chooses it", function()
    assert.equal(3, #themes)
    assert.same(themes[2], themes[3])
  end)

  it("have the contrast that text and marks need", function()
    for i, theme in ipairs(themes) do
      for name, hex in pairs(theme) do
        local is_text = name == "text" or name == "soft" or name == "accent"
        local least = is_text and 4.5 or 3
        if name ~= "page" and name ~= "panel" and name ~= "line" then
          local ratio = contrast(hex, theme.page)
          assert.is_true(ratio >= least, ("%s of theme %d: %.2f"):format(name, i, ratio))
        end
        if is_text then
          local ratio = contrast(hex, theme.panel)
          assert.is_true(ratio >= least, ("%s on panels of theme %d: %.2f"):format(name, i, ratio))
        end
      end
    end
  end)

  it("move nothing", function()
    for _, word in ipairs({ "transition", "animation", "@keyframes", "smooth" }) do
      assert.is_nil(css:find(word, 1, true), word)
    end
  end)
end)
