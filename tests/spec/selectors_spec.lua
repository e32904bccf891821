-- ctx:entries and ctx:span begin where something can match: in long sessions whose entries go up
-- and down, are folded and raised again, they must find what a walk over everything finds.
local neap = require("neap")

-- A small generator of its own: the seed is printed when a case fails.
local function random(seed)
  local state = seed
  return function(n)
    state = (state * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
    return (state >> 33) % n + 1
  end
end

-- Compares each filter with the same by hand, then changes something by chance.
local POLICY = [[
local filters = {
  { sent = false }, { sent = true }, { sent = false, kind = "result" }, { at = "full" },
  { at = { "trimmed", "masked", "reference" } }, { at = "dropped" }, { at = "full", kind = "call" },
  { kind = "result", at = "full", except_last = 3 }, { region = "hot", at = "full" },
  { region = "warm" },
  { sent = false, at = "full" }, { sent = false, at = { "full", "trimmed", "masked" } },
  { from = 4 }, { from = 4, before = 9, sent = false }, { path = "src/f2.c" },
  { path = { "src/f1.c", "src/f3.c" }, kind = "result" }, { is_error = true },
  { min_tokens = 30, kind = "result" }, { tool = "read", at = "full" }, {},
}
local function is(value, wanted)
  if type(wanted) ~= "table" then return value == wanted end
  for _, w in ipairs(wanted) do if value == w then return true end end
  return false
end
local function by_hand(all, f)
  local ids = {}
  for _, e in ipairs(all) do
    local ok = (f.sent == nil or e.sent == f.sent) and (not f.kind or is(e.kind, f.kind))
      and (not f.at or is(e.at, f.at)) and (not f.region or is(e.region, f.region))
      and (not f.from or e.step >= f.from) and (not f.before or e.step < f.before)
      and (not f.path or e.path and is(e.path, f.path))
      and (not f.tool or e.tool and is(e.tool, f.tool))
      and (f.is_error == nil or e.is_error == f.is_error)
      and (not f.min_tokens or e.tokens >= f.min_tokens)
    if ok then ids[#ids + 1] = e.id end
  end
  for _ = 1, math.min(f.except_last or 0, #ids) do ids[#ids] = nil end
  return table.concat(ids, " ")
end
local function all_entries(ctx)
  local all = {}
  for e in ctx:entries { at = { "full", "trimmed", "reference", "masked", "dropped" } } do
    all[#all + 1] = e
  end
  return all
end
local function compare(ctx)
  local all = all_entries(ctx)
  for i, f in ipairs(filters) do
    local got, n = {}, 0
    local each, count = ctx:entries(f)
    for e in each do got[#got + 1], n = e.id, n + 1 end
    local want = by_hand(all, f)
    assert(table.concat(got, " ") == want and n == count,
      "step " .. ctx.step .. ", filter " .. i .. ": " .. table.concat(got, " ")
        .. "; by hand: " .. want)
  end
  for from = 1, ctx.step, 3 do
    local whole, parts = ctx:span { from = from, before = ctx.step }, 0
    for step = from, ctx.step - 1 do
      parts = parts + ctx:span { from = step, before = step + 1 }.entries
    end
    assert(whole.entries >= parts and whole.entries <= parts + 2 * ctx.step, "from " .. from)
    assert(ctx:span { from = from }.entries >= whole.entries)
  end
end
return { api = 1,
  compact = function(ctx)
    compare(ctx)
    if ctx.step % 7 == 0 then ctx:fold(ctx:span { before = ctx.step - 4 }, "src/f1.c was read.") end
    compare(ctx)
  end,
  assemble = function(ctx)
    compare(ctx)
    for _, e in ipairs(all_entries(ctx)) do
      local what = ctx.random(12)
      if what == 1 then e:mask() elseif what == 2 then e:drop() elseif what == 3 then e:restore()
      elseif what == 4 then e:trim { tokens = 40 }
      elseif what == 5 and ctx.random(8) == 1 then e:hold() end
    end
    compare(ctx)
    if ctx.random(9) == 1 then error("taken back") end
  end,
  overflow = function(ctx, _, short) compare(ctx) ctx:shrink(ctx.budget - short) compare(ctx) end }
]]

local function call(id, n)
  local out = { id = id, type = "function" }
  local arguments = ('{"path":"src/f%d.c"}'):format(n)
  out["function"] = { name = n % 2 == 0 and "read" or "bash", arguments = arguments }
  return out
end

local function prompt(s)
  local body, why, code = s:prompt()
  assert.is_true(body ~= nil or code == "budget", why)
  for _, text in ipairs(s:account().hook_errors) do
    assert.is_truthy(text:find("taken back", 1, true), text)
  end
end

describe("selectors", function()
  for seed = 1, 6 do
    it("find what a walk over everything finds, seed " .. seed, function()
      local draw, path = random(seed), os.tmpname()
      local f = assert(io.open(path, "wb"))
      f:write(POLICY)
      f:close()
      local s = assert(neap.session({ policy = path, window = 2600, reserve = 100 }))
      s:add({ role = "system", content = "Be careful." })
      s:add({ role = "user", content = "Look at src/f1.c." })
      for step = 1, 30 do
        if draw(2) == 1 then prompt(s) end -- else more comes that was in no prompt
        local calls = {}
        for i = 1, draw(3) do
          calls[i] = call(("c%d-%d"):format(step, i), draw(4))
        end
        s:add({ role = "assistant", content = "step " .. step, tool_calls = calls })
        for i, c in ipairs(calls) do
          local text = ("line %d of it\n"):format(draw(50)):rep(draw(20))
          s:add({ role = "tool", tool_call_id = c.id, content = text .. i })
        end
        if draw(6) == 1 then s:add({ role = "user", content = "Go on, " .. step }) end
      end
      s:close()
      os.remove(path)
    end)
  end
end)
