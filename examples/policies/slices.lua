-- Slices: an input of many times the window stays outside. The policy searches it for the goal's
-- words, hands the places to sub-tasks within a budget, and what they find stands in the prompt
-- with the line that it is on. Nothing is taken from a sub-task that its slice does not hold.
--
-- The input is a result, or an artifact that a result points at (neap:17). Until its findings are
-- here it is a few lines and a mark. See ../huge_input.lua.
local M = {}

-- Names, numbers and longer words of a text, each once, at most `most`.
local function words_of(text, most)
  local list, seen = {}, {}
  for word in text:gmatch("[%w_%./%-]+") do
    word = word:gsub("^%p+", ""):gsub("%p+$", "")
    if (#word >= 4 or #word >= 3 and word:find("[%d_/]")) and not seen[word] then
      seen[word] = true
      list[#list + 1] = word
      if #list == most then break end
    end
  end
  return list
end

-- The lines that hold a word: their numbers.
local function lines_with(ctx, id, word, tokens)
  local found = ctx:peek(id, "match " .. word:gsub("%p", "\\%0"), tokens)
  local list = {}
  for number in ("\n" .. (found or "")):gmatch("\n(%d+): ") do
    list[#list + 1] = math.tointeger(number)
  end
  return list
end

-- Every line that holds one of them has a worth: more for a word that few lines hold.
local function search(ctx, id, words, o)
  local worth, lines = {}, {}
  for _, word in ipairs(words) do
    local list = lines_with(ctx, id, word, o.look // #words)
    for _, line in ipairs(list) do
      if not worth[line] then lines[#lines + 1] = line end
      worth[line] = (worth[line] or 0) + 1 / #list
    end
  end
  table.sort(lines, function(a, b)
    if worth[a] ~= worth[b] then return worth[a] > worth[b] end
    return a < b
  end)
  return lines
end

-- The best places that are not within another, as ranges of lines in the text's order.
local function places(lines, o)
  local list = {}
  for _, line in ipairs(lines) do
    local apart = true
    for _, p in ipairs(list) do
      apart = apart and (line < p.from or line > p.to)
    end
    if apart then
      list[#list + 1] = { from = math.max(1, line - o.around), to = line + o.around }
      if #list == o.slices then break end
    end
  end
  table.sort(list, function(a, b)
    return a.from < b.from
  end)
  return list
end

local ASK = [[
Goal: %s
Lines %d-%d of input %d follow, each behind its number. Copy the lines that the goal needs, at most
5, each as NUMBER: TEXT, with nothing changed and nothing added. If there are none, say none.

%s]]

-- What a sub-task gets; nil when the text has no such lines.
local function question(ctx, id, place, goal, o)
  local text = ctx:peek(id, ("%d-%d"):format(place.from, place.to), o.slice)
  if not text then return nil end
  local lines, number = {}, place.from
  for line in text:gmatch("([^\n]*)\n") do
    if line:find("^%[… ") then break end -- more than the slice may have
    lines[#lines + 1] = number .. ": " .. line
    place[number] = line
    number = number + 1
  end
  place.to = number - 1
  local prompt = ASK:format(goal, place.from, place.to, id, table.concat(lines, "\n"))
  return { prompt = prompt, max_tokens = o.answer }
end

-- Of an answer what the slice holds, on the line that is named: never a word of the model's own.
local function check(answer, place, findings)
  local refused = 0
  for number, quote in (answer .. "\n"):gmatch("(%d+): ([^\n]+)\n") do
    local line = place[math.tointeger(tonumber(number)) or 0]
    quote = quote:gsub("%s+$", "")
    if type(line) == "string" and quote:find("%S") and line:find(quote, 1, true) then
      findings[#findings + 1] = ("line %s: %s"):format(number, quote)
    else
      refused = refused + 1
    end
  end
  return refused
end

local function goal_of(ctx)
  local goal = ""
  for e in ctx:entries({ kind = "user" }) do
    goal = e:peek("head 20", 200) or goal
  end
  return (goal:gsub("%s+$", ""))
end

-- The newest result that is an input of its own, or points at one, and what it is.
local function input_of(ctx, o)
  local large = {}
  for _, a in ipairs(ctx:artifacts()) do
    large[a.id] = a.bytes > 4 * o.share * ctx.window
  end
  for e in ctx:entries({ kind = "result", newest = true }) do
    local named = e:peek("match neap:[0-9]", 200) or ""
    local points = math.tointeger(tonumber(named:match("neap:(%d+)") or "0"))
    local id = large[points] and points
    if not id and e.full_tokens > o.share * ctx.window then id = e.id end
    if id and not ctx.state[tostring(id)] then return id, e end
  end
end

local HEAD = "Found in neap:%d, by line; neap_read(%d, \"A-B\") shows what is around."

-- The findings take the place of the step that brought the input: as many as make the prompt
-- smaller, the first ones first. What is left out is in the log.
local function show(ctx, id, step, findings)
  local span, n = ctx:span({ from = step, before = step + 1 }), #findings
  while n > 0 do
    local text = HEAD:format(id, id) .. "\n" .. table.concat(findings, "\n", 1, n)
    if ctx:fold(span, text, "findings of slices") then break end
    n = n // 2
  end
  local left = #findings - n
  if left > 0 then ctx:log(("input %d: no room for %d findings"):format(id, left)) end
end

function M.compact(ctx, o)
  local id, e = input_of(ctx, o)
  if not id then return end
  local goal, step, asks, list = goal_of(ctx), e.step, {}, {}
  local words = words_of(goal, 12)
  local lines = #words > 0 and search(ctx, id, words, o) or {}
  for _, place in ipairs(places(lines, o)) do
    local q = question(ctx, id, place, goal, o)
    if q then asks[#asks + 1], list[#list + 1] = q, place end
  end
  local findings, refused, answers = {}, 0, {}
  if #asks > 0 then answers = ctx:ask_all(asks) end
  for i, answer in ipairs(answers) do
    if answer then refused = refused + check(answer, list[i], findings) end
  end
  ctx.state[tostring(id)] = true
  ctx:log(("input %d: %d slices, %d findings, %d refused"):format(id, #asks, #findings, refused))
  show(ctx, id, step, findings)
end

return {
  api = 1,
  name = "slices",
  about = "Search inputs far larger than the window, and show what sub-tasks find in them.",
  options = {
    share = { default = 0.25, min = 0.01, max = 1, help = "of the window; more is searched" },
    shown = { default = 200, min = 50, help = "tokens of it that are shown until then" },
    look = { default = 6000, min = 100, help = "tokens that the search may find" },
    around = { default = 12, min = 0, help = "lines before and after a place" },
    slices = { default = 8, min = 1, max = 16, help = "sub-tasks for one input" },
    slice = { default = 1500, min = 100, help = "tokens of a slice" },
    answer = { default = 300, min = 20, help = "tokens of an answer" },
  },
  tools = { "recall", "read" },

  admit = function(ctx, e, o)
    if e.kind == "result" and e.tokens > o.share * ctx.window then
      e:trim({ tokens = o.shown, keep = "head", why = "it is searched in slices" })
    end
  end,

  compact = M.compact,
}
