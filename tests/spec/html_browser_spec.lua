-- The HTML report in a browser: what is drawn, clicks, keys, both themes, a phone's width, hostile
-- text. Skipped where there is no chromium with its chromedriver. next: cli_terminal_spec.lua
local core = require("neap.core")
local browser = require("tests.support.browser")
local shared = require("tests.support.shared")

local json = core.json
local DIR = shared.scratch("html_browser")
local ENGLISH = "examples/recordings/english.jsonl"
local CHINESE = "examples/recordings/chinese.jsonl"
local PLANTED = "examples/recordings/planted.jsonl"

local function write(name, text)
  local path = DIR .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

-- The address of a page of these recordings and policies.
local function made(name, ...)
  local path = DIR .. "/" .. name
  local code, _, err = shared.run({ "compare", "-w", "16000", "--html", path, ... })
  assert(code == 0, err)
  return browser.url(path)
end

local page, why = browser.start(shared.scratch("html_browser_profile"))

-- A case that needs the browser, or says why it is skipped.
local function on_page(name, body)
  it(name, function()
    if not page then return pending(why) end
    body()
  end)
end

local function silent()
  assert.same({}, page:console())
end

local function open(url, width, height)
  page:size(width or 1100, height or 900)
  page:open("about:blank")
  page:console()
  page:open(url)
  page:wait("document.readyState === 'complete' && document.getElementById('cell-words')")
end

local function text(id)
  return page:run(("return document.getElementById('%s').textContent"):format(id))
end

local function focus(id)
  page:run(("document.getElementById('%s').focus()"):format(id))
end

local function focused()
  return page:run([[
    const a = document.activeElement;
    return a.id || a.getAttribute('role') || a.tagName]])
end

-- Text of the plot and of the picture of tokens that lies on other text, or outside the window.
local CLASHES = [[
  const out = [], wide = document.documentElement.clientWidth;
  for (const id of ["plot", "area"]) {
    const list = [...document.querySelectorAll(`#${id} svg text`)]
      .map((n) => [n.textContent, n.getBoundingClientRect()]);
    list.forEach(([a, r], i) => {
      if (r.left < -1 || r.right > wide + 1) out.push(`${id}: ${a} is cut`);
      if (r.height < 9) out.push(`${id}: ${a} is tiny`);
      for (const [b, s] of list.slice(i + 1)) {
        const w = Math.min(r.right, s.right) - Math.max(r.left, s.left);
        const h = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
        if (w > 2 && h > 4) out.push(`${id}: ${a} lies on ${b}`);
      }
    });
  }
  return out;
]]

-- What can be operated and has no name.
local NAMELESS = [[
  const out = [], roles = ["button", "slider", "application", "region"].map((r) => `[role=${r}]`);
  for (const node of document.querySelectorAll(["button", "select", "input", ...roles].join())) {
    const by = (node.getAttribute("aria-labelledby") || "").split(" ")
      .map((id) => id && document.getElementById(id));
    const names = [node.getAttribute("aria-label"), node.tagName === "BUTTON" && node.textContent,
      node.labels && node.labels[0] && node.labels[0].textContent,
      ...by.map((n) => n && n.textContent)];
    if (!names.some((n) => n && n.trim())) out.push(node.outerHTML.slice(0, 80));
  }
  return out;
]]

