/*
** Limits of a state: instructions (the reproducible one), memory, and the clock as a
** backstop; and the border that turns whatever Lua throws into one line of text.
**
** A count hook is armed when the state is made and never taken off. A call that is over its
** budget is killed: the hook then fires at every instruction, and pcall raises again, until
** the call has unwound. What works in C without instructions charges for it. next: env.c
*/
#include <inttypes.h>
#include <stdio.h>

#include "policy/host.h"
#include "text/text.h"

#define COARSE 1000            /* larger intervals are not cheaper */
#define EXACT 1                /* for who measures */
#define FINE 50                /* while one instruction may touch megabytes */
#define BIG ((size_t)64 << 10) /* bytes of a block that make it so */
#define FINEST 4               /* while one may take a tenth of a second: `<` on NULs */
#define HUGE_BLOCK ((size_t)1 << 20)
#define BYTES 64                  /* bytes that C handles in the time of an instruction */
#define COUNTED ((size_t)1 << 10) /* strings below this are paid by their instruction */

static void on_count(lua_State *L, lua_Debug *ar);

static void arm(np_policy *p, lua_State *L, int interval) {
  if (p->measured) interval = EXACT;
  p->meter.interval = interval;
  lua_sethook(L, on_count, LUA_MASKCOUNT, interval);
}

static int interval_for(const np_policy *p) {
  if (p->heap.huge > 0) return FINEST;
  return p->heap.big > 0 ? FINE : COARSE;
}

/* Writes "mask.lua:12: WHAT" without allocating; level 0 is the function that runs. */
static void note_why(np_policy *p, lua_State *L, int level, const char *what) {
  lua_Debug ar;
  char place[LUA_IDSIZE + 24] = "";
  for (; !place[0] && lua_getstack(L, level, &ar); level++) {
    if (lua_getinfo(L, "Sl", &ar) && ar.currentline > 0) {
      snprintf(place, sizeof place, "%s:%d: ", ar.short_src, ar.currentline);
    }
  }
  snprintf(p->meter.why, sizeof p->meter.why, "%s%s", place, what);
}

static int throw_why(lua_State *L) {
  np_policy *p = np_host(L);
  lua_sethook(L, on_count, LUA_MASKCOUNT, 1);
  p->meter.interval = 1;
  lua_pushstring(L, p->meter.why);
  return lua_error(L);
}

/* The first kill says why; all later ones repeat it. */
static int kill_call(lua_State *L, int level, const char *what) {
  np_policy *p = np_host(L);
  if (!p->meter.killed) {
    p->meter.killed = true;
    note_why(p, L, level, what);
  }
  return throw_why(L);
}

static int over_budget(lua_State *L, int level) {
  char text[120];
  snprintf(text, sizeof text,
           "more than %" PRId64 " instructions in one %s; do less at a time",
           np_host(L)->meter.limit, np_host(L)->loading ? "load" : "call");
  return kill_call(L, level, text);
}

static int over_time(lua_State *L, int level) {
  return kill_call(L, level, "the time of one call is over; do less at a time");
}

/* Whether the call has worked for too long. The clock starts with the first look, so that a
** short call has none to pay. The deadline is cheap to look at; once it is over, time in which
** other programs had the processor is given back. */
static bool is_late(np_meter *m) {
  if (m->deadline == INT64_MAX) return false;
  int64_t now = np_clock_ms();
  if (m->deadline == 0) {
    m->deadline = now + m->ms;
    m->since = np_clock_work_ms();
    return m->ms <= 0;
  }
  if (now <= m->deadline) return false;
  int64_t left = m->ms - (np_clock_work_ms() - m->since);
  if (left <= 0) return true;
  m->deadline = now + left;
  return false;
}

static void on_count(lua_State *L, lua_Debug *ar) {
  (void)ar;
  np_policy *p = np_host(L);
  np_meter *m = &p->meter;
  if (m->killed) throw_why(L);
  m->left -= m->interval;
  if (m->left <= 0) over_budget(L, 0);
  if (is_late(m)) over_time(L, 0);
  int want = interval_for(p);
  if (want != m->interval && !p->measured) arm(p, L, want);
}

