-- Every rule of the validators has its case: what core/render/check*.c can say is said by some
-- body of tests/cases/check. next: ../core/test_check.c
local shared = require("tests.support.shared")

-- The file of rules, and the formats whose bodies they are for.
local FILES = {
  { "check_chat", { "openai" } },
  { "check_responses", { "responses" } },
  { "check_anthropic", { "anthropic" } },
  { "check_marks", { "anthropic" } },
  { "check_gemini", { "gemini" } },
  { "check", { "openai", "responses", "anthropic", "gemini", "text" } },
}

--- What a file can say: the strings behind np_bad, up to the first place to fill in.
local function sayings(name)
  local list = {}
  local source = assert(shared.read("core/render/" .. name .. ".c"))
  for text in source:gmatch("np_bad%s*%b()") do
    local said = text:gsub('"%s*"', ""):match('"([^"]*)"')
    if said and said ~= "%s: %s" then list[#list + 1] = said end
  end
  return list
end

local function wants(formats)
  local all = {}
  for _, format in ipairs(formats) do
    all[#all + 1] = assert(shared.read("tests/cases/check/" .. format .. ".jsonl"))
  end
  return table.concat(all)
end

--- The longest stretch of a saying that is the same in every report of it.
local function fixed_part(said)
  local best = ""
  for part in (said:gsub("%%[%d%.%*]*z?%a", "\0") .. "\0"):gmatch("([^%z]*)%z") do
    if #part > #best then best = part end
  end
  return best
end

describe("the validators' rules", function()
  for _, file in ipairs(FILES) do
    it("of " .. file[1] .. ".c all have a case", function()
      local text, said = wants(file[2]), sayings(file[1])
      assert.is_true(#said >= 4)
      for _, s in ipairs(said) do
        assert(text:find(fixed_part(s), 1, true), "no case for: " .. s)
      end
    end)
  end
end)
