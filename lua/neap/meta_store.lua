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

---Closes the store; also done by `<close>` and by the collector.
function Store:close() end

return Store
