-- Logs as Markdown: every line with something on it stands in a message or is kept aside.
-- next: import_yaml_spec.lua
local core = require("neap.core")
local import = require("neap.import")
local shared = require("tests.support.shared")
local json = core.json

local DIR = "tests/cases/import/"
local MARKS = { "⏺", "●", "⎿", "✻ Thinking", "…", "\u{A0}", "# aider chat started at " }

-- Letters and digits alone: marks, indents and joins do not count.
local function bare(text)
  for _, mark in ipairs(MARKS) do
    text = text:gsub(mark, " ")
  end
  return (text:gsub("[^%w\x80-\xFF]+", ""))
end

local function gather(sessions)
  local parts = {}
  local function add(value)
    if type(value) == "string" then parts[#parts + 1] = value end
  end
  for _, session in ipairs(sessions) do
    local meta = session.meta or {}
    add(meta.started)
    for _, one in ipairs(meta.aside or {}) do
      add(json.decode(one.record.raw))
    end
    for _, raw in ipairs(session.messages) do
      local m = json.decode(raw)
      add(m.reasoning)
      add(m.content)
      for _, call in ipairs(m.tool_calls or {}) do
        add(m.meta and m.meta.tool or call["function"].name)
        add(json.decode(call["function"].arguments).input)
      end
    end
  end
  return bare(table.concat(parts, "\n"))
end

local function check(text, sessions)
  local all = gather(sessions)
  for line in text:gmatch("[^\r\n]+") do
    local want = bare(line)
    assert.is_true(all:find(want, 1, true) ~= nil, "lost: " .. line)
  end
end

local function read_all(folder)
  local dir, why = shared.path("traces/" .. folder)
  if not dir then return nil, why end
  local list = {}
  for i, name in ipairs(core.list(dir)) do
    list[i] = assert(shared.read(dir .. "/" .. name))
  end
  return list
end

local POOL = {
  "# aider chat started at 2024-01-02 03:04:05",
  "#### what is w%d  ",
  "#### what is w%d",
  "#### /run w%d  ",
  "#### /drop w%d  ",
  "> w%d tokens  ",
  "> w%d printed",
  "ends w%d  ",
  "```lua",
  "```",
  "# w%d heading",
  "text w%d",
  "  indented w%d",
  "",
  "",
  "   ",
  "⏺ says w%d",
  "⏺ Bash(run w%d)",
  "● Read(w%d.c)…",
  "⏺ Bash(open w%d",
  "⏺ Update Todos",
  "  ⎿  shown w%d",
  "  ⎿ \u{A0}Error w%d",
  "     more w%d",
  "> asks w%d",
  "> /clear w%d",
  "✻ Thinking…",
  "✻ Thinking about w%d",
  "│ box w%d │",
  "漢字 w%d",
}

local function random_text()
  local list = {}
  for i = 1, math.random(40) do
    list[i] = POOL[math.random(#POOL)]:gsub("%%d", tostring(i) .. "x")
  end
  return table.concat(list, "\n") .. "\n"
end

describe("logs as Markdown keep every line", function()
  for _, case in ipairs({ "aider.md", "claude_console.md" }) do
    it("of " .. case, function()
      local text = assert(shared.read(DIR .. case))
      check(text, assert(import.load_text(case, text)))
    end)
  end

  for _, folder in ipairs({ "aider-chat-md", "claude-code-console-md" }) do
    it("of " .. folder, function()
      local list, why = read_all(folder)
      if not list then return pending(why) end
      for _, text in ipairs(list) do
        check(text, assert(import.load_text("x.md", text)))
      end
    end)
  end

  for _, form in ipairs({ "aider", "claude_console" }) do
    it("of random texts, as " .. form, function()
      local seed, read = tonumber(os.getenv("NEAP_SEED")) or os.time(), 0
      math.randomseed(seed)
      for _ = 1, 400 do
        local text = random_text()
        local sessions, why = import.load_text("x", text, { from = form })
        if sessions then
          read = read + 1
          local ok, lost = pcall(check, text, sessions)
          if not ok then
            local what = tostring(lost.message or lost)
            error(("seed %d: %s\n%s"):format(seed, what, text), 0)
          end
        else
          assert.truthy(why:find("holds no", 1, true) or why:find("is empty"), why)
        end
      end
      assert.is_true(read > 200)
    end)
  end

  it("and says which line is not UTF-8", function()
    local text = "# aider chat started at x\n\n#### a  \n\xFF\n"
    local none, why, code = import.load_text("x.md", text)
    assert.is_nil(none)
    assert.are.equal("utf8", code)
    assert.are.equal("x.md:4: byte 1 of the line is not UTF-8", why:sub(1, 39))
    local sessions = assert(import.load_text("x.md", text, { lenient = true }))
    assert.are.equal(1, sessions[1].counts.skipped)
  end)
end)
