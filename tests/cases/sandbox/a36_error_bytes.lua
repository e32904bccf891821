-- An error that is not UTF-8 is made so.
-- expect: call ??
return {
  api = 1,
  assemble = function(ctx)
    error("\xff\xfe")
  end,
}
