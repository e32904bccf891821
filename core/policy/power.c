/*
** What `x ^ y` does is libm's, whose last digit differs between machines; Lua itself makes
** x ^ 2 a product. So a policy may write ^ with the constant 2 alone. The source, which has
** compiled already, is read once more as tokens: only strings, comments and numerals have to
** be told apart from the rest. next: real.c
*/
#include "policy/host.h"

typedef struct scanner {
  lua_State *L;
  const char *p, *end;
  int line;
  bool two; /* the token that was read is a numeral whose value is 2 */
} scanner;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char peek(const scanner *s, size_t ahead) {
  return (size_t)(s->end - s->p) > ahead ? s->p[ahead] : '\0';
}

/* One byte further; a pair of \r and \n is one end of line. */
static void move(scanner *s) {
  char c = *s->p++;
  if (c != '\n' && c != '\r') return;
  char other = c == '\n' ? '\r' : '\n';
  if (peek(s, 0) == other) s->p++;
  s->line++;
}

/* The number of = of a long bracket that opens here, or -1. */
static int long_level(const scanner *s) {
  size_t n = 1;
  while (peek(s, n) == '=') n++;
  return peek(s, n) == '[' ? (int)n - 1 : -1;
}

static bool closes(const scanner *s, int level) {
  if (peek(s, 0) != ']') return false;
  for (int i = 1; i <= level; i++) {
    if (peek(s, (size_t)i) != '=') return false;
  }
  return peek(s, (size_t)level + 1) == ']';
}

static void skip_long(scanner *s, int level) {
  while (s->p < s->end && !closes(s, level)) move(s);
  size_t left = (size_t)(s->end - s->p), n = (size_t)level + 2;
  s->p += n < left ? n : left;
}

static void skip_string(scanner *s) {
  char quote = *s->p++;
  while (s->p < s->end && *s->p != quote) {
    if (*s->p == '\\') s->p++;
    if (s->p < s->end) move(s);
  }
  if (s->p < s->end) s->p++;
}

static void skip_comment(scanner *s) {
  int level;
  s->p += 2;
  if (peek(s, 0) == '[' && (level = long_level(s)) >= 0) {
    skip_long(s, level);
    return;
  }
  while (s->p < s->end && *s->p != '\n' && *s->p != '\r') s->p++;
}

/* As Lua's own: a sign belongs to the numeral right behind its exponent's letter. */
static void read_numeral(scanner *s) {
  const char *from = s->p;
  bool hex = *s->p == '0' && (peek(s, 1) | 32) == 'x';
  char exponent = hex ? 'p' : 'e';
  s->p += hex ? 2 : 0;
  while (is_digit(peek(s, 0)) || is_letter(peek(s, 0)) || peek(s, 0) == '.') {
    bool sign = (*s->p++ | 32) == exponent && (peek(s, 0) == '+' || peek(s, 0) == '-');
    s->p += sign;
  }
  lua_pushlstring(s->L, from, (size_t)(s->p - from));
  s->two = lua_tonumber(s->L, -1) == 2;
  lua_pop(s->L, 1);
}

/* Moves behind the next token; returns its first byte, 0 at the end. */
static char next_token(scanner *s) {
  s->two = false;
  while (s->p < s->end) {
    char c = *s->p;
    int level = c == '[' ? long_level(s) : -1;
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      move(s);
      continue;
    } else if (c == '-' && peek(s, 1) == '-') {
      skip_comment(s);
      continue;
    } else if (level >= 0) {
      skip_long(s, level);
    } else if (c == '"' || c == '\'') {
      skip_string(s);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(s, 1)))) {
      read_numeral(s);
    } else if (is_letter(c)) {
      while (is_letter(peek(s, 0)) || is_digit(peek(s, 0))) s->p++;
    } else {
      s->p++;
    }
    return c;
  }
  return '\0';
}

/* x ^ 2 ^ y is x ^ (2 ^ y): what stands behind the 2 counts too. */
void np_check_powers(lua_State *L, np_str name, np_str lua) {
  scanner s = {L, lua.p, lua.p + lua.n, 1, false};
  if (lua.n == 0 || !memchr(lua.p, '^', lua.n)) return;
  char token = next_token(&s);
  while (token) {
    if (token != '^') {
      token = next_token(&s);
      continue;
    }
    int line = s.line;
    next_token(&s);
    bool two = s.two;
    token = next_token(&s);
    if (!two || token == '^')
      luaL_error(L,
                 "%s:%d: ^ takes only the constant exponent 2 here, since others differ "
                 "between machines; write neap.pow(x, y)",
                 name.p, line);
  }
}
