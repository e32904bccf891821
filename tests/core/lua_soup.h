/*
** Random Lua that compiles: blocks, statements and expressions as the grammar has them, of the
** names that a policy finds. What it does is nonsense; that it is well formed brings it deeper
** than a soup of words. next: test_policy_fuzz.c
*/
#ifndef NP_TESTS_LUA_SOUP_H
#define NP_TESTS_LUA_SOUP_H

#include "base/buf.h"
#include "check.h"

typedef struct soup_maker {
  unsigned long long *seed;
  np_buf *out;
  int room; /* nodes that may still be written */
  int loops;
} soup_maker;

static inline size_t soup_pick(soup_maker *m, size_t n) {
  return (size_t)(check_random(m->seed) >> 11) % n;
}

static inline void soup_add(soup_maker *m, const char *s) {
  np_buf_adds(m->out, s);
  np_buf_addc(m->out, ' ');
}

#define SOUP_ONE(m, list) soup_add(m, (list)[soup_pick(m, NP_COUNT(list))])

static void soup_expr(soup_maker *m, int depth);
static void soup_block(soup_maker *m, int depth);

static inline void soup_name(soup_maker *m) {
  static const char *const names[] = {"x", "y", "z", "t", "f", "e", "s"};
  SOUP_ONE(m, names);
}

static inline void soup_atom(soup_maker *m) {
  static const char *const atoms[] = {"nil",
                                      "true",
                                      "false",
                                      "0",
                                      "1",
                                      "-1",
                                      "2.5",
                                      "1 << 62",
                                      "0x7fffffffffffffff",
                                      "1e308",
                                      "0 / 0",
                                      "'a'",
                                      "''",
                                      "'%a+'",
                                      "'(.-)b'",
                                      "'\\0\\xff'",
                                      "[==[x]==]",
                                      "{}",
                                      "math.huge",
                                      "math.mininteger",
                                      "ctx.step",
                                      "ctx.budget",
                                      "ctx.state",
                                      "o",
                                      "...",
                                      "('ab'):rep(999)",
                                      "'%b()'",
                                      "'%f[%w]'",
                                      "'^()'",
                                      "1e15"};
  static const char *const functions[] = {
      "pairs",          "ipairs",       "next",          "pcall",         "xpcall",
      "error",          "assert",       "select",        "type",          "tostring",
      "tonumber",       "rawget",       "rawset",        "rawequal",      "rawlen",
      "setmetatable",   "getmetatable", "string.rep",    "string.format", "string.gsub",
      "string.find",    "string.match", "string.gmatch", "string.byte",   "string.char",
      "string.sub",     "table.insert", "table.remove",  "table.sort",    "table.concat",
      "table.move",     "table.unpack", "table.pack",    "math.floor",    "math.max",
      "math.tointeger", "math.fmod",    "math.ult",      "utf8.char",     "utf8.codes",
      "utf8.len",       "utf8.offset",  "neap.say",      "neap.pow",      "neap.log",
      "neap.clamp",     "ctx.entries",  "ctx.span",      "ctx.shrink",    "ctx.fold",
      "ctx.random",     "ctx.ask",      "ctx.summarize", "ctx.tools",     "require"};
  if (soup_pick(m, 3) == 0) soup_name(m);
  else if (soup_pick(m, 3) == 0) SOUP_ONE(m, functions);
  else SOUP_ONE(m, atoms);
}

static inline void soup_list(soup_maker *m, int depth, size_t most) {
  for (size_t n = soup_pick(m, most + 1), i = 0; i < n; i++) {
    if (i) soup_add(m, ",");
    soup_expr(m, depth - 1);
  }
}

static inline void soup_table(soup_maker *m, int depth) {
  static const char *const keys[] = {
      "x =",        "kind =",    "__index =", "__newindex =", "__call =", "__lt =",
      "__concat =", "__close =", "__len =",   "__pairs =",    "__eq =",   "__gc =",
      "tokens =",   "keep =",    "from =",    "prompt ="};
  soup_add(m, "{");
  for (size_t n = soup_pick(m, 4); n > 0; n--) {
    if (soup_pick(m, 2)) SOUP_ONE(m, keys);
    soup_expr(m, depth - 1);
    soup_add(m, ",");
  }
  soup_add(m, "}");
}

static inline void soup_function(soup_maker *m, int depth) {
  static const char *const heads[] = {"function ( )", "function ( x , y )",
                                      "function ( ... )", "function ( x , ... )"};
  int loops = m->loops;
  m->loops = 0;
  soup_add(m, "(");
  SOUP_ONE(m, heads);
  soup_block(m, depth - 1);
  soup_add(m, "end )");
  m->loops = loops;
}

static inline void soup_call(soup_maker *m, int depth) {
  static const char *const methods[] = {
      ":entries", ":mask", ":trim",   ":drop", ":restore", ":shrink", ":span", ":gsub",
      ":find",    ":rep",  ":format", ":byte", ":hold",    ":lines",  ":pin"};
  if (soup_pick(m, 2)) {
    soup_add(m, soup_pick(m, 2) ? "e" : "ctx");
    SOUP_ONE(m, methods);
  } else {
    soup_add(m, "(");
    soup_expr(m, depth - 1);
    soup_add(m, ")");
  }
  soup_add(m, "(");
  soup_list(m, depth, 3);
  soup_add(m, ")");
}

