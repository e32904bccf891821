-- Last n observations: older results become a line each, every `polling` observations.
-- Source: SWE-agent, sweagent/agent/history_processors.py (LastNObservations), May 2024; n = 5
-- is that of the paper (Yang et al. 2024, arXiv:2405.15793).
--
-- Between n and n + polling results are shown: with polling = 1 every turn rewrites the prompt,
-- with more only every so many observations, and between two the cache holds. SWE-agent counts
-- its task as the first observation and never elides it; so it counts here. `keep` and `remove`
-- name tools, as its tags keep_output and remove_output do; the newest step is always shown.
--
-- example: window=4000 n=2 polling=3
--   user 20
--   call read src/a.c
--   result 200          -> masked
--   call read src/b.c
--   result 200          -> masked
--   call read src/c.c
--   result 200          -> masked
--   call read src/d.c
--   result 200
--   call grep main
--   result 200

local function set(names)
  local out = {}
  for name in names:gmatch("[^,%s]+") do
    out[name] = true
  end
  return out
end

return {
  api = 1,
  name = "last_n_observations",
  about = "Show the last n results; older ones become a line each, in batches of `polling`.",
  source = "SWE-agent's LastNObservations, May 2024 (arXiv:2405.15793)",
  options = {
    n = { default = 5, min = 1, help = "results that are shown" },
    polling = { default = 1, min = 1, help = "results that come between two rewrites" },
    keep = { default = "", help = "tools whose results stay, as read,think" },
    remove = { default = "", help = "tools whose results go after one turn" },
  },

  assemble = function(ctx, o)
    local newest, count = ctx:entries({ kind = "result", newest = true })
    local gone = math.max(0, (count + 1) // o.polling * o.polling - o.n - 1)
    local keep, remove, stay, first = set(o.keep), set(o.remove), count - gone, 0
    for e in newest do
      first, stay = e.id, stay - 1
      if stay == 0 then break end
    end
    for e in ctx:entries({ kind = "result", at = "full", before = ctx.step - 1 }) do
      local old = e.id < first and not keep[e.tool] or remove[e.tool]
      if old then e:mask("an old observation") end
    end
  end,
}
