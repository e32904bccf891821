-- core.json: values come back as they went in, nothing is re-printed, faults have their place.
-- next: import_forms_spec.lua
local core = require("neap.core")
local json = core.json

describe("core.json", function()
  it("gives back every value in the form it had", function()
    for _, text in ipairs({
      "null",
      "true",
      '"a\\u0000b"',
      "[]",
      "{}",
      "[[],{},[null]]",
      "9007199254740993",
      "-9223372036854775808",
      "12345678901234567890",
      "1.0",
      "1e400",
      "-0",
      "-0.0",
      '{"a":1.50,"b":[1,2]}',
      '"é 中 \240\159\153\130"',
    }) do
      local value = assert(json.decode(text))
      assert.are.equal(text, json.encode(value))
    end
  end)

  it("reads whole numbers as integers and keeps the others as they were written", function()
    assert.are.equal(42, json.decode("42"))
    assert.are.equal(math.mininteger, json.decode("-9223372036854775808"))
    assert.is_true(json.is_raw(json.decode("9223372036854775808")))
    assert.are.equal("1.50", tostring(json.decode("1.50")))
  end)

  it("tells arrays from objects, also empty ones", function()
    assert.is_true(json.is_array(json.decode("[]")))
    assert.is_false(json.is_array(json.decode("{}")))
    assert.are.equal("[]", json.encode(json.array()))
    assert.are.equal("{}", json.encode({}))
  end)

  it("keeps named members as raw slices", function()
    local value = json.decode('{"a": {"b": [ 1.0 ]}, "c": [ 1 ]}', { b = true, c = true })
    assert.are.equal("[ 1.0 ]", value.a.b.raw)
    assert.are.equal('{"a":{"b":[ 1.0 ]},"c":[ 1 ]}', json.encode(value))
  end)

  it("keeps all objects and lists raw but those it is told to read", function()
    local keys = { ["*"] = true, b = true, c = false }
    local value = json.decode('{"a":{"x":1},"b":"t","c":[{"d":[2]}],"e":"f","g":1.5}', keys)
    assert.are.equal('{"x":1}', value.a.raw)
    assert.are.equal('"t"', value.b.raw)
    assert.are.equal("[2]", value.c[1].d.raw)
    assert.are.equal("f", value.e)
    assert.are.equal("1.5", value.g.raw)
  end)

  it("reads raw values without a copy: what they are, where they stand, what is in them", function()
    local text = ' {"a": [ {"b":"\\u0041"}, null, true, -1, "x\\"]" ]}'
    local value = json.decode(text, { a = true })
    local kinds, places = {}, {}
    for i, item in ipairs(json.items(value.a)) do
      local whole
      kinds[i] = json.kind(item)
      places[i], whole = json.offset(item)
      assert.are.equal(text, whole)
      assert.are.equal(item.raw, text:sub(places[i], places[i] + #item.raw - 1))
    end
    assert.are.same({ "object", "null", "boolean", "number", "string" }, kinds)
    assert.are.equal("A", json.decode(json.items(value.a)[1]).b)
    assert.are.equal('x"]', json.decode(json.items(value.a)[5]))
    assert.is_nil(json.kind("text"))
    assert.is_nil(json.kind(nil))
  end)

  it("holds on to the text of a raw value, which nothing changes", function()
    local values = {}
    for i = 1, 200 do
      values[i] = json.decode(('{"a":[%d,"%s"]}'):format(i, ("y"):rep(i)), { a = true }).a
    end
    collectgarbage()
    for i = 1, 200 do
      assert.are.equal(('[%d,"%s"]'):format(i, ("y"):rep(i)), json.encode(values[i]))
    end
    assert.is_false(pcall(function()
      values[1].raw = "{"
    end))
    assert.is_true(values[1] == json.raw('[1,"y"]'))
    assert.is_false(values[1] == values[2])
  end)

  it("sorts members, or puts those of a list first", function()
    assert.are.equal('{"a":1,"b":2,"c":3}', json.encode({ c = 3, a = 1, b = 2 }))
    assert.are.equal('{"c":3,"b":2,"a":1}', json.encode({ c = 3, a = 1, b = 2 }, { "c", "b" }))
  end)

  it("writes floats so that they read back the same", function()
    for _, v in ipairs({ 0.1, 1 / 3, 1e300, 2 ^ -1074, 123456.789 }) do
      assert.are.equal(v, tonumber(json.encode(v)))
    end
    assert.has_error(function()
      json.encode(0 / 0)
    end)
  end)

  it("replaces what is not UTF-8", function()
    assert.are.equal('"a\239\191\189b"', json.encode("a\xFFb"))
  end)

  it("reads several records in a row", function()
    local text = ' {"a":1}  [2]x'
    local first, at, from = json.decode_at(text, 1)
    assert.are.equal(1, first.a)
    assert.are.equal(2, from)
    local second
    second, at = json.decode_at(text, at)
    assert.are.equal(2, second[1])
    local none, why, code, pos = json.decode_at(text, at)
    assert.is_nil(none)
    assert.is_string(why)
    assert.are.equal("json", code)
    assert.are.equal(#text, pos)
  end)

  it("cuts a list into its raw items", function()
    assert.are.same({ "1.0", '{"a": "]"}', "[ ]" }, json.items('[1.0, {"a": "]"} ,[ ]]'))
    assert.are.same({ n = 3, nil, "a list is expected", "shape" }, table.pack(json.items("{}")))
  end)

  it("says where a text is no JSON", function()
    for text, want in pairs({
      ['{"a":}'] = { "json", 6 },
      ['["\xFF"]'] = { "utf8", 3 },
      ["[1] x"] = { "json", 5 },
      ["[01]"] = { "json", 3 },
      [""] = { "json", 1 },
      [("["):rep(600) .. ("]"):rep(600)] = { "limit" },
    }) do
      local value, _, code, pos = json.decode(text)
      assert.is_nil(value)
      assert.are.equal(want[1], code, text)
      if want[2] then assert.are.equal(want[2], pos, text) end
    end
  end)

  it("raises for what has no form in JSON", function()
    local loop = {}
    loop[1] = loop
    for _, value in ipairs({ print, { [1.5] = 1 }, loop, coroutine.create(print) }) do
      assert.has_error(function()
        json.encode(value)
      end)
    end
    assert.has_error(function()
      json.raw("{")
    end)
  end)

  it("holds random values through a round trip", function()
    local seed = os.time()
    print("seed " .. seed)
    math.randomseed(seed)
    local function value(depth)
      local kind = math.random(depth > 0 and 6 or 4)
      if kind == 1 then return math.random(-1000000, 1000000) end
      if kind == 2 then return math.random() < 0.5 end
      if kind == 3 then return json.null end
      if kind == 4 then
        local bytes = {}
        for i = 1, math.random(0, 12) do
          bytes[i] = utf8.char(math.random(0, 0x2FFF))
        end
        return table.concat(bytes)
      end
      local out = kind == 5 and json.array() or {}
      for i = 1, math.random(0, 5) do
        out[kind == 5 and i or "k" .. i] = value(depth - 1)
      end
      return out
    end
    for _ = 1, 300 do
      local text = json.encode(value(4))
      assert.are.equal(text, json.encode(json.decode(text)))
    end
  end)
end)

describe("the core's small parts", function()
  it("hash, check UTF-8, find identifiers", function()
    local abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert.are.equal(abc, core.sha256("abc"))
    assert.are.same({ true }, { core.utf8_valid("é中") })
    assert.are.same({ false, 2 }, { core.utf8_valid("a\xFF") })
    local found = core.cite_scan("see src/main.c, then ERR_42 happens")
    assert.are.same({ "src/main.c", "ERR_42" }, found)
  end)

  it("look at files without raising", function()
    assert.are.equal("directory", core.stat("tests").type)
    local none, _, code = core.stat("tests/none")
    assert.is_nil(none)
    assert.are.equal("notfound", code)
    local names = core.list("tests/cases/import")
    for i = 2, #names do
      assert.is_true(names[i - 1] < names[i])
    end
  end)

  it("name every error code once", function()
    local seen = {}
    for _, code in ipairs(core.codes) do
      assert.is_nil(seen[code.name])
      assert.is_true(#code.text > 0)
      seen[code.name] = true
    end
    assert.is_true(seen.budget and seen.policy)
  end)
end)
