-- neap vocab: importing vocabularies, using them by name, and what is refused. The small files
-- are written here; those of real models are in the shared data. next: count_verbs_spec.lua
local core = require("neap.core")
local shared = require("tests.support.shared")
local json = core.json

-- The program with a data folder of the spec's own: code, standard output, standard error.
local function run(home, args, input)
  local words = {}
  for i, word in ipairs(args) do
    words[i] = shared.quote(word)
  end
  local out, err = home .. "/out", home .. "/err"
  local inp = input and home .. "/in" or "/dev/null"
  if input then
    local f = assert(io.open(inp, "wb"))
    f:write(input)
    f:close()
  end
  local command = "NEAP_DATA= XDG_DATA_HOME=%s timeout 60 %s %s <%s >%s 2>%s"
  local program, quote = shared.quote(shared.program()), shared.quote
  local line = command:format(quote(home), program, table.concat(words, " "), inp, out, err)
  local _, _, code = os.execute(line)
  return code, shared.read(out), shared.read(err)
end

local BYTE_LEVEL = { type = "ByteLevel", add_prefix_space = false, use_regex = true }

-- The character that stands for each byte in such files.
local function alphabet()
  local vocab, next = {}, 256
  for c = 0, 255 do
    local plain = (c > 32 and c < 127) or (c > 160 and c ~= 173)
    vocab[utf8.char(plain and c or next)] = c
    if not plain then next = next + 1 end
  end
  return vocab
end

local function small(change)
  local file = {
    version = "1.0",
    added_tokens = json.array({ { id = 300, content = "<end>", special = true } }),
    pre_tokenizer = BYTE_LEVEL,
    decoder = BYTE_LEVEL,
    model = {
      type = "BPE",
      vocab = alphabet(),
      merges = json.array({ "a b", json.array({ "ab", "c" }) }),
    },
  }
  file.model.vocab.ab, file.model.vocab.abc = 256, 299
  if change then change(file) end
  return json.encode(file)
end

local function write(path, text)
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

