-- The examples: each has its expected output beside it (run.sh runs and compares them), the C
-- one needs nothing but neap.h and libneap.a, and the project that the agent mends is broken
-- as shipped. next: ../../examples/embed.c
local lfs = require("lfs")
local shared = require("tests.support.shared")

local function capture(command)
  local pipe = assert(io.popen(command .. " 2>&1", "r"))
  local text = pipe:read("a")
  local _, _, code = pipe:close()
  return text, code
end

describe("the examples", function()
  for file in lfs.dir("examples") do
    if file:match("%.c$") or file:match("%.lua$") then
      it("have their output beside them: " .. file, function()
        assert.is_truthy(shared.read("examples/" .. file .. ".out"))
      end)
    end
  end

  it("compile against the public header and the library alone", function()
    if os.getenv("SANITIZE") ~= "" and os.getenv("SANITIZE") then
      return pending("a sanitized library needs the sanitizer's runtime")
    end
    local build = shared.build()
    local dir = shared.scratch("examples")
    local exe = dir .. "/embed"
    local form = "%s -std=c11 -Icore/include -o %s examples/embed.c %s/libneap.a %s -lm"
    local command = form:format(
      os.getenv("CC") or "cc",
      shared.quote(exe),
      shared.quote(build),
      "$(pkg-config --libs lua5.4 sqlite3 nettle libutf8proc libpcre2-8) "
        .. "$(pkg-config --libs libzstd 2>/dev/null)"
    )
    local said, code = capture(command)
    assert.equal(0, code, said)
    local out, rc = capture(shared.quote(exe))
    assert.equal(0, rc, out)
    assert.equal(assert(shared.read("examples/embed.c.out")), out)
  end)

  it("show a policy that is changed while it runs", function()
    local out = assert(shared.read("examples/embed.lua.out"))
    assert.matches("under keep_all", out)
    assert.matches("under newest_only", out)
  end)
end)

describe("the project that the agent mends", function()
  it("fails its own tests as shipped, and passes them mended", function()
    local dir = shared.scratch("project")
    local copy = dir .. "/project"
    assert(os.execute(("cp -R examples/project %s"):format(shared.quote(copy))))
    local test = ("cd %s && env -i PATH=\"$PATH\" LC_ALL=C make -s test"):format(shared.quote(copy))
    local out, code = capture(test)
    assert.is_true(code ~= 0)
    assert.matches("some tests failed", out)

    local fixes = require("examples.scripts.fixes")
    for _, name in ipairs({
      "sign", "leap", "leap_helper", "line_bytes", "line_buffer", "line_skip", "line_nul",
      "line_error", "prefix", "prefix_constant", "lots", "lots_helper", "reorder", "remark",
      "rounding", "whole_number",
    }) do
      local fix = fixes[name]
      local path = copy .. "/" .. fix.path
      local text = assert(shared.read(path))
      local from, to = text:find(fix.old, 1, true)
      assert(from, name .. " does not apply")
      local f = assert(io.open(path, "wb"))
      f:write(text:sub(1, from - 1), fix.new, text:sub(to + 1))
      f:close()
    end
    out, code = capture(test)
    assert.equal(0, code, out)
    assert.matches("all tests passed", out)
  end)
end)
