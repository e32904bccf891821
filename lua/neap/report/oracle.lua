-- The oracle: a reference that is given what no policy can know, the list of later citations.
-- A replay without a window tells it; a policy that holds it then takes away first what nobody
-- comes back to (Belady's choice), then shows of the rest the lines that will be used. Budget,
-- validity and the price of rewrites bind it as they bind every other policy. It is greedy and
-- picks lines as any trim does: a strong reference, no bound. next: compare.lua
local M = {}

-- The lists: names, and by entry the steps at which a fact of it is cited, each followed by the
-- number of its name.
local POLICY = [==[
local NAMES = {%s}
local CITED = {%s}

-- What is still to be cited from an entry: how often, and the names as words to look for.
local function wanted(e, step)
  local list, seen, n = CITED[e.id] or {}, {}, 0
  local words = {}
  for i = 1, #list, 2 do
    local name = NAMES[list[i + 1]]
    if list[i] >= step then n = n + 1 end
    if list[i] >= step and not seen[name] and #words < 48 then
      seen[name], words[#words + 1] = true, name
    end
  end
  return n, table.concat(words, " ")
end

local function excerpt(ctx, e, tokens, why)
  local n, words = wanted(e, ctx.step)
  if n > 0 then
    e:trim { tokens = tokens, keep = "about", about = words, why = why }
  else
    e:trim { tokens = tokens, keep = "dense", why = why }
  end
end

-- Results by what is still wanted of them: those of which nothing is, then the larger first.
local function in_order(ctx)
  local useless, useful = {}, {}
  for e in ctx:entries { kind = "result" } do
    local there = e.at == "full" or e.at == "trimmed"
    if there and e.step < ctx.step - 1 then
      local n, words = wanted(e, ctx.step)
      if n == 0 then
        useless[#useless + 1] = e
      else
        useful[#useful + 1] = { e = e, tokens = e.tokens, words = words }
      end
    end
  end
  table.sort(useful, function(a, b)
    if a.tokens ~= b.tokens then return a.tokens > b.tokens end
    return a.e.id < b.e.id
  end)
  return useless, useful
end

-- Tokens that a prompt takes which shows what will be used, and nothing else that may go; never
-- so many that the next rewrite would come at once.
local function needed(ctx)
  local useful, rest = 0, ctx.tokens
  for e in ctx:entries {} do
    local stays = e.held or e.step >= ctx.step - 1
    if not stays then rest = rest - e.tokens end
    if not stays and wanted(e, ctx.step) > 0 then
      useful = useful + e.tokens + 40 -- its call beside it
    end
  end
  return math.min(rest + useful, rest + (ctx.budget - rest) * 4 // 5)
end

local function ebb(ctx, floor)
  local useless, useful = in_order(ctx)
  for _, e in ipairs(useless) do
    if ctx.tokens <= floor then return end
    e:mask("nobody comes back to it")
  end
  for _, one in ipairs(useful) do
    if ctx.tokens <= floor then return end
    if one.e.at == "full" and one.tokens > 400 then
      one.e:trim { tokens = 300, keep = "about", about = one.words, why = "what will be used" }
    end
  end
  ctx:shrink(math.max(floor, needed(ctx)), "oracle")
end

return {
  api = 1,
  name = "oracle",
  about = "Given every later citation: a reference, no policy.",
  tools = { "recall", "read" },
  order = "value",

  admit = function(ctx, e)
    if e.kind == "result" and e.tokens > 0.25 * ctx.budget then
      excerpt(ctx, e, 1000, "a giant on arrival")
    end
  end,

  rank = function(ctx, e)
    return wanted(e, ctx.step) + 0.01 / e.age
  end,

  assemble = function(ctx)
    if ctx.tokens > ctx.economy.height then ebb(ctx, ctx.economy.floor) end
  end,
}
]==]

-- Numbers for names, in the order in which they come.
local function numbering()
  local list, of = {}, {}
  return list, function(name)
    if not of[name] then
      list[#list + 1] = ("%q"):format(name):gsub("\n", "n")
      of[name] = #list
    end
    return of[name]
  end
end

-- The facts (or words) that each entry is cited for, as the steps of those who cite it and their
-- names.
local function cited(session, number, words)
  local by, list = {}, session:facts(words)
  for i = 1, #list, 3 do
    local id = list[i]
    by[id] = by[id] or {}
    table.insert(by[id], ("%d,%d"):format(list[i + 1], number(list[i + 2])))
  end
  local rows = {}
  for id = 1, session:entry_count() do
    if by[id] then rows[#rows + 1] = ("[%d]={%s}"):format(id, table.concat(by[id], ",")) end
  end
  return rows
end

-- Another policy as it is, but for its rank: what is still to be cited of an entry. It has that
-- policy's ladder, height, floor and requests, and differs in what it knows alone.
local TOLD = [==[
local CITED = {%s}

local policy = (function()
%s
end)()

policy.name = "told"
policy.rank = function(ctx, e)
  local list, n = CITED[e.id] or {}, 0
  for i = 1, #list, 2 do
    if list[i] >= ctx.step then n = n + 1 end
  end
  return n + 0.01 / e.age
end

return policy
]==]

local function lists(rows)
  return "\n  " .. table.concat(rows, ",\n  ") .. "\n"
end

--- The oracle for a recording, as the text of a policy, from a replay of it without a window whose
--- session is still open.
---@param session table
---@return string
function M.text(session)
  local names, number = numbering()
  local rows = cited(session, number)
  return POLICY:format(table.concat(names, ","), lists(rows))
end

--- What M.told needs of a recording.
---@param session table of a replay without a window, still open
---@param words boolean? tells of rare plain words in the place of facts
---@return string
function M.lists(session, words)
  local _, number = numbering()
  return lists(cited(session, number, words))
end

--- A policy's text with what the oracle is told in the place of its rank: how far its ladder and
--- its moments could bring any rank.
---@param told string of M.lists
---@param source string the policy's text
---@return string
function M.told(told, source)
  return TOLD:format(told, source)
end

return M
