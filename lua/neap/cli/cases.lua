-- neap check --cases: runs a file of regression cases and names each that fails by its line.
-- next: ../report/cases.lua
local core = require("neap.core")
local files = require("neap.files")
local paths = require("neap.paths")
local replay = require("neap.report.replay")
local cases = require("neap.report.cases")
local grid = require("neap.report.grid")
local show = require("neap.cli.show")
local session = require("neap.cli.session")
local visible = require("neap.report.visible")
local failure = require("neap.cli.fail")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

-- A path in a file of cases is seen from that file's folder.
local function beside(file, path)
  if path:sub(1, 1) == "/" or file == "-" then return path end
  local near = (file:match("^(.*/)[^/]*$") or "") .. path
  return core.stat(near) and near or path
end

local function policy_path(file, name)
  local is_path = name:find("/", 1, true) or name:match("%.lua$")
  return paths.policy(is_path and beside(file, name) or name)
end

local function everything_shown(s)
  local texts = {}
  for i, part in ipairs(show.parts(s)) do
    texts[i] = part.text
  end
  return table.concat(texts, "\n")
end

-- Replays what a group is about, once, up to its last turn, and judges on the way.
local function run_group(group, policy, recording, file)
  local by_turn, last = {}, 0
  for _, case in ipairs(group.cases) do
    case.judged, case.fault = false, nil
    by_turn[case.turn] = by_turn[case.turn] or {}
    table.insert(by_turn[case.turn], case)
    last = math.max(last, case.turn)
  end
  local state, why = replay.run(recording, {
    policy = policy.path,
    options = json.encode(policy.options or {}),
    window = policy.window,
    reserve = policy.reserve,
    format = policy.format,
    stop_at = last,
    on_turn = function(account, body, s)
      local due = by_turn[account.turn]
      if due then cases.judge(due, account, body, s, everything_shown(s)) end
    end,
  })
  if not state then fail(("%s:%d: %s"):format(file, group.cases[1].line, why)) end
  for _, case in ipairs(group.cases) do
    if not case.judged then case.fault = ("the recording has %d turns"):format(state.turn) end
  end
  replay.close(state)
end

-- The policies of a group: its own, or those of the command line.
local function policies_of(group, words, file)
  if not group.policy and #words == 0 then
    local text = "%s:%d: no policy is named before this case, nor on the command line"
    fail(text:format(file, group.cases[1].line))
  end
  local list = {}
  for i, word in ipairs(group.policy and { group.policy.name } or words) do
    local path, why = policy_path(group.policy and file or "-", word)
    if not path then fail(("%s:%d: %s"):format(file, group.cases[1].line, why)) end
    local p = group.policy or {}
    list[i] = { name = word, path = path, options = p.options, window = p.window }
    list[i].reserve, list[i].format = p.reserve, p.format
  end
  return list
end

local ORDER = { "file", "line", "policy", "ok", "case", "fault" }

-- Tells what came of the cases of a group; returns how many ran and how many failed.
local function report(group, policy, file, opts)
  local failed = 0
  for _, case in ipairs(group.cases) do
    if case.fault then failed = failed + 1 end
    if opts.json then
      local row = { file = file, line = case.line, policy = policy.name, ok = not case.fault }
      row.case, row.fault = case.written, case.fault
      io.stdout:write(json.encode(row, ORDER), "\n")
    elseif case.fault then
      local text = "%s:%d: turn %d under %s: %s"
      failure.warn(text:format(file, case.line, case.turn, policy.name, case.fault))
    end
  end
  return #group.cases, failed
end

--- Runs the cases of a file; `words` are the policies of the command line.
---@param file string
---@param words string[]
---@param opts table
---@return integer code
function M.run(file, words, opts)
  local label = files.label(file)
  local groups, why, line = cases.parse(check(files.read(file)))
  if not groups then fail(("%s:%d: %s"):format(label, line, why)) end
  if #groups == 0 then fail(label .. ": holds no case; docs/policies.md has the form") end
  local ran, failed, loaded = 0, 0, {}
  for _, group in ipairs(groups) do
    local path = beside(file, group.trace)
    loaded[path] = loaded[path] or session.load(path, {})
    local recording = loaded[path][group.session]
    if not recording then
      local text = "%s:%d: %s has no session %d"
      fail(text:format(label, group.cases[1].line, group.trace, group.session))
    end
    for _, policy in ipairs(policies_of(group, words, file)) do
      run_group(group, policy, recording, label)
      local n, bad = report(group, policy, label, opts)
      ran, failed = ran + n, failed + bad
    end
  end
  if not opts.json then
    local what = "%s: %s, %d failed\n"
    visible.write(what:format(visible.line(label), grid.count(ran, "case"), failed))
  end
  return failed > 0 and 1 or 0
end

return M
