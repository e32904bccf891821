-- neap check: loads policies in the sandbox, says what they are, runs their selftest, the
-- examples of their head comments, and every hook on a small history. next: ../report/example.lua
local core = require("neap.core")
local example = require("neap.report.example")
local paths = require("neap.paths")
local grid = require("neap.report.grid")
local visible = require("neap.report.visible")
local failure = require("neap.cli.fail")

local M = {}
local json = core.json

-- Opening a session loads the policy, binds its options and runs its selftest.
local function load_policy(path)
  local engine = failure.check(core.engine({ data = core.data_dir(), fixed_secret = true }))
  local s, why = engine:session({ name = "check", policy = path, no_reload = true })
  if not s then
    engine:close()
    return nil, why
  end
  local info = s:policy()
  s:close()
  engine:close()
  return info
end

local function describe(path)
  local info, why = load_policy(path)
  if not info then return { path = path, ok = false, fault = why } end
  local ok, count = example.run(path)
  local fault = not ok and "the example fails" or nil
  if ok then
    local played, message = example.rehearse(path)
    if not played then
      ok, count, fault = nil, message, "a hook fails on the history that check plays"
    end
  end
  return {
    path = path,
    ok = ok == true,
    fault = not ok and count or nil,
    what = fault,
    name = info.name,
    about = info.about,
    source = info.source,
    sha256 = info.sha256,
    options = info.options and json.decode(info.options) or nil,
    examples = ok and count or nil,
  }
end

-- A value of an option as people read it.
local function plain(value)
  if json.is_raw(value) then return value.raw end
  if type(value) == "string" then return json.quote(value) end
  return json.encode(value)
end

-- Options as rows, whether they come as a list of objects or as an object of them.
local function option_rows(options)
  local names, rows = {}, {}
  local by_name = {}
  for key, option in pairs(options or {}) do
    local name = type(option) == "table" and option.name or key
    names[#names + 1] = name
    by_name[name] = option
  end
  table.sort(names)
  for i, name in ipairs(names) do
    local option = by_name[name]
    local is_table = type(option) == "table" and not json.is_raw(option)
    local value = option
    if is_table then value = option.default end
    rows[i] = { "   ", name, plain(value), is_table and option.help or "" }
  end
  return rows
end

local function print_one(row)
  if not row.ok then
    failure.warn(row.fault)
    if not row.name then return end
  end
  local about = row.about ~= "" and ": " .. row.about or ""
  local result = row.what
  if row.ok then
    local form = row.examples == 1 and "ok, %d example" or "ok, %d examples"
    result = form:format(row.examples)
  end
  local hash = row.sha256:sub(1, 16)
  visible.write(visible.line(row.name .. about), "\n   ", result, "; sha256 ", hash, "\n")
  visible.write(grid.format(option_rows(row.options), { "l", "l", "l", "l" }))
end

local ORDER = { "path", "ok", "name", "about", "source", "sha256", "examples", "options", "fault" }

--- neap check; exits 1 when a policy is refused, an example or a case fails.
function M.check(opts, args)
  local code = 0
  if #args == 0 and not opts.cases then
    failure.fail("neap check needs POLICY… or --cases FILE; neap check --help")
  end
  for _, word in ipairs(args) do
    local row = describe(failure.check(paths.policy(word)))
    if not row.ok then code = 1 end
    if opts.json then
      row.what = nil
      io.stdout:write(json.encode(row, ORDER), "\n")
    else
      print_one(row)
    end
  end
  if opts.cases and code == 0 then code = require("neap.cli.cases").run(opts.cases, args, opts) end
  return code
end

return M
