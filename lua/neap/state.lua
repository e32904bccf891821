-- What must not drift, for Lua programs: methods of a session that read and change its state
-- object. next: meta_state.lua
local core = require("neap.core")

local M = {}

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
    for name in pairs(options) do
      if name ~= "reason" and name ~= "source" and name ~= "if_version" then
        error(("bad argument #3 to 'propose' (there is no option %s)"):format(tostring(name)), 2)
      end
    end
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

  --- All refutations: step, entry, notice, reason, and `line`, for notes.
  ---@return table[]? list, string? message, string? code
  function Session:refutations()
    local text, why, code = open_session(self):refutations()
    if not text then return nil, why, code end
    return core.json.decode(text)
  end
end

return M
