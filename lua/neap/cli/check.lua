-- neap check: loads policies in the sandbox, runs their selftest and the examples of their head
-- comments, reads their text, plays a session of all kinds in every format, and says what their
-- hooks cost. next: ../check/lint.lua
local core = require("neap.core")
local dryrun = require("neap.check.dryrun")
local example = require("neap.report.example")
local lint = require("neap.check.lint")
local paths = require("neap.paths")
local grid = require("neap.report.grid")
local visible = require("neap.report.visible")
local failure = require("neap.cli.fail")

local M = {}
local json = core.json

-- Opening a session loads the policy, binds its options and runs its selftest. What it says of
-- itself, and what its file holds.
local function load_policy(path)
  local engine = failure.check(core.engine({ data = core.data_dir(), fixed_secret = true }))
  local s, why = engine:session({ name = "check", policy = path, no_reload = true })
  if not s then
    engine:close()
    return nil, why
  end
  local info, source = s:policy(), failure.check(s:policy_table())
  s:close()
  engine:close()
  source.sources = json.decode(source.sources)
  source.option_names = {}
  info.options = info.options and json.decode(info.options) or {}
  for name, option in pairs(info.options) do
    table.insert(source.option_names, type(option) == "table" and option.name or name)
  end
  table.sort(source.option_names)
  return info, source
end

-- "FILE:LINE: what", or "FILE: what", as a finding; `path` is the policy's.
local function finding(level, text, path, where)
  local file, line, what = text:match("^(.-):(%d+): (.*)$")
  if not file then
    file = path
    if text:sub(1, #path + 2) == path .. ": " then text = text:sub(#path + 3) end
  end
  what = (what or text) .. (where and (" (%s)"):format(where) or "")
  return { level = level, file = file, line = math.tointeger(tonumber(line)), what = what }
end

local MOST = 3 -- findings of one line that playing may add; more are the same in other words

-- A mistake that is seen in the text need not be told again when a hook trips over it.
local function is_told(list, seen_in_text, new)
  local count = 0
  for i, f in ipairs(list) do
    if f.level == "error" and f.line and f.line == new.line and f.file == new.file then
      if i <= seen_in_text then return true end
      count = count + 1
    end
  end
  return count >= MOST
end

local function look(path, source)
  local list = lint.look(path, source)
  local in_text = #list
  local ok, count = example.run(path)
  if not ok then list[#list + 1] = finding("error", count, path) end
  local faults, why = dryrun.play(path)
  if not faults then list[#list + 1] = finding("error", why, path) end
  for _, fault in ipairs(faults or {}) do
    local new = finding(fault.level, fault.text, path, fault.where)
    if not is_told(list, in_text, new) then list[#list + 1] = new end
  end
  return list, ok and count or nil
end

local function describe(path)
  local info, source = load_policy(path)
  if not info then
    local findings = { finding("error", source, path) }
    return { path = path, ok = false, findings = findings, fault = source }
  end
  local findings, examples = look(path, source)
  local row = { path = path, ok = true, findings = findings, examples = examples }
  for _, f in ipairs(findings) do
    if f.level == "error" then
      row.ok = false
      row.fault = row.fault or M.line(f)
    end
  end
  row.name, row.about, row.source, row.sha256 = info.name, info.about, info.source, info.sha256
  row.options = info.options
  row.costs = dryrun.costs(path) or {}
  return row
end

--- A finding as one line.
---@param f neap.Finding
---@return string
function M.line(f)
  local place = f.file and ("%s:%s"):format(f.file, f.line and f.line .. ": " or " ") or ""
  return place .. (f.level == "warning" and "warning: " or "") .. f.what
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

-- What hooks cost, as rows.
local function cost_rows(costs)
  local rows = { { "   ", "hook", "calls", "instructions a call", "at most", "KiB" } }
  for i, c in ipairs(costs) do
    local mean = c.calls > 0 and c.instructions // c.calls or 0
    rows[i + 1] = { "   ", c.hook, grid.thousands(c.calls), grid.thousands(mean) }
    rows[i + 1][5], rows[i + 1][6] = grid.thousands(c.most), ("%.1f"):format(c.bytes / 1024)
  end
  return rows
end

local function result_of(row)
  local warnings = 0
  for _, f in ipairs(row.findings) do
    if f.level == "warning" then warnings = warnings + 1 end
  end
  local text = row.ok and "ok" or "fails"
  if row.examples then text = text .. ", " .. grid.count(row.examples, "example") end
  if warnings > 0 then text = text .. ", " .. grid.count(warnings, "warning") end
  return text
end

local function print_one(row)
  for _, f in ipairs(row.findings) do
    failure.warn(M.line(f))
  end
  if not row.name then return end
  local about = row.about ~= "" and ": " .. row.about or ""
  local hash = row.sha256:sub(1, 16)
  visible.write(visible.line(row.name .. about), "\n   ", result_of(row), "; sha256 ", hash, "\n")
  visible.write(grid.format(option_rows(row.options), { "l", "l", "l", "l" }))
  if #row.costs == 0 then return end
  visible.write(("   in a session of %s entries:\n"):format(grid.thousands(dryrun.ENTRIES)))
  visible.write(grid.format(cost_rows(row.costs), { "l", "l", "r", "r", "r", "r" }))
end

local ORDER = {
  "path",
  "ok",
  "name",
  "about",
  "source",
  "sha256",
  "examples",
  "options",
  "costs",
  "findings",
  "fault",
}

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
      row.findings, row.costs = json.array(row.findings), json.array(row.costs or {})
      io.stdout:write(json.encode(row, ORDER), "\n")
    else
      print_one(row)
    end
  end
  if opts.cases and code == 0 then code = require("neap.cli.cases").run(opts.cases, args, opts) end
  return code
end

return M
