rockspec_format = "3.0"
package = "neap"
version = "scm-1"
source = {
  url = "git+file://.",
}
description = {
  summary = "A context engine for LLM agents, with policies in Lua",
  detailed = [[
neap counts tokens, packs a budget, keeps an append-only log and renders prompts whose
beginnings stay byte for byte the same. Lua scripts decide what is worth keeping; they are
changed while the agent runs.]],
  license = "MIT",
  labels = { "llm", "agents", "tokenizer", "context" },
}
supported_platforms = { "unix" }
dependencies = {
  "lua >= 5.4, < 5.5",
  "lpeg >= 1.0.2",
}
external_dependencies = {
  SQLITE3 = { header = "sqlite3.h", library = "sqlite3" },
  NETTLE = { header = "nettle/sha2.h", library = "nettle" },
  PCRE2 = { header = "pcre2.h", library = "pcre2-8" },
  UTF8PROC = { header = "utf8proc.h", library = "utf8proc" },
}
build = {
  type = "make",
  build_target = "all",
  build_variables = {
    CFLAGS = "$(CFLAGS)",
    LDFLAGS = "",
    BUILD = "build",
    PREFIX = "$(PREFIX)",
    LUA_LMOD = "$(LUADIR)",
  },
  install_target = "install",
  install_variables = {
    BUILD = "build",
    PREFIX = "$(PREFIX)",
    LUA_CMOD = "$(LIBDIR)",
    LUA_LMOD = "$(LUADIR)",
    CFLAGS = "$(CFLAGS)",
    LDFLAGS = "",
  },
}
test = {
  type = "command",
  command = "make test",
}
