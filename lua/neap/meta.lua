---@meta neap
-- What editors know about neap: the module, its sessions, and the shape of a policy. A test
-- compares the names here with those that exist. next: meta_sandbox.lua, init.lua

---@class neap
---@field _VERSION string      "neap 0.1.0"
---@field _DESCRIPTION string
---@field _COPYRIGHT string
---@field json table           decode, encode, items, quote, raw, kind, offset, array
---@field null userdata        JSON's null
---@field codes {name: string, text: string}[] every error code
local neap = {}

---@class neap.SessionOptions
---@field name? string       of the session; it is resumed when the store has it ("session")
---@field policy? string     a policy file, or the name of a shipped one; none: everything is shown
---                            while it fits
---@field options? table|string the policy's options by name
---@field window? integer    tokens (the model's where it is named, else 200000)
---@field reserve? integer   room for the answer; -1: none
---@field alarm? number      share of the budget that makes a turn's account hold an alarm (0.7);
---  -1: never
---@field shadow? string      a policy that runs beside it and sends nothing; see Session:shadow
---@field shadow_options? table|string
---@field failures? integer   turns in a row with a failing hook, after which the policy is left
---                           out for 20 turns (5); -1: never
---@field format? "openai"|"responses"|"anthropic"|"gemini"|"text"
---@field model? string      as the provider names it: its encoding, factor, images and window
---@field prices? string     whose prices and cache rules: a model's name (the model's, or those of
---                            the newest that the format's provider has)
---@field cache? "5m"|"1h"|"none" for how long Anthropic's cache is asked to keep prompts: marks at
---                            no more than four places, where the host brings none ("5m")
---@field encoding? string   the model's, or the nearest; one that is named counts exactly
---@field store? string      path of the store file; none: nothing is kept on disk
---@field tenant? string
---@field data? string       folder of the vocabularies
---@field tools? table|string tool schemas as the provider takes them; of a session that is
---  resumed the same, or none; so with `request`
---@field request? table|string the request's other members: model, max_tokens, …
---@field durable? "process"|"power"|"batch"|"memory"
---@field on_store_failure? "stop"|"hold" while the disk is full, the store locked, or its file cannot
---                          be opened: hold goes on, what waits is written later, and accounts
---                          tell of it (`store`)
---@field summarize? false|fun(ask: neap.Ask): string?, string?, string? answers what a policy asks
---  a model, or says nil, why and a code; none: summaries are made by picking lines; false: the host
---  calls next_ask and answer
---@field notes? boolean|"en"|"zh" false: what `summarize` returns for a summary is it, and only its
---                          numbers, names and paths are checked (`unchecked` takes any); else
---                          it is changes of notes, which are verified and merged; "en" or "zh" is
---                          their language (that of the steps)
---@field state_schema? table|string what the state object may be, as a JSON schema; see
---  Session:propose. A session that is resumed keeps its own
---@field state_share? number share of the budget that the state object may have in tokens (0.25), besides
---                          its 64 KiB; -1: any
---@field handover? table|string what another session handed over (Session:handover): this one
---                          begins with it, and with its schema where none is given
---@field compress? boolean compress what is stored, where it saves a tenth (zstd; slower)
---@field no_reload? boolean never look at the policy file again
---@field unchecked? boolean take the texts that the host and the policy write for steps as they are;
---                          the account says so (`checks`)
---@field no_tools? boolean  do not offer neap_read, neap_recall and neap_tools to the model

---What a policy asks a model.
---@class neap.Ask
---@field id integer
---@field kind "summary"|"ask" text is what to summarize, or a prompt
---@field text string
---@field max_tokens integer
---@field prompt string?  of a summary: what a model is given, in which `text` stands as data; from
---                       its answer the notes are made
---@field notes string    of a summary: the texts of the summaries that it takes the place of
---@field parts {entry: integer, step: integer, kind: string, from: integer, to: integer}[] of a
---                       summary: what stands where in `text`

---Opens a session, or resumes the one of that name in the store.
---```lua
---local s = assert(neap.session { policy = "policies/tide.lua", window = 128000 })
---s:add { role = "user", content = "Why does the build fail?" }
---repeat
---  s:add_response(call_model(s:prompt()))
---  for call in s:calls() do s:result(call, run_tool(call)) end
---until not s:pending()
---```
---@param options neap.SessionOptions
---@return neap.Session? session, string? message, string? code
function neap.session(options) end

---Tokens of any bytes.
---```lua
---neap.count("hello world")  --> 2
---```
---@param text string
---@param encoding? string
---@return integer? tokens, string? message, string? code
function neap.count(text, encoding) end

---@class neap.FitOptions
---@field at? "character"|"grapheme"|"line" where it may be cut ("character")
---@field from_end? boolean the end of the text, not its beginning
---@field encoding? string "o200k_base"

---The longest part of a text that has at most so many tokens when counted alone.
---```lua
---neap.fit("one two\nthree four\n", 4, { at = "line" })  --> "one two\n"
---```
---@param text string
---@param tokens integer
---@param options? neap.FitOptions
---@return string? part, string? message, string? code
function neap.fit(text, tokens, options) end

---Counts a text that arrives bit by bit, exactly: after each add as neap.count counts all of
---it. Bytes may be cut anywhere. What later bytes cannot change is not kept.
---```lua
---local counter = assert(neap.counter())
---for chunk in chunks_of_a_stream() do
---  print(counter:add(chunk))
---end
---```
---@param encoding? string
---@return neap.Counter? counter, string? message, string? code
function neap.counter(encoding) end

---@class neap.Counter
local Counter = {}

---Appends any bytes. Code "memory": the counter takes nothing more until it is reset.
---@param bytes string
---@return integer? tokens of all bytes so far
---@return string? message
---@return string? code
function Counter:add(bytes) end

---The tokens of all bytes so far.
---@return integer
function Counter:tokens() end

---Back to the empty text.
function Counter:reset() end

---A second counter of the same text, to try how it could go on.
---@return neap.Counter? copy, string? message, string? code
function Counter:copy() end

---Frees what it holds; also done by `<close>` and by the collector.
function Counter:close() end

---@class neap.Call
---@field entry integer    the call's entry id
---@field id string        the provider's id of it
---@field name string
---@field arguments string JSON text as the model wrote it

---A text that the host knows from elsewhere: it stands behind what is there until the prompt is
---written anew, then where the policy's `layout` and `place` say. A state takes the place of the
---last one.
---@class neap.Block
---@field kind "state"|"memory"|"evidence"|"notice"
---@field content string not empty; it goes as it is

---@class neap.Session
local Session = {}

---Appends a chat message or a block, a table or its JSON.
---@param message neap.Block|table|string
---@return true? ok, string? message, string? code
function Session:add(message) end

---Assembles the next turn: the whole request body. Code "budget": it cannot be made to fit.
---@return string? body, string? message, string? code
function Session:prompt() end

---The first open ask of the policy whose id is greater than `after`, for hosts that opened the
---session with `summarize = false`.
---@param after? integer
---@return neap.Ask?
function Session:next_ask(after) end

---Answers an ask, now or later; the policy goes on at the next prompt at which nothing that it
---waits for is open. No text: no answer, and the policy is told why.
---@param ask integer its id
---@param text string?
---@param why string?
---@param code? "refused"|"error"|"timeout"|"cancelled" ("error" with a `why`, else "refused")
---@return true? ok, string? message, string? code, table[]? faults
function Session:answer(ask, text, why, code) end

---The notes that stand in the prompt, as data: `items`, each with key, section, step, text, and where
---they apply version, why, refuted, done, answered; `left_out`, the summary's `entry` and `text`, and
---the steps `from`..`to` that it covers. Nil where no summary holds any.
---@return table? notes
function Session:notes() end

---How summaries fared: asks, model (taken at once), again (after a complaint), extractive, refused,
---faults; `last` has the faults of the newest ask: rung, code, line, what, value.
---@return table? checks nil with `notes = false`
function Session:checks() end

---Every ask so far: ask, kind, step, max_tokens, sha256 of its text, and answer, or code and why
---there is none; `failed` where a model was given up, after which it is left in peace. As `answers` in the first line of a recording they are what a replay is fed.
---@return table[]? asks, string? message, string? code
function Session:asks() end

---Appends the provider's response body, as it came.
---@param response table|string
---@return true? ok, string? message, string? code
function Session:add_response(response) end

---The calls of the last response that are the host's to run.
---@return fun(): neap.Call?
function Session:calls() end

---Appends the result of a call.
---@param call neap.Call
---@param text string
---@return true? ok, string? message, string? code
function Session:result(call, text) end

---The arguments of a call with texts in place of pointers: every string in them that is all
---"neap:17", or "neap:17#41-380" with a part as read takes it, becomes the text of that entry of the
---session. So a result goes from tool to tool without the model reading it; a policy tells the
---model so with tools = { "read", "pointers" }. What fails is said to the model as the result.
---```lua
---for call in s:calls() do
---  local arguments, why = s:resolve(call)
---  s:result(call, arguments and run_tool(call.name, arguments) or why)
---end
---```
---@param call table|string  a call, or its arguments
---@return string? arguments, string? message, string? code
function Session:resolve(call) end

---Reads a part of an entry again, as the tool neap_read does: the text begins with a line that
---says where it is from (id, lines, hash, what made it) and ends with one that says what remains.
---@param id integer|string  17, or "SESSION/17" of another session of the tenant
---@param part? string       "41-380", "head 50", "tail 50", "match timeout", "errors", "json $.a[0]",
---                          "rows 1-20", "section Install", "outline", "about WORDS"; all without
---@param how? {tokens: integer?}  of the part at most; no limit without
---@return string? text, string? message, string? code
function Session:read(id, part, how) end

---Entries of the session that hold words of the query, best first: what neap_recall finds. What
---was rolled back is left out.
---@param query string
---@param how? {k: integer?}  hits at most; 10
---@return {session: string, entry: integer, step: integer, score: number, snippet: string}[]? hits
---@return string? message, string? code
function Session:recall(query, how) end

---True when the last response made calls: the model waits for another prompt.
---@return boolean
function Session:pending() end

---The account of the last turn: tokens, budget, cached, regions, changed, hook_errors; where it
---is an estimate factor, estimate, margin; drift once a response has told its usage.
---@return table? account, string? message, string? code
function Session:account() end

---Keeps bytes with the session, as an entry that no prompt shows: a file, or a large result of
---which the model is to be shown parts. `about`: tool, query, path, kind (of what it is); ttl, the
---seconds after `made` (milliseconds since 1970; none: the time the session was told) in which it
---may be read.
---```lua
---local id = s:put(log, { tool = "bash", query = "make test", kind = "log" })
---s:get(id, { first_line = 41, last_line = 380 })
---```
---@param bytes string
---@param about? table
---@return integer? id, string? message, string? code
function Session:put(bytes, about) end

---What was put, or any entry's text: the whole, the lines first_line to last_line, or the bytes
---from (counted from 0) up to `to`; `now` is held against a ttl. Codes: "notfound", "expired" (the
---message says how it was made), "purged".
---@param entry integer
---@param window? table
---@return string? text, string? message, string? code
function Session:get(entry, window) end

---The original text of an entry, whatever is shown of it.
---@param entry integer
---@return string? text, string? message, string? code
function Session:text(entry) end

---The policy in force: its name, about, source, path, sha256 and options.
---@return table
function Session:policy() end

---Looks at the policy file now; the old version keeps serving when the new one fails.
---@return true? ok, string? message, string? code
function Session:reload() end

---Tells the time, in milliseconds since 1970, before a prompt: a policy sees it as ctx.now, and
---the provider's cache is taken to forget what waited too long. It only goes on.
---@param ms integer
---@return true? ok, string? message, string? code
function Session:set_now(ms) end

---Runs another policy beside the session's own, on the same messages. It sends nothing and changes
---no prompt; each account has `shadow`: what its prompt would have had in tokens and cost, and how
---much that is more. Without a policy there is none any more. What it asks a model the extractive
---summarizer answers.
---```lua
---assert(s:shadow("candidate.lua", { keep = 5 }))
---```
---@param policy string? a file, or the name of a shipped one
---@param options table|string|nil
---@return true? ok, string? message, string? code
function Session:shadow(policy, options) end

---What the shadow has come to: policy, policy_sha256, turns, and for `live` and `shadow` each
---tokens, cost, epochs, overflow, hook_failures and facts.
---@return table? totals, string? message, string? code
function Session:shadow_account() end

---Closes the session and its store; also done by `<close>` and by the collector. Fails, closed all
---the same, when what waited for the store could not be written: it is lost.
---@return true? ok, string? message, string? code
function Session:close() end

---@class neap.StoreOptions
---@field store string       path of the file; made where there is none
---@field tenant? string
---@field readonly? boolean

---Opens a store: its sessions can be listed, copied, written out and read back.
---```lua
---local store <close> = assert(neap.store { store = "agent.db" })
---assert(store:fork("run-1", "run-1b", { turn = 12 }))
---```
---@param options neap.StoreOptions
---@return neap.Store? store, string? message, string? code
function neap.store(options) end

-- ---- policies: one Lua file that returns a neap.Policy; docs/policies.md is the guide ----

---@alias neap.Rung "full"|"trimmed"|"reference"|"masked"|"dropped"
---@alias neap.Keep "ends"|"head"|"tail"|"errors"|"dense"|"about"

---What a region may have: shrink takes from one above `max` (or `share`) first, down to it, and
---lowers none below `min`. The last resort knows no bounds.
---@class neap.Bounds
---@field [1] "memory"|"warm"|"state"|"hot"
---@field min? integer  tokens
---@field max? integer  tokens
---@field share? number of the budget, at most 1

---@class neap.Policy
---@field api 1
---@field name? string
---@field about? string
---@field source? string
---@field options? table<string, any> a default, or {default=, help=, min=, max=}
---@field tools? ("recall"|"read"|"tools"|"state"|"pointers"|"scratch")[]
---@field order? "rank"|"value"
---@field layout? (string|neap.Bounds)[] memory, warm, state in their order, hot last
---@field place? "head"|"tail" of evidence and notices in the hot region; "tail"
---@field facts? neap.Facts   what the loss of a fact weighs
---@field ladder? neap.Ladder how shrink lowers, and what its steps are worth
---@field on_error? "skip"|"fail"
---@field state_version? integer
---@field admit? fun(ctx: neap.Ctx, e: neap.Entry, o: table)
---@field rank? fun(ctx: neap.Ctx, e: neap.Entry, o: table): number
---@field compact? fun(ctx: neap.Ctx, o: table)
---@field assemble? fun(ctx: neap.Ctx, o: table)
---@field overflow? fun(ctx: neap.Ctx, o: table, short: integer)
---@field recall? fun(ctx: neap.Ctx, query: string, o: table): integer[]
---@field migrate? fun(old: table, from: integer): table
---@field selftest? fun(): boolean?

---How shrink lowers. `worth`: what is left of an entry's value; "shown": the share of the names
---that a trim still shows.
---@class neap.Ladder
---@field trimmed? {tokens: integer|integer[], keep: neap.Keep, worth: "shown"}
---@field reference? {worth: number}
---@field masked? {worth: number}
---@field dropped? {named: number} notices name results of so much worth; 0: none

---What a fact weighs that nothing later holds: by what it is, and more when the model has written
---it, and for each time (4 at most).
---@class neap.Facts
---@field name? number     1
---@field number? number   1
---@field word? number     0; a plain word that at most three entries hold
---@field written? number  0
---@field again? number    0

---What a rewrite costs. Prices are in units of one token that no cache holds.
---@class neap.Economy
---@field front integer    tokens of what never changes: system, tools, the task
---@field floor integer    the level to ebb to
---@field height integer   the level above which a rewrite pays
---@field read number      a token read from the provider's cache
---@field write number     one written to it; 1 where that costs nothing more
---@field cold boolean     the host told the time, and the cache has forgotten the last prompt
---@field quote fun(q?: {to: number}): neap.Quote of a rewrite now, down to so many tokens (the
---                          floor); raises when `to` is no number of at least 0

---@class neap.Quote
---@field cost number      what it costs once, in units; 0 when the cache is cold
---@field saving number    what each later turn costs less, in units
---@field turns number?    after how many turns it has paid; nil: never

---The turn that is being assembled.
---@class neap.Ctx
---@field step integer     the turn; results and user messages after step n belong to step n
---@field tokens integer   of the prompt as it stands
---@field budget integer
---@field usage number     tokens / budget
---@field window integer
---@field economy neap.Economy
---@field drift number?    the share of the model's last 10 steps in which it named nothing that
---                          the task or the newest user message names; nil when those name
---                          nothing, and before the first such step
---@field miscount number? how far the last prompt was from what the provider says it took, as a
---                          part of the estimate: 0.02 is 2 % more; nil before the first usage
---@field pollution integer? steps that have used what is refuted; nil when nothing is
---@field state table      plain data that is kept with the session
---@field now integer?     milliseconds since 1970, as the host told; recorded
---@field random fun(m?: integer, n?: integer): number recorded
local Ctx = {}

---What ctx:entries chooses by; several conditions must all hold. Names: one, or a list.
---@class neap.EntriesFilter
---@field kind? string|string[]
---@field at? neap.Rung|neap.Rung[] how they are shown now
---@field region? string|string[]
---@field tool? string|string[] of calls and results
---@field path? string|string[] of calls and results
---@field is_error? boolean
---@field sent? boolean     whether it has been in a prompt
---@field from? number      of this step and later ones
---@field before? number    of steps before this one
---@field min_tokens? number as they are shown now
---@field except_last? number leaves out the last n that match
---@field newest? boolean   newest first

---An iterator and a count over entries, oldest first (`newest = true`: newest first), without
---pinned ones. Begins at the first entry that can match: `from`, `sent = false` and rungs that
---are asked for cost what they find.
---@param filter? neap.EntriesFilter
---@return fun(): neap.Entry?
---@return integer
function Ctx:entries(filter) end

---@class neap.SpanRange
---@field from? number     this step and later ones
---@field before? number   steps before this one
---@field merge? boolean   also what summaries of these steps stand for: the fold takes their place,
---                        and what is asked for it is given their notes (false)

---@class neap.Span
---@field atoms integer
---@field entries integer
---@field merged integer tokens of the summaries that it takes in; the other numbers are without them
---@field steps integer
---@field tokens integer

---A run of whole atoms that may be folded: without what is pinned, held, open or folded, and
---without the newest user message.
---@param range? neap.SpanRange
---@return neap.Span
function Ctx:span(range) end

---A line for the turn's account, under `log`: at most 64 KiB a turn. Arguments are joined as
---print does.
---@param ... any
function Ctx:log(...) end

---Entries of the session that hold words of a query, best first: what neap_recall finds, by
---the same index. In every hook but rank; a recall hook may begin with it.
---```lua
---recall = function(ctx, query) return ctx:search(query, 5) end
---```
---@param query string  at most 4,096 bytes
---@param k? integer    at most so many, of 20 (3)
---@return integer[]? ids
---@return string? why nothing can be searched
function Ctx:search(query, k) end

---A part of the text of an entry, or of an artifact, by its number: as e:peek. What is looked
---through is charged by its bytes, of lines what was read alone. In every hook but rank.
---@param id integer
---@param part string
---@param tokens? integer  at most; 1,000
---@return string? text
---@return string? why there is none: it has expired, was purged, was rolled back
function Ctx:peek(id, part, tokens) end

---@class neap.Outside
---@field id integer
---@field bytes integer
---@field lines integer
---@field step integer
---@field tool string?
---@field query string?
---@field path string?
---@field kind string?

---The artifacts of the session, which no prompt shows (Session:put), oldest first.
---@return neap.Outside[]
function Ctx:artifacts() end

---A few lines that say what there is and is not shown in full: results by tool, the newest
---files, the names that were cited, each with an entry that holds it. For the end of a summary:
---a model does not search for what it does not remember having seen.
---@param bytes? integer  at most so many, 100 to 4,000 (1,000)
---@param span? neap.Span  of what it holds alone, as its summary should lead to it
---@return string? lines nil when all is shown in full
function Ctx:map(bytes, span) end

---Lowers the least valuable, in one rewrite, until the prompt has at most that many tokens.
---@param tokens number
---@param why? string
---@param front? number     for order = "value": how much more value may be lost, as a share, so
---                          that as long a beginning as possible stays as it is (0)
---@return boolean reached
function Ctx:shrink(tokens, why, front) end

---Without an argument the tools that there are, shown or not. With names (a list, or keep = …
---or drop = …) those that the prompts are to begin with from the next rewrite on; at once in
---the first prompt, and in overflow. Only in assemble and overflow.
---```lua
---if ctx.step == 1 then ctx:tools { drop = { "deploy" }, why = "not in this phase" } end
---```
---@param wish? neap.ToolsWish|string[]
---@return neap.Tool[]|boolean list what there is; or whether the prompt shows what was named
---@return string? why not: which tools, and for what reason
function Ctx:tools(wish) end

---@class neap.ToolsWish
---@field keep? string[]
---@field drop? string[]
---@field why? string

---A tool schema of the session.
---@class neap.Tool
---@field name string
---@field tokens integer   of a list of it alone
---@field shown boolean    the prompts begin with it
---@field calls integer    of the whole history
---@field last integer?    step of the newest call
---@field named boolean    a visible call names it: it stays
---@field found boolean    the model has looked for it: it is shown from the next rewrite on
---@field fixed boolean    the engine's, or named by the request: always shown

---From now on the text stands for the span.
---@param span neap.Span
---@param text string? nil: nothing is folded, and `why` is the reason
---@param why? string
---@return boolean folded
---@return string? why not
function Ctx:fold(span, text, why) end

---@class neap.SummarizeOptions
---@field max_tokens? integer  of the summary (1000)
---@field mode? "notes"|"facts" "facts": a model sees what was said and done, and no result; of those
---  the key lines stand behind its answer word by word, with where they are from and a hash
---@field turns? integer       without an answer, after which there is none (20)

---Why a model has not answered.
---@alias neap.NoAnswer "refused"|"error"|"timeout"|"cancelled"|"empty"|"span"|"shadow"

---Only in compact: a summary of the span by the host's model. The hook sleeps until it is here.
---@param span neap.Span
---@param how? neap.SummarizeOptions
---@return string? summary
---@return string? why there is none
---@return neap.NoAnswer? code
function Ctx:summarize(span, how) end

---@class neap.Question
---@field prompt string
---@field max_tokens? integer  of the answer (1000)
---@field turns? integer       without an answer, after which there is none (20)

---Only in compact: an answer of the host's model.
---@param question neap.Question
---@return string? answer
---@return string? why there is none
---@return neap.NoAnswer? code
function Ctx:ask(question) end

---Either a prompt or a span.
---@class neap.OneOfMany
---@field prompt? string
---@field span? neap.Span      to be summarized
---@field max_tokens? integer
---@field turns? integer

---Only in compact: asks several things at once, 16 at most, and sleeps until all are answered.
---@param questions neap.OneOfMany[]
---@return (string|false)[] answers in their order
---@return (neap.NoAnswer|false)[] codes where there is none
function Ctx:ask_all(questions) end

---One part of a message.
---@class neap.Entry
---@field id integer
---@field kind string
---@field region string
---@field rung neap.Rung
---@field at neap.Rung        the same as rung
---@field step integer
---@field age integer         ctx.step - step, at least 1
---@field tokens integer      as it is shown now
---@field full_tokens integer
---@field tool string?
---@field path string?
---@field name string?
---@field message integer
---@field citations integer   how often later messages repeated something it holds
---@field since_cited integer
---@field identifiers integer
---@field latest integer    facts in it that nothing later holds
---@field written integer   of those, the ones that the model has written
---@field worth number       what those facts weigh, by the policy's `facts`
---@field repeated_by integer?
---@field repeats integer?     of a result: the first one that had the same text
---@field pair neap.Entry?    of a call its result, of a result its call
---@field sent boolean        it has been in a prompt
---@field hash string
---@field refuted boolean   what it shows is wrong, the host has said
---@field is_error boolean
---@field pinned boolean
---@field held boolean
---@field text string         its whole text, whatever is shown of it
local Entry = {}

---@class neap.Trim
---@field tokens? number     at most, the mark included
---@field lines? number      at most
---@field keep? neap.Keep    what of it; none: dense for results, ends for the rest
---@field about? string      the words that keep = "about" looks for
---@field why? string

---Shows a part of it and a mark: at most `tokens`, the mark included, and at most `lines` of
---its lines. Neither named: the ladder's tokens. Lines that repeat, or differ only in their
---numbers, are folded first. JSON (a value, or one a line) still parses: an item says how many
---are left out. A table keeps its head and whole rows. Refused when the mark alone has more tokens.
---@param how? neap.Trim
---@return boolean done
---@return string? why not
function Entry:trim(how) end

---A mark and at most 160 characters.
---@param why? string
---@return boolean done
---@return string? why not
function Entry:reference(why) end

---The mark alone.
---@param why? string
---@return boolean done
---@return string? why not
function Entry:mask(why) end

---Takes its whole atom out; a notice stands for it.
---@param why? string
---@return boolean done
---@return string? why not
function Entry:drop(why) end

---A part of its text, however large that is, in the forms of neap_read ("41-380", "match timeout",
---"errors", "about WORDS"), with numbers of lines; for what is handed to ctx:ask_all.
---@param part string
---@param tokens? integer  at most; 1,000
---@return string? text
---@return string? why there is none
function Entry:peek(part, tokens) end

---Back to full.
---@param why? string
---@return boolean done
---@return string? why not
function Entry:restore(why) end

---Never touched from now on.
---@param why? string
---@return boolean done
---@return string? why not
function Entry:pin(why) end

---Kept but for the last resort.
---@param why? string
---@return boolean done
---@return string? why not
function Entry:hold(why) end

---Lines of its text, as they came.
---@param from integer from 1
---@param to? integer      this one included; none: only the first
---@return string
function Entry:lines(from, to) end

---What a result is, by the two ends of its text, its tool and its call.
---@return neap.Output
function Entry:output() end

return neap
