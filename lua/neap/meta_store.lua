---@meta
-- What neap.store gives, for editors (LuaCATS). Nothing here runs. next: meta.lua

---@class neap.Store
local Store = {}

---An event of a session's log: of a "message" the body is the raw message, of a "turn" the head
---is its account.
---@class neap.Event
---@field seq integer      from 1, without gaps
---@field kind string
---@field head string
---@field body string
---@field purged boolean   the body was removed by its owner

---The tenant's sessions by name.
---@return {name: string, events: integer}[]? list, string? message, string? code
function Store:sessions() end

---Some events of a session, from one on: a list that is empty behind the last.
---@param name string
---@param from? integer 1
---@return neap.Event[]? events, string? message, string? code
function Store:events(name, from) end

---Makes a session of the beginning of another: it goes on as one to which nothing more was
---appended, marks included, and shares what is stored.
---@param from string
---@param name string
---@param how? {turn: integer?, events: integer?} as it was when the prompt of that turn had been
---                        made; or its first so many events; none: all of it
---@return true? ok, string? message, string? code
function Store:fork(from, name, how) end

---Removes a session for good, and makes the file anew: its events, their words in the index, and
---what of the tenant's contents no other session names. A record of the name stays. Who still
---writes it is told at its next append (code "fenced"). Refused while it is open in this program.
---@param name string
---@return integer? events    how many went
---@return integer|string contents  how many went; or a message
---@return string? code
function Store:remove(name) end

---What a replay has come to.
---@class neap.Replayed
---@field same integer      turns whose prompts are those that were sent
---@field unpinned integer  turns of an older log, which has no digest of its prompts
---@field turn? integer     the first one whose prompt is another
---@field at? integer       the first byte that differs, from 1
---@field was? string       the prompt that was sent
---@field is? string        what it would be now
---@field cause? string

---Runs a session again, from its log alone, and says whether its prompts are the same to the byte.
---@param name string
---@return neap.Replayed? replayed, string? message, string? code
function Store:replay(name) end

---Writes a session as lines of JSON to an open file.
---@param name string
---@param file file*
---@return true? ok, string? message, string? code
function Store:export(name, file) end

---Makes a session of such lines, to the byte what was written out. All of it is checked first;
---it is never written over a session.
---@param text string
---@param name? string      the one it had
---@return string? name, string? message, string? code
function Store:import(text, name) end

---Copies a session to another store, under its name.
---@param name string
---@param to neap.Store
---@return true? ok, string? message, string? code
function Store:copy(name, to) end

---Looks at all of the store: its structure, gaps in logs, every body against its hash, the index
---of words. A line for each fault.
---@return string[]? faults, string? message, string? code
function Store:check() end

---What it holds: version, page_size, pages, free_pages and, for each of `tenants`, sessions,
---events, heads and bodies (bytes in their rows), contents, content_bytes, references, referenced.
---@return table? stats, string? message, string? code
function Store:stats() end

---Removes contents that nothing refers to, and makes the file as small as it can be.
---@return {contents: integer, bytes: integer, before: integer, after: integer}? swept
---@return string? message, string? code
function Store:vacuum() end

---Copies the store to a new file while others write: one state of it.
---@param path string       of a file that is not there
---@return true? ok, string? message, string? code
function Store:backup(path) end

---Closes the store; also done by `<close>` and by the collector.
---@return true? ok, string? message, string? code
function Store:close() end

return Store
