-- Changes of notes, as a model writes them: one a line, in a form that small models can keep to.
-- Bullets, numbers, code fences and brackets around the step are passed over, and so is every
-- line that begins with no verb. next: verify.lua
local notes = require("neap.summary.notes")

local M = {}

M.LINES = 200 -- changes of one answer
M.BYTES = 65536 -- of an answer
M.LINE = 2000 -- of a line that is read: no text may have so many

---@class neap.Change
---@field verb "add"|"supersede"|"refute"|"done"
---@field section string? of add
---@field key string?     of the others
---@field step integer
---@field text string?
---@field why string?
---@field line integer    of the answer, for complaints

local VERBS = {
  add = "add",
  supersede = "supersede",
  refute = "refute",
  done = "done",
  none = "none",
  ["新增"] = "add",
  ["添加"] = "add",
  ["更正"] = "supersede",
  ["取代"] = "supersede",
  ["证伪"] = "refute",
  ["完成"] = "done",
  ["无"] = "none",
}

local SECTIONS = {
  ["约束与偏好"] = "constraints",
  ["已确认事实"] = "facts",
  ["事实"] = "facts",
  ["已排除"] = "refuted",
  ["已证伪"] = "refuted",
  ["决策"] = "decisions",
  ["关键发现"] = "findings",
  ["关键句柄"] = "handles",
  ["任务进度"] = "progress",
  ["待办"] = "open",
  ["fact"] = "facts",
  ["decision"] = "decisions",
  ["finding"] = "findings",
  ["handle"] = "handles",
}

local NEVER = { done = true, requests = true } -- to be added to by a model

local function strip(line)
  line = line:gsub("\r", ""):match("^%s*(.*%S)") or ""
  line = line:gsub("^[-*]%s+", ""):gsub("^%d+[.)]%s+", ""):gsub("^`+", ""):gsub("`+$", "")
  return line
end

-- "add facts [step 12]: text" as verb, what, step, text; nil when it begins with no verb.
local function split(line)
  local verb, rest = line:match("^(%a+)%s*(.*)$")
  if not verb then
    verb, rest = line:match("^([\x80-\xff]+)%s+(.*)$")
    if not verb then verb, rest = line, "" end
  end
  verb = VERBS[verb:lower()]
  if verb == "none" then return not rest:find("[%w\x80-\xff]") and verb or nil end
  if not verb or not rest:find("[%w\x80-\xff]") then return nil end -- or a word of prose
  local what, step, text = rest:match("^%[?([^%s%]:]+)%]?[%s,]+%[?%a*%s*(%d+)%]?%s*(.*)$")
  if not what or text:find("^%.%d") then return verb end -- no step is 3.5
  if text:find("^：") then text = text:sub(#"：" + 1) end
  return verb, what, math.tointeger(tonumber(step)), text:gsub("^[:,-]%s*", "")
end

local function reason(text)
  local at = text:find("%s|%s")
  if not at then return text end
  return text:sub(1, at - 1), text:sub(at + 3)
end

local function fault(line, what)
  return { code = "form", line = line, what = what }
end

-- One change; or nil and what is wrong with it.
local function read(verb, what, step, text, line)
  if not what or not step then
    return nil, fault(line, "not `VERB SECTION-or-KEY STEP: text`")
  end
  local change = { verb = verb, step = step, line = line }
  if verb == "add" then
    change.section = SECTIONS[what] or what:lower()
    if not notes.is_section(change.section) or NEVER[change.section] then
      return nil, fault(line, ("there is no section %q to add to"):format(what))
    end
  else
    change.key = what:upper()
    if not change.key:find("^%u%d+$") then
      return nil, fault(line, ("%q is no key"):format(what))
    end
  end
  if verb == "refute" or verb == "done" then
    change.why = notes.tidy(text)
    if verb == "refute" and change.why == "" then
      return nil, fault(line, "what is refuted needs a reason")
    end
  else
    local body, why = reason(text)
    change.text, change.why = notes.tidy(body), why and notes.tidy(why)
    if change.text == "" then return nil, fault(line, "there is no text") end
  end
  if change.why == "" then change.why = nil end
  return change
end

--- The changes that an answer holds, and what in it cannot be read as one. An answer of more than
--- 65,536 bytes, that is not UTF-8, or without any change, has a fault and no changes.
---@param answer string
---@return neap.Change[] changes, table[] faults
function M.parse(answer)
  local changes, faults, none = {}, {}, false
  if #answer > M.BYTES then
    local text = "the answer has %d bytes, at most %d are taken"
    return {}, { { code = "size", what = text:format(#answer, M.BYTES) } }
  end
  if not utf8.len(answer) then
    return {}, { { code = "utf8", what = "the answer is not UTF-8" } }
  end
  local n = 0
  for line in (answer .. "\n"):gmatch("(.-)\n") do
    n = n + 1
    local is_long = #line > M.LINE
    local verb, what, step, text = split(strip(is_long and line:sub(1, 100) or line))
    if verb == "none" then
      none = true
    elseif verb and is_long then
      faults[#faults + 1] = { code = "size", line = n, what = "a line has at most 2,000 bytes" }
    elseif verb and #changes < M.LINES then
      local change, wrong = read(verb, what, step, text, n)
      changes[#changes + 1], faults[#faults + 1] = change, wrong
    elseif verb then
      faults[#faults + 1] = { code = "size", line = n, what = "more than 200 changes" }
      break
    end
  end
  if #changes == 0 and #faults == 0 and not none then
    faults[1] = { code = "form", what = "no line of it is a change" }
  end
  return changes, faults
end

return M
