-- The table of verbs: what each takes and says of itself, in the order in which help lists
-- them. What its options mean stands in options.lua. next: options.lua

--- What a verb is.
---@class neap.Verb
---@field name string
---@field args string    as help shows them
---@field min integer    how many arguments at least
---@field max integer?   and at most; nil: any number
---@field about string   one line
---@field more string?   what help says besides
---@field options string[]
---@field module string  its file in neap.cli
---@field needs string[]? options without which it makes no sense

local POLICY = {
  "policy",
  "option",
  "window",
  "reserve",
  "format",
  "encoding",
  "model",
  "prices",
  "think",
  "cache",
}

-- The same, but that a policy must be named.
local WATCHED = { "watched", table.unpack(POLICY, 2) }

local function with(list, ...)
  local out = table.pack(...)
  for _, name in ipairs(list) do
    out[#out + 1] = name
  end
  out.n = nil
  return out
end

---@type neap.Verb[]
return {
  {
    name = "count",
    args = "[FILE…]",
    min = 0,
    about = "count tokens: number, tab, file; a total line for several files",
    more = "Any bytes are counted; what is not UTF-8 is counted byte for byte.",
    options = { "encoding", "special", "json" },
    module = "count",
  },
  {
    name = "encode",
    args = "[FILE]",
    min = 0,
    max = 1,
    about = "print token ids, one per line",
    options = { "encoding", "special", "binary" },
    module = "count",
  },
  {
    name = "decode",
    args = "[FILE]",
    min = 0,
    max = 1,
    about = "turn token ids back into text",
    options = { "encoding", "binary" },
    module = "count",
  },
  {
    name = "encodings",
    args = "",
    min = 0,
    max = 0,
    about = "list the encodings: name, tokens, exact or estimated, source",
    options = { "json" },
    module = "count",
  },
  {
    name = "vocab",
    args = "import FILE|list",
    min = 1,
    max = 2,
    about = "make a Hugging Face tokenizer.json or a .tiktoken file an encoding",
    more = "The encoding is called NAME, else what the file is called up to its first dot. It\n"
      .. "is kept in NEAP_DATA, else in neap/vocabularies below XDG_DATA_HOME (~/.local/share),\n"
      .. "and found there by every verb and session. Printed are name, tokens and file; `list`\n"
      .. "shows what there is. Read is byte-level BPE with a known split pattern and form C or\n"
      .. "no normalizer; what cannot be counted exactly is refused. A .tiktoken file does not\n"
      .. "say how text is split: give its pattern, or the name of one, as cl100k, o200k, qwen2,\n"
      .. "qwen35, tekken, deepseek3, gpt2, gpt2-digits, gpt2-numbers.",
    options = { "name", "pattern", "json" },
    module = "vocab",
  },
  {
    name = "import",
    args = "TRACE…",
    min = 0,
    about = "print a recording in the native form, or what was read of many",
    more = "What was read, merged and kept aside is told on standard error, or with --json as\n"
      .. "one line a session instead of the recording, or with --table as one row a form.",
    options = {
      "list",
      "table",
      "join",
      "synthetic",
      "steps",
      "from",
      "as",
      "branches",
      "session",
      "lenient",
      "json",
    },
    module = "import",
  },
  {
    name = "sessions",
    args = "",
    min = 0,
    max = 0,
    about = "list recordings of known agents on this machine, the newest first",
    more = "Each has a short id. Wherever TRACE is expected the id will do, or its first digits,\n"
      .. "at least 4. Looked for are sessions of Claude Code, Codex, Copilot CLI, Gemini CLI,\n"
      .. "pi and opencode (before 1.2), where their own variables say, CLAUDE_CONFIG_DIR and\n"
      .. "the like, or below HOME. Dates are the files', in UTC.",
    options = { "all", "tokens", "json" },
    module = "sessions",
  },
  {
    name = "replay",
    args = "TRACE…",
    min = 1,
    about = "assemble every turn of a recording under a policy, and measure",
    more = "Before each step the prompt is assembled from what came before (one turn).\n"
      .. "present: shown word for word when cited; pointed: a mark names it, one call away;\n"
      .. "gone: neither. Exits 1 when a turn did not fit its budget.",
    options = with(
      POLICY,
      "shadow", "body", "requests", "from", "as", "branches", "lenient", "json"
    ),
    module = "replay",
  },
  {
    name = "compare",
    args = "TRACE…",
    min = 1,
    about = "one row per policy over all recordings: cost against what is still shown",
    more = "present: shown word for word when cited; pointed: a mark names it, one call away;\n"
      .. "gone: neither. Columns in which nothing happened are left out; --json has everything.\n"
      .. "oracle is greedy, and no bound: a policy may miss less, above all in a small window.\n"
      .. "Five recordings and more have means with 95 % intervals, over recordings and forms.\n"
      .. "The project's own policy is not taken by itself: name it, as -p .neap/policy.lua.\n"
      .. "An -o is of the -p before it, and a policy may be given under several settings:\n"
      .. "-p tide -o floor=0.5 -p tide -o floor=0.7 -p hysteresis. A row's name says its own.\n"
      .. "Exits 1 when a turn did not fit its budget.",
    options = {
      "policies",
      "settings",
      "sweep",
      "window",
      "reserve",
      "format",
      "encoding",
      "model",
      "prices",
      "think",
      "cache",
      "jobs",
      "shard",
      "merge",
      "html",
      "details",
      "from",
      "as",
      "branches",
      "lenient",
      "json",
    },
    module = "compare",
  },
  {
    name = "tune",
    args = "TRACE…",
    min = 1,
    about = "search a policy's options: settings that no other beats in cost and facts gone",
    more = "Recordings are split in halves by the hash of their file's name. From the default on,\n"
      .. "each setting of the front is varied by one option at a time; a front is fitted on one\n"
      .. "half and reported on the other, both ways round, so that a setting that only fits its\n"
      .. "half is seen as such. Under the table stand the commands that replay each.",
    options = {
      "tuned",
      "tried",
      "tries",
      "window",
      "reserve",
      "format",
      "encoding",
      "model",
      "prices",
      "think",
      "cache",
      "fits",
      "half",
      "from",
      "as",
      "branches",
      "lenient",
      "json",
    },
    needs = { "tuned" },
    module = "tune",
  },
  {
    name = "watch",
    args = "TRACE…",
    min = 1,
    about = "replay again at every save of the policy, and say what that changed",
    more = "The policy and the modules of its folder that it requires are looked at ten times a\n"
      .. "second. On a terminal one table is kept up to date; elsewhere each version prints one.\n"
      .. "In parentheses stands the change against the version before. While a version does not\n"
      .. "load, the error is shown and the old table stays. Ctrl-C ends it.",
    options = with(WATCHED, "body", "rounds", "from", "as", "branches", "lenient", "json"),
    needs = { "watched" },
    module = "watch",
  },
  {
    name = "show",
    args = "TRACE",
    min = 1,
    max = 1,
    about = "the prompt of one turn, with region, entry, rung and tokens in the margin",
    more = "On a terminal a prompt longer than the screen goes through $PAGER (less -R).",
    options = with(
      POLICY,
      "turn", "raw", "body", "session", "from", "as", "branches", "lenient", "json"
    ),
    needs = { "turn" },
    module = "show",
  },
  {
    name = "probe",
    args = "TRACE",
    min = 1,
    max = 1,
    about = "questions that the prompt of a turn should be enough to answer, and the answers",
    more = "The task, what must and must not be, what the recording does next, and facts that\n"
      .. "later steps use, as gaps in the lines that brought them. Give the prompt (show --raw)\n"
      .. "and the questions to a model or a person; --answers judges what comes back. Where the\n"
      .. "prompt has each is said: present, noted in a summary, pointed at by a mark, gone.",
    options = with(
      POLICY,
      "turn", "answers", "session", "from", "as", "branches", "lenient", "json"
    ),
    needs = { "turn" },
    module = "probe",
  },
  {
    name = "diagnose",
    args = "TRACE…",
    min = 1,
    about = "which symptoms recordings show under a policy, and what to turn",
    more = "Turns that do not fit, a pile nobody uses, facts and constraints that are lost, calls\n"
      .. "made again, arguments that are no JSON, rewrites that cost too much, and more; each\n"
      .. "with what it was seen by. The limits are experience. --budget takes no policy: it shows\n"
      .. "everything, and derives window and shares from tokens a turn.",
    options = with(POLICY, "budget", "from", "as", "branches", "lenient", "json"),
    module = "diagnose",
  },
  {
    name = "explain",
    args = "TRACE ENTRY|WORDS",
    min = 2,
    max = 2,
    about = "the life of one entry: when it came, each change and why, who cited it",
    more = "ENTRY is a number, as neap show prints it. Given words instead, it lists the entries\n"
      .. "that hold them, shown or not; exits 1 when none does.",
    options = with(POLICY, "session", "from", "as", "branches", "lenient", "json"),
    module = "explain",
  },
  {
    name = "diff",
    args = "TRACE",
    min = 1,
    max = 1,
    about = "two policies' prompts at one turn, or two turns of one policy",
    more = "With -p A -p B and one --turn: what each shows of the entries that differ. With one\n"
      .. "policy and two --turn: where and why the prompt's beginning changed between them.",
    options = {
      "pair",
      "turns",
      "option",
      "window",
      "reserve",
      "format",
      "encoding",
      "model",
      "prices",
      "think",
      "cache",
      "session",
      "from",
      "as",
      "branches",
      "lenient",
      "json",
    },
    needs = { "turns" },
    module = "diff",
  },
  {
    name = "new",
    args = "NAME",
    min = 1,
    max = 1,
    about = "write a commented policy to start from: NAME.lua",
    options = {},
    module = "new",
  },
  {
    name = "check",
    args = "[POLICY…]",
    min = 0,
    about = "load a policy in the sandbox, check its shape and options, run its hooks",
    more = "Runs its selftest and the examples of its head comment, reads its text for names that\n"
      .. "do not exist and hooks that never run, plays a session of all kinds in every format,\n"
      .. "and says what its hooks cost. Warnings alone exit 0.\n"
      .. "With --cases it then runs regression cases on recordings: a line `trace PATH`, a line\n"
      .. "`policy NAME window=N option=value` (without it: each POLICY), then lines such as\n"
      .. "`turn 40 contains \"E4711\"`, `turn 40 lacks TEXT`, `turn 40 entry 31 is masked`,\n"
      .. "`turn 40 takes at most 12000 tokens`. Exits 1 when one of all these fails.",
    options = { "cases", "json" },
    module = "check",
  },
  {
    name = "trust",
    args = "[FILE]",
    min = 0,
    max = 1,
    about = "allow the policy of a project folder, by its path and what it holds",
    more = "Where no policy is named, that of the project is taken: .neap/policy.lua of the\n"
      .. "current folder, or in a repository of one above. It runs only as it was when it was\n"
      .. "trusted, the Lua files of its folder included, since it may require them. Policies\n"
      .. "that you name with -p need no trust. What is trusted is kept in neap/trust below\n"
      .. "XDG_DATA_HOME (~/.local/share).",
    options = { "trusted", "remove", "json" },
    module = "trust",
  },
  {
    name = "recall",
    args = "QUERY…",
    min = 1,
    about = "find entries of stored sessions by words, best first",
    more = "Names and paths are found as they are written or by their parts, CJK text by any two\n"
      .. "characters. What holds all words comes before what holds some; what is rare, new or\n"
      .. "was cited counts more. Each hit is SESSION/ENTRY, its step, and a line that shows why;\n"
      .. "`(rolled back)`, with --json \"void\", marks what is no fact of its session any more.\n"
      .. "Exit 1 when nothing is found. The words of older stores are indexed first. Artifacts\n"
      .. "are not searched: artifact get ID --match looks into one.",
    options = { "stored", "hits", "store", "tenant", "json" },
    module = "recall",
  },
  {
    name = "session",
    args = "list|show|replay|scratch|handover|fork|export|import|rm [NAME…]",
    min = 1,
    max = 3,
    about = "list stored sessions, show one event by event, replay, copy, export, import or remove",
    more = "`show NAME` prints a line an event: kind, step, size, and the tokens of a turn's\n"
      .. "prompt, else of the event's body. `replay NAME` runs it again from its log alone; when\n"
      .. "a prompt is not the one that was sent it says where and why, and exits 1. `scratch\n"
      .. "NAME` lists what is on its scratchpad: what waits to be verified, what was passed or\n"
      .. "rejected, and by whom. `handover NAME` prints what another session goes on with: state,\n"
      .. "notes, pins, open items, pointers, as JSON. `fork NAME NEW` makes NEW of it, with\n"
      .. "--turn N as it was when the prompt of turn N had been made: it goes on as if nothing\n"
      .. "more had come. `export NAME [FILE]` writes lines of JSON, and `import FILE` makes the\n"
      .. "same session of them, to the byte, and prints its name; all of them are checked\n"
      .. "first, and it is never written over a session. Any other recording that neap import\n"
      .. "reads will do, too.\n"
      .. "`rm NAME` removes a session for good: events, words, and what no other session holds.\n"
      .. "It asks first, or takes --yes. Exit 1 when there is none, or the answer is no. Who\n"
      .. "still writes it elsewhere is told at the next append that it is gone.",
    options = { "turn", "events", "imported", "yes", "store", "tenant", "json" },
    module = "stored",
  },
  {
    name = "state",
    args = "show|history|diff|propose SESSION [VERSION…|PATCH]",
    min = 1,
    max = 4,
    about = "the state object of a stored session: its versions, who made them, a proposal",
    more = "show SESSION [VERSION]       the state, as it is or was\n"
      .. "history SESSION              every proposal; of a refused one what was wrong\n"
      .. "diff SESSION [FROM [TO]]     what differs: the newest version and the one before\n"
      .. "                             by themselves; 0 is before the first\n"
      .. "propose SESSION PATCH        changes it; - reads the patch. Exit 1: refused\n"
      .. "\n"
      .. "A PATCH is an object of what to set; null takes away (a JSON merge patch):\n"
      .. "  neap state propose run '{\"goal\":\"ship 2.0\",\"blocked_by\":null}'\n"
      .. "or a list of operations, taken all or none. A path is /KEY/KEY or /KEY/INDEX, -\n"
      .. "is behind a list's last item; ~1 is written for a / in a key, ~0 for a ~:\n"
      .. "  add      sets a member, or puts an item into a list\n"
      .. "           [{\"op\":\"add\",\"path\":\"/progress/-\",\"value\":\"tests pass\"}]\n"
      .. "  replace  sets what is there already\n"
      .. "           [{\"op\":\"replace\",\"path\":\"/goal\",\"value\":\"ship 2.1\"}]\n"
      .. "  remove   takes a member or an item away\n"
      .. "           [{\"op\":\"remove\",\"path\":\"/pending/0\"}]\n"
      .. "  test     refuses the list unless this value is there\n"
      .. "           [{\"op\":\"test\",\"path\":\"/goal\",\"value\":\"ship 2.1\"}]\n"
      .. "A proposal takes the session over from a program that has it open.",
    options = { "who", "reason", "source", "if_version", "store", "tenant", "json" },
    module = "state",
  },
  {
    name = "store",
    args = "check|backup|copy|vacuum|stats [FILE]",
    min = 1,
    max = 2,
    about = "look after a store: check it, copy it while it is used, make it small, measure it",
    more = "`check` looks at the structure, at gaps in logs, at every body's hash, and at the\n"
      .. "index of words; a line for each fault, exit 1. `backup FILE` writes one state of\n"
      .. "it to a new file, however many write meanwhile, and checks that. `copy FILE` puts the\n"
      .. "sessions of --tenant, or the one of --session, into another store, under their names.\n"
      .. "`vacuum` removes contents that nothing refers to, and gives free pages back. `stats`\n"
      .. "counts sessions, events and bytes by tenant, and what sharing and compression save.",
    options = { "stored", "store", "tenant", "json" },
    module = "store",
  },
  {
    name = "artifact",
    args = "put|get|list|rm [FILE|ID] [PATH]",
    min = 1,
    max = 3,
    about = "files and large results in the store: put, read, list, remove",
    more = "put FILE (- is standard input) keeps it as an entry of a session, which no prompt\n"
      .. "shows, and prints its id; --tool, --query, --path and --kind say what it is of, --ttl\n"
      .. "for how long it may be read. get ID prints it, or the lines asked for; ID is\n"
      .. "SESSION/17, with --session 17. It gives any other entry's text too; or a part of it,\n"
      .. "as --head 50, --match RE, --errors, --json $.items[0] and others ask for. With --tokens\n"
      .. "N it stops there and marks what it leaves out; where no part is asked for it picks one\n"
      .. "by the kind of text: errors of a test log, every candidate of a search, the shape of\n"
      .. "JSON. --json without a path tells besides where the part is from; without it a part is\n"
      .. "printed with a line end behind it. list tells of all.\n"
      .. "rm ID purges the bytes for good from every session of the tenant that holds them; the\n"
      .. "record stays. The file is made anew for it, as by `neap store vacuum`.\n"
      .. "Exit 1 when there is no such entry, or it has expired or was purged.",
    options = {
      "owner",
      "lines",
      "head",
      "tail",
      "ends",
      "match",
      "context",
      "errors",
      "rows",
      "section",
      "outline",
      "about",
      "part",
      "most_tokens",
      "encoding",
      "ttl",
      "tool",
      "query",
      "path",
      "kind",
      "store",
      "tenant",
      "json",
    },
    module = "artifact",
  },
  {
    name = "doctor",
    args = "",
    min = 0,
    max = 0,
    about = "versions, paths, encodings, what is missing and what installs it",
    options = { "json" },
    module = "doctor",
  },
}
