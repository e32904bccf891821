-- The same bytes in every run: no order, address, clock, hash or memory shows. The harness runs it twice.
-- expect: ok
-- calls: assemble assemble
local function show(v)
  if type(v) ~= "table" then return tostring(v) end
  local t = {}
  for k, x in pairs(v) do t[#t + 1] = tostring(k) .. "=" .. show(x) end
  return "{" .. table.concat(t, ",") .. "}"
end
return {
  api = 1,
  assemble = function(ctx)
    local t, words = {}, {}
    for i = 1, 300 do t["key" .. i * 7919 % 1009] = i end
    for i = 1, 300, 3 do t["key" .. i * 7919 % 1009] = nil end
    for i = 1, 50 do t[i * 104729] = i t[i + 0.5] = i end
    neap.say(show(t))
    neap.say(tostring(t), tostring(show), tostring(ctx), tostring(print), tostring(0 / 0), tostring(-(0 / 0)))
    assert(not pcall(string.format, "%a", 1) and not pcall(string.format, "%p", t))
    neap.say(("%s %s %g %5.1f %q"):format(t, show, 0 / 0, -(0 / 0), 0 / 0), table.concat { 0 / 0, -(0 / 0) })
    for _, f in ipairs { error, string.rep, ctx.fold, setmetatable } do
      neap.say(pcall(f, t, show, ctx))
      neap.say(pcall(f))
    end
    neap.say(pcall(function() return t.x.y end))
    neap.say(pcall(function() return ctx.nothing end))
    neap.say(select(2, pcall(error, t)))
    for i = 1, 40 do words[i] = { ("w"):rep(i * 7 % 13), i } end
    table.sort(words, function(a, b) return a[1] < b[1] end)
    for _, w in ipairs(words) do neap.say(w[1], w[2]) end
    table.sort(words, function(a, b) return (a[2] * 31 + #b[1]) % 3 == 0 end)
    for _, w in ipairs(words) do neap.say(w[2]) end
    for i = 1, 20 do neap.say(ctx.random(), ctx.random(1 << 40)) end
    for e in ctx:entries() do neap.say(tostring(e), e.hash, e.tokens, e.identifiers) end
    neap.say(neap.pow(1.1, 0.7), neap.exp(1.3), neap.log(7.7), math.sqrt(2), 10 / 3, 1e15, 2 ^ 2, 1e100)
    ctx.state = t.x or { b = 1, a = { c = 2, b = 3 }, [10] = "x" }
  end,
}
