/*
** The sandbox's pattern functions against the stock ones, on random patterns and subjects: the
** same results, or an error from both. NEAP_ROUNDS=n tries n patterns. next: test_policy_lib.c
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "policy/host.h"
#include "policy_world.h"

static size_t pick(unsigned long long *s, size_t n) {
  return (size_t)(check_random(s) >> 20) % n;
}

#define PICK(s, list) (list)[pick(s, NP_COUNT(list))]

/* ---- what is tried ---- */

static const char letters[] =
    "aaabbbcxyzAZ019_ ()[]{}<>%-.,^$*+?\n\t\0\x01\x7f\x80\xe9\xff";

static void add_letter(unsigned long long *s, np_buf *b) {
  np_buf_addc(b, letters[pick(s, sizeof letters - 1)]);
}

static void add_class(unsigned long long *s, np_buf *b) {
  static const char names[] = "acdglpsuwxACDGLPSUWX%.-]^(zZ1\0";
  np_buf_addc(b, '%');
  np_buf_addc(b, names[pick(s, sizeof names - 1)]);
}

static void add_set(unsigned long long *s, np_buf *b) {
  np_buf_adds(b, pick(s, 3) ? "[" : "[^");
  if (pick(s, 6) == 0) np_buf_addc(b, ']');
  for (size_t n = pick(s, 4); n > 0; n--) {
    if (pick(s, 3) == 0) add_class(s, b);
    else add_letter(s, b);
    if (pick(s, 3)) continue;
    np_buf_addc(b, '-');
    if (pick(s, 5)) add_letter(s, b);
  }
  if (pick(s, 25)) np_buf_addc(b, ']');
}

static void add_single(unsigned long long *s, np_buf *b) {
  switch (pick(s, 5)) {
    case 0: np_buf_addc(b, '.'); break;
    case 1: add_class(s, b); break;
    case 2: add_set(s, b); break;
    default: np_buf_addc(b, "abcx1_"[pick(s, 6)]);
  }
}

static void add_item(unsigned long long *s, np_buf *b, int *open) {
  static const char *const tails[] = {"", "", "", "*", "+", "-", "?"};
  switch (pick(s, 14)) {
    case 0:
      np_buf_addc(b, '(');
      ++*open;
      break;
    case 1: np_buf_adds(b, "()"); break;
    case 2:
      if (*open > 0 || pick(s, 20) == 0) np_buf_addc(b, ')');
      if (*open > 0) --*open;
      break;
    case 3:
      np_buf_adds(b, pick(s, 2) ? "%b()" : "%b");
      if (pick(s, 12)) add_letter(s, b), add_letter(s, b);
      break;
    case 4:
      np_buf_adds(b, "%f");
      if (pick(s, 15)) add_set(s, b);
      break;
    case 5:
      np_buf_addc(b, '%');
      np_buf_addc(b, "11123409"[pick(s, 8)]);
      break;
    case 6: add_letter(s, b); break;
    default: add_single(s, b); np_buf_adds(b, PICK(s, tails));
  }
}

static void make_pattern(unsigned long long *s, np_buf *b) {
  int open = 0;
  np_buf_clear(b);
  if (pick(s, 12) == 0) {
    for (size_t n = pick(s, 12); n > 0; n--) add_letter(s, b);
    return;
  }
  if (pick(s, 5) == 0) np_buf_addc(b, '^');
  for (size_t n = pick(s, 7); n > 0; n--) add_item(s, b, &open);
  for (; open > 0 && pick(s, 20); open--) np_buf_addc(b, ')');
  if (pick(s, 6) == 0) np_buf_addc(b, '$');
}

static void make_subject(unsigned long long *s, np_buf *b) {
  np_buf_clear(b);
  size_t few = pick(s, 3);
  for (size_t n = pick(s, 22); n > 0; n--) {
    if (few) np_buf_addc(b, "ab(x)1"[pick(s, 2 + 2 * few)]);
    else add_letter(s, b);
  }
}

/* ---- one call ---- */

typedef enum what {
  FIND,
  FIND_PLAIN,
  MATCH,
  GMATCH,
  GSUB,
  GSUB_TABLE,
  GSUB_CALL,
  WHATS
} what;

