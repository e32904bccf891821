-- What compact asks a model for is checked before it sleeps.
-- with no_prompt: call ask: prompt must be UTF-8 of 1 to 65536 bytes
-- with bytes: call ask: prompt must be UTF-8 of 1 to 65536 bytes
-- with long: call ask: prompt must be UTF-8 of 1 to 65536 bytes
-- with number: call ask: prompt must be a string
-- with tokens_nan: call max_tokens
-- with tokens_huge: call max_tokens
-- with unknown: call ask: argument
-- with lies: call ask: prompt must be
-- with no_table: call table expected
-- with no_span: call bad argument
-- with within_pcall: call inside pcall
-- with asleep: ok
-- calls: compact
local made = {
  no_prompt = function(ctx) ctx:ask { prompt = "" } end,
  bytes = function(ctx) ctx:ask { prompt = "\xff" } end,
  long = function(ctx) ctx:ask { prompt = ("x"):rep(65537) } end,
  number = function(ctx) ctx:ask { prompt = 7 } end,
  tokens_nan = function(ctx) ctx:ask { prompt = "x", max_tokens = 0 / 0 } end,
  tokens_huge = function(ctx) ctx:ask { prompt = "x", max_tokens = 1 << 62 } end,
  unknown = function(ctx) ctx:ask { promt = "x" } end,
  lies = function(ctx) ctx:ask(setmetatable({}, { __index = function() while true do end end })) end,
  no_table = function(ctx) ctx:ask("x") end,
  no_span = function(ctx) ctx:summarize({}) end,
  within_pcall = function(ctx) local ok, why = pcall(ctx.ask, ctx, { prompt = "x" }) assert(ok, why) end,
  asleep = function(ctx) ctx:ask { prompt = "x" } error("not reached") end,
}
return {
  api = 1,
  options = { with = "" },
  compact = function(ctx, o) made[o.with](ctx) end,
}
