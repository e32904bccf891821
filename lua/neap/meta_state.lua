---@meta neap
-- What editors know about what must not drift: the state object. More of the classes in meta.lua.
-- next: state.lua

---@class neap.Session
local Session = {}

---@class neap.Ctx
local Ctx = {}

---The state object as it is now, a table of the policy's own; nil where there is none yet.
---@return table?
function Ctx:object() end

---What ctx:propose takes besides the patch.
---@class neap.ProposeOptions
---@field reason? string  at most 1,000 bytes
---@field source? integer the entry that it rests on

---Proposes a change of the state object as the writer `policy`. It is checked at once and taken
---when the turn is decided, so that the next prompt shows it; a hook that fails has proposed
---nothing. An empty list is written in JSON: `ctx:propose('{"pending":[]}')`.
---@param patch table|string a merge patch, or a list of `{ op, path, value }`
---@param options? neap.ProposeOptions
---@return true? taken
---@return string? faults what is wrong, a line each: PATH: WHAT
function Ctx:propose(patch, options) end

---The state object as it is, or was at a version, and that version. Numbers that Lua would write
---in another way (500.00) are slices of their own digits: tostring gives them.
---@param version? integer
---@return table? state
---@return integer|string version or a message
---@return string? code
function Session:state(version) end

---What waits on the scratchpad, oldest first.
---@return {id: integer, who: string, source: integer, step: integer, text: string, patch: table?}[]
function Ctx:scratchpad() end

---Values of the state object that rest on what is refuted.
---@return {path: string, entry: integer, source: integer}[]
function Ctx:stale() end

---Puts a text on the scratchpad, when the turn is decided; with a patch that is proposed when it is
---passed.
---@param text string at most 4,096 bytes
---@param options? {source?: integer, patch?: table|string}
---@return true? taken
---@return string? why not
function Ctx:scratch(text, options) end

---Number `id` is verified: shown from the next prompt on.
---@param id integer
---@param reason? string
---@param into? "evidence"|"memory"
---@return true? taken
---@return string? why not
function Ctx:pass(id, reason, into) end

---It is not.
---@param id integer
---@param reason string
---@return true? taken
---@return string? why not
function Ctx:reject(id, reason) end

---The part of the work that goes on and its first step, then the one before and its first; with a
---name: that begins with this turn's step.
---@param name? string
---@return string|true? name
---@return integer|string? from or why not
---@return string? before
---@return integer? before_from
function Ctx:phase(name) end

---What ctx:due takes: at least one of them.
---@class neap.DueOptions
---@field usage? number        a share of the budget: the prompt takes that much
---@field drift? number        the share of ctx.drift
---@field phase? true|string   a phase, or that one, has begun since the last rewrite
---@field turns? integer       and so many turns were since the last rewrite; alone: that is enough

---A trigger of two parts: which of usage, phase and drift has come, provided that enough turns were
---since the last rewrite for another to pay.
---```lua
---if ctx:due { usage = 0.8, phase = true, turns = 10 } then ctx:fold(old, (ctx:summarize(old))) end
---```
---@param what neap.DueOptions
---@return "usage"|"phase"|"drift"|"turns"|nil
function Ctx:due(what) end

---Proposes a change of the state object on behalf of user, controller, model, tool or policy: an
---object of what to set, in which neap.null takes away, or a list of `{ op, path, value }`. It is
---taken whole or not at all. Code "refused": the fourth value says what is wrong, path by path.
---```lua
---s:propose("controller", { progress = { "tests pass" } }, { reason = "make test", source = 17 })
---```
---@param who "user"|"controller"|"model"|"tool"|"policy"
---@param patch table|string neap.json.array{} is an empty list
---@param options? {reason?: string, source?: integer, if_version?: integer}
---@return integer? version
---@return string? message
---@return string? code
---@return {path: string, what: string}[]? faults
function Session:propose(who, patch, options) end

---Every proposal so far: version, who, step, source, entry, reason, patch; a refused one has
---`refused` and `faults`.
---@return table[]? history, string? message, string? code
function Session:state_history() end

---What lies between two versions of the state: `{ path, from, to }` each; 0 is before the first.
---@param from integer
---@param to integer
---@return table[]? changes, string? message, string? code
function Session:state_diff(from, to) end

---Marks where the session stands, under a name; the newest of a name counts. Code "misuse": a call
---has no result yet.
---@param name string
---@return true? ok
---@return string? message
---@return string? code
function Session:checkpoint(name) end

---Goes back to a checkpoint, or to behind an entry: from now on the session is what it would be had
---nothing come since, but for a notice that says what was tried, why it is void, and not to do it
---again. What is void can still be read by its ids.
---```lua
---s:checkpoint("before the migration")
---s:rollback("before the migration", "the schema cannot be changed while it is in use")
---```
---@param to string|integer a checkpoint's name, or an entry, the last of its message
---@param reason string     at most 400 bytes
---@return true? ok
---@return string? message
---@return string? code
function Session:rollback(to, reason) end

---What an entry, or all of a step, has shown is wrong: a notice tells the model, a summary of it
---repeats that, and steps that use it all the same are counted in the account (`pollution`).
---```lua
---s:refute({ step = 3 }, "the log was of another machine")
---```
---@param what {step?: integer, entry?: integer} one of the two
---@param reason string at most 400 bytes
---@return true? ok
---@return string? message
---@return string? code
function Session:refute(what, reason) end

---Puts a conclusion that nobody has verified on the scratchpad. It is in no prompt until it is passed.
---```lua
---s:scratch("model", "the port is 8451", { source = 17, patch = { port = 8451 } })
---s:verify(function(one) return s:text(one.source):find("8451", 1, true) ~= nil, "not in it" end)
---```
---@param who "user"|"controller"|"model"|"tool"|"policy"
---@param text string at most 4,096 bytes
---@param options? {source?: integer, patch?: table|string} patch: proposed when it is passed
---@return integer? number
---@return string? message
---@return string? code
function Session:scratch(who, text, options) end

---What is on the scratchpad: id, who, source, step, text, patch, status, by, reason, entry.
---@param status? "waiting"|"passed"|"rejected" only that
---@return table[]? list, string? message, string? code
function Session:scratchpad(status) end

---Number `id` is verified: it becomes an entry with its source, or a version of the state object.
---Code "refused": its source is refuted or void, or the state does not take it; it waits on.
---@param id integer
---@param reason? string
---@param into? "evidence"|"memory"
---@return integer? entry 0: a patch that changes nothing
---@return string? message
---@return string? code
function Session:pass(id, reason, into) end

---It is not.
---@param id integer
---@param reason string at most 400 bytes
---@return true? ok
---@return string? message
---@return string? code
function Session:reject(id, reason) end

---Has a function look at all that waits: it returns true, or false and why; nothing: it waits on.
---@param check fun(one: table): boolean?, string?
---@return integer? passed
---@return integer|string rejected or a message
---@return string? code
function Session:verify(check) end

---A part of the work begins, with the next step: policies see it by ctx:phase and ctx:due.
---@param name string at most 200 bytes
---@return true? ok
---@return string? message
---@return string? code
function Session:phase(name) end

---The session for another one to go on with, as one line of JSON: state, notes, pins, open items, what
---is void, refuted or waits to be verified, pointers.
---```lua
---local next = assert(neap.session { name = "second", handover = first:handover() })
---```
---@return string? json
---@return string? message
function Session:handover() end

---All refutations: step, entry, notice (the entry that says so), reason, and `line`, for notes.
---@return table[]? list, string? message, string? code
function Session:refutations() end
