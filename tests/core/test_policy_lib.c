/*
** The sandbox's own libraries against the stock ones: patterns, string, table and math give
** the same on random input, and exp, ln and pow are within two units in the last place.
** next: test_policy_fuzz.c
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <math.h>

#include "policy/host.h"
#include "policy_world.h"
#include "text/text.h"

/* One Lua text for both: it says what came out of random patterns on random subjects. */
static const char trials[] =
    "local function show(...)\n"
    "  local t = table.pack(...)\n"
    "  for i = 1, t.n do t[i] = type(t[i]) == 'string' and ('%q'):format(t[i]) or "
    "tostring(t[i]) end\n"
    "  return (table.concat(t, ',', 1, t.n):gsub('[\\x80-\\xff]', '?'))\n"
    "end\n"
    "local function plain(ok, ...)\n"
    "  if ok then return show(...) end\n"
    "  return 'error ' .. tostring((...)):gsub('^.-:%d+: ', ''):gsub(' in pattern.*', "
    "''):gsub('#%d', '#')\n"
    "end\n"
    "return { api = 1, options = { seed = 1 }, assemble = function(_, o)\n"
    "  local x = o.seed * 2654435761 % 4294967296\n"
    "  local function pick(n) x = (x * 1664525 + 1013904223) % 4294967296 return (x >> "
    "16) % n + 1 end\n"
    "  local atoms = { 'a', 'b', '.', '%a', '%d', '%S', '[ab]', '[^a]', '[%w_]', "
    "'[a-c]', '%%', 'x', '%W', '%p', '[]]', '[^]%s]', '%c', '%u', '%x', '[%a-z]', '[a-]' "
    "}\n"
    "  local tails = { '', '', '', '*', '+', '-', '?' }\n"
    "  local extra = { '%b()', '%f[%w]', '()', '%1', '%2', '$', '^', '(', ')', '[', '%', "
    "'%f', '%b', '%9' }\n"
    "  local bytes = { 'a', 'b', 'c', 'x', '1', '_', ' ', '(', ')', '%', 'A', ']', '-', "
    "'\\0', '\\xe9' }\n"
    "  local function make(list, most) local t = {} for i = 1, pick(most) - 1 do t[i] = "
    "list[pick(#list)] end return table.concat(t) end\n"
    "  local function pattern()\n"
    "    local t = {}\n"
    "    if pick(6) == 1 then t[1] = '^' end\n"
    "    for i = 1, pick(5) do\n"
    "      local p = atoms[pick(#atoms)] .. tails[pick(#tails)]\n"
    "      if pick(4) == 1 then p = '(' .. p .. ')' end\n"
    "      if pick(9) == 1 then p = p .. extra[pick(#extra)] end\n"
    "      t[#t + 1] = p\n"
    "    end\n"
    "    if pick(6) == 1 then t[#t + 1] = '$' end\n"
    "    return table.concat(t)\n"
    "  end\n"
    "  local r = { '%0', '%1', '<%1>', 'y', '', '%%', '%2', '%' }\n"
    "  for i = 1, 60 do\n"
    "    local s, p, init = make(bytes, 14), pattern(), pick(20) - 10\n"
    "    local g = function() local t = {} for a, b in s:gmatch(p) do t[#t + 1] = "
    "show(a, b) if #t > 30 then break end end return table.concat(t, ';') end\n"
    "    neap.say(show(s, p, init), plain(pcall(string.find, s, p, init)), "
    "plain(pcall(string.match, s, p, init)), plain(pcall(g)))\n"
    "    neap.say(plain(pcall(string.gsub, s, p, r[pick(#r)], pick(3) == 1 and pick(4) "
    "or nil)), plain(pcall(string.gsub, s, p, function(a) return pick(2) == 1 and a "
    "end)))\n"
    "    neap.say(plain(pcall(string.gsub, s, p, { a = 'Z', b = 7, c = false })), "
    "plain(pcall(string.find, s, make(bytes, 3), init, true)))\n"
    "    local i, j = pick(30) - 15, pick(30) - 15\n"
    "    neap.say(show(s:sub(i, j)), show(s:byte(i, j)), show(s:rep(pick(5) - 2, ',')), "
    "show(s:reverse(), #s), plain(pcall(string.byte, s, i)))\n"
    "    local t = { table.unpack({ 5, 3, 9, 1, 7 }, 1, pick(6) - 1) }\n"
    "    neap.say(plain(pcall(table.insert, t, i, 0)), plain(pcall(table.remove, t, j)), "
    "plain(pcall(table.concat, t, '-', 1, #t)))\n"
    "    table.sort(t) neap.say(table.concat(t, ' '), table.concat(table.move({ 1, 2, 3, "
    "4 }, pick(4), pick(4), pick(4)), ' '))\n"
    "    neap.say(show(table.unpack(t, pick(3), pick(5))), "
    "('%5d|%-5s|%5.1f|%x|%c'):format(i, 'ab', j / 3, pick(99), 65))\n"
    "  end\n"
    "end }\n";

static int stock_say(lua_State *L) {
  np_buf *out = lua_touserdata(L, lua_upvalueindex(1));
  int n = lua_gettop(L);
  for (int i = 1; i <= n; i++) {
    np_str s;
    if (i > 1) np_buf_addc(out, ' ');
    s.p = luaL_tolstring(L, i, &s.n);
    np_buf_add(out, s);
    lua_pop(L, 1);
  }
  np_buf_addc(out, '\n');
  return 0;
}

