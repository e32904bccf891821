-- Finds the recordings that known agents keep on this machine, and names each by a short id: the
-- first digits of a hash of its path. Only looks. next: cli/sessions.lua
local core = require("neap.core")
local folder = require("neap.import.opencode_folder")

local M = {}

local DEPTH = 8 -- folders within folders; links may lead around in a circle

local function env(name)
  local value = os.getenv(name)
  return value ~= nil and value ~= "" and value or nil
end

-- Where agents keep sessions, below the folder that a variable names (`inside` it, when others
-- keep theirs there, too) or one of the home.
-- `pattern` is matched against the path below it.
local AGENTS = {
  {
    agent = "claude-code",
    variable = "CLAUDE_CONFIG_DIR",
    home = ".claude",
    below = "projects",
    pattern = "^[^/]+/[^/]+%.jsonl$",
  },
  {
    agent = "codex",
    variable = "CODEX_HOME",
    home = ".codex",
    below = "sessions",
    pattern = "^.-rollout%-[^/]*%.jsonl$",
  },
  {
    agent = "copilot",
    variable = "COPILOT_HOME",
    home = ".copilot",
    below = "session-state",
    pattern = "^[^/]+/events%.jsonl$",
  },
  {
    agent = "gemini-cli",
    home = ".gemini",
    below = "tmp",
    pattern = "^[^/]+/chats/[^/]+%.json$",
  },
  {
    agent = "pi",
    variable = "PI_CODING_AGENT_DIR",
    home = ".pi/agent",
    below = "sessions",
    pattern = "%.jsonl$",
  },
  {
    agent = "opencode", -- before 1.2.0; later ones keep a database
    variable = "XDG_DATA_HOME",
    inside = "/opencode",
    home = ".local/share/opencode",
    below = "storage/session",
    pattern = "^[^/]+/ses[^/]*%.json$",
  },
}

--- The agents whose recordings are found, in order.
---@return string[]
function M.agents()
  local list = {}
  for i, one in ipairs(AGENTS) do
    list[i] = one.agent
  end
  return list
end

-- The folder to look in, or nil when there is no home.
local function root_of(one)
  local base = one.variable and env(one.variable)
  base = base and base .. (one.inside or "")
  if not base then
    local home = env("HOME")
    base = home and home .. "/" .. one.home
  end
  return base and base .. "/" .. one.below
end

local function walk(root, below, depth, found)
  for _, name in ipairs(core.list(root .. below) or {}) do
    local path = below .. "/" .. name
    local st = core.stat(root .. path)
    if st and st.type == "directory" and depth < DEPTH then
      walk(root, path, depth + 1, found)
    elseif st and st.type == "file" then
      found(path:sub(2), st)
    end
  end
end

---@class neap.Found
---@field id string     64 hex digits; any first few that no other has will do
---@field agent string
---@field path string
---@field bytes integer  of the file itself; bytes() tells those of all files of a session
---@field mtime integer

--- Every recording, the newest first.
---@return neap.Found[]
function M.find()
  local list = {}
  for _, one in ipairs(AGENTS) do
    local root = root_of(one)
    if root then
      walk(root, "", 1, function(below, st)
        if not below:match(one.pattern) then return end
        local path = root .. "/" .. below
        list[#list + 1] = {
          id = core.sha256(path),
          agent = one.agent,
          path = path,
          bytes = st.size,
          mtime = st.mtime,
        }
      end)
    end
  end
  table.sort(list, function(a, b)
    if a.mtime ~= b.mtime then return a.mtime > b.mtime end
    return a.path < b.path
  end)
  return list
end

--- Bytes of a recording, with those of the other files that it is kept in.
---@param one neap.Found
---@return integer
function M.bytes(one)
  return folder.bytes(one.path) or one.bytes
end

M.SHORTEST = 4

--- How many digits tell all of them apart; at least 6.
---@param list neap.Found[]
---@return integer
function M.digits(list)
  local ids, most = {}, 6
  for i, one in ipairs(list) do
    ids[i] = one.id
  end
  table.sort(ids)
  for i = 2, #ids do
    local same = 0
    while ids[i]:byte(same + 1) == ids[i - 1]:byte(same + 1) and same < #ids[i] do
      same = same + 1
    end
    most = math.max(most, math.min(same + 1, #ids[i]))
  end
  return most
end

--- The path that a word means: a file's own, else that of the recording whose id begins with it.
--- nil and a message when several do; the word itself when it is no id.
---@param word string
---@return string? path, string? message
function M.resolve(word)
  if #word < M.SHORTEST or #word > 64 or word:find("[^%da-f]") or core.stat(word) then
    return word
  end
  local matches = {}
  for _, one in ipairs(M.find()) do
    if one.id:sub(1, #word) == word then matches[#matches + 1] = one end
  end
  if #matches == 0 then
    local text = "%s: is no file, and no session's id begins with it; neap sessions lists them"
    return nil, text:format(word)
  elseif #matches == 1 then
    return matches[1].path
  end
  local parts, digits = {}, M.digits(matches)
  for i, one in ipairs(matches) do
    parts[i] = ("%s %s"):format(one.id:sub(1, digits), one.path)
  end
  local text = "%s: is the beginning of %d ids; give more of it: %s"
  return nil, text:format(word, #matches, table.concat(parts, ", "))
end

return M
