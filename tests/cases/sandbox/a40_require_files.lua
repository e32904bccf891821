-- require reads regular Lua files of the policy's own folder, of 1 MiB at most, and waits for nothing.
-- beside: odd files
-- expect: ok
assert(require("fine") == "fine")
for _, name in ipairs {
  "pipe", "link", "linked.secret", "dir", "huge", "device", "turned", "unending", "bytecode", "nul", "absent", "case.fine",
  "../out/secret", "..out.secret", "/etc/passwd", "fine\0", "fine.lua", "", ".", "Fine", "linked/secret",
} do
  local ok, why = pcall(require, name)
  assert(not ok, name)
  assert(type(why) == "string" and #why < 1000, name)
end
assert(require("fine") == "fine" and not pcall(require) and not pcall(require, 5) and not pcall(require, {}))
return { api = 1, assemble = function() assert(require("fine") == "fine" and not pcall(require, "case")) end }