typedef struct call {
  what what;
  np_str subject, pattern, replace;
  lua_Integer init;
  bool has_init;
} call;

static void push_str(lua_State *L, np_str s) {
  lua_pushlstring(L, s.n ? s.p : "", s.n);
}

/* Says what it was given, and returns by the first byte of it. */
static int replacer(lua_State *L) {
  np_buf *out = lua_touserdata(L, lua_upvalueindex(1));
  size_t n;
  for (int i = 1; i <= lua_gettop(L); i++) {
    const char *s = luaL_tolstring(L, i, &n);
    np_buf_add(out, np_str_of(s, n));
    np_buf_addc(out, lua_type(L, i) == LUA_TNUMBER ? '#' : ',');
    lua_pop(L, 1);
  }
  const char *s = lua_tolstring(L, 1, &n);
  switch (n ? s[0] & 7 : 0) {
    case 0: return 0;
    case 1: lua_pushboolean(L, 0); return 1;
    case 2: lua_pushinteger(L, 7); return 1;
    case 3: lua_newtable(L); return 1;
    default: lua_pushvalue(L, 1); return 1;
  }
}

static void push_replacement(lua_State *L, const call *c, np_buf *out) {
  if (c->what == GSUB) {
    push_str(L, c->replace);
  } else if (c->what == GSUB_CALL) {
    lua_pushlightuserdata(L, out);
    lua_pushcclosure(L, replacer, 1);
  } else {
    static const char *const keys[] = {"a", "b", "x", "", "(", "1", NULL};
    lua_newtable(L);
    for (int i = 0; keys[i]; i++) {
      if (i % 3 == 2) lua_pushboolean(L, i == 5);
      else lua_pushstring(L, i % 2 ? "Z" : "%0");
      lua_setfield(L, -2, keys[i]);
    }
    lua_pushinteger(L, 9);
    lua_rawseti(L, -2, 1);
  }
}

static void add_results(lua_State *L, int from, np_buf *out) {
  for (int i = from; i <= lua_gettop(L); i++) {
    size_t n;
    const char *s = luaL_tolstring(L, i, &n);
    np_buf_addc(out, lua_isinteger(L, i)             ? '#'
                     : lua_type(L, i) == LUA_TSTRING ? '='
                                                     : '?');
    np_buf_add(out, np_str_of(s, n));
    np_buf_addc(out, ';');
    lua_pop(L, 1);
  }
}

/* Pushes the function's arguments; returns how many. */
static int push_arguments(lua_State *L, const call *c, np_buf *out) {
  push_str(L, c->subject);
  push_str(L, c->pattern);
  if (c->what >= GSUB) push_replacement(L, c, out);
  if (c->has_init) lua_pushinteger(L, c->init);
  else lua_pushnil(L);
  if (c->what == FIND_PLAIN) lua_pushboolean(L, 1);
  return lua_gettop(L) - 4;
}

static void drain(lua_State *L, np_buf *out) {
  int step = lua_gettop(L);
  for (int i = 0; i < 60; i++) {
    lua_pushvalue(L, step);
    lua_call(L, 0, LUA_MULTRET);
    if (lua_gettop(L) == step || lua_isnil(L, step + 1)) break;
    add_results(L, step + 1, out);
    lua_settop(L, step);
  }
}

/* Stack: the function, the call, the buffer. Writes the results. */
static int call_body(lua_State *L) {
  const call *c = lua_touserdata(L, 2);
  np_buf *out = lua_touserdata(L, 3);
  lua_pushvalue(L, 1);
  lua_call(L, push_arguments(L, c, out), LUA_MULTRET);
  if (c->what == GMATCH) drain(L, out);
  else add_results(L, 4, out);
  return 0;
}

/* The function on top of L, which it pops; "error" when it raises. */
static void run_call(lua_State *L, const call *c, np_buf *out) {
  np_buf_clear(out);
  lua_pushcfunction(L, call_body);
  lua_insert(L, -2);
  lua_pushlightuserdata(L, (void *)(uintptr_t)c);
  lua_pushlightuserdata(L, out);
  if (lua_pcall(L, 3, 0, 0) == LUA_OK) return;
  np_buf_clear(out);
  np_buf_adds(out, "error");
  lua_pop(L, 1);
}

