-- Who is compared: the policies with their settings, every combination of what is swept, and the
-- references. next: compare.lua
local core = require("neap.core")
local compare = require("neap.report.compare")
local paths = require("neap.paths")
local shards = require("neap.cli.shards")
local failure = require("neap.cli.fail")

local M = {}
local fail, check = failure.fail, failure.check

local MOST_SETTINGS = 1000

-- A value as it is compared with another: 0.5, 0.50 and 5e-1 are one.
local function plain(value)
  local number = compare.number((core.json.decode(value)))
  return type(number) == "number" and ("%.17g"):format(number) or value
end

-- One sweep's values: `name=v1,v2` as name=v1 and name=v2.
local function values_of(sweep, seen)
  local name, values = sweep:match("^([%a_][%w_]*)=(.+)$")
  if not name then fail(("--sweep %s: NAME=V1,V2,… is expected"):format(sweep)) end
  if seen[name] then
    fail(("--sweep %s: %s is swept twice; give all its values once"):format(sweep, name))
  end
  seen[name] = true
  local list, given = {}, {}
  for value in values:gmatch("[^,]+") do
    local same = plain(value)
    if given[same] then fail(("--sweep %s: %s stands there twice"):format(sweep, value)) end
    given[same] = true
    list[#list + 1] = name .. "=" .. value
  end
  if #list == 0 then fail(("--sweep %s: NAME=V1,V2,… is expected"):format(sweep)) end
  return list
end

-- Every combination of the sweeps' values, the last name's running fastest; without a sweep one
-- that sets nothing.
local function settings_of(sweeps)
  local all, seen = { {} }, {}
  for _, sweep in ipairs(sweeps or {}) do
    local values, more = values_of(sweep, seen), {}
    for _, before in ipairs(all) do
      for _, value in ipairs(values) do
        local one = table.move(before, 1, #before, 1, {})
        one[#one + 1] = value
        more[#more + 1] = one
      end
    end
    all = more
    if #all > MOST_SETTINGS then
      fail(("--sweep: more than %d combinations; sweep fewer values"):format(MOST_SETTINGS))
    end
  end
  return all
end

-- The name that an option of a policy is given; what -o says is checked where it is used.
local function name_of(setting)
  return setting:match("^([%a_][%w_]*)=")
end

-- What stands behind each -p: a list of NAME=VALUE for each policy, by its place.
local function own_settings(opts)
  local own = {}
  for _, one in ipairs(opts.settings or {}) do
    local text = one.value
    if one.at == 0 then
      fail(("-o %s: whose option is it? give it behind the -p of its policy"):format(text))
    end
    own[one.at] = own[one.at] or {}
    for _, other in ipairs(own[one.at]) do
      if name_of(other) and name_of(other) == name_of(text) then
        fail(("-o %s: %s is set twice for one policy; give it once"):format(text, name_of(text)))
      end
    end
    table.insert(own[one.at], text)
  end
  return own
end

-- A policy's own settings and one combination of what is swept; nil for none.
local function together(own, swept)
  local all = table.move(own, 1, #own, 1, {})
  for _, setting in ipairs(swept) do
    for _, other in ipairs(own) do
      if name_of(other) == name_of(setting) then
        fail(("-o %s: --sweep gives %s its values; leave one away"):format(other, name_of(other)))
      end
    end
    all[#all + 1] = setting
  end
  return #all > 0 and all or nil
end

local function key_of(path, setting)
  local sorted = {}
  for i, one in ipairs(setting or {}) do
    local name, value = one:match("^(.-)=(.*)$")
    sorted[i] = name and name .. "=" .. plain(value) or one
  end
  table.sort(sorted)
  return path .. "\0" .. table.concat(sorted, "\0")
end

-- The policies that are named, or all that are shipped.
local function words_of(opts)
  if opts.policies then return opts.policies end
  local shipped = paths.shipped()
  if #shipped == 0 then
    fail("no shipped policy is found; give some with -p, or set NEAP_POLICIES to their folder")
  end
  return shipped
end

--- The policies to run, then the references: two bounds and what every policy should beat.
---@param opts table
---@return table[] contestants { label, path, setting }, or { label, reference, … }
function M.list(opts)
  local list, given, own = {}, {}, own_settings(opts)
  for i, word in ipairs(words_of(opts)) do
    local path = check(paths.policy(word))
    for _, swept in ipairs(settings_of(opts.sweep)) do
      local setting = together(own[i] or {}, swept)
      local key = key_of(path, setting)
      if given[key] then
        fail(("-p %s: is given twice; its row would be the same"):format(word))
      end
      given[key] = true
      list[#list + 1] = { path = path, label = word, setting = setting }
    end
  end
  list[#list + 1] = { label = "full", reference = true, unbounded = true }
  list[#list + 1] = {
    label = "random",
    reference = true,
    path = paths.lua_dir() .. "/neap/report/reference/random.lua",
  }
  list[#list + 1] = { label = "oracle", reference = true, oracle = true }
  return list
end

--- The same as words of a command line, for the shards.
---@param opts table
---@return string[]
function M.words(opts)
  local parts, quote, own = {}, shards.quote, own_settings(opts)
  for _, sweep in ipairs(opts.sweep or {}) do
    table.move({ "--sweep", quote(sweep) }, 1, 2, #parts + 1, parts)
  end
  for i, word in ipairs(words_of(opts)) do
    table.move({ "-p", quote(word) }, 1, 2, #parts + 1, parts)
    for _, setting in ipairs(own[i] or {}) do
      table.move({ "-o", quote(setting) }, 1, 2, #parts + 1, parts)
    end
  end
  return parts
end

return M