void np_charge(lua_State *L, uint64_t n) {
  np_meter *m = &np_host(L)->meter;
  m->left -= n > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)n;
  if (m->killed || m->left <= 0) over_budget(L, 1);
}

void np_charge_slow(lua_State *L, uint64_t n) {
  np_meter *m = &np_host(L)->meter;
  np_charge(L, n);
  if (is_late(m)) over_time(L, 1);
}

void np_rethrow(lua_State *L) {
  np_policy *p = np_host(L);
  if (p->meter.killed || p->broken.code) throw_why(L);
  if (p->meter.left <= 0) over_budget(L, 1);
}

int np_break(lua_State *L, const np_err *e) {
  np_policy *p = np_host(L);
  if (!p->broken.code) p->broken = *e;
  p->meter.killed = true;
  snprintf(p->meter.why, sizeof p->meter.why, "%s", p->broken.text);
  return throw_why(L);
}

int64_t np_pause(void) {
  return np_clock_ms();
}

void np_resume(np_policy *p, int64_t since) {
  if (p->meter.deadline == INT64_MAX || p->meter.deadline == 0) return;
  int64_t spent = np_clock_ms() - since;
  p->meter.deadline += spent;
  p->meter.since += spent;
}

/* ---- memory ---- */

/* A large string costs its bytes: `..` has no other place to pay. Out of budget, it is
** refused, and the next look at the budget ends the call. */
static bool pays(np_policy *p, const void *ptr, size_t tag, size_t n) {
  if (ptr || tag != LUA_TSTRING || n < COUNTED) return true;
  if (p->meter.left <= 0) return false;
  p->meter.left -= (int64_t)(n / BYTES);
  return p->meter.left > 0;
}

static bool allows(np_policy *p, size_t old, size_t n) {
  size_t more = n - old;
  return n <= p->heap.block && more <= p->heap.limit &&
         p->heap.bytes <= p->heap.limit - more;
}

/* The next look must come soon when one instruction may take long. */
static void count_big(np_policy *p, size_t old, size_t n) {
  p->heap.big += (n >= BIG) - (old >= BIG);
  p->heap.huge += (n >= HUGE_BLOCK) - (old >= HUGE_BLOCK);
  int want = interval_for(p);
  if (p->active && p->meter.interval > want) {
    p->meter.left -= p->meter.interval; /* what has run since the last look, at most */
    arm(p, p->active, want);
  }
}

/* lua_Alloc. Shrinking fails only where the block would have to move and there is no memory to
** move it to. */
static void *reallocate(void *ud, void *ptr, size_t osize, size_t nsize) {
  np_policy *p = ud;
  size_t old = ptr ? osize : 0;
  if (nsize > old && (!allows(p, old, nsize) || !pays(p, ptr, osize, nsize))) return NULL;
  void *q = np_pool_realloc(&p->pool, ptr, old, nsize);
  if (!q && nsize) {
    p->heap.host_failed = true;
    return NULL;
  }
  p->heap.bytes = p->heap.bytes - old + nsize;
  if (p->heap.bytes > p->heap.peak) p->heap.peak = p->heap.bytes;
  count_big(p, old, nsize);
  return q;
}

lua_State *np_state_new(np_policy *p) {
  p->meter.left = p->meter.limit = INT64_MAX / 2;
  p->meter.deadline = INT64_MAX;
  np_pool_init(&p->pool, &p->alloc);
  lua_State *L = lua_newstate(reallocate, p);
  if (!L) return NULL;
  *(np_policy **)lua_getextraspace(L) = p;
  arm(p, L, COARSE);
  return L;
}

/* ---- the border ---- */

