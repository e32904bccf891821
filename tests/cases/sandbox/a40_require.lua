-- Names of modules are names, not paths.
-- expect: ok
local tried = { "../../x", "a\0b", "/etc/passwd", "", ".", "a..b", "A", "a/b", ("a"):rep(200), "os" }
local refused = 0
for _, name in ipairs(tried) do
  if not pcall(require, name) then refused = refused + 1 end
end
assert(refused == #tried)
assert(not pcall(require) and not pcall(require, {}))
return { api = 1 }
