-- policies/README.md is what the policies and the shipped recordings give, and its pictures say
-- what they are said to. next: ../../lua/neap/report/gallery.lua
local gallery = require("neap.report.gallery")
local shared = require("tests.support.shared")

local function turns(...)
  local list = {}
  for i, tokens in ipairs({ ... }) do
    list[i] = { tokens = tokens, budget = 800, epoch = 1 }
  end
  return list
end

describe("the gallery of policies", function()
  local shown = assert(shared.read("policies/README.md"))

  it("is what `make docs` makes", function()
    assert.are.equal(gallery.text(), shown)
  end)

  it("has a section, with a link, a source and a row, for every shipped policy", function()
    for _, name in ipairs(require("neap.paths").shipped()) do
      local from, to = shown:find(("\n## [%s](%s.lua)\n"):format(name, name), 1, true)
      assert.is_truthy(from, name)
      local section = shown:sub(to, (shown:find("\n## ", to, true) or 0) - 1)
      assert.matches("\nSource: .-%.\n", section)
      assert.matches("\ncost %d+%.%d %%, %d+ epochs; present .*, gone %d+%.%d", section)
    end
  end)

  it("shows the fuller of two turns, in eighths of the budget", function()
    assert.equal("▁▂█", (gallery.picture(turns(1, 100, 150, 101, 800, 3))))
    assert.equal("▁█", (gallery.picture(turns(0, 0, 10000))))
    assert.equal("", (gallery.picture({})))
  end)

  it("marks the columns in which the prompt was written anew", function()
    local list = turns(100, 200, 300, 400, 500, 600, 700)
    for i, epoch in ipairs({ 1, 1, 1, 2, 2, 2, 3 }) do
      list[i].epoch = epoch
    end
    assert.equal(" ^ ^", select(2, gallery.picture(list)))
    assert.equal("", select(2, gallery.picture(turns(1, 2, 3))))
  end)
end)
