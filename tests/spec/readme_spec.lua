-- The README: every command in it is run in a scratch copy of the tree, every Lua program in it
-- is run, and output that it shows is compared. A command that cannot be run here is reported
-- as skipped, with the reason. next: ../../README.md
local shared = require("tests.support.shared")

local README = assert(shared.read("README.md"))

-- Fenced blocks in order: language, text, and the line where each begins.
local function blocks()
  local list, open, number = {}, nil, 0
  for line in README:gmatch("([^\n]*)\n") do
    number = number + 1
    local fence = line:match("^```(%w*)")
    if fence and open then
      list[#list + 1] = open
      open = nil
    elseif fence then
      open = { language = fence, line = number, text = "" }
    elseif open then
      open.text = open.text .. line .. "\n"
    end
  end
  return list
end

-- Commands that are not run, and why.
local SKIPPED = {
  ["make test"] = "it is what runs this spec",
  ["make deps"] = "it would change the machine",
}

local dir = shared.scratch("readme")
if dir:sub(1, 1) ~= "/" then dir = require("lfs").currentdir() .. "/" .. dir end
local tree, home = dir .. "/neap", dir .. "/home"

-- A copy of the tree with what has been built, so that make has little to do.
local function copy_tree()
  local build = shared.build()
  local script = ([[
    set -e
    mkdir -p %s %s/.claude/projects/demo
    tar --exclude=./build --exclude=./.git -cf - . | tar -C %s -xf -
    mkdir -p %s/build
    for part in core examples lua neap libneap.a .flags .pkgs gen; do
      [ -e %s/$part ] && cp -Rp %s/$part %s/build/ || true
    done
    rm -rf %s/build/share
  ]]):format(tree, home, tree, tree, build, build, tree, tree)
  assert(os.execute(script:gsub("\n *", "\n")))
end

-- A session as Claude Code keeps it, for the command that reads one's own.
local function write_session()
  local lines = {
    '{"type":"user","uuid":"a1","parentUuid":null,"sessionId":"s1","cwd":"/src","version":"1.0.0",'
      .. '"timestamp":"2025-01-01T10:00:00.000Z","isSidechain":false,"message":{"role":"user",'
      .. '"content":"Why does the build fail?"}}',
    '{"type":"assistant","uuid":"a2","parentUuid":"a1","sessionId":"s1","cwd":"/src",'
      .. '"version":"1.0.0","timestamp":"2025-01-01T10:00:05.000Z","isSidechain":false,'
      .. '"requestId":"r1","message":{"id":"m1","type":"message","role":"assistant",'
      .. '"model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":'
      .. '{"command":"make"}}],"stop_reason":"tool_use",'
      .. '"usage":{"input_tokens":9,"output_tokens":9}}}',
    '{"type":"user","uuid":"a3","parentUuid":"a2","sessionId":"s1","cwd":"/src","version":"1.0.0",'
      .. '"timestamp":"2025-01-01T10:00:09.000Z","isSidechain":false,"message":{"role":"user",'
      .. '"content":[{"type":"tool_result","tool_use_id":"t1","content":"src/a.c:17: error"}]}}',
    '{"type":"assistant","uuid":"a4","parentUuid":"a3","sessionId":"s1","cwd":"/src",'
      .. '"version":"1.0.0","timestamp":"2025-01-01T10:00:15.000Z","isSidechain":false,'
      .. '"requestId":"r2","message":{"id":"m2","type":"message","role":"assistant",'
      .. '"model":"m","content":[{"type":"text","text":"src/a.c:17 is wrong."}],'
      .. '"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":9}}}',
  }
  local f = assert(io.open(home .. "/.claude/projects/demo/s1.jsonl", "w"))
  f:write(table.concat(lines, "\n"), "\n")
  f:close()
end

-- Runs a command in the copy, as a reader would: with a plain environment.
local function run(command)
  local script = dir .. "/command.sh"
  local f = assert(io.open(script, "w"))
  f:write(command, "\n")
  f:close()
  local out = dir .. "/out"
  local form = 'cd %s && env -i PATH="$PATH" HOME=%s LC_ALL=C.UTF-8 sh %s >%s 2>%s.err </dev/null'
  local _, _, code = os.execute(form:format(tree, home, script, out, out))
  return code, assert(shared.read(out)), assert(shared.read(out .. ".err"))
end

-- The stand-ins for what a reader has of his own.
local PRELUDE = [[
local turn = 0
function call_model(body)
  assert(body:sub(1, 1) == "{")
  turn = turn + 1
  if turn > 2 then return '{"choices":[{"message":{"role":"assistant","content":"done"}}]}' end
  return '{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c' .. turn
    .. '","type":"function","function":{"name":"ls","arguments":"{}"}}]}}]}'
end
function run_tool(call) return call.name .. ": a.c b.c" end
]]

describe("the README", function()
  local sanitized = (os.getenv("SANITIZE") or "") ~= ""
  local list = blocks()

  setup(function()
    if sanitized then return end
    copy_tree()
    write_session()
    local code, out, err = run("make")
    assert(code == 0, out .. err)
  end)

  for i, block in ipairs(list) do
    if block.language == "sh" then
      local following = list[i + 1]
      local expected = following and following.language == "text" and following.text
      for line in block.text:gmatch("[^\n]+") do
        local command = line:gsub("%s+#.*$", "")
        it(("line %d: %s"):format(block.line, command), function()
          if SKIPPED[command] then return pending(SKIPPED[command]) end
          if sanitized then return pending("the copy would be built anew, unsanitized") end
          local code, out, err = run(command)
          assert.equal(0, code, out .. err)
          if expected and line == block.text:match("([^\n]+)\n$") then
            assert.equal(expected, out)
          end
        end)
      end
    elseif block.language == "lua" then
      it(("line %d: the Lua program"):format(block.line), function()
        if sanitized then return pending("the copy would be built anew, unsanitized") end
        local is_policy = block.text:match("^return {") ~= nil
        local f = assert(io.open(tree .. "/program.lua", "w"))
        f:write(is_policy and "" or PRELUDE, block.text)
        f:close()
        local command = 'LUA_PATH="./lua/?.lua;./lua/?/init.lua;;" '
          .. 'LUA_CPATH="./build/lua/?.so;;" lua5.4 program.lua'
        if is_policy then command = "build/neap check program.lua" end
        local code, out, err = run(command)
        assert.equal(0, code, out .. err)
      end)
    end
  end

  it("links only to files that are there", function()
    for path in README:gmatch("%]%(([^)#]+)%)") do
      if not path:match("^%a+://") then
        assert.is_truthy(os.rename(path, path), path .. " is not there")
      end
    end
  end)
end)
