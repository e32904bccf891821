-- A variable whose closing loops ends.
-- expect: call more than | time of one call
return {
  api = 1,
  assemble = function(ctx)
    local x <close> = setmetatable({}, { __close = function() while true do end end })
    while true do end
  end,
}
