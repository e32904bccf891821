-- Completions for bash, zsh and fish from the table of options. What only the program knows
-- (encodings, forms, shipped policies) is asked of it when it is needed. next: manual.lua
local options = require("neap.cli.options")
local prices = require("neap.models.prices")

local M = {}

local MADE = "# Made by `make docs` from the table of options.\n"

-- What the words of an argument are, by its name in the table.
local KINDS = {
  POLICY = "policies",
  ENCODING = "encodings",
  FORM = "forms",
  FORMAT = "formats",
  FILE = "files",
  DIR = "folders",
}

local function formats()
  local names = {}
  for name in pairs(prices.formats) do
    names[#names + 1] = name
  end
  table.sort(names)
  return table.concat(names, " ")
end

-- Commands of a POSIX shell that print words.
local ASK = {
  encodings = "neap encodings 2>/dev/null | cut -d' ' -f1",
  forms = "neap import --list 2>/dev/null | cut -d' ' -f1",
  policies = "ls \"$(neap doctor 2>/dev/null | sed -n 's/^policies .* in //p')\" 2>/dev/null"
    .. " | sed -n 's/\\.lua$//p'",
}

-- A word for any of the three shells.
local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- What the other arguments of a verb are.
local function argument_kind(verb)
  if verb.args == "" or verb.args == "NAME" then return "none" end
  return verb.args:find("POLICY", 1, true) and "policies" or "files"
end

local function verb_names()
  local names = {}
  for i, verb in ipairs(options.verbs) do
    names[i] = verb.name
  end
  return names
end

-- ---- bash ---------------------------------------------------------------------------------

-- "-e|--encoding" and its like, with what follows them: one case for each kind of argument.
local function bash_values()
  local by_kind, kinds, seen = {}, {}, {}
  for _, verb in ipairs(options.verbs) do
    for _, name in ipairs(options.of(verb)) do
      local spec, long = options.options[name], options.long(name)
      if spec.arg and not seen[long] then
        seen[long] = true
        local kind = KINDS[spec.arg] or "none"
        if not by_kind[kind] then
          by_kind[kind] = {}
          kinds[#kinds + 1] = kind
        end
        if spec.short then table.insert(by_kind[kind], "-" .. spec.short) end
        table.insert(by_kind[kind], "--" .. long)
      end
    end
  end
  table.sort(kinds)
  local lines = {}
  for i, kind in ipairs(kinds) do
    lines[i] = ("    %s) _neap_%s; return ;;"):format(table.concat(by_kind[kind], "|"), kind)
  end
  return table.concat(lines, "\n")
end

local function bash_options()
  local lines = {}
  for i, verb in ipairs(options.verbs) do
    local words = {}
    for _, name in ipairs(options.of(verb)) do
      local short = options.options[name].short
      if short then words[#words + 1] = "-" .. short end
      words[#words + 1] = "--" .. options.long(name)
    end
    local text = "    %s) words=%s; kind=%s ;;"
    lines[i] = text:format(verb.name, quote(table.concat(words, " ")), argument_kind(verb))
  end
  return table.concat(lines, "\n")
end

local BASH = [[
_neap_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_neap_none() { compopt +o default +o bashdefault 2>/dev/null; }
_neap_files() { :; }
_neap_folders() { mapfile -t COMPREPLY < <(compgen -d -- "$cur"); }
_neap_formats() { _neap_words @FORMATS@; }
_neap_encodings() { _neap_words "$(@ENCODINGS@)"; }
_neap_forms() { _neap_words "$(@FORMS@)"; }
_neap_policies() {
  mapfile -t COMPREPLY < <(
    compgen -W "$(@POLICIES@)" -- "$cur"
    compgen -f -X '!*.lua' -- "$cur"
    compgen -d -S / -- "$cur"
  )
}

_neap() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= kind=none
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _neap_words '@VERBS@ help --help --version'
    return
  fi
  case $prev in
@VALUES@
  esac
  case ${COMP_WORDS[1]} in
    help) _neap_words '@VERBS@'; return ;;
@OPTIONS@
  esac
  case $cur in
    -*) _neap_words "$words" ;;
    *) "_neap_$kind" ;;
  esac
}
complete -o default -o bashdefault -F _neap neap
]]

local function fill(text, values)
  return (text:gsub("@(%u+)@", values))
end

--- For bash.
---@return string
function M.bash()
  return MADE
    .. fill(BASH, {
      FORMATS = quote(formats()),
      ENCODINGS = ASK.encodings,
      FORMS = ASK.forms,
      POLICIES = ASK.policies,
      VERBS = table.concat(verb_names(), " "),
      VALUES = bash_values(),
      OPTIONS = bash_options(),
    })
end

-- ---- zsh ----------------------------------------------------------------------------------

