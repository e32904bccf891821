-- neap doctor: what is here, what is missing, and what installs it. next: ../paths.lua
local core = require("neap.core")
local paths = require("neap.paths")
local trust = require("neap.trust")
local grid = require("neap.report.grid")

local M = {}

local function check_encoding(info)
  local enc, why = core.encoding(info.name)
  if enc then enc:close() end
  return {
    what = "encoding " .. info.name,
    value = enc and ("%d tokens, %s"):format(info.tokens, info.exact and "exact" or "estimated")
      or why,
    ok = enc ~= nil,
    install = not enc and "set NEAP_DATA to the folder of the vocabularies, or make install" or nil,
  }
end

-- Models whose counts are exact, and those whose counts are estimates.
local function check_models()
  local names = { {}, {} }
  for _, model in ipairs(core.models()) do
    local list = names[model.exact and 1 or 2]
    list[#list + 1] = model.name
  end
  local text = "%d counted exactly, %d estimated with a stated bound"
  return { what = "models", value = text:format(#names[1], #names[2]), ok = true }
end

local function check_lpeg()
  local ok, lpeg = pcall(require, "lpeg")
  local version = ok and (type(lpeg.version) == "function" and lpeg.version() or lpeg.version)
  return {
    what = "lpeg",
    value = ok and tostring(version) or "not here; grammars need it, the rest works",
    ok = ok,
    optional = true,
    install = not ok and "apt-get install lua-lpeg" or nil,
  }
end

local function check_policies()
  local dir, names = paths.policies_dir(), paths.shipped()
  local here = dir ~= nil and #names > 0
  return {
    what = "policies",
    value = here and ("%d in %s"):format(#names, dir) or "none found",
    ok = here,
    install = not here and "set NEAP_POLICIES to their folder, or make install" or nil,
  }
end

local function check_store()
  local path = paths.store()
  local st = core.stat(path)
  return {
    what = "store",
    value = st and ("%s, %d bytes"):format(path, st.size) or path .. ", not made yet",
    ok = true,
  }
end

-- A project's policy that is not trusted keeps verbs from running where none is named.
local function check_project()
  local path = trust.find()
  if not path then
    return { what = "project policy", value = "none here (" .. trust.PLACE .. ")", ok = true }
  end
  local state, why = trust.state(path)
  return {
    what = "project policy",
    value = ("%s, %s"):format(path, state == "unknown" and "not trusted" or state or why),
    ok = state == "trusted",
    optional = true,
    word = "refused",
    install = state ~= "trusted" and "read it, then neap trust " .. path or nil,
  }
end

-- Sessions whose policy has failed so often that it is left out for a while.
local function check_sessions()
  local path = paths.store()
  if not core.stat(path) then return nil end
  local engine, why = core.engine({ store = path, readonly = true })
  local text = engine and nil
  if engine then
    text, why = engine:left_out()
    engine:close()
  end
  local row = { what = "policies in use", ok = text ~= nil, value = why }
  if not text then return row end
  local list = core.json.decode(text)
  for i, one in ipairs(list) do
    local form = "the policy of session %s failed too often and is left out for %s more"
    list[i] = form:format(one.session, grid.count(one.turns, "turn"))
  end
  row.value = list[1] and table.concat(list, "; ") or "none has failed too often"
  row.state = list[1] and "failing"
  row.install = list[1] and "its account's hook_errors say why; a changed file serves at once"
  return row
end

local function checks()
  local list = {
    { what = "neap", value = core.version, ok = true },
    { what = "lua", value = _VERSION, ok = true },
    { what = "library", value = paths.lua_dir(), ok = true },
    { what = "vocabularies", value = core.data_dir(), ok = core.stat(core.data_dir()) ~= nil },
  }
  if core.exe_dir() ~= "" then
    table.insert(list, 3, { what = "program", value = core.exe_dir() .. "/neap", ok = true })
  end
  for _, info in ipairs(core.encodings()) do
    list[#list + 1] = check_encoding(info)
  end
  list[#list + 1] = check_models()
  list[#list + 1] = check_policies()
  list[#list + 1] = check_store()
  list[#list + 1] = check_project()
  list[#list + 1] = check_sessions()
  list[#list + 1] = check_lpeg()
  return list
end

--- neap doctor; exits 1 when something is missing that is needed.
function M.doctor(opts)
  local rows, code = {}, 0
  for i, row in ipairs(checks()) do
    if not row.ok and not row.optional then code = 1 end
    if opts.json then
      io.stdout:write(core.json.encode(row, { "what", "ok", "state", "value", "install" }), "\n")
    end
    rows[i] = { row.what, row.state or row.ok and "ok" or row.word or "missing", row.value }
    if row.install then rows[i][3] = ("%s; %s"):format(row.value, row.install) end
  end
  if not opts.json then io.stdout:write(grid.format(rows, { "l", "l", "l" })) end
  return code
end

return M
