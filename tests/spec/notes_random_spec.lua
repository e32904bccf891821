-- Random sessions with a model that lies (../support/notes_sessions.lua); `make soak` has more.
-- next: ../soak/notes.lua
local sessions = require("tests.support.notes_sessions")
local verify = require("neap.summary.verify")

local SEED = tonumber(os.getenv("NEAP_SEED") or "") or 7
local ROUNDS = tonumber(os.getenv("NEAP_ROUNDS") or "") or 40

describe("summaries of a model that lies", function()
  it("keep every planted value and hold nothing that was not there (S2.19, T5, T6)", function()
    local counts = sessions.counts()
    for seed = SEED, SEED + ROUNDS - 1 do
      sessions.run(seed, 100, counts)
    end
    local text = sessions.show(counts)
    assert.equal(ROUNDS, counts.sessions)
    assert.truthy(counts.model > 0 and counts.again > 0 and counts.extractive > 0, text)
    assert.truthy(counts.values > 100 * ROUNDS and counts.summaries > 5 * ROUNDS, text)
  end)

  it("are told from true ones by what looks at them: unchecked, they fail", function()
    local checked, failed = verify.changes, 0
    verify.changes = function()
      return {}
    end
    for seed = SEED, SEED + 4 do
      failed = failed + (pcall(sessions.run, seed, 100, sessions.counts()) and 0 or 1)
    end
    verify.changes = checked
    assert.truthy(failed > 0, "seed " .. SEED)
  end)
end)
