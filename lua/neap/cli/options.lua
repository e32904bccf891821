-- The table of options, and what a verb takes of it. Parsing, `--help` of the program and of
-- every verb, the man page and the completions are made from it and the verbs' table.
-- next: args.lua
local verbs = require("neap.cli.verbs")

local M = {}

--- What an option is. Without `arg` it is a flag; `many` collects a list; `kind` checks the value.
---@class neap.Option
---@field short string?
---@field arg string?
---@field kind "integer"|"shard"|"lines"|nil
---@field min integer?
---@field max integer?
---@field many boolean?
---@field of string?   the option of which the last before it is meant: { value, at } is collected
---@field help string

---@type table<string, neap.Option>
M.options = {
  help = { short = "h", help = "print this help" },
  version = { help = "print the version" },
  json = { help = "one JSON object per line, nothing else on standard output" },
  encoding = { short = "e", arg = "ENCODING", help = "count by this encoding (o200k_base)" },
  model = {
    short = "m",
    arg = "MODEL",
    help = "the model's encoding, factor, images and window (any of the format's)",
  },
  special = { help = "text of special tokens becomes those tokens" },
  name = { arg = "NAME", help = "what the encoding is to be called (the file's name)" },
  pattern = { arg = "FAMILY", help = "how a .tiktoken file's text is split" },
  binary = { help = "ids as little-endian 32-bit numbers" },
  lenient = { help = "skip lines that cannot be read, and count them; replay: files too" },
  list = { help = "list the known forms of recordings" },
  trusted = { help = "list what is trusted, and whether it still is as it was" },
  remove = { help = "trust the file no longer" },
  from = { arg = "FORM", help = "read the recording as this form instead of finding it out" },
  as = { arg = "SPEAKER", help = "whose view to take of a log of several agents" },
  branches = { help = "read side chains as sessions of their own (they are kept aside)" },
  join = { help = "print recordings of one form as one long session, their tasks as sub-tasks" },
  synthetic = {
    arg = "SEED",
    kind = "integer",
    min = 0,
    help = "print a made-up session that says what each step needs, and what must not be lost",
  },
  steps = {
    arg = "N",
    kind = "integer",
    min = 1,
    max = 100000,
    help = "of a made-up session (60)",
  },
  table = { help = "a row a form over all recordings instead of the recording" },
  policy = {
    short = "p",
    arg = "POLICY",
    help = "a policy file or a shipped one's name (the project's, else everything while it fits)",
  },
  watched = {
    short = "p",
    arg = "POLICY",
    help = "the policy file to watch, or a shipped one's name",
  },
  policies = {
    short = "p",
    arg = "POLICY",
    many = true,
    help = "a policy to compare (every shipped one)",
  },
  option = {
    short = "o",
    arg = "NAME=VALUE",
    many = true,
    help = "an option of the policy, as keep=5 (JSON, else text)",
  },
  settings = {
    short = "o",
    arg = "NAME=VALUE",
    many = true,
    of = "policies",
    help = "an option of the policy whose -p stands before it, as keep=5",
  },
  window = { short = "w", arg = "TOKENS", kind = "integer", min = 1, help = "the window (200000)" },
  reserve = {
    short = "r",
    arg = "TOKENS",
    kind = "integer",
    min = 0,
    help = "room for the answer (the smaller of 8000 and an eighth of the window)",
  },
  format = {
    short = "f",
    arg = "FORMAT",
    help = "openai, responses, anthropic, gemini or text (openai)",
  },
  prices = {
    arg = "NAME",
    help = "cost in dollars by this model's prices and cache rules (in units, by the format's)",
  },
  think = {
    arg = "SECONDS",
    kind = "integer",
    min = 0,
    max = 10000000, -- 25,000 turns are within the years that the core takes
    help = "time between turns: a cache forgets what waits too long (as recorded, or none)",
  },
  cache = {
    arg = "LIFE",
    help = "how long Anthropic's cache is asked to keep prompts: 5m, 1h or none (5m)",
  },
  shadow = {
    arg = "POLICY",
    help = "a policy that runs beside it and sends nothing: what would be different",
  },
  body = { arg = "FILE", help = "a JSON object: the other members of each request (model, …)" },
  requests = { arg = "DIR", help = "write each request's exact body below this folder" },
  turn = { arg = "N", kind = "integer", min = 1, help = "which turn" },
  turns = { arg = "N", kind = "integer", min = 1, many = true, help = "which turn" },
  pair = { short = "p", arg = "POLICY", many = true, help = "one policy, or two to compare" },
  sweep = {
    arg = "NAME=V1,V2,…",
    many = true,
    help = "each policy once for each value of this option; of several, for each combination",
  },
  session = { arg = "N", kind = "integer", min = 1, help = "which session of the recording (1)" },
  stored = { arg = "NAME", help = "this session only (all of them)" },
  owner = { arg = "NAME", help = "whose artifact (files); ids are then written without it" },
  lines = {
    arg = "A-B",
    kind = "lines",
    help = "only these lines, counted from 1; A-, -B and A will do (all)",
  },
  head = { arg = "N", kind = "integer", min = 1, help = "its first N lines" },
  tail = { arg = "N", kind = "integer", min = 1, help = "its last N lines" },
  ends = { arg = "N", kind = "integer", min = 1, help = "half of N lines from each end" },
  match = { arg = "RE", help = "the lines that match a regular expression, with their numbers" },
  context = { arg = "N", kind = "integer", min = 1, help = "with --match: N lines around each" },
  errors = { help = "its first stack trace and what speaks of errors" },
  rows = { arg = "A-B", help = "these rows of a table or a JSON array, with the table's head" },
  section = { arg = "TITLE", help = "the section of that heading, of Markdown or HTML" },
  outline = { help = "its headings, definitions, or the shape of its JSON" },
  about = { arg = "WORDS", help = "the lines that matter for a goal" },
  part = { arg = "WORDS", help = "any of these in words: \"41-380\", \"match x\", \"json $.a\"" },
  most_tokens = { arg = "N", kind = "integer", min = 1, help = "show at most N tokens" },
  ttl = { arg = "SECONDS", kind = "integer", min = 1, help = "how long it may be read (for ever)" },
  tool = { arg = "NAME", help = "the tool that made it" },
  query = { arg = "TEXT", help = "of which command or query it is" },
  path = { arg = "PATH", help = "of which path it is (the file's)" },
  kind = { arg = "WORD", help = "what kind of thing it is, as log or page" },
  hits = { short = "k", arg = "N", kind = "integer", min = 1, help = "at most so many (10)" },
  events = { arg = "N", kind = "integer", min = 1, help = "the first so many events" },
  yes = { help = "do not ask" },
  imported = { arg = "NAME", help = "what the session is to be called (as it was)" },
  store = { arg = "FILE", help = "the store (NEAP_STORE, or neap.db among the user's data)" },
  tenant = { arg = "NAME", help = "whose sessions (those of the empty name)" },
  who = { arg = "WHO", help = "who proposes: user, controller, model, tool, policy (user)" },
  reason = { arg = "TEXT", help = "why" },
  source = { arg = "ENTRY", kind = "integer", min = 1, help = "the entry that it rests on" },
  if_version = {
    arg = "N",
    kind = "integer",
    min = 1,
    help = "only if the newest version is this one (whatever it is)",
  },
  tuned = { short = "p", arg = "POLICY", help = "the policy whose options are searched" },
  tried = {
    arg = "NAME=V1,V2,…",
    many = true,
    help = "values to try for this option (half, one and a half and twice of each number, small "
      .. "ones for 0)",
  },
  tries = {
    arg = "N",
    kind = "integer",
    min = 1,
    help = "settings to try for each half at most (40)",
  },
  jobs = { short = "j", arg = "JOBS", kind = "integer", min = 1, help = "processes at a time (1)" },
  fits = {
    short = "j",
    arg = "JOBS",
    kind = "integer",
    min = 1,
    help = "processes at a time; 2 fit the halves beside each other, more do no more (1)",
  },
  half = { arg = "I/2", kind = "shard", help = "fit half I only: what -j runs" },
  shard = {
    arg = "I/N",
    kind = "shard",
    help = "only every N-th trace, from the I-th; prints lines for --merge",
  },
  html = {
    arg = "FILE",
    help = "write plot, table and each recording's turns and entries as one page",
  },
  details = { help = "with --shard: lines also hold what --merge --html shows of recordings" },
  merge = { help = "the arguments are outputs of --shard: put them together" },
  tokens = { help = "count the tokens of each (slower)" },
  all = { help = "list every recording (the newest 20)" },
  raw = { help = "the exact bytes of the request and nothing else" },
  answers = {
    arg = "FILE",
    help = "judge these answers, one {\"id\":…,\"answer\":…} a line; exits 1 when one is wrong",
  },
  budget = { help = "what window and shares the recordings' 95 % places ask for, all shown" },
  cases = { arg = "FILE", help = "run the regression cases of this file" },
  rounds = {
    arg = "N",
    kind = "integer",
    min = 1,
    help = "end after N versions of the policy (never)",
  },
}

--- The verbs, in the order in which help lists them.
---@type neap.Verb[]
M.verbs = verbs

---@param name string
---@return neap.Verb?
function M.verb(name)
  for _, verb in ipairs(M.verbs) do
    if verb.name == name then return verb end
  end
end

--- The options a verb takes, by their names, `help` included.
---@param verb neap.Verb
---@return string[]
function M.of(verb)
  local list = { table.unpack(verb.options) }
  list[#list + 1] = "help"
  return list
end

-- Options that are written alike in verbs that take one or several of them.
local LONG = {
  policies = "policy",
  settings = "option",
  pair = "policy",
  watched = "policy",
  turns = "turn",
  trusted = "list",
  tuned = "policy",
  fits = "jobs",
  half = "shard",
  tried = "sweep",
  stored = "session",
  imported = "name",
  if_version = "if-version",
  owner = "session",
  most_tokens = "tokens",
}

--- The name an option is written with: --policy for `policies` too.
---@param name string
---@return string
function M.long(name)
  return LONG[name] or name
end

return M
