-- Closing after an error does not run on without a meter.
-- expect: call boom | more than
return {
  api = 1,
  assemble = function(ctx)
    local x <close> = setmetatable({}, { __close = function() while true do end end })
    error("boom")
  end,
}
