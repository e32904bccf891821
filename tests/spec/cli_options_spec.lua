-- The command line: verbs, options, help, exit codes; all made from one table.
-- next: cli_library_spec.lua
local options = require("neap.cli.options")
local spelling = require("neap.spelling")
local shared = require("tests.support.shared")

local function run(...)
  return shared.run({ ... })
end

describe("the option table", function()
  it("describes every verb, each with a function that runs it", function()
    for _, verb in ipairs(options.verbs) do
      local module = require("neap.cli." .. verb.module)
      assert.is_function(module[verb.name], verb.name)
      for _, name in ipairs(verb.options) do
        assert.is_table(options.options[name], verb.name .. " --" .. name)
      end
    end
  end)

  it("uses no short option twice in a verb, and every option somewhere", function()
    local used = { help = true, version = true }
    for _, verb in ipairs(options.verbs) do
      local seen = {}
      for _, name in ipairs(options.of(verb)) do
        used[name] = true
        local short = options.options[name].short
        if short then
          assert.is_nil(seen[short], verb.name .. " -" .. short)
          seen[short] = name
        end
      end
    end
    for name in pairs(options.options) do
      assert.is_true(used[name] ~= nil, name)
    end
  end)
end)

describe("the distance of two words", function()
  it("counts letters put in, left out, changed, and neighbours swapped as one", function()
    for _, row in ipairs({
      { "", "", 0 },
      { "", "abc", 3 },
      { "min", "min", 0 },
      { "mni", "min", 1 },
      { "mni", "max", 2 },
      { "ab", "ba", 1 },
      { "abcd", "badc", 2 },
      { "ca", "abc", 3 },
      { "aab", "aba", 1 },
      { "kept", "keep", 2 },
      { "tokns", "tokens", 1 },
      { "jsno", "json", 1 },
    }) do
      local a, b, want = table.unpack(row)
      assert.are.equal(want, spelling.distance(a, b), a .. " " .. b)
      assert.are.equal(want, spelling.distance(b, a), b .. " " .. a)
    end
  end)
end)

