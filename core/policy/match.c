/*
** Lua's patterns with a meter: find, match, gmatch, gsub as in the manual, but every step
** is an instruction of the budget, so that a pattern that backtracks for hours ends like any
** other loop. Classes are those of ASCII. next: env_table.c
*/
#include "policy/host.h"

#define CAPTURES 32
#define DEPTH 200 /* of nested matches: about 30 kB of C stack */
#define OPEN (-1)
#define PLACE (-2)
#define BATCH 1024 /* steps between two payments */

typedef struct matcher {
  lua_State *L;
  const char *src, *end; /* the subject */
  const char *pend;      /* the pattern's end */
  uint32_t steps;        /* not paid yet */
  int depth, level;
  struct {
    const char *at;
    ptrdiff_t n; /* or OPEN, PLACE */
  } cap[CAPTURES];
} matcher;

static const char *walk(matcher *m, const char *s, const char *p);

static void pay(matcher *m) {
  uint32_t n = m->steps;
  m->steps = 0;
  np_charge_slow(m->L, n);
}

static inline void step(matcher *m, size_t n) {
  m->steps += n < BATCH ? (uint32_t)n : BATCH;
  if (n > BATCH) np_charge(m->L, n - BATCH);
  if (m->steps >= BATCH) pay(m);
}

/* ---- single characters ---- */

static bool in(unsigned char c, unsigned char lo, unsigned char hi) {
  return c >= lo && c <= hi;
}

static bool is_alnum(unsigned char c) {
  return in(c, '0', '9') || in(c, 'a', 'z') || in(c, 'A', 'Z');
}

/* Whether `c` is of the class named by the letter `name`; a capital negates. */
static bool of_class(unsigned char c, unsigned char name) {
  bool capital = in(name, 'A', 'Z'), r;
  switch (capital ? name + 32 : name) {
    case 'a': r = in(c, 'a', 'z') || in(c, 'A', 'Z'); break;
    case 'c': r = c < 32 || c == 127; break;
    case 'd': r = in(c, '0', '9'); break;
    case 'g': r = in(c, 33, 126); break;
    case 'l': r = in(c, 'a', 'z'); break;
    case 'p': r = in(c, 33, 126) && !is_alnum(c); break;
    case 's': r = c == ' ' || in(c, 9, 13); break;
    case 'u': r = in(c, 'A', 'Z'); break;
    case 'w': r = is_alnum(c); break;
    case 'z': r = c == 0; break; /* of older Luas; the stock matcher still knows it */
    case 'x': r = in(c, '0', '9') || in(c, 'a', 'f') || in(c, 'A', 'F'); break;
    default: return name == c;
  }
  return r != capital;
}

/* Where the single item that begins at `p` ends. */
static const char *item_end(matcher *m, const char *p) {
  const char *from = p;
  if (*p == '%') {
    if (p + 1 == m->pend) luaL_error(m->L, "malformed pattern (ends with '%%')");
    return p + 2;
  }
  if (*p++ != '[') return p;
  if (p < m->pend && *p == '^') p++;
  do { /* a ] right after the opening is a character */
    if (p >= m->pend) luaL_error(m->L, "malformed pattern (missing ']')");
    if (*p++ == '%') p++;
  } while (p >= m->pend || *p != ']');
  step(m, (size_t)(p - from));
  return p + 1;
}

/* Whether `c` is in the set from the [ at `p` to the ] at `last`. */
static bool in_set(matcher *m, unsigned char c, const char *p, const char *last) {
  bool yes = true;
  step(m, (size_t)(last - p));
  if (*++p == '^') {
    yes = false;
    p++;
  }
  for (; p < last; p++) {
    if (*p == '%') {
      p++;
      if (of_class(c, (unsigned char)*p)) return yes;
    } else if (p + 2 < last && p[1] == '-') {
      if (in(c, (unsigned char)p[0], (unsigned char)p[2])) return yes;
      p += 2;
    } else if ((unsigned char)*p == c) {
      return yes;
    }
  }
  return !yes;
}

static bool one(matcher *m, const char *s, const char *p, const char *ep) {
  if (s >= m->end) return false;
  step(m, 1);
  unsigned char c = (unsigned char)*s;
  switch (*p) {
    case '.': return true;
    case '%': return of_class(c, (unsigned char)p[1]);
    case '[': return in_set(m, c, p, ep - 1);
    default: return (unsigned char)*p == c;
  }
}

/* ---- longer items ---- */

static const char *greedy(matcher *m, const char *s, const char *p, const char *ep) {
  ptrdiff_t n = 0;
  while (one(m, s + n, p, ep)) n++;
  for (; n >= 0; n--) {
    const char *r = walk(m, s + n, ep + 1);
    if (r) return r;
  }
  return NULL;
}