describe("neap vocab import", function()
  it("makes a file an encoding, by the file's name up to its first dot", function()
    local home = shared.scratch("vocab_import")
    local file = write(home .. "/tiny.tokenizer.json", small())
    local code, out, err = run(home, { "vocab", "import", file })
    local kept = home .. "/neap/vocabularies/tiny.neapready"
    assert.are.same({ 0, ("tiny\t258\t%s\n"):format(kept), "" }, { code, out, err })
    local _
    _, out = run(home, { "encode", "-e", "tiny" }, "abc ab<end>")
    assert.are.equal("299\n32\n256\n60\n101\n110\n100\n62\n", out)
    _, out = run(home, { "encode", "-e", "tiny", "--special" }, "abc<end>")
    assert.are.equal("299\n300\n", out)
    _, out = run(home, { "decode", "-e", "tiny" }, "299\n300\n256\n")
    assert.are.equal("abc<end>ab", out)
    _, out = run(home, { "count", "--json", "-e", "tiny" }, "abcab")
    assert.truthy(out:find('"tokens":2,"encoding":"tiny","exact":true', 1, true))
  end)

  it("keeps one whole file when several import it at once", function()
    local home = shared.scratch("vocab_at_once")
    local file, program = write(home .. "/many.json", small()), shared.quote(shared.program())
    local one = ("(NEAP_DATA=%s/data %s vocab import %s || echo failed) 2>&1 &"):format(
      shared.quote(home), program, shared.quote(file)
    )
    local p = assert(io.popen((one .. " "):rep(12) .. " wait"))
    local said = p:read("a")
    p:close()
    assert.is_nil(said:find("failed", 1, true), said)
    assert.are.same({ "many.neapready" }, core.list(home .. "/data"))
    local enc = assert(core.encoding("many", home .. "/data"))
    assert.are.equal(1, enc:count("abc"))
    enc:close()
  end)

  it("lists what is imported, and among the encodings", function()
    local home = shared.scratch("vocab_list")
    local file = write(home .. "/b.json", small())
    assert.are.same({ 0, "", "" }, { run(home, { "vocab", "list" }) })
    run(home, { "vocab", "import", file, "--name", "z-1" })
    run(home, { "vocab", "import", file })
    local _, out = run(home, { "vocab", "list", "--json" })
    local names = {}
    for line in out:gmatch("[^\n]+") do
      local info = json.decode(line)
      names[#names + 1] = info.name
      assert.truthy(info.source:find("^b%.json, sha256 %x+$"))
      assert.truthy(core.stat(info.file))
    end
    assert.are.same({ "b", "z-1" }, names)
    _, out = run(home, { "encodings" })
    assert.truthy(out:find("\nb +258 +exact +b%.json"))
  end)

  it("gives sessions an encoding", function()
    local home = shared.scratch("vocab_session")
    run(home, { "vocab", "import", write(home .. "/tiny.json", small()) })
    local user, model = '{"role":"user","content":"abc abc"}', '{"role":"assistant","content":"ab"}'
    local trace = write(home .. "/t.jsonl", user .. "\n" .. model .. "\n")
    local words = { "replay", trace, "-p", "mask_observations", "-f", "text", "--json", "-e" }
    words[#words + 1] = "tiny"
    local code, out = run(home, words)
    assert.are.equal(0, code)
    local turn = json.decode(out:match("[^\n]+"))
    assert.is_true(turn.exact)
    assert.is_true(turn.tokens > 3)
    words[#words] = "tinny"
    local _, err
    code, _, err = run(home, words)
    assert.are.equal(2, code)
    assert.truthy(err:find("known are o200k_base, .*, tiny\n$"), err)
  end)

  it("reads .tiktoken files with a named split family", function()
    local home = shared.scratch("vocab_tiktoken")
    local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    local lines = {}
    for c = 0, 255 do
      local high, low = c >> 2, (c & 3) << 4
      lines[c + 1] = ("%s%s== %d\n"):format(
        letters:sub(high + 1, high + 1),
        letters:sub(low + 1, low + 1),
        c
      )
    end
    local file = write(home .. "/r.tiktoken", table.concat(lines) .. "YWI= 256\n")
    local code, _, err = run(home, { "vocab", "import", file })
    assert.are.equal(2, code)
    assert.truthy(err:find("r.tiktoken: does not say how text is split; name it", 1, true))
    code = run(home, { "vocab", "import", file, "--pattern", "gpt2" })
    assert.are.equal(0, code)
    local _, out = run(home, { "count", "-e", "r" }, "ab ab")
    assert.are.equal("3\t-\n", out)
  end)

  it("replaces an encoding as a whole", function()
    local home = shared.scratch("vocab_again")
    local file = write(home .. "/x.json", small())
    run(home, { "vocab", "import", file })
    write(file, small(function(f)
      f.model.merges = json.array({})
    end))
    assert.are.equal(0, (run(home, { "vocab", "import", file })))
    local _, out = run(home, { "count", "-e", "x" }, "abc")
    assert.are.equal("3\t-\n", out)
    assert.are.same({ "x.neapready" }, core.list(home .. "/neap/vocabularies"))
  end)
end)

describe("neap vocab refuses", function()
  local function refuses(text, says, ...)
    local home = shared.scratch("vocab_refuse")
    local file = write(home .. "/x.json", text)
    local code, out, err = run(home, { "vocab", "import", file, ... })
    assert.are.equal(2, code)
    assert.are.equal("", out)
    assert.truthy(err:find(says, 1, true), err)
    assert.are.equal(1, select(2, err:gsub("\n", "")))
    assert.is_nil(core.list(home .. "/neap/vocabularies"))
  end

  it("what it does not know, by name", function()
    refuses(
      small(function(f)
        f.normalizer = { type = "Lowercase" }
      end),
      'x.json: normalizer is {"type":"Lowercase"}; neap knows NFC and none'
    )
    refuses(
      small(function(f)
        f.model.type = "WordPiece"
      end),
      'x.json: model.type is "WordPiece"; neap reads byte-level BPE'
    )
    refuses(
      small(function(f)
        f.pre_tokenizer = { type = "Whitespace" }
      end),
      'pre_tokenizer {"type":"Whitespace"} is of a type that is not known'
    )
  end)

  it("files that are cut short, with the line", function()
    local text = "{\n" .. small():sub(2)
    refuses(text:sub(1, #text // 2), "x.json:2: ")
    refuses("", "x.json: is empty")
    refuses(("["):rep(10000), "x.json:1: ")
  end)

  it("names that are built in or lead elsewhere", function()
    refuses(small(), '"o200k_base" cannot be the name', "--name", "o200k_base")
    refuses(small(), '"../x" cannot be the name', "--name", "../x")
  end)

  it("wrong use", function()
    local home = shared.scratch("vocab_use")
    for _, args in ipairs({ { "vocab", "rm" }, { "vocab", "import" }, { "vocab", "list", "x" } }) do
      local code, out, err = run(home, args)
      assert.are.same({ 2, "" }, { code, out })
      assert.truthy(err:find("^neap: vocab "), err)
    end
    local code, _, err = run(home, { "vocab", "import", "none.json" })
    assert.are.equal(2, code)
    assert.truthy(err:find("none.json: No such file", 1, true))
    code, _, err = run(home, { "vocab", "import", "-" }, small())
    assert.are.equal(2, code)
    assert.truthy(err:find("give one with --name", 1, true))
  end)

  it("a pipe in the data folder, without waiting for its other end", function()
    local home = shared.scratch("vocab_pipe")
    run(home, { "vocab", "import", write(home .. "/good.json", small()) })
    local pipe = home .. "/neap/vocabularies/pipe.neapready"
    assert(os.execute("mkfifo " .. shared.quote(pipe)))
    local code, out, err = run(home, { "vocab", "list" })
    assert.are.equal(0, code)
    assert.truthy(out:find("good", 1, true))
    assert.truthy(err:find("pipe.neapready: cannot be mapped", 1, true), err)
    code, out, err = run(home, { "count", "-e", "godo" }, "abc")
    assert.are.same({ 2, "" }, { code, out })
    assert.truthy(err:find("unknown encoding godo", 1, true), err)
    os.remove(pipe)
  end)

  it("a name that a folder has, by its path, and leaves nothing behind", function()
    local home = shared.scratch("vocab_folder")
    local dir = home .. "/neap/vocabularies"
    assert(core.mkdir(dir .. "/good.neapready"))
    local code, _, err = run(home, { "vocab", "import", write(home .. "/good.json", small()) })
    assert.are.equal(2, code)
    assert.truthy(err:find(dir .. "/good.neapready: ", 1, true), err)
    assert.are.same({ "good.neapready" }, core.list(dir))
  end)

  it("a damaged file in the data folder, and goes on with the others", function()
    local home = shared.scratch("vocab_damaged")
    run(home, { "vocab", "import", write(home .. "/good.json", small()) })
    write(home .. "/neap/vocabularies/bad.neapready", "neapmap\n" .. ("x"):rep(500))
    local code, out, err = run(home, { "encodings" })
    assert.are.equal(0, code)
    assert.truthy(out:find("\ngood ", 1, true))
    assert.truthy(err:find("bad.neapready: ", 1, true))
    code = run(home, { "count", "-e", "bad" }, "abc")
    assert.are.equal(2, code)
  end)
end)
