-- The man page and the shells' completions, made from the table of options. `make docs` runs
-- this file: it writes them below docs/. next: completions.lua, options.lua
local options = require("neap.cli.options")

local M = {}

-- ---- roff ---------------------------------------------------------------------------------

-- Text as roff prints it: dashes stay dashes, and no line is taken for a request.
local function roff(text)
  text = text:gsub("\\", "\\e"):gsub("%-", "\\-")
  return (("\n" .. text):gsub("\n([.'])", "\n\\&%1"):sub(2))
end

local function option_entry(name)
  local spec = options.options[name]
  local arg = spec.arg and "\\fI" .. roff(spec.arg) .. "\\fR"
  local short = spec.short
    and ("\\fB\\-%s\\fR%s, "):format(spec.short, arg and " " .. arg or "")
  local long = "\\fB\\-\\-" .. roff(options.long(name)) .. "\\fR" .. (arg and "=" .. arg or "")
  local more = spec.many and "; may be repeated" or ""
  return (".TP\n%s%s\n%s\n"):format(short or "", long, roff(spec.help .. more))
end

local function verb_entry(verb)
  local args = verb.args ~= "" and " \\fI" .. roff(verb.args) .. "\\fR" or ""
  local parts = {
    (".SS neap %s\n.B neap %s\\fR%s [\\fIoption\\fR…]\n.PP\n"):format(verb.name, verb.name, args),
    roff(verb.about:sub(1, 1):upper() .. verb.about:sub(2)) .. ".\n",
  }
  if verb.more then parts[#parts + 1] = roff(verb.more) .. "\n" end
  for _, name in ipairs(verb.options) do
    parts[#parts + 1] = option_entry(name)
  end
  return table.concat(parts)
end

local HEAD = [[
.\" Made by `make docs` from the table of options.
.TH NEAP 1 "" "neap %s" "User Commands"
.SH NAME
neap \- keeps an agent's context at the right level
.SH SYNOPSIS
.B neap
\fIverb\fR [\fIargument\fR…] [\fIoption\fR…]
.SH DESCRIPTION
neap assembles the prompts of an agent within a budget, by policies that are small Lua files, and
replays recorded sessions under them: what would each have cost, and what would the model no
longer have seen when it needed it?
.PP
A TRACE is a recording in any form that
.B neap import \-\-list
names, or the id of one that
.B neap sessions
lists. A POLICY is a file, or the name of a shipped one. A dash stands for standard input.
.SH VERBS
]]

local TAIL = [[
.SH OPTIONS
.TP
\fB\-h\fR, \fB\-\-help\fR
print help: of the program, or of a verb behind it
.TP
\fB\-\-version\fR
print the version
.SH EXIT STATUS
0: done. 1: the answer is no: a check failed, a prompt did not fit its budget. 2: wrong use or
bad input.
.SH ENVIRONMENT
.TP
.B NEAP_POLICIES
the folder of the shipped policies
.TP
.B NEAP_DATA
the folder of the vocabularies
.TP
.B NEAP_STORE
the store's file, else neap/neap.db below \fBXDG_DATA_HOME\fR
.TP
.B CLAUDE_CONFIG_DIR\fR, \fBCODEX_HOME\fR, \fBCOPILOT_HOME\fR, \fBPI_CODING_AGENT_DIR
where those agents keep their sessions
.TP
.B PAGER
shows what is longer than the screen (less \-R)
.TP
.B NO_COLOR
when it is set, nothing is coloured
.SH EXAMPLES
.nf
neap sessions
neap replay \fIID\fR \-p tide \-w 64000
neap compare run.jsonl \-p tide \-p full \-w 64000
neap watch run.jsonl \-p mine.lua
.fi
]]

--- The man page.
---@param version string
---@return string
function M.page(version)
  local parts = { HEAD:format(roff(version)) }
  for _, verb in ipairs(options.verbs) do
    parts[#parts + 1] = verb_entry(verb)
  end
  parts[#parts + 1] = TAIL
  return table.concat(parts)
end

--- Every file that is made, by its path below docs/.
---@return table<string, string>
function M.files()
  local completions = require("neap.cli.completions")
  return {
    ["neap.1"] = M.page(require("neap.core").version),
    ["completions/neap.bash"] = completions.bash(),
    ["completions/_neap"] = completions.zsh(),
    ["completions/neap.fish"] = completions.fish(),
  }
end

local function write(dir)
  for name, text in pairs(M.files()) do
    local f = assert(io.open(dir .. "/" .. name, "wb"))
    assert(f:write(text))
    assert(f:close())
  end
end

-- As a program: manual.lua DIR
if arg and arg[0] and arg[0]:find("manual%.lua$") and arg[1] then write(arg[1]) end

return M
