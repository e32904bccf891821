/*
** A reload nobody notices: every way in which a new version can be wrong, as the file itself,
** as a module, and as a module in a folder; half-written, renamed over, gone and back. In all
** the old version serves on with its state, and the log has one line about it, with both
** hashes. next: test_breaker.c
*/
#define _XOPEN_SOURCE 700
#include "reload_world.h"

#define COUNTS                                                                           \
  "api = 1, state_version = 1, assemble = function(ctx) ctx.state.n = (ctx.state.n or "  \
  "0) + 1 end"
#define GOOD "return { " COUNTS " }"
#define BETTER "return { " COUNTS ", name = 'better' }"

typedef struct row {
  const char *name, *text, *result, *says;
} row;

/* The cases R1 to R8 and R13 of a new version; R3 and others run out of instructions. */
static const row rows[] = {
    {"syntax error", "return { api = 1, assemble = function( }", "kept", "expected near"},
    {"error at load", "error 'at load'", "kept", "at load"},
    {"endless loop at load", "while true do end", "kept", "instructions in one load"},
    {"no table", "return 5", "kept", "returns a number"},
    {"nothing at all", "", "kept", "returns nothing | returns a nil | returns a boolean"},
    {"another api", "return { api = 9 }", "kept", "api = 1"},
    {"no function", "return { api = 1, assemble = 5 }", "kept", "must be a function"},
    {"an unknown hook", "return { api = 1, asemble = function() end }", "kept",
     "asemble"},
    {"bytecode", "\x1bLua", "kept", "binary chunk"},
    {"no migrate", "return { api = 1, state_version = 2 }", "kept", "write migrate"},
    {"failing migrate",
     "return { api = 1, state_version = 2, migrate = function() error 'no' end }", "kept",
     ": no"},
    {"endless migrate",
     "return { api = 1, state_version = 2, migrate = function() while true do end end }",
     "kept", "instructions"},
    {"a function in the migrated state",
     "return { api = 1, state_version = 2, migrate = function() return { f = next } end "
     "}",
     "kept", "ctx.state.f: a function"},
    {"selftest says no",
     "return { api = 1, state_version = 1, selftest = function() return false end }",
     "kept", "selftest returned false"},
    {"selftest throws",
     "return { api = 1, state_version = 1, selftest = function() error 'x' end }", "kept",
     ": x"},
    {"fails in its first call",
     "return { api = 1, state_version = 1, assemble = function(ctx) ctx.state.n = 99 "
     "error 'first' end }",
     "rolled_back", "first"},
    {"a function in its state",
     "return { api = 1, state_version = 1, assemble = function(ctx) ctx.state.f = next "
     "end }",
     "rolled_back", "ctx.state.f: a function"},
    {"an endless first call",
     "return { api = 1, state_version = 1, admit = function() while true do end end }",
     "rolled_back", "instructions"},
    {"too much memory in its first call",
     "return { api = 1, state_version = 1, assemble = function() local t = {} for i = 1, "
     "1e7 do t[i] = { i } end end }",
     "rolled_back", "memory | instructions"},
};

/* Where the text stands: the file itself, a module, a module in a folder. */
static const char *const places[] = {"p.lua", "part.lua", "lib/part.lua"};
static const char *const mains[] = {NULL, "return require 'part'",
                                    "return require 'lib.part'"};

static void begin(world *w, int place) {
  world_dir(w);
  if (mains[place]) world_put(w, "p.lua", mains[place]);
  world_put(w, places[place], GOOD);
  world_start(w, "p.lua");
  world_turn(w);
}

/* Of a version that was not taken: the error, a JSON string, ends with what serves. */
static bool names_serving(const world *w, const row *r, const char *old) {
  char tail[300];
  np_str name = np_policy_info_of(w->s->policy)->name, said = np_str_cstr(w->error);
  if (strcmp(r->result, "kept") != 0) return !strstr(w->error, "not taken");
  snprintf(tail, sizeof tail, "; not taken, %.*s (%.8s) serves on\"", (int)name.n, name.p,
           old);
  size_t n = strlen(tail);
  return said.n > n && strcmp(said.p + said.n - n, tail) == 0;
}