static const char *lazy(matcher *m, const char *s, const char *p, const char *ep) {
  for (;; s++) {
    const char *r = walk(m, s, ep + 1);
    if (r) return r;
    if (!one(m, s, p, ep)) return NULL;
  }
}

static const char *open_capture(matcher *m, const char *s, const char *p,
                                ptrdiff_t what) {
  if (m->level >= CAPTURES) luaL_error(m->L, "too many captures");
  m->cap[m->level].at = s;
  m->cap[m->level].n = what;
  m->level++;
  const char *r = walk(m, s, p);
  if (!r) m->level--;
  return r;
}

static const char *close_capture(matcher *m, const char *s, const char *p) {
  int i = m->level - 1;
  while (i >= 0 && m->cap[i].n != OPEN) i--;
  if (i < 0) luaL_error(m->L, "invalid pattern capture");
  m->cap[i].n = s - m->cap[i].at;
  const char *r = walk(m, s, p);
  if (!r) m->cap[i].n = OPEN;
  return r;
}

/* %bxy: from an x to the y that balances it. */
static const char *balanced(matcher *m, const char *s, const char *p) {
  if (m->pend - p < 2) luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
  if (s >= m->end || *s != p[0]) return NULL;
  size_t open = 1;
  for (s++; s < m->end; s++) {
    step(m, 1);
    if (*s == p[1]) {
      if (--open == 0) return s + 1;
    } else if (*s == p[0]) {
      open++;
    }
  }
  return NULL;
}

/* %f[set]: between a character out of the set and one in it. Returns whether it holds; *p
** moves behind the set. */
static bool frontier(matcher *m, const char *s, const char **p) {
  const char *set = *p;
  if (set >= m->pend || *set != '[')
    luaL_error(m->L, "missing '[' after '%%f' in pattern");
  *p = item_end(m, set);
  unsigned char before = s == m->src ? 0 : (unsigned char)s[-1];
  unsigned char here = s < m->end ? (unsigned char)*s : 0;
  return !in_set(m, before, set, *p - 1) && in_set(m, here, set, *p - 1);
}

static int capture_index(matcher *m, int digit) {
  int i = digit - '1';
  if (i < 0 || i >= m->level || m->cap[i].n == OPEN) {
    luaL_error(m->L, "invalid capture index %%%d in pattern", i + 1);
  }
  return i;
}

/* %1 to %9: the same text again. */
static const char *again(matcher *m, const char *s, int digit) {
  int i = capture_index(m, digit);
  if (m->cap[i].n == PLACE) return NULL; /* a place has no text */
  size_t n = (size_t)m->cap[i].n;
  step(m, 1 + n / 64);
  if ((size_t)(m->end - s) < n || memcmp(m->cap[i].at, s, n) != 0) return NULL;
  return s + n;
}

/* The item at `p` with the suffix behind it: 1 and moved on, or 0 with the result in *s. */
static bool single(matcher *m, const char **s, const char **p) {
  const char *ep = item_end(m, *p), *r;
  switch (ep < m->pend ? *ep : '\0') {
    case '?':
      if (one(m, *s, *p, ep) && (r = walk(m, *s + 1, ep + 1)) != NULL) {
        *s = r;
        return false;
      }
      *p = ep + 1;
      return true;
    case '+': *s = one(m, *s, *p, ep) ? greedy(m, *s + 1, *p, ep) : NULL; return false;
    case '*': *s = greedy(m, *s, *p, ep); return false;
    case '-': *s = lazy(m, *s, *p, ep); return false;
    default:
      if (!one(m, *s, *p, ep)) {
        *s = NULL;
        return false;
      }
      *s += 1;
      *p = ep;
      return true;
  }
}

/* What begins with %: 1 and moved on, 0 with the result in *s, -1: a plain item. */
static int escape(matcher *m, const char **s, const char **p) {
  char c = *p + 1 < m->pend ? (*p)[1] : '\0';
  if (c == 'b') {
    *s = balanced(m, *s, *p + 2);
    *p += 4;
  } else if (c == 'f') {
    *p += 2;
    if (!frontier(m, *s, p)) *s = NULL;
  } else if (c >= '0' && c <= '9') {
    *s = again(m, *s, c);
    *p += 2;
  } else {
    return -1;
  }
  return *s != NULL;
}

/* Matches the pattern from `p` on at `s`: the end of the match, or NULL. */
static const char *walk(matcher *m, const char *s, const char *p) {
  if (++m->depth > DEPTH) luaL_error(m->L, "pattern too complex");
  for (bool more = true; more && p < m->pend;) {
    int done = -1;
    step(m, 1);
    if (*p == '(') {
      bool place = p + 1 < m->pend && p[1] == ')';
      s = open_capture(m, s, p + (place ? 2 : 1), place ? PLACE : OPEN);
      done = 0;
    } else if (*p == ')') {
      s = close_capture(m, s, p + 1);
      done = 0;
    } else if (*p == '$' && p + 1 == m->pend) {
      if (s != m->end) s = NULL;
      done = 0;
    } else if (*p == '%') {
      done = escape(m, &s, &p);
    }
    more = done < 0 ? single(m, &s, &p) : done;
  }
  m->depth--;
  return s;
}

