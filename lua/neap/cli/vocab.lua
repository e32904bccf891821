-- neap vocab: other models' vocabularies become encodings. Reading them is core work
-- (core/token/import.h); here are names, folders and messages. next: ../vocabularies.lua
local core = require("neap.core")
local files = require("neap.files")
local vocabularies = require("neap.vocabularies")
local failure = require("neap.cli.fail")
local grid = require("neap.report.grid")

local M = {}
local json, fail, check = core.json, failure.fail, failure.check

local LARGEST = 128 << 20 -- bytes; four times the largest file in use

local ORDER = { "name", "tokens", "exact", "source", "file" }

-- The file's name without its folder, as a name (up to the first dot) or as part of a source.
local function base_name(path)
  return path:match("[^/]*$")
end

local function name_of(opts, path)
  if opts.name then return opts.name end
  if path == "-" then fail("standard input has no name; give one with --name") end
  return base_name(path):match("^[^.]*")
end

-- What replays and logs know the vocabulary by.
local function source_of(path, text)
  local base = base_name(files.label(path)):gsub("[^%w%._%- ]", "?"):sub(1, 120)
  return ("%s, sha256 %s"):format(base, core.sha256(text):sub(1, 16))
end

-- A place in JSON as FILE:LINE; other messages name the file themselves.
local function explain(path, text, why, at)
  if not at then return why end
  return ("%s:%d: %s; check that the file is whole"):format(
    files.label(path),
    files.line_at(text, at),
    why
  )
end

local function import(opts, path)
  if not path then fail("vocab import: a FILE is expected, a tokenizer.json or .tiktoken") end
  local name = name_of(opts, path)
  local text = check(files.read(path, { total = LARGEST }))
  local enc, image, _, at =
    core.vocab_import(text, files.label(path), name, source_of(path, text), opts.pattern)
  if not enc then fail(explain(path, text, image, at)) end
  local info = enc:info()
  enc:close()
  info.file = check(vocabularies.keep(name, image))
  if opts.json then
    io.stdout:write(json.encode(info, ORDER), "\n")
  else
    io.stdout:write(info.name, "\t", info.tokens, "\t", info.file, "\n")
  end
  return 0
end

local function list(opts)
  local rows = {}
  for i, info in ipairs(vocabularies.imported(failure.warn)) do
    if opts.json then io.stdout:write(json.encode(info, ORDER), "\n") end
    rows[i] = { info.name, info.tokens, info.source, info.file }
  end
  if not opts.json then io.stdout:write(grid.format(rows, { "l", "r", "l", "l" })) end
  return 0
end

--- neap vocab
function M.vocab(opts, args)
  if args[1] == "import" then return import(opts, args[2]) end
  if args[1] ~= "list" then
    fail(("vocab %s: is neither import nor list"):format(args[1]))
  elseif #args > 1 then
    fail("vocab list: takes no FILE")
  end
  return list(opts)
end

return M
