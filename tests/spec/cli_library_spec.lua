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
    local guess = "tied: there is no such policy; did you mean tide? Shipped are "
    assert.truthy(why:find(guess, 1, true), why)
    why = select(2, neap.session({ window = 8000, policy = "moon" }))
    assert.truthy(why:find("moon: there is no such policy; shipped are ", 1, true), why)
    for _, path in ipairs({ "no/such", "such.lua" }) do
      why = select(2, neap.session({ window = 8000, policy = path }))
      assert.truthy(why:find("there is no such file; check the name", 1, true), why)
    end
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

  it("opens a session again with the tools that it has, and with no others", function()
    local wants = { "", "'recall', 'read'", "'tools'", "'recall', 'read', 'tools'" }
    for _, offered in ipairs(wants) do
      local path, store = os.tmpname(), os.tmpname()
      local f = assert(io.open(path, "w"))
      f:write("return { api = 1, tools = { ", offered, " } }"):close()
      local function open(tools, request)
        local tool = { type = "function", ["function"] = { name = tools } }
        return neap.session({
          policy = path, store = store, name = "again",
          tools = tools and { tool }, request = { model = request or "m" },
        })
      end
      os.remove(store)
      local s = assert(open("bash"))
      assert(s:add({ role = "user", content = "hi" }))
      local first = assert(s:prompt())
      s:close()
      s = assert(open("bash"))
      assert.equal(first, s:prompt())
      s:close()
      for _, other in ipairs({ { "sh" }, { "bash", "n" } }) do
        local no, why, code = open(other[1], other[2])
        assert.is_nil(no)
        assert.equal("misuse", code)
        assert.truthy(why:find("give the same again, or none", 1, true), why)
      end
      os.remove(path)
      os.remove(store)
    end
  end)

  it("takes an empty table for no tools", function()
    local s <close> = assert(neap.session({ tools = {} }))
    assert(s:add({ role = "user", content = "hi" }))
    assert(s:prompt())
  end)

  it("takes an answer of summarize that cannot be taken for an error, and goes on", function()
    local path = os.tmpname()
    local f = assert(io.open(path, "w"))
    f:write([[
return { api = 1, compact = function(ctx)
  local text, why, code = ctx:ask { prompt = "x" }
  ctx:log(tostring(text) .. "|" .. tostring(code) .. "|" .. tostring(why))
end }]])
    f:close()
    local function ask(...)
      local given, times = table.pack(...), 0
      local s <close> = assert(neap.session({
        policy = path,
        summarize = function()
          times = times + 1
          if times > 1 then return "fine" end
          return table.unpack(given, 1, given.n)
        end,
      }))
      assert(s:add({ role = "user", content = "hi" }))
      assert(s:prompt())
      local first = s:account()
      assert(s:add({ role = "user", content = "on" }))
      assert(s:prompt())
      return first, s:account(), assert(s:asks())
    end
    local codes = "there is no answer, but why? give refused, error, timeout or cancelled"
    local wrong = {
      { "the answer is not UTF-8 at byte 0", "\xFF" },
      { "the answer is not UTF-8 at byte 1", nil, "a\xFF", "error" },
      { codes, nil, "no", "tired" },
      {
        "an answer of 65537 bytes; at most 65536 are taken, ask for fewer tokens",
        ("x"):rep(65537),
      },
    }
    for _, w in ipairs(wrong) do
      local why = "what summarize returned for ask 1: " .. w[1]
      local first, second, asks = ask(w[2], w[3], w[4])
      assert.same({ why }, first.hook_errors)
      assert.same({ "nil|error|" .. why }, second.log)
      assert.same({}, second.hook_errors)
      assert.equal("error", asks[1].code)
      assert.equal(why, asks[1].why)
    end
    assert.has_error(function()
      ask({})
    end, "summarize returned a table; return a text, or nil, why and a code")
    os.remove(path)
  end)

  it("takes a response as a table, and says what it takes", function()
    local s <close> = assert(neap.session({}))
    local _
    local no, why, code = s:add("hi")
    assert.is_nil(no)
    assert.equal("json", code)
    assert.truthy(why:find("; a message is a table or its JSON", 1, true), why)
    assert(s:add({ role = "user", content = "hi" }))
    assert(s:prompt())
    local message = { role = "assistant", content = "from a table" }
    assert(s:add_response({ choices = { { message = message } } }))
    assert.equal("from a table", s:text(2))
    no, _, code = s:add_response("<html>")
    assert.is_nil(no)
    assert.equal("json", code)
    for _, method in ipairs({ "add", "add_response" }) do
      local text = "bad argument #1 to '%s' (a table or its JSON is expected, got %s)"
      assert.has_error(function()
        s[method](s, nil)
      end, text:format(method, "nothing"))
      assert.has_error(function()
        s[method](s, 5)
      end, text:format(method, "a number"))
    end
  end)

  it("names methods among what an entry has", function()
    local path = os.tmpname()
    local f = assert(io.open(path, "w"))
    f:write("return { api = 1, admit = function(_, e) e:maks() end }"):close()
    local s <close> = assert(neap.session({ policy = path }))
    assert(s:add({ role = "user", content = "hi" }))
    assert(s:prompt())
    local why = s:account().hook_errors[1]
    assert.truthy(why:find("did you mean 'mask'?", 1, true), why)
    local known = assert(why:match("There are: (.*)"), why)
    for _, method in ipairs({ "drop", "mask", "restore", "trim" }) do
      assert.truthy(known:find("%f[%a]" .. method .. "%f[%A]"), why)
    end
    os.remove(path)
  end)

  it("raises for options that do not exist", function()
    assert.has_error(function()
      neap.session({ windwo = 1 })
    end, "bad argument #1 to 'session' (there is no option windwo; there are alarm, cache, "
      .. "compress, data, durable, encoding, failures, format, handover, model, name, no_reload, "
      .. "no_tools, notes, "
      .. "on_store_failure, options, policy, prices, request, reserve, shadow, shadow_options, "
      .. "state_schema, state_share, store, summarize, tenant, tools, unchecked, window)")
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
    .. assert(shared.read("lua/neap/meta_sandbox.lua"))
    .. assert(shared.read("lua/neap/meta_state.lua"))

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

  it("names every method of a store, and no other", function()
    local store = assert(neap.store({ store = ":memory:" }))
    local methods = names_of(getmetatable(store).__index, "^__")
    store:close()
    local said, file = {}, assert(shared.read("lua/neap/meta_store.lua"))
    for name in file:gmatch("\nfunction Store:([%w_]+)%(") do
      said[name] = true
    end
    assert.are.same(methods, said)
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