static void one(const row *r, int place) {
  char old[65], bad[65], what[200];
  world w;
  begin(&w, place);
  world_sha(&w, old);
  snprintf(what, sizeof what, "%s in %s", r->name, places[place]);
  world_put(&w, places[place], r->text);
  for (int i = 0; i < 4; i++) world_turn(&w);
  world_policy_events(&w);
  bool told = w.errors == 1 && world_says(w.error, r->says);
  bool logged = w.events == (strcmp(r->result, "kept") == 0 ? 1 : 2) &&
                strcmp(w.result, r->result) == 0;
  bool hashes = strcmp(w.serving, old) == 0;
  /* what was tried is named first by a version kept, last by one rolled back */
  snprintf(bad, sizeof bad, "%s", strcmp(r->result, "kept") == 0 ? w.to : w.from);
  hashes = hashes && strlen(bad) == 64 && strcmp(bad, old) != 0;
  hashes = hashes && strcmp(strcmp(w.result, "kept") == 0 ? w.from : w.to, old) == 0;
  if (!told || !logged || !hashes)
    fprintf(stderr, "%s: %d errors, last %s\n  %d events, last %s from %.8s to %.8s\n",
            what, w.errors, w.error, w.events, w.result, w.from, w.to);
  CHECK("the reason is told once, not per poll", told);
  CHECK("with the version that serves", names_serving(&w, r, old));
  CHECK("and logged once", logged);
  CHECK("with both hashes", hashes);
  CHECK("the old version serves on with its state", world_state(&w) == 5);
  world_put(&w, places[place], BETTER);
  world_turn(&w);
  world_policy_events(&w);
  CHECK("the next version is taken", strcmp(w.result, "loaded") == 0 &&
                                         strcmp(w.from, old) == 0 &&
                                         strcmp(w.to, w.serving) == 0);
  CHECK("and goes on where the old one was", world_state(&w) == 6 && w.errors == 1);
  world_close(&w);
}

static void test_broken(void) {
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    for (int place = 0; place < 3; place++) one(&rows[i], place);
  }
}

/* R9: written in two halves with a pause between. */
static void test_halves(void) {
  for (int place = 0; place < 3; place++) {
    world w;
    begin(&w, place);
    world_put(&w, places[place], "return { api = 1, assem");
    world_now(&w, places[place]);
    world_turn(&w);
    CHECK("a file of this moment is left alone", w.errors == 0);
    world_age(&w, places[place], 5); /* the pause */
    world_turn(&w);
    world_turn(&w);
    CHECK("half a file is a broken version, told once", w.errors == 1);
    world_put(&w, places[place], BETTER);
    world_turn(&w);
    CHECK("the whole one serves", world_named(&w, place ? "p" : "better") || place);
    CHECK("with the state", world_state(&w) == 5 && w.errors == 1);
    world_close(&w);
  }
}

/* R10, R11, R12: same size and time; gone and back; renamed over, as editors do. */
static void test_files(void) {
  for (int place = 0; place < 3; place++) {
    world w;
    begin(&w, place);
    world_put(&w, places[place], "return { " COUNTS ", name = 'aaaa' }");
    world_turn(&w);
    world_put(&w, places[place], "return { " COUNTS ", name = 'bbbb' }");
    world_turn(&w);
    CHECK("same size, same second, new content", world_named(&w, "bbbb"));
    world_remove(&w, places[place]);
    world_turn(&w);
    world_turn(&w);
    CHECK("a file that is gone is no version", w.errors == 0 && world_named(&w, "bbbb"));
    world_put(&w, places[place], "return { " COUNTS ", name = 'bbbb' }");
    world_turn(&w);
    world_policy_events(&w);
    CHECK("back as it was, nothing has happened", w.events == 2);
    world_put(&w, "p.tmp", "return { " COUNTS ", name = 'cccc' }");
    world_rename(&w, "p.tmp", places[place]);
    world_turn(&w);
    CHECK("renamed over", world_named(&w, "cccc"));
    world_rename(&w, places[place], "p.old"); /* a backup, then a new file */
    world_turn(&w);
    world_put(&w, places[place], "return { " COUNTS ", name = 'dddd' }");
    world_turn(&w);
    CHECK("renamed away and written anew", world_named(&w, "dddd"));
    CHECK("none of it is an error", w.errors == 0 && world_state(&w) == 9);
    world_close(&w);
  }
}

/* The bad version is tried again only when it is another one: not when it is saved again. */
static void test_remembered(void) {
  for (int place = 0; place < 3; place++) {
    for (int first = 0; first < 2; first++) {
      const char *bad = first ? "return { api = 1, state_version = 1, assemble = "
                                "function() error 'first' end }"
                              : "return {";
      world w;
      begin(&w, place);
      world_put(&w, places[place], bad);
      world_turn(&w);
      world_policy_events(&w);
      int events = w.events;
      for (int i = 1; i < 4; i++) {
        world_put(&w, places[place], bad);
        world_age(&w, places[place], 100 * i);
        world_put(&w, "unrelated.txt", "x");
        world_turn(&w);
      }
      world_policy_events(&w);
      CHECK("saved again as it was", w.errors == 1 && w.events == events);
      world_put(&w, places[place], GOOD);
      world_turn(&w);
      world_put(&w, places[place], bad);
      world_turn(&w);
      world_policy_events(&w);
      CHECK("but after another version it is tried again", w.errors == 2);
      world_close(&w);
    }
  }
}

