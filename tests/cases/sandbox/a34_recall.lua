-- What recall returns is a list of ids, read without running anything of it.
-- with nothing: call recall must return a list of entry ids, not a nil
-- with text: call recall must return a list of entry ids, not a string
-- with word: call item 1 of the list is no entry's id
-- with float: call item 2 of the list is no entry's id
-- with nan: call item 1 of the list is no entry's id
-- with huge: call item 1 of the list is no entry's id
-- with negative: call item 1 of the list is no entry's id
-- with zero: call item 1 of the list is no entry's id
-- with far: call item 1 of the list is no entry's id
-- with handle: call item 1 of the list is no entry's id
-- with circle: call item 1 of the list is no entry's id
-- with change: call recall may look, not change anything
-- with many: ok
-- with lies: ok
-- with mixed: ok
-- calls: recall
local made = {
  nothing = function() end,
  text = function() return "1" end,
  word = function() return { "1" } end,
  float = function() return { 1, 2.5 } end,
  nan = function() return { 0 / 0 } end,
  huge = function() return { math.maxinteger } end,
  negative = function() return { math.mininteger } end,
  zero = function() return { 0 } end,
  far = function() return { 100000 } end,
  handle = function(ctx) for e in ctx:entries() do return { e } end end,
  circle = function() local t = {} t[1] = t return t end,
  change = function(ctx) for e in ctx:entries() do e:mask() end end,
  many = function() local t = {} for i = 1, 1e5 do t[i] = i % 5 + 1 end return t end,
  lies = function()
    return setmetatable({ 1 }, { __index = function() while true do end end, __len = function() return 1 << 60 end })
  end,
  mixed = function() return { 1, 2, x = {}, [9] = error } end,
}
return {
  api = 1,
  options = { with = "" },
  recall = function(ctx, query, o) return made[o.with](ctx) end,
}
