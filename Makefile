# neap: build, test, install. `make help` lists the targets.

# ---- user settings: on the command line or in the environment ---------------------------
BUILD      ?= build
PREFIX     ?= /usr/local
DESTDIR    ?=
CFLAGS     ?= -O2 -g
CPPFLAGS   ?=
LDFLAGS    ?=
PKG_CONFIG ?= pkg-config
INSTALL    ?= install
LUA        ?= lua5.4
LUA_PC     ?= lua5.4
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := ar
endif
# V=1 shows the commands, WERROR=1 makes warnings errors, JOBS=n builds and tests n at a time.
JOBS       ?= $(shell nproc 2>/dev/null || echo 2)

# ---- nothing below needs changing --------------------------------------------------------

VERSION := $(shell sed -n 's/^\#define NEAP_VERSION "\(.*\)"/\1/p' core/include/neap.h)
SONAME  := libneap.so.0
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2)')
# Sub-makes build in parallel, unless the user said how many jobs there are.
SUBMAKE  = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))

# The layers in reading order; each may include only those before it (tests/spec/layers_spec.lua).
LAYERS := base text token store log cite render pack policy engine
PKGS   := $(LUA_PC) sqlite3 nettle libutf8proc libpcre2-8
# Optional: compresses contents of stores. `make deps` installs it.
ZSTD   := $(shell $(PKG_CONFIG) --exists libzstd 2>/dev/null && echo libzstd)
PKGS   += $(ZSTD)

# Asked once, and only when something is compiled or linked.
once      = $(eval $(1) := $(2))$($(1))
DEP_FLAGS = $(call once,DEP_FLAGS,$(shell $(PKG_CONFIG) --cflags $(PKGS)))
DEP_LIBS  = $(call once,DEP_LIBS,$(shell $(PKG_CONFIG) --libs $(PKGS)) -lm)
MOD_LIBS  = $(call once,MOD_LIBS,$(shell $(PKG_CONFIG) --libs $(filter-out $(LUA_PC),$(PKGS))) -lm)
LUA_CMOD ?= $(PREFIX)/lib/lua/5.4
LUA_LMOD ?= $(PREFIX)/share/lua/5.4

WARN := -Wall -Wextra -Wshadow -Wwrite-strings -Wundef -Wmissing-prototypes \
        -Wstrict-prototypes -Wpointer-arith -Wcast-qual -Wvla $(if $(WERROR),-Werror)
OURS  = -std=c11 $(WARN) -ffp-contract=off -fvisibility=hidden -fPIC -MMD -MP \
        -Icore -Icore/include -I$(BUILD)/gen $(if $(ZSTD),-DNEAP_ZSTD) \
        -DNEAP_PREFIX='"$(PREFIX)"' -DNEAP_DATA_DIR='"$(PREFIX)/share/neap"' \
        -DNEAP_LUA_DIR='"$(LUA_LMOD)"'
COMPILE = $(CC) $(OURS) $(DEP_FLAGS) $(CPPFLAGS) $(CFLAGS)

