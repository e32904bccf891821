/*
** What kind of name an identifier is, for people who ask which of them are lost. Told by its
** characters alone; the measures take all of them alike. next: ../../lua/neap/report/compare.lua
*/
#include "cite/cite.h"

enum {
  UP = 1,
  LOW = 2,
  NUM = 4,
  SNAKE = 8,
  KEBAB = 16,
  DOT = 32,
  SLASH = 64,
  REST = 128
};

static unsigned class_of(char c) {
  if (c >= 'A' && c <= 'Z') return UP;
  if (c >= 'a' && c <= 'z') return LOW;
  if (c >= '0' && c <= '9') return NUM;
  if (c == '_') return SNAKE;
  if (c == '-') return KEBAB;
  return c == '.' ? DOT : c == '/' ? SLASH : REST;
}

static unsigned seen_in(np_str s) {
  unsigned seen = 0;
  for (size_t i = 0; i < s.n; i++) seen |= class_of(s.p[i]);
  return seen;
}

static bool begins(np_str s, const char *with) {
  size_t n = strlen(with);
  return s.n >= n && memcmp(s.p, with, n) == 0;
}

static bool is_url(np_str s) {
  return begins(s, "http:/") || begins(s, "https:/") || begins(s, "www.") ||
         np_str_find(s, np_str_cstr("://"), 0) != SIZE_MAX;
}

/* Endings of files that are named without a folder. */
static const char *const endings[] = {
    "c",    "h",   "cc",   "cpp",  "hpp",  "py",   "js",   "ts",  "tsx",
    "jsx",  "mjs", "lua",  "go",   "rs",   "java", "rb",   "php", "sh",
    "md",   "rst", "txt",  "json", "yaml", "yml",  "toml", "ini", "cfg",
    "conf", "log", "lock", "xml",  "csv",  "sql",  "html", "css", "jsonl"};

/* "pump.c", "pump.c:12": a file without a folder. */
static bool is_file(np_str s) {
  size_t end = 0, dot = SIZE_MAX;
  while (end < s.n && s.p[end] != ':' && s.p[end] != '#') end++;
  for (size_t i = 1; i < end; i++) {
    if (s.p[i] == '.') dot = i;
  }
  if (dot == SIZE_MAX) return false;
  np_str ending = np_str_cut(s, dot + 1, end);
  for (size_t i = 0; i < NP_COUNT(endings); i++) {
    if (np_str_is(ending, endings[i])) return true;
  }
  return false;
}

static bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Seven and more hexadecimal digits, letters and figures among them; groups as in a UUID. */
static bool is_hash(np_str s) {
  size_t from = begins(s, "0x") ? 2 : 0, figures = 0, letters = 0;
  for (size_t i = from; i < s.n; i++) {
    if (!is_hex(s.p[i]) && s.p[i] != '-') return false;
    figures += class_of(s.p[i]) == NUM;
    letters += (class_of(s.p[i]) & (UP | LOW)) != 0;
  }
  return figures + letters >= 7 && figures && letters;
}

/* E4711, ERR_17, TS2322, CVE-2021-44228, ENOENT. */
static bool is_code(np_str s, unsigned seen) {
  if (!(seen & UP) || (seen & ~(unsigned)(UP | NUM | SNAKE | KEBAB))) return false;
  if (class_of(s.p[0]) != UP) return false;
  if (seen == UP) return s.p[0] == 'E';
  return class_of(s.p[s.n - 1]) == NUM;
}

/* Figures and at most four letters: 512MB, 30ms, 2.5GHz. */
static bool is_measure(np_str s, unsigned seen) {
  size_t i = 0;
  if (seen & ~(unsigned)(UP | LOW | NUM | DOT)) return false;
  while (i < s.n && (class_of(s.p[i]) & (NUM | DOT))) i++;
  if (i == 0 || i == s.n || s.n - i > 4) return false;
  for (; i < s.n; i++) {
    if (!(class_of(s.p[i]) & (UP | LOW))) return false;
  }
  return true;
}

np_ident_class np_ident_class_of(np_str s, np_ident_kind kind) {
  unsigned seen = seen_in(s);
  if (kind == NP_IDENT_CJK) return NP_CLASS_CJK;
  if (kind == NP_IDENT_QUOTE) return NP_CLASS_QUOTE;
  if (s.n == 0 || kind == NP_IDENT_WORD) return NP_CLASS_OTHER;
  if (is_url(s)) return NP_CLASS_URL;
  if ((seen & SLASH) || is_file(s)) return NP_CLASS_PATH;
  if (!(seen & ~(unsigned)(NUM | DOT | KEBAB | REST))) return NP_CLASS_NUMBER;
  if (is_code(s, seen)) return NP_CLASS_CODE;
  if (is_measure(s, seen)) return NP_CLASS_NUMBER;
  if (is_hash(s)) return NP_CLASS_HASH;
  return NP_CLASS_NAME;
}

const char *np_ident_class_name(np_ident_class c) {
  static const char *const names[NP_CLASS_COUNT] = {
      "name", "path", "url", "number", "hash", "code", "cjk", "quote", "other"};
  return c < NP_CLASS_COUNT ? names[c] : "other";
}
