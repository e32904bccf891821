/*
** Lines that speak of errors, and frames of stack traces: the one list of what counts, for trims,
** projections and kinds. Words are looked for in any case, as words of their own or as the end
** of a name ("TypeError"), not inside one. next: ../token/token.h
*/
#include "text/errors.h"
#include "text/text.h"

static const struct {
  const char *word;
  unsigned score;
} words[] = {
    {"error", NP_ERROR_LINE},
    {"errors", NP_ERROR_LINE},
    {"exception", NP_ERROR_LINE},
    {"traceback", NP_ERROR_LINE},
    {"fail", NP_ERROR_LINE},
    {"failed", NP_ERROR_LINE},
    {"failure", NP_ERROR_LINE},
    {"failures", NP_ERROR_LINE},
    {"fatal", NP_ERROR_LINE},
    {"panic", NP_ERROR_LINE},
    {"panicked", NP_ERROR_LINE},
    {"err!", NP_ERROR_LINE},
    {"segmentation fault", NP_ERROR_LINE},
    {"assertion", NP_ERROR_LINE},
    {"aborted", NP_ERROR_LINE},
    {"denied", NP_ERROR_LINE},
    {"undefined reference", NP_ERROR_LINE},
    {"no such file", NP_ERROR_LINE},
    {"no rule to make target", NP_ERROR_LINE},
    {"command not found", NP_ERROR_LINE},
    {"conflict", NP_ERROR_LINE},
    {"conflicts", NP_ERROR_LINE},
    {"core dumped", NP_ERROR_LINE},
    {"not ok", NP_ERROR_LINE},
    {"out of memory", NP_ERROR_LINE},
    {"rejected", NP_ERROR_LINE},
    {"timed out", NP_ERROR_LINE},
    {"uncaught", NP_ERROR_LINE},
    {"unhandled", NP_ERROR_LINE},
    {"warning", NP_ERROR_WARNING},
    {"warnings", NP_ERROR_WARNING},
    {"warn", NP_ERROR_WARNING},
};

#define BIT(c) (1u << ((c) - 'a'))
#define FIRST_LETTERS                                                                    \
  (BIT('a') | BIT('c') | BIT('d') | BIT('e') | BIT('f') | BIT('n') | BIT('o') |          \
   BIT('p') | BIT('r') | BIT('s') | BIT('t') | BIT('u') | BIT('w'))

static bool is_letter(char c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* A word may not go on as a longer word or a name: "error-attr", "error.rs", "errors/". At
** the end of a name it must be a heading ("TypeError: x"), not code ("onError(x)"). */
static bool ends_at(np_str s, size_t at, bool in_name) {
  if (at >= s.n) return true;
  char c = s.p[at];
  if (in_name) return c == ':' || c == ' ' || c == '\r' || c == '\n';
  if (c == '.') return at + 1 >= s.n || !is_letter(s.p[at + 1]);
  return !is_letter(c) && c != '_' && c != '-' && c != '/';
}

static bool stands_at(np_str s, size_t at, np_str word) {
  if (s.n - at < word.n) return false;
  for (size_t i = 0; i < word.n; i++) {
    if (lower(s.p[at + i]) != word.p[i]) return false;
  }
  return ends_at(s, at + word.n, at > 0 && is_letter(s.p[at - 1]));
}

/* "0 errors" and "no error" report none. */
static bool is_denied(np_str s, size_t at) {
  while (at > 0 && s.p[at - 1] == ' ') at--;
  if (at > 0 && s.p[at - 1] == '0')
    return at == 1 || s.p[at - 2] < '0' || s.p[at - 2] > '9';
  return at >= 2 && lower(s.p[at - 2]) == 'n' && lower(s.p[at - 1]) == 'o' &&
         (at == 2 || !is_letter(s.p[at - 3]));
}

/* A word may begin behind anything but a letter, and inside a name with a capital. */
static bool begins_at(np_str s, size_t at) {
  if (at == 0 || !is_letter(s.p[at - 1])) return true;
  return lower(s.p[at]) != s.p[at] && lower(s.p[at - 1]) == s.p[at - 1];
}

static unsigned word_score(np_str s, size_t at) {
  for (size_t i = 0; i < NP_COUNT(words); i++) {
    if (words[i].word[0] != lower(s.p[at])) continue;
    if (stands_at(s, at, np_str_cstr(words[i].word))) {
      return is_denied(s, at) ? 0 : words[i].score;
    }
  }
  return 0;
}

/* What test runners put before what failed, and words of languages without spaces. */
static const char *const signs[] = {"\xE2\x97\x8F ",
                                    "\xE2\x9C\x95 ",
                                    "\xE2\x9C\x97 ",
                                    "\xE2\x9C\x98 ",
                                    "\xE9\x94\x99\xE8\xAF\xAF",
                                    "\xE5\xA4\xB1\xE8\xB4\xA5",
                                    "\xE5\xBC\x82\xE5\xB8\xB8"};

static bool is_sign(np_str s, size_t at) {
  for (size_t i = 0; i < NP_COUNT(signs); i++) {
    size_t n = strlen(signs[i]);
    if (s.n - at >= n && memcmp(s.p + at, signs[i], n) == 0) return true;
  }
  return false;
}

unsigned np_error_score(np_str s) {
  unsigned best = 0;
  if (s.n > 4 && memcmp(s.p, "E   ", 4) == 0) return NP_ERROR_LINE; /* of pytest */
  for (size_t i = 0; i < s.n && best < NP_ERROR_LINE; i++) {
    unsigned char byte = (unsigned char)s.p[i];
    if (byte >= 0xE2 && byte <= 0xE9 && is_sign(s, i)) return NP_ERROR_LINE;
    char c = lower(s.p[i]);
    if (c < 'a' || c > 'w' || !(FIRST_LETTERS >> (c - 'a') & 1) || !begins_at(s, i))
      continue;
    unsigned k = word_score(s, i);
    if (k > best) best = k;
  }
  return best;
}

/* ---- stack traces ---- */

static bool starts(np_str s, const char *with) {
  size_t n = strlen(with);
  return s.n >= n && memcmp(s.p, with, n) == 0;
}

static np_str trimmed(np_str s) {
  while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) s = np_str_cut(s, 1, s.n);
  return s;
}

bool np_error_is_indented(np_str s) {
  return s.n > 1 && (s.p[0] == ' ' || s.p[0] == '\t') && trimmed(s).p[0] > ' ';
}

/* One line of a trace in the usual languages: "  at f (x.js:1)", "  File "x.py", line 1",
** "	from x.rb:1", "#0 0x…", "	/x.go:1". */
bool np_error_is_frame(np_str line) {
  np_str s = trimmed(line);
  bool in = s.n < line.n;
  if (s.n > 2 && s.p[0] == '#') return s.p[1] >= '0' && s.p[1] <= '9';
  if (!in) return false;
  return starts(s, "at ") || starts(s, "File \"") || starts(s, "from ") ||
         starts(s, "... ") || (line.p[0] == '\t' && s.p[0] == '/');
}

/* What stands under the part of a line that is meant: `    ~~^~~`. */
bool np_error_is_caret(np_str line) {
  bool any = false;
  for (size_t i = 0; i < line.n; i++) {
    if (!strchr(" \t\r\n|^~", line.p[i]) || !line.p[i]) return false;
    any |= line.p[i] == '^' || line.p[i] == '~';
  }
  return any;
}
