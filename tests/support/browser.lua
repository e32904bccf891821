-- A headless Chromium for specs, driven over chromedriver's HTTP interface by curl: real clicks
-- and keys, the console's messages, pictures. Where one of the three programs is missing,
-- start() gives the reason to skip with. next: ../spec/html_browser_spec.lua
local core = require("neap.core")

local M = {}
local json = core.json

-- The key that WebDriver puts an element's reference under.
local ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

-- What the interpreter is loaded with under the sanitizers is nothing for a browser.
local PLAIN = "unset LD_PRELOAD; "

local FLAGS = {
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  "--force-device-scale-factor=1",
}

M.KEYS = {
  Tab = "\u{E004}",
  Enter = "\u{E007}",
  PageUp = "\u{E00E}",
  PageDown = "\u{E00F}",
  End = "\u{E010}",
  Home = "\u{E011}",
  Left = "\u{E012}",
  Up = "\u{E013}",
  Right = "\u{E014}",
  Down = "\u{E015}",
}

local function where(program)
  local pipe = io.popen("command -v " .. program .. " 2>/dev/null", "r")
  local path = pipe:read("l")
  pipe:close()
  return path
end

---@class neap.Browser
local Browser = {}
Browser.__index = Browser

-- One request to chromedriver; its value. Raises what it says is wrong.
local function request(port, method, path, body)
  local input = os.tmpname()
  local f = assert(io.open(input, "wb"))
  f:write(body or "{}")
  f:close()
  local form = "curl -s -m 60 -X %s -H 'Content-Type: application/json'%s http://127.0.0.1:%d%s"
  local data = method == "POST" and " --data-binary @" .. input or ""
  local pipe = io.popen(PLAIN .. form:format(method, data, port, path), "r")
  local text = pipe:read("a")
  pipe:close()
  os.remove(input)
  local answer = json.decode(text)
  if type(answer) ~= "table" then error("chromedriver gave no answer to " .. path, 2) end
  local value = answer.value
  if type(value) == "table" and value.error then
    error(("%s %s: %s: %s"):format(method, path, value.error, value.message), 2)
  end
  return value
end

local function driver_port(pipe)
  for _ = 1, 20 do
    local line = pipe:read("l")
    if not line then return nil end
    local port = line:match("started successfully on port (%d+)")
    if port then return tonumber(port) end
  end
end

--- Starts a browser whose profile lies in `dir`, or gives nil and the reason to skip.
---@param dir string an empty folder
---@param more string[]? further flags
---@return neap.Browser?, string?
function M.start(dir, more)
  local chromium = where("chromium") or where("chromium-browser") or where("google-chrome")
  local driver, curl = where("chromedriver"), where("curl")
  if not chromium or not driver or not curl then
    return nil, "chromium, chromedriver or curl is not here"
  end
  local pipe = assert(io.popen(PLAIN .. "exec " .. driver .. " --port=0 2>/dev/null", "r"))
  local port = driver_port(pipe)
  if not port then return nil, "chromedriver did not start" end
  local self = setmetatable({ port = port, pipe = pipe }, Browser)
  local args = json.array({ "--user-data-dir=" .. dir })
  table.move(FLAGS, 1, #FLAGS, #args + 1, args)
  table.move(more or {}, 1, #(more or {}), #args + 1, args)
  local options = { binary = chromium, args = args }
  local always = { ["goog:chromeOptions"] = options, ["goog:loggingPrefs"] = { browser = "ALL" } }
  local ok, value = pcall(
    request,
    port,
    "POST",
    "/session",
    json.encode({ capabilities = { alwaysMatch = always } })
  )
  if not ok then
    self:stop()
    return nil, "chromium did not start: " .. tostring(value):sub(1, 200)
  end
  self.session = value.sessionId
  return self
end

function Browser:call(method, path, body)
  return request(self.port, method, "/session/" .. self.session .. path, body and json.encode(body))
end

--- Ends the browser and its driver.
function Browser:stop()
  if self.session then pcall(self.call, self, "DELETE", "") end
  pcall(request, self.port, "GET", "/shutdown")
  self.pipe:close()
end

function Browser:open(url)
  self:call("POST", "/url", { url = url })
end

function Browser:size(width, height)
  -- the narrowest window is wider than a phone: the page's own size is set
  local params = { width = width, height = height, deviceScaleFactor = 1, mobile = false }
  self:devtools("Emulation.setDeviceMetricsOverride", params)
end

function Browser:devtools(command, params)
  return self:call("POST", "/goog/cdp/execute", { cmd = command, params = params })
end

--- "light" or "dark", as the system would say; `still`: with reduced motion.
function Browser:prefers(scheme, still)
  local features = json.array({
    { name = "prefers-color-scheme", value = scheme },
    { name = "prefers-reduced-motion", value = still and "reduce" or "no-preference" },
  })
  self:devtools("Emulation.setEmulatedMedia", { features = features })
end

--- The value of a body of JavaScript, as plain data.
function Browser:run(script)
  return self:call("POST", "/execute/sync", { script = script, args = json.array({}) })
end

--- Waits until an expression is true; raises after ten seconds.
function Browser:wait(expression)
  local script = [[const done = arguments[0]; let left = 200;
    const look = () => ((%s) ? done(true) : left-- ? setTimeout(look, 50) : done(false)); look();]]
  local body = { script = script:format(expression), args = json.array({}) }
  if not self:call("POST", "/execute/async", body) then error("never true: " .. expression, 2) end
end

local function css(selector)
  return { using = "css selector", value = selector }
end

function Browser:click(selector)
  local found = self:call("POST", "/element", css(selector))
  self:call("POST", "/element/" .. found[ELEMENT] .. "/click", {})
end

--- Presses keys one after the other in what has the focus; names of KEYS, or characters.
function Browser:keys(...)
  local actions = json.array({})
  for _, name in ipairs({ ... }) do
    local value = M.KEYS[name] or name
    actions[#actions + 1] = { type = "keyDown", value = value }
    actions[#actions + 1] = { type = "keyUp", value = value }
  end
  local source = { type = "key", id = "keys", actions = actions }
  self:call("POST", "/actions", { actions = json.array({ source }) })
end

--- Clicks at a place of the window.
function Browser:click_at(x, y)
  local source = { type = "pointer", id = "mouse", parameters = { pointerType = "mouse" } }
  source.actions = json.array({
    { type = "pointerMove", duration = 0, x = x, y = y },
    { type = "pointerDown", button = 0 },
    { type = "pointerUp", button = 0 },
  })
  self:call("POST", "/actions", { actions = json.array({ source }) })
end

--- What the console has said since it was last asked, as "LEVEL: text".
---@return string[]
function Browser:console()
  local list = {}
  for i, entry in ipairs(self:call("POST", "/se/log", { type = "browser" })) do
    list[i] = ("%s: %s"):format(entry.level, entry.message)
  end
  return list
end

--- The address of a file.
---@param path string
---@return string
function M.url(path)
  local full = core.realpath(path) or path
  return "file://" .. full:gsub("[^%w/._-]", function(c)
    return ("%%%02X"):format(c:byte())
  end)
end

--- The picture of the window as base64 of a PNG.
function Browser:picture()
  return self:call("GET", "/screenshot")
end

return M