/* ---- captures ---- */

static void push_capture(matcher *m, int i, const char *s, const char *e) {
  if (i >= m->level) {
    if (i > 0) luaL_error(m->L, "invalid capture index %%%d", i + 1);
    lua_pushlstring(m->L, s, (size_t)(e - s));
  } else if (m->cap[i].n == OPEN) {
    luaL_error(m->L, "unfinished capture");
  } else if (m->cap[i].n == PLACE) {
    lua_pushinteger(m->L, m->cap[i].at - m->src + 1);
  } else {
    np_charge(m->L, (uint64_t)m->cap[i].n / 64);
    lua_pushlstring(m->L, m->cap[i].at, (size_t)m->cap[i].n);
  }
}

/* Pushes all captures; the whole match when there is none and `whole`. */
static int push_captures(matcher *m, const char *s, const char *e, bool whole) {
  int n = m->level == 0 && whole ? 1 : m->level;
  luaL_checkstack(m->L, n, "too many captures");
  for (int i = 0; i < n; i++) push_capture(m, i, s, e);
  return n;
}

static void prepare(matcher *m, lua_State *L, np_str s, np_str p) {
  m->L = L;
  m->src = s.p;
  m->end = s.p + s.n;
  m->pend = p.p + p.n;
  m->steps = 0;
}

static const char *match_at(matcher *m, const char *s, const char *p) {
  m->level = 0;
  m->depth = 0;
  return walk(m, s, p);
}

/* ---- find and match ---- */

static bool is_plain(np_str p) {
  for (size_t i = 0; i < p.n; i++) {
    if (p.p[i] && strchr("^$*+?.([%-", p.p[i])) return false;
  }
  return true;
}

/* Every candidate is paid: a text of one letter has as many as it has bytes. */
static size_t find_plain(lua_State *L, np_str s, np_str p, size_t at) {
  if (p.n == 0) return at;
  while (s.n - at >= p.n) {
    const char *q = memchr(s.p + at, p.p[0], s.n - at - p.n + 1);
    np_charge(L, 1 + ((q ? (size_t)(q - s.p) - at + p.n : s.n - at)) / 64);
    if (!q) break;
    if (memcmp(q, p.p, p.n) == 0) return (size_t)(q - s.p);
    at = (size_t)(q - s.p) + 1;
  }
  return SIZE_MAX;
}

/* The optional start at `arg` as an offset; false when it lies behind the end. */
static bool start_at(lua_State *L, int arg, size_t n, size_t *at) {
  lua_Integer i = luaL_optinteger(L, arg, 1);
  if (i > 0) *at = (size_t)i - 1;
  else if (i == 0 || i < -(lua_Integer)n) *at = 0;
  else *at = (size_t)((lua_Integer)n + i);
  return *at <= n;
}

static int find_or_match(lua_State *L, bool find) {
  np_str s = np_check_str(L, 1), p = np_check_str(L, 2);
  size_t at;
  lua_settop(L, 4);
  bool there = start_at(L, 3, s.n, &at);
  np_charge(L, p.n / 8);
  if (there && find && (lua_toboolean(L, 4) || is_plain(p))) {
    size_t i = find_plain(L, s, p, at);
    if (i != SIZE_MAX) {
      lua_pushinteger(L, (lua_Integer)i + 1);
      lua_pushinteger(L, (lua_Integer)(i + p.n));
      return 2;
    }
  } else if (there) {
    matcher m;
    prepare(&m, L, s, p);
    bool anchored = p.n && p.p[0] == '^';
    for (const char *q = s.p + at; q <= m.end; q++) {
      const char *e = match_at(&m, q, p.p + anchored);
      if (e) {
        pay(&m);
        if (!find) return push_captures(&m, q, e, true);
        lua_pushinteger(L, q - s.p + 1);
        lua_pushinteger(L, e - s.p);
        return 2 + push_captures(&m, NULL, NULL, false);
      }
      if (anchored) break;
    }
    pay(&m);
  }
  lua_pushnil(L);
  return 1;
}

int np_env_find(lua_State *L) {
  return find_or_match(L, true);
}

int np_env_match(lua_State *L) {
  return find_or_match(L, false);
}

/* ---- gmatch ---- */

