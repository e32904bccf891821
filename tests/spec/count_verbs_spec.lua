-- neap count, encode, decode, encodings. next: cli_options_spec.lua
local core = require("neap.core")
local neap = require("neap")
local shared = require("tests.support.shared")
local json = core.json

local function file(name, text)
  local path = shared.scratch("count_" .. name) .. "/" .. name
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

describe("neap count", function()
  it("prints number, tab, file, and a total for several files", function()
    local a, b = file("a.txt", "hello world"), file("b.txt", "")
    local code, out = shared.run({ "count", a, b })
    assert.are.equal(0, code)
    assert.are.equal(("2\t%s\n0\t%s\n2\ttotal\n"):format(a, b), out)
  end)

  it("reads standard input without a file, or for -", function()
    local _, out = shared.run({ "count" }, "hello world")
    assert.are.equal("2\t-\n", out)
    _, out = shared.run({ "count", "-" }, "hello world")
    assert.are.equal("2\t-\n", out)
  end)

  it("prints one JSON object per file with --json", function()
    local a = file("a.txt", "hello world")
    local _, out = shared.run({ "count", "--json", a })
    local form = '{"file":%s,"bytes":11,"tokens":2,"encoding":"o200k_base","exact":true}\n'
    assert.are.equal(form:format(json.quote(a)), out)
  end)

  it("counts bytes that are not UTF-8, NUL bytes too", function()
    local a = file("bytes", "\0\xFF\xFE" .. ("\x80"):rep(100))
    local code, out = shared.run({ "count", a })
    assert.are.equal(0, code)
    assert.truthy(out:match("^%d+\t"))
  end)

  it("takes special tokens for text unless told", function()
    local a = file("special.txt", "<|endoftext|>")
    local _, plain = shared.run({ "count", a })
    local _, special = shared.run({ "count", "--special", a })
    assert.is_true(tonumber(plain:match("%d+")) > 1)
    assert.are.equal("1", special:match("%d+"))
  end)

  it("counts as it reads, in little memory, to the same number", function()
    local line = "It's line 7 of 世界, HTTPServer's 12345 …\n\n"
    local text = line:rep(7000) .. (" "):rep(200001) .. ("=-"):rep(70000)
    local a = file("long.txt", text)
    for _, encoding in ipairs({ "o200k_base", "cl100k_base" }) do
      local want = neap.count(text, encoding)
      local _, out = shared.run({ "count", "-e", encoding, a })
      assert.are.equal(want .. "\t" .. a .. "\n", out)
      _, out = shared.run({ "count", "-e", encoding }, text)
      assert.are.equal(want .. "\t-\n", out)
    end
    if os.getenv("SANITIZE") == "1" then return end -- needs the address space
    local form = "(ulimit -v 200000; yes 'a line of text' | head -c 90000000 | %s count)"
    local p = assert(io.popen(form:format(shared.quote(shared.program()))))
    assert.are.equal("30000000\t-\n", p:read("a"))
    p:close()
  end)

  it("goes on after a file that is not there, and says so", function()
    local a = file("a.txt", "hello world")
    local code, out, err = shared.run({ "count", "none.txt", a })
    assert.are.equal(2, code)
    assert.truthy(out:find("2\t" .. a, 1, true))
    assert.truthy(err:find("neap: none.txt: No such file", 1, true))
  end)

  it("lists the encodings when one is unknown", function()
    local code, out, err = shared.run({ "count", "-e", "gpt9", "-" }, "x")
    assert.are.equal(2, code)
    assert.are.equal("", out)
    assert.truthy(err:find("o200k_base", 1, true))
  end)

  it("agrees with the published counts", function()
    local path, why = shared.path("corpus/golden.json")
    if not path then return pending(why) end
    local golden = json.decode(assert(shared.read(path)))
    local checked = 0
    for name, row in pairs(golden.files) do
      local text = assert(shared.read((assert(shared.path("corpus/" .. name)))))
      for _, encoding in ipairs({ "o200k_base", "cl100k_base" }) do
        assert.are.equal(row.encodings[encoding].tokens, neap.count(text, encoding), name)
        checked = checked + 1
      end
    end
    assert.is_true(checked >= 20)
  end)
end)

