-- neap count, encode, decode, encodings: the tokenizer on files. next: ../../../core/bind/token.c
local core = require("neap.core")
local files = require("neap.files")
local vocabularies = require("neap.vocabularies")
local failure = require("neap.cli.fail")
local grid = require("neap.report.grid")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

local DEFAULT = "o200k_base"

--- The encoding by its name; fails with the list of those there are.
---@param name string?
function M.encoding(name)
  name = name or DEFAULT
  local enc, why, code = core.encoding(name)
  if enc then return enc end
  if code ~= "encoding" then fail(why) end
  local names = {}
  for i, info in ipairs(vocabularies.all()) do
    names[i] = info.name
  end
  fail(("unknown encoding %s; known are %s"):format(name, table.concat(names, ", ")))
end

-- Tokens and bytes of a file; special tokens are looked for in the whole text, all else is
-- counted as it is read.
local function count_file(enc, path, special)
  if special then
    local text, why = files.read(path)
    if not text then return nil, why end
    return #check(enc:encode(text, true)), #text
  end
  local counter <close> = enc:counter()
  local bytes, why = files.each(path, function(part)
    return counter:add(part)
  end)
  if not bytes then return nil, why end
  return counter:tokens(), bytes
end

--- neap count
function M.count(opts, args)
  local enc = M.encoding(opts.encoding)
  local info, total, code = enc:info(), 0, 0
  if #args == 0 then args = { "-" } end
  for _, path in ipairs(args) do
    local n, bytes = count_file(enc, path, opts.special)
    if not n then
      failure.warn(bytes)
      code = 2
    else
      total = total + n
      if opts.json then
        local row = { file = path, bytes = bytes, tokens = n }
        row.encoding, row.exact = info.name, info.exact
        local order = { "file", "bytes", "tokens", "encoding", "exact" }
        io.stdout:write(json.encode(row, order), "\n")
      else
        io.stdout:write(n, "\t", path, "\n")
      end
    end
  end
  if #args > 1 and not opts.json then io.stdout:write(total, "\ttotal\n") end
  return code
end

--- neap encode
function M.encode(opts, args)
  local enc = M.encoding(opts.encoding)
  local ids = check(enc:encode(check(files.read(args[1] or "-")), opts.special))
  for from = 1, #ids, 4096 do
    local part = {}
    for i = from, math.min(from + 4095, #ids) do
      part[#part + 1] = opts.binary and ("<I4"):pack(ids[i]) or ids[i] .. "\n"
    end
    io.stdout:write(table.concat(part))
  end
  return 0
end

local function read_binary(text, label)
  if #text % 4 ~= 0 then
    fail(("%s: has %d bytes, no multiple of 4; ids are 32-bit numbers"):format(label, #text))
  end
  local ids = {}
  for at = 1, #text, 4 do
    ids[#ids + 1] = ("<I4"):unpack(text, at)
  end
  return ids
end

local function read_ids(text, label)
  local ids, places = {}, {}
  for at, word in text:gmatch("()(%S+)") do
    local id = #word <= 10 and word:match("^%d+$") and tonumber(word)
    if not id or id > 0xFFFFFFFF then
      local line = files.line_at(text, at)
      local shown = word:sub(1, 20):gsub("[^%g]", "?")
      fail(("%s:%d: %s is no token id; ids are whole numbers"):format(label, line, shown))
    end
    ids[#ids + 1], places[#places + 1] = id, at
  end
  return ids, places
end

--- neap decode
function M.decode(opts, args)
  local enc = M.encoding(opts.encoding)
  local path = args[1] or "-"
  local text, label = check(files.read(path)), files.label(path)
  local ids, places
  if opts.binary then
    ids = read_binary(text, label)
  else
    ids, places = read_ids(text, label)
  end
  local out, why, _, at = enc:decode(ids)
  if not out then
    local line = places and files.line_at(text, places[at]) or at
    fail(("%s:%d: %s; check the encoding"):format(label, line, why))
  end
  io.stdout:write(out)
  return 0
end

--- neap encodings
function M.encodings(opts)
  local rows = {}
  for i, info in ipairs(vocabularies.all(failure.warn)) do
    if opts.json then
      io.stdout:write(json.encode(info, { "name", "tokens", "exact", "source" }), "\n")
    end
    rows[i] = { info.name, info.tokens, info.exact and "exact" or "estimated", info.source }
  end
  if not opts.json then io.stdout:write(grid.format(rows, { "l", "r", "l", "l" })) end
  return 0
end

return M
