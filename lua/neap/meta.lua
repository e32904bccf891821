---@meta neap
-- What editors know about neap: the module, its sessions, and the shape of a policy. A test
-- compares the names here with those that exist. next: init.lua

---@class neap
---@field _VERSION string      "neap 0.1.0"
---@field _DESCRIPTION string
---@field _COPYRIGHT string
---@field json table           decode, encode, items, quote, raw, array
---@field null userdata        JSON's null
---@field codes {name: string, text: string}[] every error code
local neap = {}

---@class neap.SessionOptions
---@field name? string       of the session; it is resumed when the store has it ("session")
---@field policy? string     path of a policy file; none: everything is shown while it fits
---@field options? table|string the policy's options by name
---@field window? integer    tokens (200000)
---@field reserve? integer   room for the answer; -1: none
---@field format? "openai"|"text"
---@field encoding? string   "o200k_base"
---@field store? string      path of the store file; none: nothing is kept on disk
---@field tenant? string
---@field data? string       folder of the vocabularies
---@field tools? table|string tool schemas as the provider takes them
---@field request? table|string the request's other members: model, max_tokens, …
---@field durable? "process"|"power"|"batch"|"memory"
---@field no_reload? boolean never look at the policy file again
---@field no_tools? boolean  do not offer neap_read and neap_recall to the model

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
---@return neap.Session? session
---@return string? message
---@return string? code
function neap.session(options) end

---Tokens of any bytes.
---```lua
---neap.count("hello world")  --> 2
---```
---@param text string
---@param encoding? string
---@return integer? tokens
---@return string? message
---@return string? code
function neap.count(text, encoding) end

---@class neap.Call
---@field entry integer    the call's entry id
---@field id string        the provider's id of it
---@field name string
---@field arguments string JSON text as the model wrote it

---@class neap.Session
local Session = {}

---Appends a chat message, a table or its JSON.
---@param message table|string
---@return true? ok
---@return string? message
---@return string? code
function Session:add(message) end

---Assembles the next turn: the whole request body. Code "budget": it cannot be made to fit.
---@return string? body
---@return string? message
---@return string? code
function Session:prompt() end

---Appends the provider's response body, as it came.
---@param response string
---@return true? ok
---@return string? message
---@return string? code
function Session:add_response(response) end

---The calls of the last response that are the host's to run.
---@return fun(): neap.Call?
function Session:calls() end

---Appends the result of a call.
---@param call neap.Call
---@param text string
---@return true? ok
---@return string? message
---@return string? code
function Session:result(call, text) end

---True when the last response made calls: the model waits for another prompt.
---@return boolean
function Session:pending() end

---The account of the last turn: tokens, budget, cached, regions, changed, hook_errors.
---@return table? account
---@return string? message
---@return string? code
function Session:account() end

---The original text of an entry, whatever is shown of it.
---@param entry integer
---@return string? text
---@return string? message
---@return string? code
function Session:text(entry) end

---The policy in force: its name, about, source, path, sha256 and options.
---@return table
function Session:policy() end

---Looks at the policy file now; the old version keeps serving when the new one fails.
---@return true? ok
---@return string? message
---@return string? code
function Session:reload() end

---Closes the session and its store; also done by `<close>` and by the collector.
function Session:close() end

return neap