/* ---- many calls ---- */

typedef struct trials {
  lua_State *stock;
  unsigned long long seed;
  size_t rounds, errors, differ;
} trials;

static void show(const char *label, np_str s) {
  fprintf(stderr, "%s", label);
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] > 32 && s.p[i] < 127) fputc(s.p[i], stderr);
    else fprintf(stderr, "\\x%02x", (unsigned char)s.p[i]);
  }
  fputc('\n', stderr);
}

static void one_pattern(lua_State *L, trials *t, np_buf *b) {
  static const char *const names[WHATS] = {"find", "find", "match", "gmatch",
                                           "gsub", "gsub", "gsub"};
  static const lua_CFunction ours[WHATS] = {np_env_find,   np_env_find, np_env_match,
                                            np_env_gmatch, np_env_gsub, np_env_gsub,
                                            np_env_gsub};
  static const char *const replace[] = {"%0", "%1", "<%1%2>", "",  "%%",
                                        "y",  "%",  "%9",     "%x"};
  make_subject(&t->seed, &b[0]);
  make_pattern(&t->seed, &b[1]);
  for (what w = FIND; w < WHATS; w++) {
    call c = {.what = w, .subject = np_buf_str(&b[0]), .pattern = np_buf_str(&b[1])};
    c.replace = np_str_cstr(PICK(&t->seed, replace));
    c.has_init = pick(&t->seed, 3) == 0;
    c.init = (lua_Integer)pick(&t->seed, 60) - 30;
    lua_pushcfunction(L, ours[w]);
    run_call(L, &c, &b[2]);
    lua_getglobal(t->stock, "string");
    lua_getfield(t->stock, -1, names[w]);
    lua_remove(t->stock, -2);
    run_call(t->stock, &c, &b[3]);
    t->errors += np_str_is(np_buf_str(&b[3]), "error");
    if (np_str_eq(np_buf_str(&b[2]), np_buf_str(&b[3]))) continue;
    if (t->differ++ > 5) continue;
    fprintf(stderr, "input:    %s %s init %d\n", names[w],
            c.has_init ? "with" : "without", (int)c.init);
    show("subject:  ", c.subject);
    show("pattern:  ", c.pattern);
    show("got:      ", np_buf_str(&b[2]));
    show("expected: ", np_buf_str(&b[3]));
  }
}

static int trials_body(lua_State *L) {
  trials *t = lua_touserdata(L, 1);
  np_buf b[4];
  for (size_t i = 0; i < NP_COUNT(b); i++) np_buf_init(&b[i], &np_alloc_libc);
  for (size_t i = 0; i < t->rounds; i++) {
    one_pattern(L, t, b);
    np_host(L)->meter.left = INT64_MAX / 2;
  }
  for (size_t i = 0; i < NP_COUNT(b); i++) np_buf_free(&b[i]);
  return 0;
}

int main(void) {
  const char *rounds = getenv("NEAP_ROUNDS");
  trials t = {.seed = check_seed(11), .rounds = rounds ? (size_t)atoll(rounds) : 60000};
  np_policy *p = NULL;
  np_err e = {.code = NEAP_OK};
  t.stock = luaL_newstate();
  luaL_openlibs(t.stock);
  neap_rc rc = np_policy_load(&np_alloc_libc, NULL, NP_LIT(""), NULL, &p, &e);
  if (!rc) rc = np_enter(p, INT64_MAX / 2, -1, trials_body, &t, &e);
  if (rc) fprintf(stderr, "%s\n", e.text);
  CHECK("all patterns were tried", rc == NEAP_OK);
  CHECK("the sandbox's pattern functions do what the stock ones do", t.differ == 0);
  CHECK("errors are among them, and are not the most",
        t.errors > t.rounds / 20 && t.errors < t.rounds * WHATS / 2);
  np_policy_free(p);
  lua_close(t.stock);
  return check_done();
}
