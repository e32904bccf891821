-- What must not drift, for Lua programs: methods of a session that read and change its state
-- object. next: meta_state.lua
local core = require("neap.core")

local M = {}

-- Options that a method takes, and what each is; misuse is an error of whoever called it.
local function check_options(options, known, method)
  local text = "bad argument #3 to '%s' (%s)"
  for name, value in pairs(options) do
    local kind = known[name]
    if not kind then error(text:format(method, "there is no option " .. tostring(name)), 3) end
    local is = kind == "integer" and math.type(value) or type(value)
    if kind ~= "any" and is ~= kind then
      local what = ("option %s must be of type %s, got %s"):format(name, kind, tostring(value))
      error(text:format(method, what), 3)
    end
  end
end

local PROPOSE = { reason = "string", source = "integer", if_version = "integer" }
local SCRATCH = { source = "integer", patch = "any" }

--- Adds the methods to the class. `open_session` gives the session of the core, or raises;
--- `as_json` makes JSON of a table.
function M.add(Session, open_session, as_json)
  --- The state object as it is, or was at a version, and that version. Numbers that Lua would write
  --- in another way are slices of their own digits: tostring gives them.
  ---@param version integer?
  ---@return table? state, integer|string version, string? code
  function Session:state(version)
    local text, number, code = open_session(self):state_get(version)
    if not text then return nil, number, code end
    return core.json.decode(text), number
  end

  --- Proposes a change of the state object, on behalf of user, controller, model, tool or policy.
  --- What is refused changes nothing: code "refused", and as the fourth value what is wrong, path
  --- by path.
  ---@param who string
  ---@param patch table|string a merge patch, or a list of operations; json.array{} is an empty list
  ---@param options {reason: string?, source: integer?, if_version: integer?}?
  ---@return integer? version, string? message, string? code, {path: string, what: string}[]? faults
  function Session:propose(who, patch, options)
    options = options or {}
    check_options(options, PROPOSE, "propose")
    local text, why, code, answer = open_session(self):state_propose(
      who,
      as_json(patch, "propose"),
      options.reason,
      options.source,
      options.if_version
    )
    if text then return core.json.decode(text).version end
    return nil, why, code, answer and core.json.decode(answer).faults
  end

  --- Every proposal so far: version, who, step, source, entry, reason, patch; a refused one has
  --- `refused` and `faults`.
  ---@return table[]? history, string? message, string? code
  function Session:state_history()
    local text, why, code = open_session(self):state_history()
    if not text then return nil, why, code end
    return core.json.decode(text)
  end

  --- What lies between two versions of the state: `{ path, from, to }` each; 0 is before the first.
  ---@param from integer
  ---@param to integer
  ---@return table[]? changes, string? message, string? code
  function Session:state_diff(from, to)
    local text, why, code = open_session(self):state_diff(from, to)
    if not text then return nil, why, code end
    return core.json.decode(text)
  end

  --- Marks where the session stands; the newest of a name counts.
  ---@param name string
  ---@return true? ok, string? message, string? code
  function Session:checkpoint(name)
    if type(name) ~= "string" then -- 17 would be an entry to rollback
      error("bad argument #1 to 'checkpoint' (a name is expected, got a " .. type(name) .. ")", 2)
    end
    return open_session(self):checkpoint(name)
  end

  --- Goes back to a checkpoint, or to behind an entry: what came since is void, but for a notice
  --- that says what was tried and not to do it again.
  ---@param to string|integer
  ---@param reason string
  ---@return true? ok, string? message, string? code
  function Session:rollback(to, reason)
    local raw = open_session(self)
    local ok, why, code = raw:rollback(to, reason)
    if ok then self.had_calls, self.first = false, nil end
    return ok, why, code
  end

  --- What an entry, or a step, has shown is wrong: `{ step = 3 }` or `{ entry = 17 }`.
  ---@param what {step: integer?, entry: integer?}
  ---@param reason string
  ---@return true? ok, string? message, string? code
  function Session:refute(what, reason)
    local one = type(what) == "table" and (what.step == nil) ~= (what.entry == nil)
    if not one then
      error("bad argument #1 to 'refute' ({ step = 3 } or { entry = 17 } is expected)", 2)
    end
    return open_session(self):refute(what.step, what.entry, reason)
  end

  --- Puts a conclusion that nobody has verified on the scratchpad: it is in no prompt until it is
  --- passed. `patch` is proposed to the state object then, on behalf of `who`.
  ---@param who string user, controller, model, tool or policy
  ---@param text string
  ---@param options {source: integer?, patch: table|string|nil}?
  ---@return integer? number, string? message, string? code
  function Session:scratch(who, text, options)
    options = options or {}
    check_options(options, SCRATCH, "scratch")
    local patch = options.patch and as_json(options.patch, "scratch")
    return open_session(self):scratch_put(who, text, patch, options.source)
  end

  --- What is on the scratchpad: id, who, source, step, text, patch, status, by, reason, entry; with
  --- a status ("waiting", "passed", "rejected") only that.
  ---@param status string?
  ---@return table[]? list, string? message, string? code
  function Session:scratchpad(status)
    local text, why, code = open_session(self):scratch_list()
    if not text then return nil, why, code end
    local all, some = core.json.decode(text), {}
    for _, one in ipairs(all) do
      if not status or one.status == status then some[#some + 1] = one end
    end
    return some
  end

  --- Number `id` is verified: it becomes an entry (`into` "evidence" or "memory"), or a version of
  --- the state.
  ---@param id integer
  ---@param reason string?
  ---@param into string?
  ---@return integer? entry, string? message, string? code
  function Session:pass(id, reason, into)
    return open_session(self):scratch_pass(id, "controller", reason, into)
  end

  --- It is not.
  ---@param id integer
  ---@param reason string
  ---@return true? ok, string? message, string? code
  function Session:reject(id, reason)
    return open_session(self):scratch_reject(id, "controller", reason)
  end

  --- Has a function look at all that waits: it returns true, or false and why; nothing: it waits
  --- on, and anything else is an error. What the engine refuses (its source is refuted, the state
  --- does not take it) is rejected by that.
  ---@param check fun(one: table): boolean?, string?
  ---@return integer? passed, integer|string rejected, string? code
  function Session:verify(check)
    local list, why, code = self:scratchpad("waiting")
    if not list then return nil, why, code end
    local passed, rejected = 0, 0
    for _, one in ipairs(list) do
      local good, reason = check(one)
      if good ~= nil and type(good) ~= "boolean" then -- "not so" is no yes
        local text = "what verify calls returned a %s; return true, or false and why, or nothing"
        error(text:format(type(good)), 2)
      end
      local entry
      if good then
        entry, why, code = self:pass(one.id, reason)
        if entry then passed = passed + 1 end
        if not entry and code ~= "refused" then return nil, why, code end
        good, reason = entry ~= nil, why and why:sub(1, (utf8.offset(why, 100) or 0) - 1)
      end
      if good == false then
        local ok
        ok, why, code = self:reject(one.id, reason or "not verified")
        if not ok then return nil, why, code end
        rejected = rejected + 1
      end
    end
    return passed, rejected
  end

  --- A part of the work begins, with the next step; policies fold what was before.
  ---@param name string
  ---@return true? ok, string? message, string? code
  function Session:phase(name)
    return open_session(self):phase(name)
  end

  --- All refutations: step, entry, notice, reason, and `line`, for notes.
  ---@return table[]? list, string? message, string? code
  function Session:refutations()
    local text, why, code = open_session(self):refutations()
    if not text then return nil, why, code end
    return core.json.decode(text)
  end
end

return M
