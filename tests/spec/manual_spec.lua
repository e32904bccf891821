-- The man page and the completions: made from the table of options, current, and understood by
-- the shells. next: ../../lua/neap/cli/manual.lua
local options = require("neap.cli.options")
local manual = require("neap.cli.manual")
local shared = require("tests.support.shared")
local quote = shared.quote

local function has(program)
  return os.execute("command -v " .. program .. " >/dev/null 2>&1") == true
end

-- What a command prints, with the built program on the path.
local function output(command)
  local dir = shared.program():match("^(.*)/") or "."
  if dir:sub(1, 1) ~= "/" then dir = require("lfs").currentdir() .. "/" .. dir end
  -- the tools of the system are not ours to sanitize
  local form = "unset LD_PRELOAD; PATH=%s:$PATH; %s"
  local p = assert(io.popen(form:format(quote(dir), command)))
  local text = p:read("a")
  p:close()
  return text
end

describe("the man page and the completions", function()
  for name, text in pairs(manual.files()) do
    it("are what the table of options gives (else run make docs): docs/" .. name, function()
      assert.are.equal(text, shared.read("docs/" .. name))
    end)
  end

  it("name every verb and every option", function()
    for name, text in pairs(manual.files()) do
      local plain = text:gsub("\\%-", "-")
      for _, verb in ipairs(options.verbs) do
        assert.truthy(plain:find(verb.name, 1, true), name .. ": " .. verb.name)
        for _, option in ipairs(options.of(verb)) do
          assert.truthy(plain:find(options.long(option), 1, true), name .. ": " .. option)
        end
      end
    end
  end)

  it("are a man page without faults", function()
    if not has("groff") then return pending("groff is not here") end
    local said = output("groff -Tutf8 -man -ww -K utf-8 docs/neap.1 2>&1 >/dev/null")
    assert.are.equal("", said)
  end)
end)

describe("completion in bash", function()
  -- What is offered for the words, the last of which is being written.
  local function offered(words, dir)
    local list = {}
    for i, word in ipairs(words) do
      list[i] = quote(word)
    end
    local script = ("cd %s; . %s; COMP_WORDS=(neap %s); COMP_CWORD=%d; _neap 2>/dev/null; "):format(
      quote(dir or "."),
      quote(require("lfs").currentdir() .. "/docs/completions/neap.bash"),
      table.concat(list, " "),
      #words
    )
    return output("bash -c " .. quote(script .. 'printf "%s " "${COMPREPLY[@]}"'))
  end

  it("offers verbs", function()
    assert.are.equal("show ", offered({ "sho" }))
    assert.truthy(offered({ "" }):find("replay compare tune watch show", 1, true))
    assert.are.equal("sessions session ", offered({ "help", "ses" }))
  end)

  it("offers the options of the verb and no others", function()
    assert.are.equal("--window ", offered({ "replay", "x", "--win" }))
    assert.are.equal(" ", offered({ "count", "--win" }))
    assert.are.equal("--turn ", offered({ "show", "--tu" }))
  end)

  it("offers encodings, forms, formats and policies as values", function()
    assert.are.equal("o200k_base o200k_harmony ", offered({ "count", "-e", "o2" }))
    assert.are.equal("mini_swe_agent ", offered({ "import", "--from", "mini" }))
    assert.are.equal("anthropic gemini openai responses text ", offered({ "replay", "-f", "" }))
    assert.are.equal("tide ", offered({ "replay", "x", "-p", "ti" }))
    assert.are.equal("sliding_window ", offered({ "check", "sli" }))
  end)

  it("offers policy files and folders beside the shipped names", function()
    local dir = shared.scratch("complete")
    os.execute(("mkdir %s/tidy && touch %s/tidal.lua %s/tin.txt"):format(dir, dir, dir))
    assert.are.equal("tide tidal.lua tidy/ ", offered({ "replay", "x", "-p", "ti" }, dir))
  end)
end)

describe("completion in other shells", function()
  it("is read by zsh", function()
    if not has("zsh") then return pending("zsh is not here") end
    assert.are.equal("", output("zsh -n docs/completions/_neap 2>&1"))
  end)

  it("offers verbs, options and values in fish", function()
    if not has("fish") then return pending("fish is not here") end
    local home = shared.scratch("fish")
    local function offered(line)
      local script = "source docs/completions/neap.fish; complete -C " .. quote(line)
      local env = ("HOME=%s XDG_CONFIG_HOME=%s "):format(quote(home), quote(home))
      return output(env .. "fish --no-config -c " .. quote(script) .. " 2>&1")
    end
    assert.truthy(offered("neap sho"):find("^show\t"))
    assert.truthy(offered("neap replay --win"):find("^%-%-window\t"))
    assert.are.equal("", offered("neap encodings --win"))
    assert.truthy(offered("neap count -e o2"):find("^o200k_base"))
    assert.truthy(offered("neap replay -p tid"):find("tide", 1, true))
  end)
end)
