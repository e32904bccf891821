-- Reads the words of a command line by the table of options, and prints help from it.
-- next: options.lua
local options = require("neap.cli.options")
local spelling = require("neap.spelling")
local fail = require("neap.cli.fail").fail

local M = {}

local function hint(word, list, otherwise)
  local near = spelling.nearest(word, list)
  return near and ("did you mean %s?"):format(near) or otherwise
end

--- Fails: there is no such verb.
---@param word string
function M.unknown_verb(word)
  local names = {}
  for i, verb in ipairs(options.verbs) do
    names[i] = verb.name
  end
  fail(("unknown verb %s; %s"):format(word, hint(word, names, "neap --help lists them")))
end

local function unknown_option(verb, word)
  local names = {}
  for _, name in ipairs(options.of(verb)) do
    names[#names + 1] = "--" .. options.long(name)
  end
  fail(
    ("neap %s has no option %s; %s"):format(
      verb.name,
      word,
      hint(word, names, ("neap %s --help lists them"):format(verb.name))
    )
  )
end

-- The option a word names, as (name, spec).
local function find(verb, word, is_short)
  for _, name in ipairs(options.of(verb)) do
    local spec = options.options[name]
    if (is_short and spec.short == word) or (not is_short and options.long(name) == word) then
      return name, spec
    end
  end
end

local KINDS = {}

-- "16k" is 16000 to one reader and 16384 to another: said, not guessed. Twelve digits: their
-- million fits an integer.
local function in_full(text)
  local digits, unit = text:match("^(%d+)([kKmM])$")
  if not digits or #digits > 12 then return nil end
  return math.tointeger(tonumber(digits)) * (unit:lower() == "k" and 1000 or 1000000)
end

function KINDS.integer(text, spec)
  local n = text:match("^%-?%d+$") and math.tointeger(tonumber(text))
  if n and n > (spec.max or n) then return nil, ("at most %d is taken"):format(spec.max) end
  if n and n >= spec.min then return n end
  local full = in_full(text)
  if full and full >= spec.min then return nil, ("write the number in full, as %d"):format(full) end
  return nil, ("a whole number from %d on is expected"):format(spec.min)
end

function KINDS.shard(text)
  local i, n = text:match("^(%d+)/(%d+)$")
  i, n = math.tointeger(tonumber(i)), math.tointeger(tonumber(n))
  if i and n and i >= 1 and i <= n then return { i, n } end
  return nil, "I/N with I from 1 to N is expected, as in 1/4"
end

-- As the words of a part have them: 41-380, 41, 41- to the end (0), -380 from the beginning.
function KINDS.lines(text)
  local from, dash, to = text:match("^(%d*)(%-?)(%d*)$")
  local a, b = math.tointeger(tonumber(from)), math.tointeger(tonumber(to))
  if from == "" and b then a = 1 end
  if dash == "" then b = a end
  if a and a >= 1 and dash ~= "" and to == "" then return { a, 0 } end
  if a and b and a >= 1 and a <= b then return { a, b } end
  return nil, "A-B with A from 1 to B is expected, as in 41-380, or 41- or -380"
end

local function set(into, name, spec, text, written)
  local value = text
  if spec.kind then
    local ok, why = KINDS[spec.kind](text, spec)
    if ok == nil then fail(("%s %s: %s"):format(written, text, why)) end
    value = ok
  end
  if spec.of then value = { value = value, at = #(into[spec.of] or {}) } end
  if spec.many then
    into[name] = into[name] or {}
    table.insert(into[name], value)
  elseif into[name] ~= nil and spec.arg then
    fail(("%s is given twice; give it once"):format(written))
  else
    into[name] = value
  end
end

-- One word that begins with a dash; returns the index of the last word it used.
local function read_option(verb, words, i, into)
  local word = words[i]
  local long, inline = word:match("^%-%-([^=]+)=?(.*)$")
  local has_inline = long ~= nil and word:find("=", 1, true) ~= nil
  local name, spec = find(verb, long or word:sub(2, 2), not long)
  if not name then unknown_option(verb, long and "--" .. long or word:sub(1, 2)) end
  local written = long and "--" .. long or word:sub(1, 2)
  if not long and #word > 2 then
    if not spec.arg then fail(("%s: %s takes no value"):format(word, written)) end
    inline, has_inline = word:sub(3), true
  end
  if not spec.arg then
    if has_inline then fail(("%s takes no value"):format(written)) end
    set(into, name, spec, true, written)
    return i
  end
  if has_inline then
    set(into, name, spec, inline, written)
    return i
  end
  if words[i + 1] == nil then
    fail(("%s needs a value: %s %s"):format(written, written, spec.arg))
  end
  set(into, name, spec, words[i + 1], written)
  return i + 1
end

local function check_count(verb, opts, args)
  if opts.help or opts.list then return end
  if #args < verb.min then
    fail(("neap %s needs %s; neap %s --help"):format(verb.name, verb.args, verb.name))
  end
  if verb.max and #args > verb.max then
    fail(
      ("%s is one argument too many; usage: neap %s %s"):format(
        args[verb.max + 1],
        verb.name,
        verb.args
      )
    )
  end
  for _, name in ipairs(verb.needs or {}) do
    if opts[name] == nil then
      local arg = options.options[name].arg
      fail(("neap %s needs --%s %s"):format(verb.name, options.long(name), arg))
    end
  end
end

--- Options by name and the other words, of what follows the verb.
---@param verb neap.Verb
---@param words string[]
---@return table<string, any> opts, string[] args
function M.parse(verb, words)
  local opts, args, i = {}, {}, 1
  while i <= #words do
    local word = words[i]
    if word == "--" then
      table.move(words, i + 1, #words, #args + 1, args)
      break
    elseif #word > 1 and word:sub(1, 1) == "-" then
      i = read_option(verb, words, i, opts)
    else
      args[#args + 1] = word
    end
    i = i + 1
  end
  check_count(verb, opts, args)
  return opts, args
end

local function left_column(name)
  local spec = options.options[name]
  local short = spec.short and "-" .. spec.short .. ", " or "    "
  return short .. "--" .. options.long(name) .. (spec.arg and " " .. spec.arg or "")
end

local function option_lines(names)
  local lines, width = {}, 0
  for _, name in ipairs(names) do
    width = math.max(width, utf8.len(left_column(name)))
  end
  for i, name in ipairs(names) do
    local left, spec = left_column(name), options.options[name]
    local more = spec.many and "; may be repeated" or ""
    local gap = (" "):rep(width - utf8.len(left) + 2)
    lines[i] = "  " .. left .. gap .. spec.help .. more
  end
  return table.concat(lines, "\n")
end

--- The help of one verb.
---@param verb neap.Verb
---@return string
function M.verb_help(verb)
  local args = verb.args ~= "" and " " .. verb.args or ""
  local text = ("usage: neap %s%s [option…]\n\n%s\n"):format(verb.name, args, verb.about)
  if verb.more then text = text .. verb.more .. "\n" end
  return text .. "\n" .. option_lines(options.of(verb)) .. "\n"
end

--- The help of the program.
---@return string
function M.program_help()
  local lines = { "usage: neap VERB [argument…] [option…]", "", "A context engine for agents.", "" }
  for _, verb in ipairs(options.verbs) do
    lines[#lines + 1] = ("  %-10s %s"):format(verb.name, verb.about)
  end
  table.move({
    "",
    option_lines({ "help", "version" }),
    "",
    "neap VERB --help tells more. - is standard input. Exit codes: 0 done, 1 the answer is",
    '"no", 2 wrong use or bad input.',
  }, 1, 5, #lines + 1, lines)
  return table.concat(lines, "\n") .. "\n"
end

return M
