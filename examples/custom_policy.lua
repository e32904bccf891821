-- A host with a policy of its own: in a file, with options that the host sets, checked by its own
-- example before it is used. Then what it did, with the line that asked for it.
--     make && lua5.4 examples/custom_policy.lua
-- next: ../docs/first-policy.md
package.path = package.path .. ";lua/?.lua;lua/?/init.lua"
package.cpath = package.cpath .. ";build/lua/?.so"

local neap = require("neap")
local example = require("neap.report.example")

local POLICY = [[
-- Errors stay; other results become one line each once they are older than the newest.
--
-- example: window=4000 keep=1
--   user 20
--   call run make
--   result 300          -> masked
--   call run make
--   result 300
return {
  api = 1,
  name = "errors_stay",
  about = "Older results become one line each, but for errors.",
  options = { keep = { default = 2, min = 1, help = "results shown in full" } },

  admit = function(_, e)
    if e.kind == "result" and e.text:find("error:", 1, true) then e:hold("an error") end
  end,

  assemble = function(ctx, o)
    for e in ctx:entries({ kind = "result", at = "full", except_last = o.keep }) do
      if not e.held then e:mask("older than the newest " .. o.keep) end
    end
  end,
}
]]

local path = os.tmpname()
local f = assert(io.open(path, "w"))
f:write(POLICY)
f:close()

-- What `neap check` does first: a policy whose example fails is not used.
local ok, count = example.run(path)
assert(ok, count)
print(count .. " example holds")

-- ---- a session under it -------------------------------------------------------------------

local s = assert(neap.session({ policy = path, options = { keep = 1 }, window = 8000 }))
assert(s:add({ role = "user", content = "Mend the build." }))

local RESULTS = { "cc main.c", "main.c:12: error: missing ;", "cc main.c", "ok" }
for i, result in ipairs(RESULTS) do
  assert(s:prompt())
  local call = { name = "run", arguments = neap.json.encode({ command = "make" }) }
  assert(s:add({
    role = "assistant",
    tool_calls = { { id = "call_" .. i, type = "function", ["function"] = call } },
  }))
  local text = result .. ("\nsome more of what make says"):rep(20)
  assert(s:add({ role = "tool", tool_call_id = "call_" .. i, content = text }))
  assert(s:prompt())
  for _, change in ipairs(s:account().changed) do
    local form = "after result %d: entry %d went from %s to %s: %s"
    print(form:format(i, change.entry, change.from, change.to, change.why))
  end
end

local body = assert(s:prompt())
print("the error is shown: " .. tostring(body:find("main.c:12: error", 1, true) ~= nil))
print("policy " .. s:policy().name .. " with " .. s:policy().options)
s:close()
os.remove(path)
