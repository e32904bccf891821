-- Methods of strings do not change with the table.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    string.upper = function() return "x" end
    assert(("a"):upper() == "A")
  end,
}
