-- Nothing of the system is in sight.
-- expect: ok
return {
  api = 1,
  assemble = function(ctx)
    for _, name in ipairs { "os", "io", "package", "debug", "dofile", "loadfile", "load", "loadstring", "print", "coroutine", "collectgarbage", "warn", "_G" } do
      assert(_ENV[name] == nil, name)
    end
    assert(string.dump == nil and math.random == nil and math.randomseed == nil)
    assert(string.pack == nil and string.unpack == nil)
  end,
}