describe("the report in a browser", function()
  local given = { ENGLISH, CHINESE, PLANTED, "-p", "tide", "-p", "three_tier", "-p", "full" }
  table.move({ "-p", "mask_observations" }, 1, 2, #given + 1, given)
  local url = page and made("page.html", table.unpack(given))

  on_page("draws a point for each row, and says nothing on the console", function()
    open(url .. "#r=1&p=1&t=40&e=20")
    silent()
    assert.equal(7, page:run("return document.querySelectorAll('#plot .point').length"))
    assert.equal("english under tide", text("run-title"))
    assert.is_true(page:run([[
      const c = document.querySelector('#grid canvas'), seen = new Set();
      const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      for (let i = 0; i < d.length; i += 4) seen.add(`${d[i]},${d[i + 1]},${d[i + 2]}`);
      return seen.size > 5;
    ]]))
    silent()
  end)

  on_page("says of a turn what neap replay says of it", function()
    local _, out = shared.run({ "replay", ENGLISH, "-p", "tide", "-w", "16000", "--json" })
    local n = 0
    open(url .. "#r=1&p=1&t=40&e=20")
    for line in out:gmatch("[^\n]+") do
      local row = json.decode(line)
      if row.turn and (row.turn % 23 == 1 or #row.changed > 0) then
        page:run(("location.hash = '#r=1&p=1&t=%d&e=20'"):format(row.turn))
        local title = "document.getElementById('turn-title').textContent.endsWith(' %d')"
        page:wait(title:format(row.turn))
        local words = text("turn-words"):gsub(",(%d)", "%1")
        local form = "turn %d: %d of %d tokens, %d from the cache, epoch %d"
        local begin = form:format(row.turn, row.tokens, row.budget, row.cached, row.epoch)
        assert.equal(begin, words:sub(1, #begin))
        for name, tokens in pairs(row.regions) do
          assert.is_truthy(words:find(("%s %d"):format(name, tokens), 1, true), words)
        end
        n = n + 1
      end
    end
    assert.is_true(n > 5)
  end)

  on_page("tells the life of an entry as neap explain does", function()
    local _, out = shared.run({ "explain", ENGLISH, "20", "-p", "tide", "-w", "16000", "--json" })
    local life = json.decode(out)
    open(url .. "#r=1&p=1&t=40&e=20")
    local words = text("entry-body")
    local came = ("turn %d: first in a prompt"):format(life.first_turn)
    assert.is_truthy(words:find(came, 1, true), words)
    for _, change in ipairs(life.changes) do
      local form = ("turn %d: %s → %s"):format(change.turn, change.from, change.to)
      assert.is_truthy(words:find(form, 1, true), form)
      assert.is_truthy(words:find(change.by, 1, true), change.by)
    end
    for _, c in ipairs(life.cited_by) do
      assert.is_truthy(words:find(("entry %d cites"):format(c.by), 1, true), c.by)
    end
  end)

  on_page("tells of what was pointed at who points, and what reading it costs", function()
    local pointers = made("pointers.html", ENGLISH, "-p", "pointers")
    open(pointers .. "#r=1&p=1")
    local _, out = shared.run({ "replay", ENGLISH, "-p", "pointers", "-w", "16000", "--json" })
    local line = json.decode(out:match("([^\n]+)\n$"))
    local facts = line.facts
    page:click("#far")
    local rows = "return document.querySelectorAll('#gone-body tbody tr').length"
    local choose = [[const s = document.getElementById('lost'); s.value = '%s';
      s.dispatchEvent(new Event('change'))]]
    assert.is_true(facts.pointed > 0 and facts.gone > 0 and facts.pointed < 200)
    page:run(choose:format("pointed"))
    assert.equal(facts.pointed, page:run(rows))
    local priced = [[return [...document.querySelectorAll('#gone-body tbody td:nth-child(7)')]
      .filter((td) => /^[0-9,]+$/.test(td.textContent)).length]]
    assert.equal(line.recalls, page:run(priced))
    page:run(choose:format("gone"))
    assert.equal(facts.gone, page:run(rows))
    local words = text("gone-words")
    local want = "%d gone, %d pointed at: %d reads"
    want = want:format(facts.gone, facts.pointed, line.recalls)
    assert.is_truthy(words:find(want, 1, true), words)
    page:run(choose:format("pointed"))
    page:click("#gone-body tbody td:nth-child(6) button")
    local pointer = "return document.querySelector('#gone-body td:nth-child(6) button').textContent"
    local title = "document.getElementById('entry-title').textContent === 'The life of entry %s'"
    page:wait(title:format(page:run(pointer)))
    silent()
  end)

  on_page("lists the facts that were gone, as many as the table counts", function()
    open(url .. "#r=1&p=3")
    local _, out = shared.run({ "replay", ENGLISH, "-p", "full", "-w", "16000", "--json" })
    local facts = json.decode(out:match("([^\n]+)\n$")).facts
    local far = 0
    for class, of_class in pairs(facts.by_distance) do
      if class ~= "1-3" and class ~= "4-10" then far = far + of_class.gone end
    end
    local rows = "return document.querySelectorAll('#gone-body tbody tr').length"
    page:run([[const s = document.getElementById('lost'); s.value = 'gone';
      s.dispatchEvent(new Event('change'))]])
    assert.equal(far, page:run(rows))
    page:click("#far")
    assert.equal(facts.gone, page:run(rows))
  end)

  on_page("answers to clicks: names, points, headers, choices, cells", function()
    open(url .. "#r=1&p=1&t=40&e=20")
    page:click("#table tbody tr:nth-child(2) button")
    assert.equal("english under three_tier", text("run-title"))
    assert.matches("p=2", page:run("return location.hash"))
    page:click("#plot .point:nth-of-type(5)")
    assert.matches("^english under ", text("run-title"))
    page:click("#after")
    assert.matches("^chinese under ", text("run-title"))
    page:click("#table thead th:nth-child(3) button")
    local sorted = [[
      const cells = [...document.querySelectorAll('#table tbody td:nth-child(3)')];
      const v = cells.map((c) => Number(c.dataset.value));
      return v.every((x, i) => !i || v[i - 1] <= x)]]
    assert.is_true(page:run(sorted))
    page:run("document.getElementById('grid').scrollIntoView({ block: 'center' })")
    local at = page:run([[
      const r = document.getElementById('grid').getBoundingClientRect();
      return [r.left, r.top].map(Math.round)]])
    page:click_at(at[1] + 300, at[2] + 120)
    assert.matches("^entry %d+, .-; turn %d+: ", text("cell-words"))
    local entry = text("cell-words"):match("^entry (%d+)")
    assert.equal("The life of entry " .. entry, text("entry-title"))
    silent()
  end)

  on_page("is operated by keys alone", function()
    open(url .. "#r=1&p=1&t=40&e=20")
    local seen = {}
    for _ = 1, 60 do
      page:keys("Tab")
      seen[focused()] = true
      local outline = page:run([[
        const a = document.activeElement, halo = a.querySelector(':scope > .halo');
        const of = getComputedStyle(a);
        return (of.outlineStyle !== 'none' && parseFloat(of.outlineWidth) >= 2)
          || Boolean(halo && getComputedStyle(halo).stroke !== 'none')]])
      assert.is_true(outline, "the focus is not seen on " .. focused())
    end
    for _, id in ipairs({ "theme", "basis", "recording", "policy", "by", "area", "grid" }) do
      assert.is_true(seen[id], id .. " is not reached")
    end
    focus("area")
    page:keys("Right", "Right", "Left", "PageUp")
    local value = "return document.getElementById('area').getAttribute('aria-value%s')"
    assert.equal("51", page:run(value:format("now")))
    assert.matches("^turn 51: ", page:run(value:format("text")))
    page:keys("Home")
    assert.matches("t=1&", page:run("return location.hash"))
    focus("grid")
    page:keys("End", "Down", "Down", "Up", "Left")
    assert.matches("^entry 21, .-; turn 104: ", text("cell-words"))
    page:keys("p")
    assert.matches("^entry 21, ", text("cell-words"))
    page:keys("Enter")
    assert.equal("entry", focused())
    focus("grid")
    page:keys("t")
    assert.equal("turn", focused())
    page:run("document.querySelector('#plot .point[tabindex=\"0\"]').focus()")
    local before = text("run-title")
    page:keys("Right")
    assert.are_not.equal(before, text("run-title"))
    assert.equal("button", focused())
    silent()
  end)

  on_page("has a name for all that can be operated", function()
    open(url .. "#r=1&p=1&t=40&e=20")
    assert.same({}, page:run(NAMELESS))
  end)

  on_page("is light and dark, as the system says and as is chosen", function()
    local back = "return getComputedStyle(document.body).backgroundColor"
    page:prefers("dark")
    open(url)
    assert.equal("rgb(20, 22, 26)", page:run(back))
    silent()
    page:click("#theme")
    assert.equal("rgb(255, 255, 255)", page:run(back))
    page:prefers("light")
    open(url)
    assert.equal("rgb(255, 255, 255)", page:run(back))
    page:click("#theme")
    assert.equal("rgb(20, 22, 26)", page:run(back))
  end)

  on_page("moves nothing", function()
    page:prefers("light", true)
    open(url)
    page:click("#after")
    assert.equal(0, page:run("return document.getAnimations().length"))
  end)

  on_page("fits a phone and a wide screen, no name lies on another", function()
    for _, width in ipairs({ 360, 700, 1100, 1700 }) do
      for _, basis in ipairs({ "sum", "one" }) do
        open(url .. "#r=1&p=2&t=40&e=20", width, 800)
        local script = "const s = document.getElementById('basis'); s.value = '%s'; "
          .. "s.dispatchEvent(new Event('change'))"
        page:run(script:format(basis))
        assert.same({}, page:run(CLASHES), width .. " px, " .. basis)
        local fits = page:run("return document.documentElement.scrollWidth <= innerWidth")
        assert.is_true(fits, width .. " px")
      end
    end
    silent()
  end)

  on_page("names epochs where there is room, the first with its word", function()
    local many = made("epochs.html", ENGLISH, CHINESE, "-p", "mask_observations", "-p", "tide")
    local boxes = [[return [...document.querySelectorAll('#area text')]
      .filter((n) => n.y.baseVal[0].value < 30)
      .map((n) => [n, n.getBBox()])
      .map(([n, b]) => [Math.floor(b.x), Math.ceil(b.x + b.width), n.textContent])]]
    for _, at in ipairs({ "#r=1&p=1", "#r=2&p=1", "#r=1&p=2", "#r=2&p=2" }) do
      for _, width in ipairs({ 360, 1100 }) do
        open(many .. at, width, 800)
        local list = page:run(boxes)
        local wide = page:run("return document.getElementById('area').clientWidth")
        assert.is_truthy(list[1][3]:find("^epoch %d+$"), list[1][3])
        for i, box in ipairs(list) do
          local before = list[i - 1]
          assert.is_true(not before or before[2] < box[1], at .. " " .. box[3])
          assert.is_true(box[2] <= wide + 1, at .. " " .. box[3])
        end
      end
    end
    silent()
  end)

  on_page("names points that lie close together, or gives them their numbers", function()
    local sweep = "keep=3,4,5,6,7,8,9,10,11,12,14,16"
    local close = made("close.html", CHINESE, "-p", "mask_observations", "--sweep", sweep)
    for _, width in ipairs({ 360, 1100 }) do
      open(close, width, 800)
      assert.same({}, page:run(CLASHES), width .. " px")
      assert.equal(15, page:run("return document.querySelectorAll('#plot .point').length"))
    end
  end)

  on_page("keeps text of recordings text", function()
    local evil = "</script><script>window.pwned = 1</script>"
      .. "<img src=x onerror='window.pwned = 2'>\u{2028}"
    local lines = { json.encode({ role = "user", content = evil }, { "role" }) }
    for i = 1, 14 do
      local f = { name = "read" .. evil, arguments = json.encode({ path = evil .. i }) }
      local call = { id = "c" .. i, type = "function", ["function"] = f }
      local message = { role = "assistant", content = evil, tool_calls = json.array({ call }) }
      lines[#lines + 1] = json.encode(message, { "role" })
      message = { role = "tool", tool_call_id = "c" .. i, content = evil:rep(60) }
      lines[#lines + 1] = json.encode(message, { "role" })
    end
    local name = "<img src=x onerror='window.pwned = 3'>.jsonl"
    local trace = write(name, table.concat(lines, "\n") .. "\n")
    local at = made("hostile.html", trace, "-p", "mask_observations", "-p", "three_tier")
    open(at .. "#r=1&p=1&t=14&e=5")
    silent()
    assert.is_true(page:run("return window.pwned === undefined"))
    assert.equal(0, page:run("return document.querySelectorAll('img').length"))
    local shown = page:run("return document.querySelector('#entry-body pre').textContent")
    assert.matches("^</script><script>window", shown)
    for _ = 1, 20 do
      focus("grid")
      page:keys("Down")
    end
    page:click("#table tbody tr:nth-child(2) button")
    assert.is_true(page:run("return window.pwned === undefined"))
    silent()
  end)

  on_page("stays quick with two thousand entries over five hundred turns", function()
    local lines = { '{"role":"user","content":"Read all of them."}' }
    for i = 1, 500 do
      local calls = json.array({})
      local f = { name = "read", arguments = json.encode({ path = ("src/f%d.c"):format(i) }) }
      calls[1] = { id = "c" .. i, type = "function", ["function"] = f }
      local message = { role = "assistant", content = "Next is " .. i, tool_calls = calls }
      lines[#lines + 1] = json.encode(message, { "role" })
      local content = ("E%d words "):format(i):rep(20)
      message = { role = "tool", tool_call_id = "c" .. i, content = content }
      lines[#lines + 1] = json.encode(message, { "role" })
      lines[#lines + 1] = '{"role":"user","content":"Go on."}'
    end
    lines[#lines + 1] = '{"role":"assistant","content":"Done."}'
    local trace = write("large.jsonl", table.concat(lines, "\n") .. "\n")
    open(made("large.html", trace, "-p", "tide") .. "#r=1&p=1&t=400&e=1500")
    silent()
    -- no more is drawn than what is in sight: the canvas is as large as its frame
    local is_small = page:run([[
      const c = document.querySelector('#grid canvas');
      return c.height <= 900 && c.width <= 1200]])
    assert.is_true(is_small)
    assert.matches("^entry 1500, .-; turn 400: ", text("cell-words"))
    local rows = "return document.querySelectorAll('#turn-body tbody tr').length"
    assert.is_true(page:run(rows) <= 201)
  end)

  if page then teardown(function()
    page:stop()
  end) end
end)
