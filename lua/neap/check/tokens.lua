-- The tokens of a Lua 5.4 file, with their lines. The file is one that Lua has compiled: nothing
-- is reported here, and what cannot be a token ends the list. next: scopes.lua
local M = {}

local KEYWORDS = {}
for word in
  ([[and break do else elseif end false for function goto if in local nil not or repeat
  return then true until while]]):gmatch("%a+")
do
  KEYWORDS[word] = true
end

-- Three characters before two before one.
local OPERATORS = {
  { ["..."] = true },
  {
    [".."] = true,
    ["=="] = true,
    ["~="] = true,
    ["<="] = true,
    [">="] = true,
    ["//"] = true,
    ["::"] = true,
    ["<<"] = true,
    [">>"] = true,
  },
}

---@class neap.Token
---@field kind "name"|"keyword"|"string"|"number"|"op"|"end"
---@field text string   of a short string its value without escapes resolved
---@field line integer

-- The end of a long bracket that begins at `at`, and where its content lies; or nil.
local function long_bracket(text, at)
  local level = text:match("^%[(=*)%[", at)
  if not level then return nil end
  local from = at + #level + 2
  local close, stop = text:find("]" .. level .. "]", from, true)
  return (stop or #text) + 1, from, (close or #text + 1) - 1
end

-- The place behind a short string that begins at `at`.
local function short_string(text, at)
  local quote = text:sub(at, at)
  local i = at + 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == quote then return i + 1 end
    i = i + (c == "\\" and 2 or 1)
  end
  return i
end

local function comment(text, at)
  local behind = long_bracket(text, at + 2)
  if behind then return behind end
  return (text:find("\n", at, true) or #text + 1)
end

local function number(text, at)
  local _, last = text:find("^0[xX][%x%.]*", at)
  local exponent = last and "^[pP][+-]?%d+" or "^[eE][+-]?%d+"
  if not last then
    _, last = text:find("^[%d%.]+", at)
  end
  local _, more = text:find(exponent, last + 1)
  return (more or last) + 1
end

local function operator(text, at)
  for i, set in ipairs(OPERATORS) do
    local word = text:sub(at, at + 3 - i)
    if set[word] then return at + #word end
  end
  return at + 1
end

-- The token at `at`: its kind, the place behind it, its text. No kind: a comment.
local function token_at(text, at)
  local c = text:sub(at, at)
  if c:find("[%a_]") then
    local _, last = text:find("^[%w_]+", at)
    local word = text:sub(at, last)
    return KEYWORDS[word] and "keyword" or "name", last + 1, word
  elseif text:find("^%-%-", at) then
    return nil, comment(text, at), nil
  elseif c == '"' or c == "'" then
    local behind = short_string(text, at)
    return "string", behind, text:sub(at + 1, behind - 2)
  elseif c == "[" and text:find("^%[=*%[", at) then
    local behind, from, to = long_bracket(text, at)
    return "string", behind, text:sub(from, to)
  elseif text:find("^%.?%d", at) then
    local behind = number(text, at)
    return "number", behind, text:sub(at, behind - 1)
  end
  local behind = operator(text, at)
  return "op", behind, text:sub(at, behind - 1)
end

--- Cuts a file into tokens; the last one is of kind "end".
---@param text string
---@return neap.Token[]
function M.of(text)
  local list, line, at = {}, 1, 1
  if text:sub(1, 3) == "\xEF\xBB\xBF" then at = 4 end
  if text:sub(at, at) == "#" then at = text:find("\n", at, true) or #text + 1 end
  while at <= #text do
    local blank = text:match("^%s+", at)
    local kind, behind, word = nil, at + #(blank or ""), nil
    if not blank then
      kind, behind, word = token_at(text, at)
    end
    if kind then list[#list + 1] = { kind = kind, text = word, line = line } end
    line = line + select(2, text:sub(at, behind - 1):gsub("\n", ""))
    at = behind
  end
  list[#list + 1] = { kind = "end", text = "", line = line }
  return list
end

return M
