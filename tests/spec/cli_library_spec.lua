-- require "neap": sessions for Lua programs, and that meta.lua names what there is.
-- next: cli_replay_spec.lua
local neap = require("neap")
local shared = require("tests.support.shared")
local json = neap.json

local function answer(content, calls)
  local message = { role = "assistant", content = content, tool_calls = calls }
  return json.encode({ choices = json.array({ { index = 0, message = message } }) })
end

local function call(id, name, arguments)
  return { id = id, type = "function", ["function"] = { name = name, arguments = arguments } }
end

describe("a session", function()
  it("goes through the loop of the manual", function()
    local s = assert(neap.session({ window = 8000 }))
    assert(s:add({ role = "system", content = "Be brief." }))
    assert(s:add({ role = "user", content = "List the files." }))
    local answers = {
      answer(nil, json.array({ call("c1", "ls", '{"path":"."}'), call("c2", "pwd", "{}") })),
      answer("Two files."),
    }
    local seen, n = {}, 0
    repeat
      n = n + 1
      local body = assert(json.decode(assert(s:prompt())))
      assert.are.equal("system", body.messages[1].role)
      assert(s:add_response(answers[n]))
      for c in s:calls() do
        seen[#seen + 1] = c.name
        assert(s:result(c, "output of " .. c.name))
      end
    until not s:pending()
    assert.are.same({ "ls", "pwd" }, seen)
    assert.are.equal(2, n)
    assert.are.equal(2, s:account().turn)
    assert.are.equal("Be brief.", s:text(1))
    s:close()
  end)

  it("is closed once, by <close> too, and raises afterwards", function()
    local kept
    do
      local s <close> = assert(neap.session({ window = 8000 }))
      kept = s
    end
    kept:close()
    assert.has_error(function()
      kept:prompt()
    end, "the session is closed")
    assert.are.equal("neap.session (closed)", tostring(kept))
    kept = nil
    collectgarbage()
  end)

  it("returns nil, message, code for what the world does", function()
    local s, why, code = neap.session({ policy = "tests/none.lua" })
    assert.is_nil(s)
    assert.truthy(why:find("none.lua", 1, true))
    assert.are.equal("policy", code)
    assert.are.equal("format", select(3, neap.session({ format = "morse" })))
    s = assert(neap.session({ window = 8000 }))
    assert.are.equal("json", select(3, s:add('{"role":"user"')))
    assert.are.equal("notfound", select(3, s:text(99)))
    s:close()
  end)

  it("has no prompt before its first message", function()
    local s = assert(neap.session({ window = 8000 }))
    local body, why, code = s:prompt()
    assert.is_nil(body)
    assert.are.equal("misuse", code)
    assert.is_truthy(why:find("no message yet", 1, true), why)
    assert(s:add({ role = "user", content = "Now." }))
    assert(s:prompt())
    s:close()
  end)

  it("finds shipped policies by name, as the program does", function()
    local s = assert(neap.session({ window = 8000, policy = "tide" }))
    assert.are.equal("tide", s:policy().name)
    s:close()
    local none, why, code = neap.session({ window = 8000, policy = "tied" })
    assert.is_nil(none)
    assert.are.equal("policy", code)
    assert.truthy(why:find("tied: there is no such policy; shipped are ", 1, true), why)
  end)

  it("has no prompt of empty messages alone", function()
    for _, format in ipairs({ "openai", "anthropic", "responses", "gemini", "text" }) do
      local s = assert(neap.session({ window = 8000, format = format }))
      assert(s:add({ role = "user", content = "" }))
      local body, why, code = s:prompt()
      assert.is_nil(body, format)
      assert.are.equal("misuse", code)
      assert.is_truthy(why:find("nothing to send", 1, true), why)
      assert(s:add({ role = "user", content = "Now." }))
      assert(s:prompt())
      s:close()
    end
  end)

  it("raises for options that do not exist", function()
    assert.has_error(function()
      neap.session({ windwo = 1 })
    end, "bad argument #1 to 'session' (there is no option windwo)")
    assert.has_error(function()
      neap.session()
    end)
  end)

  it("gives no prompt that does not fit, and says so", function()
    local s = assert(neap.session({ window = 100, reserve = 50 }))
    assert(s:add({ role = "system", content = ("word "):rep(500) }))
    assert(s:add({ role = "user", content = "hi" }))
    local body, _, code = s:prompt()
    assert.is_nil(body)
    assert.are.equal("budget", code)
    assert.is_true(s:account().overflow.short > 0)
    s:close()
  end)
end)

describe("meta.lua", function()
  local text = assert(shared.read("lua/neap/meta.lua"))

  local function documented(pattern)
    local names = {}
    for name in text:gmatch(pattern) do
      names[name] = true
    end
    return names
  end

  local function names_of(value, skip)
    local names = {}
    for name in pairs(value) do
      if not tostring(name):find(skip) then names[name] = true end
    end
    return names
  end

  it("names every function and field of the module, and no other", function()
    local names = documented("\nfunction neap%.([%w_]+)%(")
    local fields = text:match("%-%-%-@class neap\n(.-)\nlocal neap")
    for name in fields:gmatch("@field ([%w_]+)") do
      names[name] = true
    end
    assert.are.same(names_of(neap, "^$"), names)
  end)

  it("names every method of a session, and no other", function()
    local s = assert(neap.session({ window = 8000 }))
    local methods = names_of(getmetatable(s).__index, "^__")
    s:close()
    assert.are.same(methods, documented("\nfunction Session:([%w_]+)%("))
  end)

  it("names every method of a counter, and no other", function()
    local counter = assert(neap.counter())
    local methods = names_of(getmetatable(counter).__index, "^__")
    assert.are.same(methods, documented("\nfunction Counter:([%w_]+)%("))
  end)

  it("names every option of a session, and no other", function()
    local names, source = {}, assert(shared.read("lua/neap/init.lua"))
    for name in text:match("@class neap.SessionOptions\n(.-)\n\n"):gmatch("@field ([%w_]+)") do
      names[name] = true
    end
    local taken = {}
    for list in source:gmatch("\nlocal O%u+ = {(.-)}") do
      for name in list:gmatch("([%w_]+) = true") do
        taken[name] = true
      end
    end
    assert.are.same(taken, names)
  end)
end)