sources  = $(sort $(wildcard core/$(1)/*.c))
objects  = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIB_SRC  := $(foreach l,$(LAYERS),$(call sources,$(l)))
BIND_SRC := $(call sources,bind)
CLI_SRC  := $(call sources,cli)
TEST_SRC := $(sort $(wildcard tests/core/test_*.c))
DEMO_SRC := $(sort $(wildcard examples/*.c))
HEADERS  := $(wildcard core/*/*.h tests/core/*.h tests/fuzz/*.h)
C_FILES  := $(LIB_SRC) $(BIND_SRC) $(CLI_SRC) $(HEADERS) \
            $(wildcard core/*/gen/*.c tests/core/*.c tests/fuzz/*.c tests/bench/*.c examples/*.c)

LIB_OBJ  := $(call objects,$(LIB_SRC))
BIND_OBJ := $(call objects,$(BIND_SRC))
CLI_OBJ  := $(call objects,$(CLI_SRC))
TESTS    := $(TEST_SRC:%.c=$(BUILD)/%)
DEMOS    := $(DEMO_SRC:%.c=$(BUILD)/%)
BENCHES  := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/bench/*.c)))

STATIC  := $(BUILD)/libneap.a
# What tests link with: the library that looks at every prompt (core/render/check.h) and keeps no
# memory for later. Tests of that link with the other one.
CHECKED := $(BUILD)/checked/libneap.a
CHECK_OBJ := $(addprefix $(BUILD)/checked/core/,engine/turn.o base/spare.o policy/pool.o)
PLAIN_TESTS := $(BUILD)/tests/core/test_heap
# Layers that call a counter for every step they take; the test of linear time links with them.
COUNTED_OBJ := $(foreach l,base text token cite,$(call sources,$(l))) \
               $(wildcard core/render/trim*.c core/render/project.c)
COUNTED_OBJ := $(patsubst %.c,$(BUILD)/counted/%.o,$(filter-out core/base/port.c,$(COUNTED_OBJ)))
# And those of the engine whose work must not grow with the square of what they keep.
KEPT_OBJ := $(addprefix $(BUILD)/counted/core/engine/,scratch.o refute.o)
# And those whose work in a turn must not grow with what came before it.
TURN_OBJ := $(foreach l,pack engine,$(call sources,$(l)))
TURN_OBJ := $(patsubst %.c,$(BUILD)/counted/%.o,$(TURN_OBJ))
SHARED  := $(BUILD)/libneap.so
MODULE  := $(BUILD)/lua/neap/core.so
PROGRAM := $(BUILD)/neap
# The build folder is laid out like an installed prefix, so that the program finds its data
# beside itself in both.
LINKS   := $(BUILD)/share/neap/policies $(BUILD)/share/lua/5.4/neap
# What exists already: a layer that has no file yet does not stop the others.
ALL     := $(STATIC) $(SHARED) $(LINKS) $(if $(BIND_SRC),$(MODULE)) $(if $(CLI_SRC),$(PROGRAM))

.PHONY: all tests run test lint format asan fuzz soak valgrind bench bench-tide install uninstall dist docs deps \
        deps-run deps-test deps-more deps-lint clean help
.DELETE_ON_ERROR:
.SUFFIXES:

all: $(ALL)                   ## the program, the libraries and the Lua module, in build/
	@:
tests: $(TESTS) $(DEMOS)
	@:

# Headers that are generated (the tokenizer's tables); objects wait for them. The tokenizer
# also makes the vocabularies of $(BUILD)/share/neap.
GEN_HEADERS :=
-include core/token/token.mk

# ---- compile and link --------------------------------------------------------------------

# Flags that differ from those of the last build make everything stale: no stale objects.
STAMP := $(BUILD)/.flags
FLAGS  = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(PREFIX) $(LUA_LMOD) $(WERROR) $(ZSTD)
ifneq ($(MAKECMDGOALS),clean)
ifneq ($(strip $(shell cat $(STAMP) 2>/dev/null)),$(strip $(FLAGS)))
$(shell mkdir -p $(BUILD) && printf '%s\n' '$(FLAGS)' > $(STAMP))
endif
endif

$(BUILD)/.pkgs: Makefile
	@$(PKG_CONFIG) --exists --print-errors $(PKGS) || \
	  { echo 'neap: libraries are missing; `make deps` installs them' >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

$(BUILD)/%.o: %.c $(STAMP) | $(BUILD)/.pkgs $(GEN_HEADERS)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<

$(BUILD)/checked/%.o: %.c $(STAMP) | $(BUILD)/.pkgs $(GEN_HEADERS)
	$(call say,CC,$< (checked))
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -UNEAP_CHECK -DNEAP_CHECK -c -o $@ $<

$(BUILD)/counted/%.o: %.c $(STAMP) tests/core/counted.h | $(BUILD)/.pkgs $(GEN_HEADERS)
	$(call say,CC,$< (counted))
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -include tests/core/counted.h -fsanitize-coverage=trace-pc -c -o $@ $<

$(CHECKED): $(CHECK_OBJ) $(filter-out $(CHECK_OBJ:$(BUILD)/checked/%=$(BUILD)/%),$(LIB_OBJ))
	$(call say,AR,$@)
	@mkdir -p $(@D) && rm -f $@
	$(Q)$(AR) rcs $@ $^

$(STATIC): $(LIB_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D) && rm -f $@
	$(Q)$(AR) rcs $@ $^

$(SHARED): $(LIB_OBJ)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--no-undefined $(CFLAGS) $(LDFLAGS) -o $@.$(VERSION) $^ $(DEP_LIBS)
	@ln -sf libneap.so.$(VERSION) $(BUILD)/$(SONAME) && ln -sf $(SONAME) $@ && touch -h $@

# Lua's symbols come from the interpreter that loads the module; only luaopen_* leaves it.
$(MODULE): $(BIND_OBJ) $(STATIC)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,--exclude-libs,ALL -o $@ $^ $(MOD_LIBS)

$(PROGRAM): $(CLI_OBJ) $(BIND_OBJ) $(STATIC)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(DEP_LIBS)

$(BUILD)/tests/core/test_linear: $(COUNTED_OBJ)
$(BUILD)/tests/core/test_kept: $(KEPT_OBJ)
$(BUILD)/tests/core/test_turn: $(TURN_OBJ)
$(filter-out $(PLAIN_TESTS),$(TESTS)): $(CHECKED)
$(PLAIN_TESTS) $(DEMOS) $(BENCHES): $(STATIC)
$(TESTS) $(DEMOS) $(BENCHES): $(BUILD)/%: $(BUILD)/%.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(DEP_LIBS)

$(BUILD)/share/neap/policies: TO = policies
$(BUILD)/share/lua/5.4/neap: TO = lua/neap
$(LINKS):
	@mkdir -p $(@D) && ln -sfn '$(CURDIR)/$(TO)' $@

-include $(patsubst %.o,%.d,$(CHECK_OBJ) $(COUNTED_OBJ) $(TURN_OBJ)) $(patsubst %.o,%.d,$(LIB_OBJ) $(BIND_OBJ) $(CLI_OBJ)) $(TESTS:%=%.d) $(DEMOS:%=%.d) $(BENCHES:%=%.d)

# ---- run and test ------------------------------------------------------------------------

run: deps-run                 ## compares every shipped policy on the shipped recordings
	+@$(SUBMAKE) all >&2
	@$(PROGRAM) compare -w 16000 examples/recordings/*.jsonl

test: deps-test               ## C tests, Lua specs, examples; ends with a total
	+@$(SUBMAKE) all tests >&2
	@BUILD='$(BUILD)' LUA='$(LUA)' JOBS='$(JOBS)' SANITIZE='$(SANITIZE)' CC='$(CC)' \
	  bash tests/support/run.sh $(ONLY)

SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined
# The program is built with the checks too. A call may take as much longer as the sanitizers are
# slower, so that instructions and memory end it, as elsewhere, and not the clock.
asan:                         ## the same tests under the address and undefined sanitizers
	+@$(MAKE) --no-print-directory test BUILD=$(BUILD)/asan SANITIZE=1 \
	  CPPFLAGS='$(CPPFLAGS) -DNEAP_CHECK -DNP_CALL_MS=2500' CFLAGS='-O1 -g -fno-omit-frame-pointer $(SAN)'

# Programs of tests/soak and tests/bench get the module's path and the program's name.
LUA_ENV = NEAP_BIN='$(abspath $(PROGRAM))' NEAP_BUILD='$(abspath $(BUILD))' LUA_PATH='./lua/?.lua;./lua/?/init.lua;./?.lua;;' \
          LUA_CPATH='$(BUILD)/lua/?.so;;'
define each_lua
+@$(SUBMAKE) all tests >&2
@for f in $(wildcard $(1)/*.lua); do echo "$$f" >&2; $(LUA_ENV) $(LUA) $$f || exit 1; done
endef
soak: deps-run                ## long runs: memory stays flat, nothing drifts
	$(call each_lua,tests/soak)
valgrind: deps-run            ## the sandbox's attacks under valgrind, if there is one; in soak too
	+@$(SUBMAKE) all tests >&2
	@$(LUA_ENV) $(LUA) tests/soak/valgrind.lua
# Half of the recordings in each of two processes, a fixed number of tries; the same tries each
# time, where `make soak` takes new ones.
FUZZ = NEAP_SEED=$${NEAP_SEED:-7} NEAP_ROUNDS=$${NEAP_ROUNDS:-900} NEAP_PART=$(1) $(LUA_ENV) $(LUA) tests/soak/importers.lua
# Then the sandbox: random policies for about 30 seconds of one core, patterns for ten.
RANDOM_TESTS = $(addprefix $(BUILD)/tests/core/test_policy_,fuzz patterns)
fuzz: deps-run                ## damaged recordings, random policies and patterns: two minutes
	+@$(SUBMAKE) all $(RANDOM_TESTS) >&2
	@$(call FUZZ,1/2) & half=$$!; rc=0; $(call FUZZ,2/2) || rc=1; wait $$half || rc=1; exit $$rc
	@NEAP_ROUNDS=$${NEAP_POLICIES:-120000} $(word 1,$(RANDOM_TESTS))
	@NEAP_ROUNDS=$${NEAP_PATTERNS:-1000000} $(word 2,$(RANDOM_TESTS))
# JSON=1: an object a row. NPM=1: side by side with packages of the npm registry.
bench: deps-run               ## measurements, as a table; JSON=1, NPM=1
	+@$(SUBMAKE) all $(BENCHES) >&2
	@$(LUA_ENV) $(LUA) tests/bench/tokens.lua $(if $(JSON),--json) $(if $(NPM),--npm)
	@$(LUA_ENV) $(LUA) tests/bench/packing.lua $(if $(JSON),--json)
	@$(LUA_ENV) $(LUA) tests/bench/words.lua $(if $(JSON),--json)
	@$(LUA_ENV) $(LUA) tests/bench/cite.lua $(if $(JSON),--json)
	@$(LUA_ENV) $(LUA) tests/bench/extract.lua $(if $(JSON),--json)
	@$(LUA_ENV) $(LUA) tests/bench/store.lua $(if $(JSON),--json)
	@$(LUA_ENV) $(LUA) tests/bench/project.lua $(if $(JSON),--json)
	@$(LUA_ENV) $(LUA) tests/bench/policy.lua $(if $(JSON),--json)
	@$(LUA_ENV) $(LUA) tests/bench/economy.lua $(if $(JSON),--json) $(if $(NPM),--npm)
	@$(if $(NPM),$(LUA_ENV) $(LUA) tests/bench/policies.lua,:)
bench-tide: deps-run          ## the default policy against the oracle; ARGS="--fit 60 8000", minutes
	+@$(SUBMAKE) all >&2
	@$(LUA_ENV) $(LUA) tests/bench/tide.lua $(ARGS)

lint: deps-lint               ## gcc and clang with -Werror, formatting, luacheck, cppcheck
	@BUILD='$(BUILD)' MAKE='$(SUBMAKE)' C_FILES='$(C_FILES)' CPP='$(DEP_FLAGS)' bash tests/support/lint.sh
format:                       ## formats every C file in place
	clang-format -i $(C_FILES)

# ---- install -----------------------------------------------------------------------------

D := $(DESTDIR)$(PREFIX)
BASH_DIR := share/bash-completion/completions
ZSH_DIR  := share/zsh/site-functions
FISH_DIR := share/fish/vendor_completions.d
install: all                  ## PREFIX=/usr/local DESTDIR=
	$(INSTALL) -d $(D)/bin $(D)/lib/pkgconfig $(D)/include $(D)/share/neap/vocabularies \
	  $(D)/share/neap/policies $(DESTDIR)$(LUA_CMOD)/neap
	$(INSTALL) -m 755 $(PROGRAM) $(D)/bin/neap
	$(INSTALL) -m 644 core/include/neap.h $(D)/include/neap.h
	$(INSTALL) -m 644 $(STATIC) $(D)/lib/libneap.a
	$(INSTALL) -m 755 $(SHARED).$(VERSION) $(D)/lib/libneap.so.$(VERSION)
	ln -sf libneap.so.$(VERSION) $(D)/lib/$(SONAME)
	ln -sf $(SONAME) $(D)/lib/libneap.so
	$(INSTALL) -m 755 $(MODULE) $(DESTDIR)$(LUA_CMOD)/neap/core.so
	@set -e; (cd lua && find neap -type f) | while read -r f; do \
	  $(INSTALL) -d "$(DESTDIR)$(LUA_LMOD)/$$(dirname "$$f")"; \
	  $(INSTALL) -m 644 "lua/$$f" "$(DESTDIR)$(LUA_LMOD)/$$f"; done
	@set -e; (cd policies && find . -type f) | while read -r f; do \
	  $(INSTALL) -d "$(D)/share/neap/policies/$$(dirname "$$f")"; \
	  $(INSTALL) -m 644 "policies/$$f" "$(D)/share/neap/policies/$$f"; done
	$(INSTALL) -m 644 $(wildcard core/token/data/*) $(READY) $(D)/share/neap/vocabularies
	$(INSTALL) -d $(D)/share/man/man1 $(D)/$(BASH_DIR) $(D)/$(ZSH_DIR) $(D)/$(FISH_DIR)
	$(INSTALL) -m 644 docs/neap.1 $(D)/share/man/man1/neap.1
	$(INSTALL) -m 644 docs/completions/neap.bash $(D)/$(BASH_DIR)/neap
	$(INSTALL) -m 644 docs/completions/_neap $(D)/$(ZSH_DIR)/_neap
	$(INSTALL) -m 644 docs/completions/neap.fish $(D)/$(FISH_DIR)/neap.fish
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' \
	  'Name: neap' 'Description: context engine for LLM agents' 'Version: $(VERSION)' \
	  'Libs: -L$${libdir} -lneap' 'Requires.private: $(PKGS)' 'Cflags: -I$${includedir}' \
	  > $(D)/lib/pkgconfig/neap.pc

uninstall:                    ## removes what install put there
	rm -f $(D)/bin/neap $(D)/include/neap.h $(D)/lib/libneap.a $(D)/lib/libneap.so \
	  $(D)/lib/$(SONAME) $(D)/lib/libneap.so.$(VERSION) $(D)/lib/pkgconfig/neap.pc
	rm -f $(D)/share/man/man1/neap.1 $(D)/$(BASH_DIR)/neap $(D)/$(ZSH_DIR)/_neap \
	  $(D)/$(FISH_DIR)/neap.fish
	rm -rf $(D)/share/neap $(DESTDIR)$(LUA_CMOD)/neap $(DESTDIR)$(LUA_LMOD)/neap

NAME := neap-$(VERSION)
dist:                         ## build/neap-VERSION.tar.gz, from what is committed
	@mkdir -p $(BUILD)
	git archive --prefix=$(NAME)/ HEAD | gzip -n9 > $(BUILD)/$(NAME).tar.gz

docs: all                     ## the man page, the completions and the gallery of policies
	@mkdir -p docs/completions
	@$(LUA_ENV) $(LUA) lua/neap/cli/manual.lua docs
	@$(LUA_ENV) $(LUA) lua/neap/report/gallery.lua policies/README.md

# ---- the rest ----------------------------------------------------------------------------

# One call of the script for each: two of apt at a time would fail.
deps: deps-test deps-more     ## installs what is missing from Debian's packages
DEPS = LUA='$(LUA)' PKG_CONFIG='$(PKG_CONFIG)' CC='$(CC)' sh tests/support/deps.sh
deps-run:
	@$(DEPS) run
deps-test:
	@$(DEPS) run test
deps-more:
	@$(DEPS) more
deps-lint:
	@$(DEPS) run test lint

clean:                        ## removes build/
	rm -rf $(BUILD)

help:                         ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | \
	  while IFS='	' read -r t d; do printf '  make %-10s %s\n' "$$t" "$$d"; done