describe("neap encode and decode", function()
  it("are inverse, as lines and as binary", function()
    local text = "Grüße, 世界!\n\tint main(void) { return 0; }\n\0\xFF"
    local _, ids = shared.run({ "encode" }, text)
    assert.truthy(ids:match("^%d+\n"))
    local _, back = shared.run({ "decode" }, ids)
    assert.are.equal(text, back)
    local _, binary = shared.run({ "encode", "--binary" }, text)
    assert.are.equal(select(2, ids:gsub("\n", "")) * 4, #binary)
    _, back = shared.run({ "decode", "--binary" }, binary)
    assert.are.equal(text, back)
  end)

  it("refuse what are no ids, with the line", function()
    for input, want in pairs({
      ["1\n2x\n"] = ":2: 2x is no token id",
      ["1\n\n99999999\n"] = ":3: ",
      ["-1"] = ":1: -1 is no token id",
    }) do
      local code, _, err = shared.run({ "decode" }, input)
      assert.are.equal(2, code)
      assert.truthy(err:find("neap: (standard input)" .. want, 1, true), err)
    end
    local code = shared.run({ "decode", "--binary" }, "abc")
    assert.are.equal(2, code)
  end)
end)

describe("neap.count", function()
  it("counts, and says what it cannot", function()
    assert.are.equal(2, neap.count("hello world"))
    assert.are.equal(0, neap.count("", "cl100k_base"))
    local none, why, code = neap.count("x", "gpt9")
    assert.is_nil(none)
    assert.is_string(why)
    assert.are.equal("encoding", code)
  end)

  it("raises for what is no text", function()
    assert.has_error(function()
      neap.count({})
    end)
  end)
end)

describe("neap.fit", function()
  local text = "one two\nthree four\nwrite <|endoftext|> to 👩‍👩‍👧 now"

  it("gives the longest part that fits", function()
    assert.are.equal("one two\n", neap.fit("one two\nthree four\n", 4, { at = "line" }))
    assert.are.equal("one two\nthree", neap.fit(text, 4))
    assert.are.equal(text, neap.fit(text, 1000))
    assert.are.equal("", neap.fit(text, 0))
    assert.has_error(function()
      neap.fit(text, 4, { from_ned = true })
    end, "bad argument #3 to 'fit' (there is no option from_ned)")
    assert.are.equal(" now", neap.fit(text, 1, { from_end = true, encoding = "cl100k_base" }))
    for tokens = 0, neap.count(text) do
      for _, at in ipairs({ "character", "grapheme", "line" }) do
        for _, from_end in ipairs({ false, true }) do
          local part = neap.fit(text, tokens, { at = at, from_end = from_end })
          assert.is_true(neap.count(part) <= tokens)
          assert.are.equal(part, from_end and text:sub(#text - #part + 1) or text:sub(1, #part))
        end
      end
    end
  end)

  it("says what it cannot", function()
    for _, bad in ipairs({ { "x", -1 }, { "x", 1, { at = "word" } }, { {}, 1 } }) do
      assert.has_error(function()
        neap.fit(table.unpack(bad))
      end)
    end
    assert.are.equal("encoding", select(3, neap.fit("x", 1, { encoding = "gpt9" })))
  end)
end)

describe("text that looks like a special token", function()
  local names = { "<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>", "<|im_start|>" }

  it("is text wherever it is counted, cut, encoded or streamed", function()
    for _, encoding in ipairs({ "o200k_base", "cl100k_base" }) do
      local enc = assert(core.encoding(encoding))
      for _, name in ipairs(names) do
        for _, text in ipairs({ name, "a " .. name .. "\n" .. name:rep(3), name:sub(1, -2) }) do
          local ids = enc:encode(text)
          assert.is_true(#ids > 1)
          for _, id in ipairs(ids) do
            assert.is_true(id < enc:info().tokens, name)
          end
          assert.are.equal(text, enc:decode(ids))
          assert.are.equal(#ids, neap.count(text, encoding))
          assert.are.equal(#ids, enc:counter():add(text))
          assert.are.equal(text, enc:fit(text, #ids))
          local _, out = shared.run({ "encode", "-e", encoding }, text)
          assert.are.equal(table.concat(ids, "\n") .. "\n", out)
        end
      end
    end
  end)

  it("is one when that is asked for, and only in full", function()
    local enc = assert(core.encoding("o200k_base"))
    assert.are.same({ 199999 }, enc:encode("<|endoftext|>", true))
    assert.are.equal("<|endoftext|>", enc:decode({ 199999 }))
    assert.are.same(enc:encode("<|endoftext|"), enc:encode("<|endoftext|", true))
    local _, out = shared.run({ "encode", "--special" }, "a<|endoftext|>")
    assert.are.equal("64\n199999\n", out)
  end)

  it("goes through a session as text", function()
    local s = assert(neap.session({ window = 8000 }))
    local message = { role = "user", content = "What is <|endoftext|> and <|im_start|>system?" }
    assert(s:add(message))
    local body = json.decode(assert(s:prompt()))
    assert.are.equal(message.content, body.messages[1].content)
    assert.is_true(s:account().tokens >= neap.count(message.content))
    s:close()
  end)
end)

describe("neap.counter", function()
  local text = "It's 3,000 m³ of 世界's water,\n\n\tDON'T spill 👩‍👩‍👧 \xF0\x9F\x98"
  text = text .. (" "):rep(300) .. "x"

  it("gives after each byte what the whole text has", function()
    for _, encoding in ipairs({ "o200k_base", "cl100k_base" }) do
      local counter = assert(neap.counter(encoding))
      assert.are.equal(0, counter:tokens())
      for i = 1, #text do
        assert.are.equal(neap.count(text:sub(1, i), encoding), counter:add(text:sub(i, i)))
      end
      assert.are.equal(neap.count(text, encoding), counter:tokens())
      counter:reset()
      assert.are.equal(2, counter:add("hello world"))
    end
  end)

  it("goes on in two ways from a copy", function()
    local counter = assert(neap.counter())
    for i = 0, #text do
      local before, rest = text:sub(1, i), text:sub(i + 1)
      counter:reset()
      counter:add(before)
      local copy <close> = counter:copy()
      assert.are.equal(neap.count(before .. "'ll"), copy:add("'ll"))
      assert.are.equal(neap.count(text), counter:add(rest))
      assert.are.equal(neap.count(before .. "'ll go"), copy:add(" go"))
    end
  end)

  it("says what it cannot", function()
    local none, why, code = neap.counter("gpt9")
    assert.is_nil(none)
    assert.is_string(why)
    assert.are.equal("encoding", code)
    local counter = assert(neap.counter())
    assert.has_error(function()
      counter:add({})
    end)
    counter:close()
    counter:close()
    assert.has_error(function()
      counter:add("x")
    end)
  end)

  it("keeps its encoding, but not one that was closed", function()
    local counter = assert(core.encoding("cl100k_base")):counter()
    collectgarbage()
    collectgarbage()
    assert.are.equal(2, counter:add("hello world"))
    local enc = assert(core.encoding("cl100k_base"))
    counter = enc:counter()
    enc:close()
    assert.has_error(function()
      counter:add("x")
    end)
  end)

  it("takes special tokens for text", function()
    local counter = assert(neap.counter())
    for c in ("<|endoftext|>"):gmatch(".") do
      counter:add(c)
    end
    assert.are.equal(neap.count("<|endoftext|>"), counter:tokens())
    assert.is_true(counter:tokens() > 1)
  end)
end)

describe("an encoding", function()
  it("is closed once and for all", function()
    local enc = assert(core.encoding("o200k_base"))
    assert.are.equal(1, enc:count("x"))
    enc:close()
    enc:close()
    assert.has_error(function()
      enc:count("x")
    end)
    assert.truthy(tostring(enc):find("closed", 1, true))
  end)
end)
