-- neap check: each finding has a policy that shows it, shipped policies have none, the walk over
-- the text agrees with Lua's own compiler, and the session it plays holds all it claims to.
local core = require("neap.core")
local dryrun = require("neap.check.dryrun")
local lint = require("neap.check.lint")
local scopes = require("neap.check.scopes")
local shared = require("tests.support.shared")

local json = core.json
local dir = shared.scratch("check")

local function write(name, text)
  local path = dir .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

-- A policy whose hooks are `text`, its findings as lines "LEVEL LINE what", and its row.
local function check(text, name)
  local path = write(name or "p.lua", text)
  local code, out, err = shared.run({ "check", path, "--json" })
  local row = assert(json.decode(out), err)
  local lines = {}
  for i, f in ipairs(row.findings) do
    lines[i] = ("%s %s %s"):format(f.level, f.line, f.what)
    assert.are.equal(path, f.file)
  end
  return code, lines, row
end

-- The same of the text alone, which is not played.
local function read(text)
  local path = write("p.lua", text)
  local engine = assert(core.engine({ data = core.data_dir(), fixed_secret = true }))
  local session, why = engine:session({ name = "check", policy = path, no_reload = true })
  assert(session, why)
  local source, names = session:policy_table(), {}
  source.sources = json.decode(source.sources)
  for name in pairs(json.decode(session:policy().options)) do
    names[#names + 1] = name
  end
  table.sort(names)
  source.option_names = names
  session:close()
  engine:close()
  local lines, code = {}, 0
  for i, f in ipairs(lint.look(path, source)) do
    lines[i] = ("%s %s %s"):format(f.level, f.line, f.what)
    if f.level == "error" then code = 1 end
  end
  return code, lines, {}
end

-- The text of a policy, and what is found in it: all of it. Cases are played where playing is what
-- finds something.
local CASES = {
  {
    "a global that is written",
    "return { api = 1, assemble = function(ctx)\n  count = 1\nend }",
    1,
    "error 2 global 'count' is written, which fails; write local, or keep it in ctx.state",
  },
  {
    played = true,
    "a global function",
    "function helper() end\nreturn { api = 1 }",
    1,
    "p.lua:1: global 'helper' cannot be written; write local, or keep it in ctx.state",
  },
  {
    "a global that does not exist",
    "return { api = 1, assemble = function(ctx)\n  if jit then ctx:log(1) end\nend }",
    0,
    "warning 2 global 'jit' is not known, and is nil; there are assert, error, ",
  },
  {
    "print",
    "return { api = 1, rank = function(ctx, e)\n  if e.id < 0 then print(e.id) end\n"
      .. "  return 1 end }",
    0,
    "warning 2 global 'print' is not known, and is nil; use ctx:log(…)",
  },
  {
    "a name of a library",
    "return { api = 1, assemble = function(ctx)\n  if not ctx then math.random() end\nend }",
    0,
    "warning 2 math.random is not known, and is nil; use ctx.random(…), which is recorded",
  },
  {
    "a field of the context",
    "return { api = 1, assemble = function(ctx)\n  if ctx.step < 0 then\n"
      .. "ctx:log(ctx.tokns) end end }",
    1,
    "error 3 ctx has no 'tokns'; did you mean tokens?",
  },
  {
    played = true,
    "a method of the context, told once though the hook fails too",
    "return { api = 1, assemble = function(ctx)\n\n  ctx:shrnk(10) end }",
    1,
    "error 3 ctx has no 'shrnk'; did you mean shrink?",
  },
  {
    "a field of an entry of a loop",
    "return { api = 1, assemble = function(ctx)\n  for e in ctx:entries { at = 'dropped' } do\n"
      .. "    ctx:log(e.citation)\n  end end }",
    1,
    "error 3 an entry has no 'citation'; did you mean citations?",
  },
  {
    "a field of an entry that came by a local",
    "local function admit(_, entry)\n  return entry.knd == 1\nend\n"
      .. "return { api = 1, admit = admit }",
    1,
    "error 2 an entry has no 'knd'; did you mean kind?",
  },
  {
    "a field of a span",
    "return { api = 1, compact = function(ctx)\n  local s = ctx:span { from = 1 }\n"
      .. "  if ctx.step < 0 then ctx:log(s.size) end end }",
    1,
    "error 3 a span has no 'size'; there are atoms, entries, merged, steps, tokens",
  },
  {
    "a field of the economy",
    "return { api = 1, assemble = function(ctx)\n  local price = ctx.economy.floors\n"
      .. "  ctx:log(price) end }",
    1,
    "error 2 ctx.economy has no 'floors'; did you mean floor?",
  },
  {
    "an argument of a filter",
    "return { api = 1, assemble = function(ctx)\n  if ctx.step < 0 then\n"
      .. "    ctx:entries { kind = 'result',\n      exept_last = 3 } end end }",
    1,
    "error 4 entries has no argument 'exept_last'; did you mean except_last?",
  },
  {
    "an argument of trim",
    "return { api = 1, admit = function(ctx, e)\n  if ctx.step < 0 then\n"
      .. " e:trim { token = 3 } end end }",
    1,
    "error 3 trim has no argument 'token'; did you mean tokens?",
  },
  {
    "a field that cannot be set",
    "return { api = 1, admit = function(ctx, e)\n  if ctx.step < 0 then\n"
      .. "e.rung = 'masked' end end }",
    1,
    "error 3 field 'rung' of an entry cannot be set; use its methods, or ctx.state",
  },
  {
    "an option that nobody reads",
    "return { api = 1,\n  options = { keep = 3,\n    slack = { default = 1 } },\n"
      .. "  assemble = function(ctx, o) ctx:log(o.keep) end }",
    0,
    "warning 3 option 'slack' is never read; read o.slack, or leave it out",
  },
  {
    "an option that is not declared",
    "return { api = 1, options = { keep = 3 }, assemble = function(ctx, o)\n"
      .. "  if ctx.step < 0 then ctx:log(o.keep, o.kep) end end }",
    1,
    "error 2 option 'kep' is read but not declared; did you mean keep?",
  },
  {
    "two letters swapped, which are one edit: nearer than two that are changed",
    "return { api = 1, options = { max = 9, min = 3 }, assemble = function(ctx, o)\n"
      .. "  if ctx.step < 0 then ctx:log(o.max, o.min, o.mni) end end }",
    1,
    "error 2 option 'mni' is read but not declared; did you mean min?",
  },
  {
    "no option that is read by a computed name",
    "return { api = 1, options = { a = 1, b = 2 }, assemble = function(ctx, o)\n"
      .. "  for _, name in ipairs { 'a', 'b' } do ctx:log(o[name]) end end }",
    0,
  },
  {
    "no option that a helper reads",
    "local function least(options) return options.keep end\n"
      .. "return { api = 1, options = { keep = 3 },\n"
      .. "  assemble = function(ctx, o) ctx:log(least(o)) end }",
    0,
  },
  {
    "an option that is written",
    "return { api = 1, options = { keep = 3 }, assemble = function(ctx, o)\n"
      .. "  o.keep = o.keep + 1 end }",
    0,
    "warning 2 option 'keep' is written, which lasts for this call only; use a local",
  },
  {
    "a recall hook without the tool",
    "return { api = 1,\n  recall = function(ctx, query) return {} end }",
    0,
    "warning 2 hook 'recall' never runs, the model has no neap_recall; add tools = { \"recall\" }",
  },
  {
    "a rank that nothing asks",
    "return { api = 1, rank = function() return 1 end,\n"
      .. "  overflow = function(ctx) for e in ctx:entries() do e:mask() end end }",
    0,
    "warning 1 hook 'rank' never runs, nothing shrinks: overflow is the policy's own; "
      .. "call ctx:shrink",
  },
  {
    "a migrate without a version",
    "return { api = 1,\n\n  migrate = function(old) return old end }",
    0,
    "warning 3 hook 'migrate' never runs while no state_version is set; set one",
  },
  {
    "a loop over next",
    "return { api = 1, assemble = function(ctx)\n"
      .. "  for k, v in next, ctx.state do ctx:log(k, v) end end }",
    0,
    "warning 2 each step of next walks the whole table; use pairs",
  },
  {
    played = true,
    "a field of the policy, by the loader",
    "return { api = 1, asemble = 7 }",
    1,
    "field 'asemble' is not known; did you mean 'assemble'?",
  },
  {
    played = true,
    "an option out of its range, by the loader",
    "return { api = 1, options = { keep = { default = 0, min = 1 } } }",
    1,
    "option 'keep'",
  },
  {
    played = true,
    "a hook that fails on what only some sessions hold",
    "return { api = 1, admit = function(ctx, e)\n  if e.kind == 'image' then error('ha') end end }",
    1,
    "error 2 ha (openai, window 64000, turn 1)",
  },
  {
    played = true,
    "a policy that pins too much",
    "return { api = 1, admit = function(ctx, e) e:pin() end }",
    0,
    "of the prompts played do not fit, the first by ",
  },
  {
    played = true,
    "a hook that never ends",
    "return { api = 1, overflow = function(ctx)\n  while true do end end }",
    1,
    "error 2 more than 5000000 instructions in one call; do less at a time (",
  },
}

describe("neap check", function()
  for _, case in ipairs(CASES) do
    local what, text, exit, want = table.unpack(case)
    it("finds " .. what, function()
      local code, lines, row = (case.played and check or read)(text)
      local all = table.concat(lines, "\n") .. (row.fault or "")
      assert.are.equal(exit, code, all)
      assert.are.equal(want and 1 or 0, #lines, all)
      if want then assert.is_truthy(all:find(want, 1, true), all) end
    end)
  end

  it("finds nothing in the shipped policies", function()
    local names = {}
    for _, name in ipairs(assert(core.list("policies"))) do
      if name:find("%.lua$") then names[#names + 1] = "policies/" .. name end
    end
    assert.is_true(#names >= 8)
    local code, out, err = shared.run({ "check", table.unpack(names) })
    assert.are.equal("", err)
    assert.are.equal(0, code)
    assert.is_nil(out:find("warning", 1, true))
  end)

  it("finds what is wrong in modules, in their own files", function()
    os.execute("mkdir -p " .. dir .. "/lib")
    local text = "local M = {}\nfunction M.of(ctx)\n  return ctx.stap\nend\nreturn M"
    local module = write("lib/worth.lua", text)
    text = "local w = require 'lib.worth'\nreturn { api = 1, rank = function(ctx)\n"
      .. "  return ctx.step < 0 and w.of(ctx) or 1 end }"
    local path = write("uses.lua", text)
    local code, _, err = shared.run({ "check", path })
    assert.are.equal(1, code)
    assert.are.equal(("neap: %s:3: ctx has no 'stap'; did you mean step?\n"):format(module), err)
  end)

  it("prints a line a finding and says whether it is a warning", function()
    local path = write("warned.lua", "return { api = 1, options = { keep = 3 } }")
    local code, out, err = shared.run({ "check", path })
    assert.are.equal(0, code)
    local want = "neap: %s:1: warning: option 'keep' is never read; read o.keep, or leave it out\n"
    assert.are.equal(want:format(path), err)
    assert.is_truthy(out:find("ok, 0 examples, 1 warning; sha256", 1, true), out)
  end)

  it("counts the same instructions every time, and more of them for more work", function()
    local form = "return { api = 1, admit = function(ctx, e)\n local n = 0\n"
      .. "for i = 1, %d do n = n + i end end }"
    local _, _, ten = check(form:format(10))
    local _, _, again = check(form:format(10))
    local _, _, hundred = check(form:format(110))
    assert.are.same(ten.costs, again.costs)
    local a, b = ten.costs[1], hundred.costs[1]
    assert.are.equal("admit", a.hook)
    assert.is_true(a.calls > 950 and a.calls <= 1000, a.calls)
    assert.are.equal(200 * a.calls, b.instructions - a.instructions) -- two a round
    assert.are.equal(a.most * a.calls, a.instructions)
  end)
end)

describe("the session that neap check plays", function()
  -- Conditions on entries, each of which some entry must fulfil in every format.
  local CONDITIONS = {
    "e.kind == 'user'",
    "e.kind == 'text'",
    "e.kind == 'thought'",
    "e.kind == 'call'",
    "e.kind == 'result'",
    "e.kind == 'image'",
    "e.kind == 'result' and e.full_tokens > 6000",
    "e.kind == 'result' and e.repeated_by",
    "e.kind == 'user' and e.text:find('订单号', 1, true)",
    "e.kind == 'result' and e.text:find('水泵', 1, true)",
    "e.kind == 'text' and e.text:find('[neap·abcd', 1, true)",
    "e.kind == 'result' and e.text:find('\\27', 1, true)",
    "e.citations > 1",
    "e.kind == 'call' and e.tool == 'bash'",
    "(ctx.drift or 0) > 0.9",
    "ctx.step > 30 and (ctx.drift or 1) < 0.5", -- a side issue that ends
  }
  local ERROR = "e.is_error" -- where the format has a place for it

  -- The policy logs the number of each condition that an entry fulfils.
  local function policy()
    local text = { "return { api = 1, assemble = function(ctx)\n  for e in ctx:entries() do" }
    for i = 1, #CONDITIONS + 1 do
      text[i + 1] = ("    if %s then ctx:log(%d) end"):format(CONDITIONS[i] or ERROR, i)
    end
    text[#text + 1] = "  end\nend }"
    return table.concat(text, "\n")
  end

  it("holds all that a session may hold, in five formats and three windows", function()
    local seen, runs = {}, {}
    local path = write("looks.lua", policy())
    local faults = assert(dryrun.play(path, function(account, run)
      for _, line in ipairs(account.log or {}) do
        seen[run.format .. " " .. line] = true
      end
      runs[run.format .. " " .. run.window] = true
    end))
    assert.are.equal(0, #faults)
    for _, format in ipairs({ "openai", "responses", "anthropic", "gemini", "text" }) do
      for i, condition in ipairs(CONDITIONS) do
        local none = (format == "text" or format == "openai") and condition:find("thought", 1, true)
        local is_there = seen[format .. " " .. i]
        if not none then assert.is_true(is_there, format .. ": " .. condition) end
      end
      for _, window in ipairs({ 64000, 16000, 6000 }) do
        assert.is_true(runs[("%s %d"):format(format, window)])
      end
    end
    assert.is_true(seen["anthropic " .. #CONDITIONS + 1])
  end)

  it("overflows, sums up, is declined and searches", function()
    local code, lines = check([[return { api = 1, tools = { "recall" },
      overflow = function() error("overflow ran") end,
      compact = function(ctx)
        local s = ctx:span { before = ctx.step - 3 }
        if s.steps < 4 then return end
        local text, why = ctx:summarize(s)
        error(text and "summary" or "declined")
      end,
      recall = function(_, query) error("recall ran") end }]])
    assert.are.equal(1, code)
    local all = table.concat(lines, "\n")
    for _, word in ipairs({ "overflow ran", "summary", "declined", "recall ran" }) do
      assert.is_truthy(all:find(word, 1, true), word .. " in " .. all)
    end
  end)
end)

describe("the walk over a policy's text", function()
  -- Reads and writes of globals, as luac lists them.
  local function by_luac(path)
    local names, p = {}, assert(io.popen("luac5.4 -l -l -p " .. shared.quote(path) .. " 2>&1"))
    for line in p:lines() do
      local op, name = line:match("%s(%a+TABUP)%s.*; _ENV \"([%w_]+)\"")
      if op then names[#names + 1] = name .. (op == "SETTABUP" and " written" or " read") end
    end
    p:close()
    table.sort(names)
    return names
  end

  local function by_walk(path)
    local facts, names = scopes.facts(assert(shared.read(path))), {}
    for _, use in ipairs(facts.globals) do
      names[#names + 1] = use.name .. " read"
    end
    for _, use in ipairs(facts.written) do
      names[#names + 1] = use.name .. " written"
    end
    table.sort(names)
    return names
  end

  it("finds the globals that Lua's compiler finds, in all Lua files here", function()
    if not os.execute("command -v luac5.4 >/dev/null") then
      return pending("luac5.4 is not here")
    end
    local count, p = 0, assert(io.popen("find lua policies examples tests/spec -name '*.lua'"))
    for path in p:lines() do
      assert.are.same(by_luac(path), by_walk(path), path)
      count = count + 1
    end
    p:close()
    assert.is_true(count > 100)
  end)

  it("reads every token of the language", function()
    local path = write("tokens.lua", [==[
#!/usr/bin/env neap
local a <const>, b <close> = 0x1p-4, nil --[[ x = 1 ]] --[=[ y
]] = 2 ]=]
goto done
do local s = "q\"\\" .. 'it\'s' .. [[ z = 3 ]] .. [=[ ]] ]=] end
::done:: ; ; local t = { [1] = a; x = b, ... , f "s", f {}, f [[s]] }
repeat local u = t.x.y["z"]:m(1):n "s" until u ~= nil and not (u // 2 ~ ~3 << 1 >= -#t)
for i = 1, 2, 3 do t[i], g = g, i break end
function t.a.b:c(...) self.x = select("#", ...) return end
local function h(p) return h, p, function() return p end end
if a then elseif b then h() else return h end]==])
    assert.are.same({ "f read", "f read", "f read", "g read", "g written", "select read" },
      by_walk(path))
  end)
end)