describe("neap", function()
  it("prints help for itself and every verb, on standard output", function()
    for _, words in ipairs({ { "--help" }, { "-h" }, { "help" } }) do
      local code, out, err = shared.run(words)
      assert.are.equal(0, code)
      assert.are.equal("", err)
      for _, verb in ipairs(options.verbs) do
        assert.truthy(out:find("\n  " .. verb.name .. " ", 1, true))
      end
    end
    for _, verb in ipairs(options.verbs) do
      local code, out = run(verb.name, "--help")
      assert.are.equal(0, code)
      assert.truthy(out:find("usage: neap " .. verb.name, 1, true))
      for _, name in ipairs(verb.options) do
        assert.truthy(out:find("--" .. options.long(name), 1, true))
      end
    end
  end)

  it("prints its version", function()
    local code, out = run("--version")
    assert.are.equal(0, code)
    assert.are.equal("neap " .. require("neap.core").version .. "\n", out)
  end)

  it("exits 2 with one line for wrong use, and names what is near", function()
    for want, words in pairs({
      ["unknown verb cuont; did you mean count?"] = { "cuont" },
      ["unknown verb epxlai; did you mean explain?"] = { "epxlai" },
      ["unknown verb xyzzy; neap --help lists them"] = { "xyzzy" },
      ["unknown option --frob; neap --help"] = { "--frob" },
      ["neap count has no option --jsno; did you mean --json?"] = { "count", "--jsno" },
      ["neap count has no option -z; neap count --help"] = { "count", "-z" },
      ["-e needs a value"] = { "count", "-e" },
      ["--json takes no value"] = { "count", "--json=yes" },
      ["neap replay needs TRACE…"] = { "replay" },
      ["b is one argument too many"] = { "encode", "a", "b" },
      ["neap show needs --turn N"] = { "show", "x.jsonl" },
      ["-w 0: a whole number from 1 on"] = { "replay", "x", "-w", "0" },
      ["-w 16k: write the number in full, as 16000"] = { "replay", "x", "-w", "16k" },
      ["-w 1M: write the number in full, as 1000000"] = { "replay", "x", "-w1M" },
      ["-w 0k: a whole number from 1 on"] = { "replay", "x", "-w", "0k" },
      ["-w 1kb: a whole number from 1 on"] = { "replay", "x", "-w", "1kb" },
      ["-w 9999999999999k: a whole number"] = { "replay", "x", "-w", "9999999999999k" },
      ["--window ten: a whole number"] = { "replay", "x", "--window=ten" },
      ["--shard 3/2: I/N with I from 1 to N"] = { "compare", "x", "--shard", "3/2" },
      ["-e is given twice"] = { "count", "-e", "a", "-e", "b" },
      ["format morse is not built in; known are anthropic, gemini, openai, responses, text"] = {
        "replay",
        "x",
        "-f",
        "morse",
      },
      ["unknown encoding gpt9; known are"] = { "replay", "x", "-e", "gpt9" },
      ["-o keep: NAME=VALUE is expected"] = { "replay", "x", "-o", "keep" },
      ["-o keep=5: whose option is it? give the policy with -p"] = {
        "replay", "x", "-o", "keep=5",
      },
      ["-o keep=5: keep is set twice"] = {
        "replay", "x", "-p", "tide", "-o", "keep=4", "-o", "keep=5",
      },
      ["--think 10000001: at most 10000000 is taken"] = { "replay", "x", "--think", "10000001" },
      ["--steps 100001: at most 100000 is taken"] = {
        "import", "--synthetic", "1", "--steps", "100001",
      },
      ["--steps is of a made-up session; give it with --synthetic"] = {
        "import", "x", "--steps", "9",
      },
      ["--synthetic reads no recording; leave out --json"] = {
        "import", "--synthetic", "1", "--json",
      },
      ["--synthetic reads no recording; leave out --from"] = {
        "import", "--synthetic", "1", "--from", "native",
      },
      ["--raw prints nothing but the request; leave out --json"] = {
        "show", "x", "--turn", "1", "--raw", "--json",
      },
      ["x: is given twice; a recording counts once"] = { "replay", "x", "y", "x" },
      ["README.md: is the file of ./README.md once more; a recording counts once"] = {
        "replay", "./README.md", "README.md",
      },
      ["-: is given twice"] = { "compare", "-", "-", "-p", "tide" },
      ["y: is given twice"] = { "compare", "y", "y", "-p", "tide", "-j2" },
      ["z: is given twice"] = { "tune", "z", "z", "-p", "tide" },
      ["w: is given twice"] = { "diagnose", "w", "w" },
      ["v: is given twice"] = { "watch", "v", "v", "-p", "tide" },
      ["-r 9 leaves nothing of a window of 9"] = { "replay", "x", "-w9", "-r9" },
      ["nosuch: there is no such policy"] = { "replay", "x", "-p", "nosuch" },
      ["none.jsonl: No such file"] = { "replay", "none.jsonl" },
      ["- cannot be read by several"] = { "compare", "a", "-", "-j2", "-p", ".luacheckrc" },
      ["no.jsonl: No such file"] = { "explain", "no.jsonl", "7x" },
    }) do
      local code, out, err = shared.run(words)
      assert.are.equal(2, code, want)
      assert.are.equal("", out)
      assert.are.equal("neap: " .. want, err:sub(1, 6 + #want))
      assert.are.equal(1, select(2, err:gsub("\n", "")), err)
    end
  end)

  it("without a verb prints help to standard error and exits 2", function()
    local code, out, err = run()
    assert.are.equal(2, code)
    assert.are.equal("", out)
    assert.truthy(err:find("usage: neap VERB", 1, true))
  end)

  it("takes everything after -- for arguments", function()
    local code, _, err = run("count", "--", "--json")
    assert.are.equal(2, code)
    assert.truthy(err:find("neap: --json: No such file", 1, true))
  end)

  it("says when its output cannot be written", function()
    local f = io.open("/dev/full", "wb")
    if not f then return pending("there is no /dev/full here") end
    f:close()
    local command = ("%s encodings >/dev/full 2>/dev/null"):format(shared.quote(shared.program()))
    local _, _, code = os.execute(command)
    assert.are.equal(2, code)
  end)

  it("finds everything with neap doctor, or names what is missing", function()
    local code, out = run("doctor")
    assert.are.equal(out:find("missing  ", 1, true) and 1 or 0, code)
    assert.truthy(out:find("encoding o200k_base", 1, true))
  end)
end)