/* Upvalues: subject, pattern, offset to go on at, end of the last match (-1: none). */
static int gmatch_step(lua_State *L) {
  np_str s, p;
  matcher m;
  s.p = lua_tolstring(L, lua_upvalueindex(1), &s.n);
  p.p = lua_tolstring(L, lua_upvalueindex(2), &p.n);
  lua_Integer at = lua_tointeger(L, lua_upvalueindex(3));
  lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
  prepare(&m, L, s, p);
  for (const char *q = s.p + at; at >= 0 && q <= m.end; q++) {
    const char *e = match_at(&m, q, p.p);
    if (e && e - s.p != last) {
      pay(&m);
      lua_pushinteger(L, e - s.p);
      lua_pushvalue(L, -1);
      lua_replace(L, lua_upvalueindex(3));
      lua_replace(L, lua_upvalueindex(4));
      return push_captures(&m, q, e, true);
    }
  }
  pay(&m);
  lua_pushinteger(L, -1);
  lua_replace(L, lua_upvalueindex(3));
  return 0;
}

int np_env_gmatch(lua_State *L) {
  np_str s = np_check_str(L, 1);
  size_t at;
  np_check_str(L, 2);
  bool there = start_at(L, 3, s.n, &at);
  lua_settop(L, 2);
  lua_pushinteger(L, there ? (lua_Integer)at : -1);
  lua_pushinteger(L, -1);
  lua_pushcclosure(L, gmatch_step, 4);
  return 1;
}

/* ---- gsub ---- */

static void add_template(matcher *m, luaL_Buffer *b, np_str t, const char *s,
                         const char *e) {
  np_charge(m->L, t.n / 16);
  for (size_t i = 0; i < t.n; i++) {
    if (t.p[i] != '%') {
      luaL_addchar(b, t.p[i]);
      continue;
    }
    char c = ++i < t.n ? t.p[i] : '\0';
    if (c == '%') {
      luaL_addchar(b, '%');
    } else if (c == '0') {
      np_charge(m->L, (uint64_t)(e - s) / 64);
      luaL_addlstring(b, s, (size_t)(e - s));
    } else if (c >= '1' && c <= '9') {
      push_capture(m, c - '1', s, e);
      luaL_tolstring(m->L, -1, NULL); /* a place is a number */
      lua_remove(m->L, -2);
      luaL_addvalue(b);
    } else {
      luaL_error(m->L, "invalid use of '%%' in replacement string");
    }
  }
}

/* Adds what stands for the match [s, e). */
static void add_value(matcher *m, luaL_Buffer *b, const char *s, const char *e) {
  lua_State *L = m->L;
  int t = lua_type(L, 3);
  if (t == LUA_TFUNCTION) {
    lua_pushvalue(L, 3);
    lua_call(L, push_captures(m, s, e, true), 1);
  } else if (t == LUA_TTABLE) {
    push_capture(m, 0, s, e);
    lua_gettable(L, 3);
  } else {
    np_str text;
    text.p = lua_tolstring(L, 3, &text.n);
    add_template(m, b, text, s, e);
    return;
  }
  np_plain_nan(L, lua_gettop(L));
  if (!lua_toboolean(L, -1)) {
    lua_pop(L, 1);
    luaL_addlstring(b, s, (size_t)(e - s));
  } else if (!lua_isstring(L, -1)) {
    luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  } else {
    if (lua_type(L, -1) == LUA_TSTRING) np_charge(L, lua_rawlen(L, -1) / 64);
    luaL_addvalue(b);
  }
}

int np_env_gsub(lua_State *L) {
  np_str s = np_check_str(L, 1), p = np_check_str(L, 2);
  int t = lua_type(L, 3);
  luaL_argexpected(
      L, t == LUA_TNUMBER || t == LUA_TSTRING || t == LUA_TFUNCTION || t == LUA_TTABLE, 3,
      "string/function/table");
  lua_Integer max = luaL_optinteger(L, 4, (lua_Integer)s.n + 1), n = 0;
  if (t == LUA_TNUMBER) np_check_str(L, 3);
  lua_settop(L, 4);
  bool anchored = p.n && p.p[0] == '^';
  const char *q = s.p, *last = NULL;
  matcher m;
  luaL_Buffer b;
  prepare(&m, L, s, p);
  luaL_buffinit(L, &b);
  while (n < max) {
    const char *e = match_at(&m, q, p.p + anchored);
    if (e && e != last) {
      n++;
      add_value(&m, &b, q, e);
      q = last = e;
    } else if (q < m.end) {
      luaL_addchar(&b, *q++);
    } else {
      break;
    }
    if (anchored) break;
  }
  pay(&m);
  np_charge(L, (uint64_t)(m.end - q) / 64);
  luaL_addlstring(&b, q, (size_t)(m.end - q));
  luaL_pushresult(&b);
  lua_pushinteger(L, n);
  return 2;
}
