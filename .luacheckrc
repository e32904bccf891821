std = "lua54"
max_line_length = 100
exclude_files = { "build", "lua/neap/meta*.lua", "tests/cases/sandbox" }
-- A `<close>` variable that is only held is called _guard.
ignore = { "211/_.*", "212/_.*", "213/_.*" }
files["tests"] = { std = "lua54+busted" }
files["policies"] = { read_globals = { "neap" }, ignore = { "212" } }
files["tests/cases"] = { read_globals = { "neap" }, ignore = { "212" } }
