-- The guide to a first policy: every command in it is run, in order, in a folder of its own; the
-- files that it shows are written as it says. next: ../../docs/first-policy.md
local shared = require("tests.support.shared")
local lfs = require("lfs")
local quote = shared.quote

local GUIDE = assert(shared.read("docs/first-policy.md"))
local FILES = { lua = "mine.lua", cases = "mine.cases" } -- what a block of the kind is

local dir = shared.scratch("first_policy")
if dir:sub(1, 1) ~= "/" then dir = lfs.currentdir() .. "/" .. dir end
local program = shared.program()
if program:sub(1, 1) ~= "/" then program = lfs.currentdir() .. "/" .. program end

-- Runs a command as a reader would. A watch that nobody ends is ended after its first table.
local function run(command)
  if command:find("^neap watch ") then command = command .. " --rounds 1" end
  local out = dir .. "/out"
  local form = "cd %s && PATH=%s:$PATH HOME=%s sh -c %s >%s 2>&1 </dev/null"
  local bin = quote(program:match("^(.*)/"))
  local line = form:format(quote(dir), bin, quote(dir), quote(command), quote(out))
  local _, _, code = os.execute(line)
  return code, assert(shared.read(out))
end

describe("the guide to a first policy", function()
  setup(function()
    local here = quote(lfs.currentdir() .. "/examples")
    assert(os.execute(("ln -s %s %s/examples"):format(here, quote(dir))))
  end)

  local count = { sh = 0, lua = 0, cases = 0 }
  for kind, text in GUIDE:gmatch("\n```(%l+)\n(.-)```") do
    count[kind] = (count[kind] or 0) + 1
    if kind == "sh" then
      for command in text:gmatch("[^\n]+") do
        it("runs " .. command, function()
          local code, out = run(command)
          assert.equal(0, code, out)
        end)
      end
    else
      it("shows " .. FILES[kind], function()
        local f = assert(io.open(dir .. "/" .. FILES[kind], "wb"))
        f:write(text)
        f:close()
      end)
    end
  end

  it("was found in the file", function()
    assert.are.same({ sh = 7, lua = 1, cases = 1 }, count)
  end)

  it("ends with a policy that has the example run by check", function()
    local code, out = run("neap check mine.lua")
    assert.equal(0, code)
    assert.truthy(out:find("ok, 1 example", 1, true))
  end)

  it("links only to files that are there", function()
    for path in GUIDE:gmatch("%]%(([^)#]+)%)") do
      assert.is_truthy(lfs.attributes("docs/" .. path), path .. " is not there")
    end
  end)
end)
