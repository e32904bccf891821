-- Speed of what people wait for: a long loop with everything in it. CPU time, median of five;
-- no figure is judged here. --json prints one object per row. next: tokens.lua
local core = require("neap.core")
local json = arg[1] == "--json"

local ENGLISH = "The tide rises, the tide falls, and what it carried in the morning it has "
  .. "taken away again by night; nobody on the quay could say what had been there.\n"
local CODE = "static int np_find(const char *key, size_t n) {\n  for (size_t i = 0; i < n; i++) {\n"
  .. "    if (key[i] == '\\0') return -1;\n  }\n  return (int)hash(key, n) & 0x3ff;\n}\n"
local function median_seconds(f)
  local times = {}
  for i = 1, 5 do
    local from = os.clock()
    f()
    times[i] = os.clock() - from
  end
  table.sort(times)
  return times[3]
end

local function row(name, value, unit)
  if json then
    local number = core.json.raw(("%.3f"):format(value))
    print(core.json.encode({ name = name, value = number, unit = unit }))
  else
    print(("%-44s %10.2f %s"):format(name, value, unit))
  end
end

-- A loop of `turns` steps: a call and its result each, a prompt each.
local function bench_loop(turns, window)
  local body = CODE:rep(6) .. ENGLISH:rep(4)
  local s = median_seconds(function()
    local engine = assert(core.engine({ fixed_secret = true }))
    local session = assert(engine:session({ name = "loop", window = window }))
    assert(session:append('{"role":"user","content":"Mend the build."}'))
    for i = 1, turns do
      assert(session:prompt())
      local call = '{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function",'
        .. '"function":{"name":"read","arguments":"{\\"path\\":\\"src/file_%d.c\\"}"}}]}'
      assert(session:append(call:format(i, i)))
      local result = { role = "tool", tool_call_id = "c" .. i, content = i .. "\n" .. body }
      assert(session:append(core.json.encode(result)))
    end
    engine:close()
  end)
  row(("loop of %d turns, window %d"):format(turns, window), s * 1000, "ms")
end

bench_loop(100, 16000)
bench_loop(1000, 128000)
