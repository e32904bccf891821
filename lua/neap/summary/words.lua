-- Words that say what a sentence is, in English and Chinese, and what a name is. Data and the
-- patterns over them. next: extract.lua
local lpeg = require("lpeg")

local M = {}

-- ---- names: paths, numbers, codes -----------------------------------------------------------

local P, R, S, C, Cmt = lpeg.P, lpeg.R, lpeg.S, lpeg.C, lpeg.Cmt

-- What makes a run of letters a name. Where it stands nowhere in a line there is no name.
local function is_odd(s)
  return s:find("[%d_/]") or s:find("%w[.-]%w") or s:find("%l%u")
end

local letter = R("az", "AZ", "09") + S("_./:@#-")
local function is_name(_, at, s)
  local core = s:match("^[./:@#-]*(.-)[./:@#-]*$")
  if #core < 3 then return false end
  if not is_odd(core) or (#core < 4 and not core:find("^%d+$")) then return false end
  return at, core
end
local name = Cmt(C(letter ^ 1), is_name)
-- Most runs are plain words, which no is_name has to look at: capitals, then small letters.
local outer = S("./:@#-") ^ 0
local plain = outer * (R("AZ") ^ 1 * R("az") ^ 0 + R("az") ^ 1) * outer * -letter
local scan = lpeg.Ct((plain + name + letter ^ 1 + 1) ^ 0)

--- The names in a line, in order, also more than once.
---@param line string
---@return fun(): string?
function M.names(line)
  local list, i = is_odd(line) and scan:match(line) or {}, 0
  return function()
    i = i + 1
    return list[i]
  end
end

---@param line string
---@return integer
function M.count_names(line)
  return is_odd(line) and #scan:match(line) or 0
end

-- ---- words ----------------------------------------------------------------------------------

-- A word at the start of another one counts: "fail" finds "failed". Chinese words stand anywhere.
local function any_of(list)
  local latin, other = P(false), P(false)
  for word in list:gmatch("[^|]+") do
    if word:find("^[\x20-\x7e]+$") then
      latin = latin + P(word)
    else
      other = other + P(word)
    end
  end
  local alnum = R("az", "09")
  if not list:find("[\x20-\x7b]") then return P({ R("\0\x7f") ^ 0 * (other + 1 * lpeg.V(1)) }) end
  return P({ other + latin + (alnum ^ 1 + 1) * lpeg.V(1) })
end

local function finder(list)
  local pattern = any_of(list)
  return function(text)
    return pattern:match(text:lower()) ~= nil
  end
end

--- Does the line say in Chinese that something went wrong? In English core.error_lines tells.
M.is_error = finder("错误|失败|异常|报错|出错|拒绝|找不到|无法|超时")

local CODE = "from |import |except|raise |throw|catch|return |if |if(|elif |def |class |func |"
  .. "function |const |let |var |type |public |private |static |#include|//|} |+|-"
local code = P(false)
for start in CODE:gmatch("[^|]+") do
  code = code + P(start)
end
code = S(" \t") ^ 0 * code

--- Does the line read like source code? What code says of errors has not happened.
---@param line string
---@return boolean
function M.is_code(line)
  return code:match(line) ~= nil or line:find("[{;(]$") ~= nil
end

M.is_unsure =
  finder("probably|maybe|perhaps|suspect|might|seems|likely|guess|可能|也许|怀疑|大概|似乎|应该是")

local is_refuted = finder(
  "ruled out|not the cause|is not it|wrong|reverted|refuted|did not help|does not help|"
    .. "didn't work|doesn't work|does not work|no longer|dead end|not the problem|gave up|"
    .. "排除|证伪|推翻|不是原因|不是问题|无效|行不通|没有帮助|没有效果|放弃"
)
--- Does the sentence say what has to be or must not be?
M.is_constraint = finder(
  "must|never|always|do not|don't|make sure|only use|without changing|not allowed|"
    .. "必须|不要|不得|不能|不可|禁止|务必|只能|一定要|切勿"
)

--- Is it a question? In Chinese also one without its sign.
---@param s string
---@return boolean
function M.is_question(s)
  return s:find("%?%s*$") ~= nil or s:find("？%s*$") ~= nil or s:find("吗%s*$") ~= nil
end

local is_open = finder(
  "todo|still need|remains|remaining|not yet|unresolved|open question|next step|next, |"
    .. "to check|待办|待查|待确认|尚未|还没|还需|未解决|下一步|接下来|需要进一步"
)
local is_decision = finder(
  "decide|decision|chose|choose|i will use|i'll use|let's use|instead of|rather than|because|"
    .. "the cause|root cause|conclu|therefore|决定|采用|选择|改为|改用|因为|所以|结论|根因|原因是"
)
local is_done = finder(
  "fixed|implemented|completed|finished|done|passes|passed|works now|updated|added|"
    .. "已完成|已修复|已实现|已解决|完成了|修复了|通过了|已添加|已更新"
)

--- The section that a sentence of the model's belongs to, or nil.
---@param sentence string
---@return string?
function M.section(sentence)
  if is_refuted(sentence) then return "refuted" end
  if is_open(sentence) then return "open" end
  if is_decision(sentence) then return "decisions" end
  if is_done(sentence) then return "done" end
end

-- ---- sentences and scripts ------------------------------------------------------------------

local stop = S(".!?;") * (S(" \t") + -1) + P("。") + P("！") + P("？") + P("；")
local sentence = C((1 - stop) ^ 1 * stop ^ -1)
local all = lpeg.Ct((S(" \t") ^ 1 + sentence + stop) ^ 0)

--- The sentences of a line.
---@param line string
---@return fun(): string?
function M.sentences(line)
  local list, i = all:match(line), 0
  return function()
    i = i + 1
    return list[i]
  end
end

local cjk = R("\xE3\xE9") * R("\x80\xBF") * R("\x80\xBF")
local no_wide = (1 - R("\xE3\xE9")) ^ 0 * -1
local tally = lpeg.Cf(lpeg.Cc(0) * (cjk * lpeg.Cc(1) + 1) ^ 0, function(sum, n)
  return sum + n
end)

--- Is the text mostly Chinese? A character says as much as two or three letters.
---@param text string
---@return boolean
function M.is_cjk(text)
  if no_wide:match(text) then return false end
  local letters = select(2, text:gsub("%a", ""))
  return tally:match(text) * 3 > letters
end

--- The first bytes of a text, ending at a character's end and before a name.
---@param text string
---@param bytes integer
---@return string?
function M.clip(text, bytes)
  local last = utf8.offset(text, 0, bytes + 1)
  local head = last and text:sub(1, last - 1) or ""
  return head:match("^(.-)[%w_./:@#-]*$")
end

return M
