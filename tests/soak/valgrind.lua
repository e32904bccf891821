-- The attacks on the sandbox and its memory tests under valgrind: nothing is read that was not
-- written or was freed, nothing is lost. Skipped, and said so, where valgrind is not installed.
-- next: ../core/test_sandbox.c
local build = assert(os.getenv("NEAP_BUILD"), "run it by `make soak` or `make valgrind`")

if not os.execute("command -v valgrind >/dev/null 2>&1") then
  print("skipped: valgrind is not installed")
  return
end

local programs = { "sandbox_source", "sandbox_calls", "sandbox", "policy", "policy_grammar" }
local command = "NEAP_PATIENCE=900 valgrind -q --error-exitcode=99 --leak-check=full "
  .. "--errors-for-leak-kinds=definite '%s/tests/core/test_%s' 2>&1"

local failed = 0
for _, name in ipairs(programs) do
  local pipe = assert(io.popen(command:format(build, name)))
  local last = ""
  for line in pipe:lines() do
    last = line
    if line:find("FAILED", 1, true) or line:find("==", 1, true) then print(name .. ": " .. line) end
  end
  local ok = pipe:close()
  if not ok then failed = failed + 1 end
  print(("%-16s %s%s"):format(name, last, ok and "" or "  FAILED"))
end
os.exit(failed == 0)