static void soup_expr(soup_maker *m, int depth) {
  static const char *const binary[] = {"+",  "-",  "*",  "/",  "//",  "%",  "..",
                                       "==", "~=", "<",  "<=", ">",   ">=", "&",
                                       "|",  "~",  "<<", ">>", "and", "or"};
  static const char *const unary[] = {"-", "not", "#", "~"};
  if (depth <= 0 || --m->room < 0) {
    soup_atom(m);
    return;
  }
  switch (soup_pick(m, 11)) {
    case 0:
    case 1:
      soup_expr(m, depth - 1);
      SOUP_ONE(m, binary);
      soup_expr(m, depth - 1);
      break;
    case 2:
      SOUP_ONE(m, unary);
      soup_expr(m, depth - 1);
      break;
    case 3: soup_table(m, depth); break;
    case 4: soup_function(m, depth); break;
    case 5:
    case 6: soup_call(m, depth); break;
    case 7:
      soup_add(m, "(");
      soup_expr(m, depth - 1);
      soup_add(m, soup_pick(m, 3) ? ") . x" : ") ^ 2");
      break;
    default: soup_atom(m);
  }
}

static inline void soup_assign(soup_maker *m, int depth) {
  static const char *const places[] = {
      "x =",           "t . x =",           "t [ 1 ] =", "x , y =",
      "ctx . state =", "ctx . state . x =", "t [ x ] ="};
  SOUP_ONE(m, places);
  soup_expr(m, depth);
}

static inline void soup_local(soup_maker *m, int depth) {
  static const char *const kinds[] = {"", "", "", "<const>", "<close>"};
  soup_add(m, "local");
  soup_name(m);
  SOUP_ONE(m, kinds);
  soup_add(m, "=");
  soup_expr(m, depth);
}

static inline void soup_loop(soup_maker *m, int depth) {
  m->loops++;
  switch (soup_pick(m, 5)) {
    case 0:
      soup_add(m, "while");
      soup_expr(m, depth - 1);
      soup_add(m, "do");
      break;
    case 1: soup_add(m, "for x = 1 , 9 do"); break;
    case 2:
      soup_add(m, "for x , y in pairs (");
      soup_expr(m, depth - 1);
      soup_add(m, ") do");
      break;
    case 3: soup_add(m, "for e in ctx : entries ( ) do"); break;
    default:
      soup_add(m, "repeat");
      soup_block(m, depth - 1);
      soup_add(m, "until");
      soup_expr(m, depth - 1);
      m->loops--;
      return;
  }
  soup_block(m, depth - 1);
  soup_add(m, "end");
  m->loops--;
}

static inline void soup_statement(soup_maker *m, int depth) {
  switch (soup_pick(m, 8)) {
    case 0: soup_local(m, depth); break;
    case 1:
    case 2: soup_assign(m, depth); break;
    case 3: soup_loop(m, depth); break;
    case 4:
      soup_add(m, "if");
      soup_expr(m, depth - 1);
      soup_add(m, "then");
      soup_block(m, depth - 1);
      soup_add(m, "end");
      break;
    case 5:
      soup_add(m, m->loops ? "if x then break end" : "do local x <const> = y end");
      break;
    default:
      soup_add(m, "; local _ = pcall (");
      soup_function(m, depth);
      soup_add(m, ")");
  }
  soup_add(m, ";");
}

static void soup_block(soup_maker *m, int depth) {
  if (depth <= 0 || --m->room < 0) return;
  for (size_t n = soup_pick(m, 4); n > 0; n--) soup_statement(m, depth);
  if (soup_pick(m, 4)) return;
  soup_add(m, "do return");
  soup_list(m, depth, 2);
  soup_add(m, "end");
}

/* A policy whose hooks are random; most of them compile. */
static inline void soup_policy(unsigned long long *seed, np_buf *out) {
  static const char *const hooks[] = {
      "assemble = function(ctx, o, ...)", "rank = function(ctx, e, o, ...)",
      "overflow = function(ctx, o, s, ...)", "recall = function(ctx, s, o, ...)",
      "compact = function(ctx, o, ...)"};
  soup_maker m = {seed, out, 120, 0};
  np_buf_adds(out,
              "local x, y, z, t, f, e, s = 1, 'b', nil, {}, pairs, nil, 'aab'\nreturn { "
              "api = 1,\n");
  for (size_t i = 0; i < NP_COUNT(hooks); i++) {
    if (i && soup_pick(&m, 3)) continue;
    np_buf_adds(out, hooks[i]);
    np_buf_addc(out, ' ');
    soup_block(&m, 5);
    np_buf_adds(out, i == 1 ? "return 1 end,\n" : "end,\n");
  }
  np_buf_adds(out, "}\n");
}

#endif
