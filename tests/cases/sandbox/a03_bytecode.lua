#! expect: load unexpected symbol
Lua