static void run_stock(np_buf *out, int seed) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_newtable(L);
  lua_pushlightuserdata(L, out);
  lua_pushcclosure(L, stock_say, 1);
  lua_setfield(L, -2, "say");
  lua_setglobal(L, "neap");
  bool ok = luaL_dostring(L, trials) == LUA_OK;
  lua_getfield(L, -1, "assemble");
  lua_pushnil(L);
  lua_newtable(L);
  lua_pushinteger(L, seed);
  lua_setfield(L, -2, "seed");
  if (!ok || lua_pcall(L, 2, 0, 0)) fprintf(stderr, "stock: %s\n", lua_tostring(L, -1));
  lua_close(L);
}

static neap_rc run_ours(world *w, int seed, np_err *e) {
  char options[40];
  np_policy *p = NULL;
  snprintf(options, sizeof options, "{\"seed\":%d}", seed);
  np_buf_clear(&w->said);
  neap_rc rc =
      np_policy_load_text(&np_alloc_libc, NP_LIT("t.lua"), NP_LIT(trials),
                          np_str_cstr(options), &(np_limits){.call_ms = -1}, &p, e);
  if (rc) return rc;
  world_attach(w, p);
  rc = np_policy_assemble(p, e);
  np_policy_free(p);
  return rc;
}

/* Prints the first line that differs. */
static void show_difference(np_str a, np_str b) {
  np_str x, y;
  while (np_line_next(&a, &x) && np_line_next(&b, &y)) {
    if (np_str_eq(x, y)) continue;
    fprintf(stderr, "got:      %.*s\nexpected: %.*s\n", (int)x.n, x.p, (int)y.n, y.p);
    return;
  }
}

static void test_against_stock(np_vocab *vocab) {
  int first = (int)(check_seed(1) % 100000);
  np_buf stock;
  np_buf_init(&stock, &np_alloc_libc);
  for (int i = 0; i < 60; i++) {
    world w;
    np_err e = {0};
    world_open(&w, vocab, 1);
    np_buf_clear(&stock);
    run_stock(&stock, first + i);
    neap_rc rc = run_ours(&w, first + i, &e);
    bool same = rc == NEAP_OK && np_str_eq(np_buf_str(&w.said), np_buf_str(&stock));
    if (rc) fprintf(stderr, "%s\n", e.text);
    else if (!same) show_difference(np_buf_str(&w.said), np_buf_str(&stock));
    CHECK("the sandbox's libraries do what the stock ones do", same && stock.n > 5000);
    world_close(&w);
  }
  np_buf_free(&stock);
}

/* ---- real ---- */

static int64_t order(double x) {
  int64_t i;
  memcpy(&i, &x, sizeof i);
  return i < 0 ? INT64_MIN - i : i;
}

static bool near(double got, double want, const char *what, double x, double y) {
  if (isnan(got) && isnan(want)) return true;
  int64_t d = order(got) - order(want);
  if (d >= -2 && d <= 2) return true;
  fprintf(stderr, "%s(%.17g, %.17g): got %.17g, expected %.17g\n", what, x, y, got, want);
  return false;
}

static void test_real(void) {
  static const double odd[] = {0.0,       -0.0,
                               1.0,       -1.0,
                               2.0,       -2.0,
                               0.5,       -0.5,
                               3.0,       -3.0,
                               1e300,     -1e300,
                               1e-300,    5e-324,
                               2.5,       1e19,
                               -1e19,     INFINITY,
                               -INFINITY, NAN,
                               709.78,    -745.1,
                               -708.4,    0x1p-1022,
                               1.5,       9007199254740993.0};
  unsigned long long s = check_seed(7);
  bool e = true, l = true, p = true;
  for (size_t i = 0; i < NP_COUNT(odd); i++) {
    e &= near(np_exp(odd[i]), exp(odd[i]), "exp", odd[i], 0);
    l &= near(np_log_of(odd[i]), log(odd[i]), "ln", odd[i], 0);
    for (size_t k = 0; k < NP_COUNT(odd); k++)
      p &= near(np_pow(odd[i], odd[k]), pow(odd[i], odd[k]), "pow", odd[i], odd[k]);
  }
  for (int i = 0; i < 200000; i++) {
    double u = (double)(check_random(&s) >> 11) / 9007199254740992.0,
           v = (double)(check_random(&s) >> 11) / 9007199254740992.0;
    double x = u * 1400 - 700, y = exp((v - 0.5) * 1400), z = (u - 0.5) * 40;
    e &= near(np_exp(x), exp(x), "exp", x, 0);
    l &= near(np_log_of(y), log(y), "ln", y, 0);
    l &= near(np_log_of(1 + v), log(1 + v), "ln", 1 + v, 0);
    p &= near(np_pow(v * 100, z), pow(v * 100, z), "pow", v * 100, z);
    p &= near(np_pow(1 + u / 1000, v * 1e5), pow(1 + u / 1000, v * 1e5), "pow",
              1 + u / 1000, v * 1e5);
  }
  CHECK("exp is within two units", e);
  CHECK("ln is within two units", l);
  CHECK("pow is within two units", p);
}

int main(void) {
  np_vocab *vocab = world_vocab();
  test_against_stock(vocab);
  test_real();
  np_vocab_free(vocab);
  return check_done();
}
