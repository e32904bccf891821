/*
** Every function that a policy can reach, the libraries' and the methods of handles, is called
** with every awkward argument, alone, twice, behind its object, and behind a fitting first
** argument. None may crash, hang or break the host; what is reached is read out of the state,
** so that a new function is tried without being named here. next: test_sandbox.c
*/
#define _XOPEN_SOURCE 700
#include "apart.h"
#include "policy/host.h"
#include "policy_world.h"

static np_vocab *vocab;

/* Each a Lua expression; `loops` are tables whose every metamethod runs for ever. */
static const char *const values[] = {
    "nil",
    "-1",
    "0",
    "1 << 62",
    "math.mininteger",
    "math.maxinteger",
    "0 / 0",
    "1 / 0",
    "-1 / 0",
    "1e308",
    "2.5",
    "true",
    "''",
    "'\\0'",
    "'\\xff'",
    "'%'",
    "('x'):rep(1000000)",
    "('(.-)'):rep(300)",
    "{}",
    "{ 1, 2, nil, 4 }",
    "{ why = {} }",
    "{ tokens = 0 / 0 }",
    "{ tokens = 1 << 62, keep = 'about', about = ('x'):rep(70000) }",
    "{ from = 0 / 0, before = 1 / 0 }",
    "{ kind = {}, at = 'x' }",
    "setmetatable({}, loops)",
    "setmetatable({ 1, 2 }, { __index = error, __len = error, __tostring = error, __name "
    "= "
    "('n'):rep(5000), __lt = error, __eq = error, __call = error, __pairs = error })",
    "ctx",
    "entry",
    "span",
    "pairs",
    "function() return nil, nil end",
    "function(...) return ... end",
};

static const char head[] =
    "local function forever() while true do end end\n"
    "local loops = { __index = forever, __newindex = forever, __len = forever, "
    "__tostring = "
    "forever, __lt = forever, __le = forever, __call = forever, __pairs = forever, "
    "__concat = "
    "forever, __close = forever, __name = 'loops' }\n"
    "return { api = 1, assemble = function(ctx)\n"
    "  local entry, span, step = nil, ctx:span(), ctx.entries(ctx)\n"
    "  for e in ctx:entries() do entry = entry or e end\n"
    "  local state = ctx.state\n"
    "  local f = ({\n";

#define SHAPES 24

/* What the arguments look like around the value; one shape of them, or all. */
static const char tail[] = "  })[state.f]\n"
                           "  local v = make()\n"
                           "  local shapes = {\n"
                           "    function() return f(v) end,\n"
                           "    function() return f(v, v) end,\n"
                           "    function() return f(v, v, v) end,\n"
                           "    function() return f(v, v, v, v) end,\n"
                           "    function() return f(ctx, v) end,\n"
                           "    function() return f(ctx, v, v) end,\n"
                           "    function() return f(ctx, span, v) end,\n"
                           "    function() return f(ctx, span, v, v) end,\n"
                           "    function() return f(entry, v) end,\n"
                           "    function() return f(entry, v, v) end,\n"
                           "    function() return f(span, v) end,\n"
                           "    function() return f('abc', v) end,\n"
                           "    function() return f('abc', v, v) end,\n"
                           "    function() return f('abc', '.', v) end,\n"
                           "    function() return f('abc', '.', v, v) end,\n"
                           "    function() return f({ 3, 2, 1 }, v) end,\n"
                           "    function() return f({ 3, 2, 1 }, v, v) end,\n"
                           "    function() return f({ 3, 2, 1 }, 1, v) end,\n"
                           "    function() return f({ 3, 2, 1 }, 1, 2, v) end,\n"
                           "    function() return f({ 3, 2, 1 }, 1, 2, 3, v) end,\n"
                           "    function() return f(1, v) end,\n"
                           "    function() return f(1, 2, v) end,\n"
                           "    function() return f(error, v) end,\n"
                           "    function() return f(v, error, v) end,\n"
                           "  }\n"
                           "  for i, shape in ipairs(shapes) do\n"
                           "    if state.s == 0 or state.s == i then\n"
                           "      local ok, why = pcall(shape)\n"
                           "      if not ok then tostring(why) end\n"
                           "    end\n"
                           "  end\n"
                           "end }\n";

static void add_line(np_buf *b, const char *a, const char *dot, const char *name) {
  np_buf_adds(b, "    ");
  np_buf_adds(b, a);
  np_buf_adds(b, dot);
  np_buf_adds(b, name);
  np_buf_adds(b, ",\n");
}

/* The functions of the table on top, which it pops, as "LIB.NAME,". */
static size_t list_table(lua_State *L, const char *lib, np_buf *b) {
  size_t n = 0;
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_type(L, -1) == LUA_TFUNCTION) {
      add_line(b, lib, *lib ? "." : "", lua_tostring(L, -2));
      n++;
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return n;
}

/* The methods behind the __index of a handle's type. */
static size_t list_methods(lua_State *L, const char *type, const char *object,
                           np_buf *b) {
  luaL_getmetatable(L, type);
  lua_getfield(L, -1, "__index");
  lua_getupvalue(L, -1, 1);
  size_t n = list_table(L, object, b);
  lua_pop(L, 2);
  return n;
}