/* A version whose mistake is in a module that the serving one does not know. */
static void test_new_module(void) {
  static const char *const names[] = {"extra.lua", "lib/extra.lua"};
  static const char *const uses[] = {"local _ = require 'extra'\n" BETTER,
                                     "local _ = require 'lib.extra'\n" BETTER};
  for (int k = 0; k < 2; k++) {
    for (int first = 0; first < 2; first++) {
      world w;
      begin(&w, 0);
      world_put(&w, "lib/part.lua", "return 1");
      if (first) world_put(&w, names[k], "return {");
      world_put(&w, "p.lua", uses[k]);
      world_turn(&w);
      world_turn(&w);
      CHECK("a module that is missing or broken is told once", w.errors == 1);
      world_put(&w, names[k], "return { } ");
      world_turn(&w);
      CHECK("mended, the version serves", world_named(&w, "better") && w.errors == 1);
      world_put(&w, names[k], "error 'again'");
      world_turn(&w);
      world_turn(&w);
      CHECK("broken again, the old one does", w.errors == 2 && world_named(&w, "better"));
      world_close(&w);
    }
  }
}

/* R14: the allocator, called while a hook runs, asks for a reload. */
static void test_during(void) {
  world w;
  world_dir(&w);
  world_put(&w, "p.lua", GOOD);
  world_start(&w, "p.lua");
  world_put(&w, "p.lua", BETTER);
  w.meddle = true;
  world_turn(&w);
  w.meddle = false;
  CHECK("a reload within a call is refused", w.meddled > 0 && w.meddled_ok == 0);
  CHECK("and the call goes well", world_state(&w) == 1 && w.errors == 0);
  world_turn(&w);
  CHECK("the file is taken between turns", world_named(&w, "better"));
  world_close(&w);
}

/* R15: memory by the allocator's count; the bytes of a state vary with its hash seed alone. */
static void test_flat(void) {
  const char *more = getenv("NEAP_ROUNDS");
  int rounds = more ? atoi(more) : 300;
  char text[300];
  world w;
  world_dir(&w);
  world_put(&w, "p.lua", "return require 'part'");
  world_put(&w, "part.lua", GOOD);
  w.options.flags = NEAP_NO_LOG; /* a log in memory grows */
  world_start(&w, "p.lua");
  world_turn(&w);
  int64_t low = 0, high = 0;
  for (int i = 0; i < rounds; i++) {
    snprintf(text, sizeof text,
             i % 5 == 4 ? "return { %d" : "return { " COUNTS ", name = 'n%06d' }", i);
    world_put(&w, "part.lua", text);
    neap_rc rc = neap_reload(w.s);
    CHECK("a good one is taken, a broken one is not", (rc == NEAP_OK) == (i % 5 != 4));
    if (i == 20) low = w.bytes;
    if (w.bytes > high) high = w.bytes;
  }
  if (high > low + 40000)
    fprintf(stderr, "%lld bytes at first, then %lld\n", (long long)low, (long long)high);
  CHECK("memory is flat over many reloads", high <= low + 40000);
  world_turn(&w);
  CHECK("and the last good one serves", world_state(&w) == 2);
  world_close(&w);
}

/* R16: two sessions, two policies, one of them broken. */
static void test_two(void) {
  world a, b;
  begin(&a, 0);
  begin(&b, 0);
  world_put(&a, "p.lua", "return {");
  world_put(&b, "p.lua", BETTER);
  world_turn(&a);
  world_turn(&b);
  CHECK("the other one reloads", a.errors == 1 && b.errors == 0);
  CHECK("each with its own", !world_named(&a, "better") && world_named(&b, "better"));
  world_close(&a);
  world_close(&b);
}

/* State across versions and across a restart with another version of the file. */
static void test_state(void) {
  static const char next[] =
      "return { api = 1, state_version = 3, migrate = function(old, from) return { n = "
      "old.n * 100 + from } end }";
  for (int restart = 0; restart < 2; restart++) {
    world w;
    begin(&w, 0);
    for (int i = 0; i < 4; i++) world_turn(&w);
    world_put(&w, "p.lua", next);
    if (restart) world_restart(&w);
    world_turn(&w);
    CHECK("the state is migrated", world_state(&w) == 501);
    if (restart) world_restart(&w);
    world_turn(&w);
    CHECK("once", world_state(&w) == 501 && w.errors == 0);
    world_close(&w);
  }
}

/* Memory runs out at some allocation of a turn with a reload: the session says so, or the old
** version serves, and nothing leaks. */
static void test_starved(void) {
  static const char *const texts[] = {
      BETTER, "return {",
      "return { api = 1, state_version = 1, assemble = function() error 'first' end }",
      "return { api = 1, state_version = 2, migrate = function(old) return old end }"};
  for (size_t i = 0; i < NP_COUNT(texts); i++) {
    bool starved = true;
    for (int64_t k = 1; starved && k < 20000; k += 1 + k / 2) {
      world w;
      neap_str body;
      begin(&w, 1);
      world_put(&w, places[1], texts[i]);
      w.left = k;
      neap_rc rc = neap_prompt(w.s, &body);
      starved = w.starved;
      w.left = 0;
      CHECK("memory may be missing, and nothing else",
            rc == NEAP_OK || (starved && rc == NEAP_E_MEMORY));
      if (!rc) world_account(&w);
      world_close(&w);
    }
    CHECK("in the end there is enough", !starved);
  }
}

int main(void) {
  test_broken();
  test_halves();
  test_files();
  test_remembered();
  test_new_module();
  test_during();
  test_flat();
  test_two();
  test_state();
  test_starved();
  return check_done();
}
