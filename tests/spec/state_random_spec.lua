-- Proposals to a session's state against a slow model of the rules (S2.27 to S2.29, S2.42).
-- next: blocks_spec.lua
local neap = require("neap")
local core = require("neap.core")
local json = core.json

-- ---- a slow model of the rules, by its own way: leaves of both states, path by path ----

local NODES = {
  [""] = { kind = "object" },
  ["/goal"] = { kind = "string", who = "user" },
  ["/max"] = { kind = "integer", who = "user" },
  ["/notes"] = { kind = "array", who = "user model policy controller" },
  ["/notes/*"] = { kind = "string", who = "user model policy controller" },
  ["/box"] = { kind = "object", who = "user model policy controller" },
  ["/box/a"] = { kind = "integer", who = "tool user" },
  ["/box/b"] = { kind = "string", who = "user model policy controller" },
}
local MODEL_SCHEMA = {
  type = "object",
  properties = {
    goal = { type = "string", hard = true },
    max = { type = "integer", hard = true },
    notes = { type = "array", items = { type = "string" } },
    box = {
      type = "object",
      properties = {
        a = { type = "integer", writers = { "tool", "user" } },
        b = { type = "string" },
      },
    },
  },
}

local function kind_of(v)
  if type(v) == "table" then return json.is_array(v) and "array" or "object" end
  return math.type(v) == "integer" and "integer" or type(v)
end

local function node_of(path)
  return NODES[path] or NODES[(path:gsub("/%d+$", "/*"))]
end

-- Every part by its path; a container is there as its kind.
local function flat(v, path, out)
  local kind = kind_of(v)
  local is_part = kind == "array" or kind == "object"
  out[path] = is_part and kind or kind .. ":" .. tostring(v)
  if kind == "array" then
    for i, item in ipairs(v) do
      flat(item, path .. "/" .. i - 1, out)
    end
  elseif kind == "object" then
    for key, item in pairs(v) do
      flat(item, path .. "/" .. key, out)
    end
  end
  return out
end

local function copy(v)
  if type(v) ~= "table" then return v end
  local out = json.is_array(v) and json.array({}) or {}
  for key, item in pairs(v) do
    out[key] = copy(item)
  end
  return out
end

local function merge(to, patch)
  if kind_of(patch) ~= "object" then return copy(patch) end
  if kind_of(to) ~= "object" then to = {} end
  for key, item in pairs(patch) do
    if item == json.null then to[key] = nil
    else to[key] = merge(to[key], item) end
  end
  return to
end

local function allowed(was, now, who)
  local before, behind = flat(was, "", {}), flat(now, "", {})
  local paths = {}
  for path in pairs(before) do paths[path] = true end
  for path in pairs(behind) do paths[path] = true end
  for path in pairs(paths) do
    local node = node_of(path)
    if not node then return false end
    if behind[path] and behind[path]:match("^%a+") ~= node.kind then return false end
    local may = (" " .. (node.who or who) .. " "):find(" " .. who .. " ", 1, true)
    if before[path] ~= behind[path] and not may then return false end
  end
  return true
end

describe("random proposals", function()
  it("are taken and refused as a slow model says (S2.27, S2.28, S2.29, S2.42)", function()
    local seed = tonumber(os.getenv("NEAP_SEED")) or 7
    print("seed " .. seed)
    math.randomseed(seed)
    local function pick(list)
      return list[math.random(#list)]
    end
    local function value(depth)
      local n = math.random(10)
      if n <= 3 then return pick({ "x", "y", "zz" }) end
      if n <= 6 then return math.random(3) end
      if n <= 8 or depth > 2 then
        local list = json.array({})
        for i = 1, math.random(0, 2) do
          list[i] = pick({ "x", "y" })
        end
        return list
      end
      local object = {}
      for _ = 1, math.random(0, 2) do
        object[pick({ "a", "b", "c" })] = value(depth + 1)
      end
      return object
    end
    local KEYS = { "goal", "max", "notes", "box", "box", "notes", "other" }
    local taken, refused = 0, 0
    for run = 1, 60 do
      local s <close> = assert(neap.session({ state_schema = MODEL_SCHEMA, name = "r" .. run }))
      local state, version = {}, 0
      for _ = 1, 40 do
        local patch = {}
        for _ = 1, math.random(1, 2) do
          patch[pick(KEYS)] = math.random(8) == 1 and json.null or value(1)
        end
        local who = pick({ "user", "user", "model", "tool", "policy", "controller" })
        local nulls = json.encode(patch):find("%[[^%]]*null")
        local now = merge(copy(state), patch)
        local want = allowed(state, now, who) and not nulls
        local got, why, code = s:propose(who, patch)
        local note = ("%s proposes %s to %s: %s"):format(who, json.encode(patch),
          json.encode(state), tostring(why))
        if want then
          assert.truthy(got, note)
          taken = taken + 1
          if json.encode(flat(now, "", {})) ~= json.encode(flat(state, "", {})) then
            version = version + 1
          end
          assert.are.equal(version, got, note)
          state = now
        else
          assert.are.equal("refused", code, note)
          refused = refused + 1
        end
        if version > 0 then
          assert.are.same(flat(state, "", {}), flat(json.decode((s.raw:state_get())), "", {}), note)
        end
      end
    end
    assert.truthy(taken > 200 and refused > 200, ("%d taken, %d refused"):format(taken, refused))
  end)
end)