local ZSH_KINDS = {
  policies = "_neap_policies",
  encodings = "_neap_encodings",
  forms = "_neap_forms",
  formats = "_neap_formats",
  files = "_files",
  folders = "_files -/",
  none = "( )",
}

-- Within [ ] and between colons.
local function zsh_text(text)
  return (text:gsub("[%[%]:\\]", "\\%0"))
end

local function zsh_option(name)
  local spec, long = options.options[name], options.long(name)
  local value = ""
  if spec.arg then
    local kind = KINDS[spec.arg] or "none"
    value = ":" .. zsh_text(spec.arg) .. ":" .. (kind == "none" and " " or ZSH_KINDS[kind])
  end
  local told = quote(("[%s]%s"):format(zsh_text(spec.help), value))
  local written = "--" .. long .. (spec.arg and "=" or "")
  if not spec.short then return (spec.many and "'*'" or "") .. written .. told end
  local short = "-" .. spec.short .. (spec.arg and "+" or "")
  local before = spec.many and "'*'" or quote(("(-%s --%s)"):format(spec.short, long))
  return ("%s{%s,%s}%s"):format(before, short, written, told)
end

local function zsh_verb(verb)
  local lines = { ("    %s)\n      _arguments -s"):format(verb.name) }
  for _, name in ipairs(options.of(verb)) do
    lines[#lines + 1] = "        " .. zsh_option(name)
  end
  local kind = argument_kind(verb)
  if kind ~= "none" then
    lines[#lines + 1] = "        " .. quote("*:" .. kind .. ":" .. ZSH_KINDS[kind])
  end
  return table.concat(lines, " \\\n") .. " ;;"
end

local ZSH = [[
_neap_formats() { compadd -- @FORMATS@ }
_neap_encodings() { compadd -- ${(f)"$(@ENCODINGS@)"} }
_neap_forms() { compadd -- ${(f)"$(@FORMS@)"} }
_neap_policies() {
  compadd -- ${(f)"$(@POLICIES@)"}
  _files -g '*.lua'
}

_neap() {
  local -a verbs=(
@VERBS@
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
@OPTIONS@
  esac
}
_neap "$@"
]]

--- For zsh.
---@return string
function M.zsh()
  local verbs, cases = {}, {}
  for i, verb in ipairs(options.verbs) do
    verbs[i] = "    " .. quote(verb.name .. ":" .. zsh_text(verb.about))
    cases[i] = zsh_verb(verb)
  end
  return "#compdef neap\n"
    .. MADE
    .. fill(ZSH, {
      FORMATS = formats(),
      ENCODINGS = ASK.encodings,
      FORMS = ASK.forms,
      POLICIES = ASK.policies,
      VERBS = table.concat(verbs, "\n"),
      OPTIONS = table.concat(cases, "\n"),
    })
end

-- ---- fish ---------------------------------------------------------------------------------

-- In fish a backslash escapes a quote within quotes.
local function fish_quote(text)
  return "'" .. text:gsub("\\", "\\\\"):gsub("'", "\\'") .. "'"
end

local function fish_value(spec)
  local kind = spec.arg and (KINDS[spec.arg] or "none")
  if not kind then return "" end
  if kind == "files" then return " -r -F" end
  if kind == "folders" then return " -x -a '(__fish_complete_directories)'" end
  if kind == "formats" then return " -x -a " .. fish_quote(formats()) end
  if kind == "policies" then return " -r -F -a '(__neap_policies)'" end
  return kind == "none" and " -x" or (" -x -a '(__neap_%s)'"):format(kind)
end

--- For fish.
---@return string
function M.fish()
  local lines = { MADE:sub(1, -2) }
  for _, name in ipairs({ "encodings", "forms", "policies" }) do
    local text = "function __neap_%s\n    sh -c %s\nend"
    lines[#lines + 1] = text:format(name, fish_quote(ASK[name]))
  end
  local first = "complete -c neap -f -n __fish_use_subcommand"
  lines[#lines + 1] = first .. " -s h -l help -d 'print help'"
  lines[#lines + 1] = first .. " -l version -d 'print the version'"
  for _, verb in ipairs(options.verbs) do
    lines[#lines + 1] = ("%s -a %s -d %s"):format(first, verb.name, fish_quote(verb.about))
    local seen = ("complete -c neap -n '__fish_seen_subcommand_from %s'"):format(verb.name)
    for _, name in ipairs(options.of(verb)) do
      local spec = options.options[name]
      local short = spec.short and " -s " .. spec.short or ""
      local text = "%s%s -l %s%s -d %s"
      local long = options.long(name)
      local line = text:format(seen, short, long, fish_value(spec), fish_quote(spec.help))
      lines[#lines + 1] = line
    end
    local kind = argument_kind(verb)
    if kind == "none" then lines[#lines + 1] = seen .. " -f" end
    if kind == "policies" then lines[#lines + 1] = seen .. " -a '(__neap_policies)'" end
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