/* Writes the policy; returns how many functions it can call. */
static size_t write_policy(lua_State *L, np_buf *b) {
  static const char *const libs[] = {"string", "table", "math", "utf8", "neap"};
  size_t n = 0;
  np_buf_adds(b, head);
  lua_getfield(L, LUA_REGISTRYINDEX, "neap.env");
  lua_getmetatable(L, -1);
  lua_getfield(L, -1, "__index");
  for (size_t i = 0; i < NP_COUNT(libs); i++) {
    lua_getfield(L, -1, libs[i]);
    n += list_table(L, libs[i], b);
  }
  n += list_table(L, "", b);
  lua_pop(L, 2);
  n += list_methods(L, NP_CONTEXT_TYPE, "ctx", b);
  n += list_methods(L, NP_ENTRY_TYPE, "entry", b);
  n += list_methods(L, NP_SPAN_TYPE, "span", b);
  np_buf_adds(b, "    ctx.random, ctx.economy.quote, step, ('x'):gmatch('x'), "
                 "(pairs { 1 }), (utf8.codes 'x'), (ipairs {}),\n");
  np_buf_adds(b,
              "    function(v) ctx.state = v end, function(v) return ctx[v] end, "
              "function(v) return entry[v] end, function(v) return span[v] end,\n"
              "    function(v) return state[v] end, function(v) state[v] = v end, "
              "function(v) return v .. v end, function(v) return v < v, v == v end,\n"
              "    function(v) for _ in v do end end, function(v) for i = v, v do end "
              "end, function(v) return v(), v.x, #v end,\n"
              "    function(v) return v + v, v * v, v // v, v % v, v & v, v << v, -v, ~v "
              "end,\n");
  return n + 7 + 4 + 2 + 2 + 3 + 1;
}

static void finish_policy(np_buf *b, size_t value) {
  np_str text = NP_LIT(tail);
  np_str at = NP_LIT("make()");
  size_t i = 0;
  while (memcmp(text.p + i, at.p, at.n) != 0) i++;
  np_buf_add(b, np_str_cut(text, 0, i));
  np_buf_adds(b, values[value]);
  np_buf_add(b, np_str_cut(text, i + at.n, text.n));
}

/* What makes the host unfit after a call. */
static const char *wrong_after(np_policy *p, neap_rc rc, const np_err *e) {
  if (rc && rc != NEAP_E_POLICY) return "another code";
  if (rc && (!*e->text || strlen(e->text) > 4096)) return "no clean message";
  return np_policy_overflow(p, 5, NULL) ? "the policy cannot be called again" : NULL;
}

/* Calls function `f` with all shapes, or one. Returns whether the host is well; *ended: the
** call was cut short. */
static bool one_call(np_policy *p, int f, int shape, const char *value, bool *ended) {
  char state[40];
  world w;
  int64_t ask = 0;
  np_err e = {.code = NEAP_OK};
  world_open(&w, vocab, 4);
  w.turn.asks = &ask;
  snprintf(state, sizeof state, "{\"f\":%d,\"s\":%d}", f, shape);
  np_policy_set_state(p, np_str_cstr(state), &e);
  world_attach(&w, p);
  neap_rc rc = np_policy_assemble(p, &e);
  const char *wrong = wrong_after(p, rc, &e);
  if (wrong)
    fprintf(stderr, "function %d, shape %d with %s: %s: %s\n", f, shape, value, wrong,
            e.text);
  *ended = rc != NEAP_OK;
  world_close(&w);
  return !wrong;
}

/* The policy that calls everything with the value, and how many functions it knows. */
static np_policy *load_calls(const neap_alloc *a, size_t value, int *functions) {
  static const np_limits limits = {.call_instructions = 400000, .call_ms = -1};
  np_policy *p = NULL;
  np_err e = {.code = NEAP_OK};
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  if (np_policy_load(a, NULL, NP_LIT(""), NULL, &p, &e)) return NULL;
  *functions = (int)write_policy(p->L, &b);
  np_policy_free(p);
  finish_policy(&b, value);
  if (np_policy_load_text(a, NP_LIT("c.lua"), np_buf_str(&b), NP_LIT(""), &limits, &p,
                          &e))
    fprintf(stderr, "%s\n%.*s\n", e.text, (int)b.n, b.p);
  np_buf_free(&b);
  return p;
}

static bool one_value(const void *arg) {
  size_t value = *(const size_t *)arg;
  int n = 0;
  counter c = {0};
  neap_alloc a = counter_alloc(&c);
  np_policy *p = load_calls(&a, value, &n);
  bool ok = p && n > 90, ended;
  for (int f = 1; f <= n && ok; f++) {
    ok = one_call(p, f, 0, values[value], &ended);
    for (int s = 1; s <= SHAPES && ok && ended; s++) {
      bool shorter;
      ok = one_call(p, f, s, values[value], &shorter);
    }
  }
  np_policy_free(p);
  if (c.live) fprintf(stderr, "with %s: memory is left\n", values[value]);
  return ok && c.live == 0;
}

int main(void) {
  vocab = world_vocab();
  for (size_t i = 0; i < NP_COUNT(values); i++) {
    const char *wrong = apart(one_value, &i);
    if (wrong) fprintf(stderr, "value:    %s: %s\n", values[i], wrong);
    CHECK("every function takes the value, or says no", !wrong);
  }
  np_vocab_free(vocab);
  return check_done();
}