static void start(np_policy *p, int64_t instructions, int64_t ms) {
  p->meter.left = p->meter.limit =
      instructions; /* the texts are not cleared: it is short */
  p->meter.deadline = ms < 0 ? INT64_MAX : 0;
  p->meter.ms = ms;
  p->meter.killed = false;
  p->meter.why[0] = '\0';
  p->broken.code = NEAP_OK;
  p->said = 0;
  p->shrunk = false;
  p->heap.host_failed = p->heap.out = false;
  p->heap.peak = p->heap.bytes;
  p->active = p->L;
  arm(p, p->L, interval_for(p));
}

neap_rc np_enter(np_policy *p, int64_t instructions, int64_t ms, lua_CFunction f,
                 void *arg, np_err *e) {
  if (p->active) {
    return np_fail(e, NEAP_E_MISUSE, "a hook of this policy is running; call it later");
  }
  void *locale = np_locale_enter(p);
  start(p, instructions, ms);
  lua_State *L = p->L;
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, arg);
  int status = lua_pcall(L, 1, 0, 0);
  p->active = NULL;
  neap_rc rc = NEAP_OK;
  if (status) rc = np_caught(p, L, status, e);
  else if (p->broken.code) rc = np_fail(e, p->broken.code, "%s", p->broken.text);
  lua_settop(L, 0);
  np_locale_leave(locale);
  return rc;
}

/* Appends to a C string, bytes that are not UTF-8 replaced. */
static void add_text(char *out, size_t cap, const char *s, size_t n) {
  size_t at = strlen(out);
  for (size_t i = 0; i < n && at + 5 < cap;) {
    size_t used;
    uint32_t c = np_utf8_decode(s + i, s + n, &used);
    if (c == 0xFFFD && used == 1) out[at++] = '?';
    else if (s[i] == '\0') out[at++] = ' ';
    else
      for (size_t k = 0; k < used; k++) out[at++] = s[i + k];
    i += used;
  }
  out[at] = '\0';
}

/* Whether a message already begins with the name of a file that was loaded, and a line. */
static bool has_place(const np_policy *p, np_str text) {
  for (size_t i = 0; i < p->source_count; i++) {
    np_str name = p->sources[i].name;
    if (text.n > name.n + 1 && memcmp(text.p, name.p, name.n) == 0 &&
        text.p[name.n] == ':' && text.p[name.n + 1] >= '0' && text.p[name.n + 1] <= '9') {
      return true;
    }
  }
  return false;
}

/* "FOLDER/FILE:LINE: what", or "PATH: what" for a message that names no place. */
static neap_rc fail_text(np_policy *p, np_str text, np_err *e) {
  char line[480] = "";
  if (has_place(p, text)) add_text(line, sizeof line, p->folder.p, p->folder.n);
  else {
    add_text(line, sizeof line, p->info.path.p, p->info.path.n);
    add_text(line, sizeof line, ": ", 2);
  }
  add_text(line, sizeof line, text.p, text.n);
  return np_fail(e, NEAP_E_POLICY, "%s", line);
}

neap_rc np_caught(np_policy *p, lua_State *L, int status, np_err *e) {
  char text[80];
  np_str what = NP_LIT("");
  if (p->broken.code) return np_fail(e, p->broken.code, "%s", p->broken.text);
  if (p->meter.killed) {
    what = np_str_cstr(p->meter.why);
  } else if (p->meter.left <= 0) {
    what = NP_LIT("the instructions of one call are used up; do less at a time");
  } else if (lua_type(L, -1) == LUA_TSTRING) {
    what.p = lua_tolstring(L, -1, &what.n);
  } else {
    snprintf(text, sizeof text, "error object is a %s value; raise a string",
             lua_typename(L, lua_type(L, -1)));
    what = np_str_cstr(text);
  }
  if ((status == LUA_ERRMEM || p->heap.out) && p->meter.left > 0) {
    if (p->heap.host_failed) return np_fail_mem(e);
    what = NP_LIT("not enough memory; keep less, or raise the limit of bytes");
  }
  neap_rc rc = fail_text(p, what, e);
  lua_pop(L, 1);
  return rc;
}
