/*
** Lines of source code that define something, told by their first words, in any usual language:
** `def f(`, `pub async fn f`, `export class X`, `static int f(`. A guess that needs no parser.
** next: outline.c
*/
#include "text/definition.h"

static const char *const modifiers[] = {
    "export",    "default",  "public",   "private", "protected",  "internal", "static",
    "final",     "abstract", "async",    "pub",     "pub(crate)", "unsafe",   "extern",
    "inline",    "virtual",  "override", "sealed",  "open",       "partial",  "declare",
    "constexpr", "local",    "readonly", "suspend", "data",       "mut",
};

/* What defines, at any depth, and at the margin alone. */
static const char *const always[] = {
    "class", "def",  "fn",     "func",      "function",  "struct", "interface", "trait",
    "impl",  "enum", "module", "namespace", "defmodule", "defp",   "sub"};
static const char *const at_margin[] = {
    "type",   "typedef", "mod",  "package",   "object",       "record",
    "union",  "const",   "var",  "let",       "macro_rules!", "#define",
    "create", "CREATE",  "proc", "procedure", "test",         "describe"};

/* Words that a line of C or Java may begin with that defines nothing. */
static const char *const statements[] = {
    "if",      "for",   "while",  "switch", "return", "else",  "do",    "case",
    "goto",    "using", "import", "from",   "throw",  "await", "yield", "print",
    "assert",  "new",   "delete", "raise",  "try",    "catch", "with",  "require",
    "include", "echo",  "elif",   "at",     "in",     "and",   "or",    "not",
    "the",     "a",     "error",  "warning"};

static bool is_letter(char c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_word_byte(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

static bool listed(np_str word, const char *const *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (np_str_is(word, list[i])) return true;
  }
  return false;
}

/* The first word of *s, which it is cut off, with the blanks behind it. */
static np_str take_word(np_str *s) {
  np_str word = *s;
  for (word.n = 0; word.n < s->n && !strchr(" \t({<:;=", s->p[word.n]);) word.n++;
  if (np_str_is(word, "pub") && s->n > 10 && memcmp(s->p, "pub(crate)", 10) == 0)
    word.n = 10;
  size_t at = word.n;
  while (at < s->n && (s->p[at] == ' ' || s->p[at] == '\t')) at++;
  *s = np_str_cut(*s, at, s->n);
  return word;
}

/* `int f(…) {`, `void f(…)`: two words or more, then an argument list, and no statement. */
static bool is_function(np_str line) {
  const char *open = memchr(line.p, '(', line.n);
  size_t n = open ? (size_t)(open - line.p) : 0, words = 0;
  if (n == 0 || !is_word_byte(line.p[n - 1]) || !is_word_byte(line.p[0])) return false;
  char last = line.p[line.n - 1];
  if (last != '{' && last != ')') return false;
  for (size_t i = 0; i < n; i++) {
    char c = line.p[i];
    if (!is_word_byte(c) && !strchr(" *&:<>,~[].", c)) return false;
    words += is_word_byte(c) && (i == 0 || !is_word_byte(line.p[i - 1]));
  }
  return words >= 2;
}

int np_definition_rank(np_str line) {
  size_t margin = 0;
  while (line.n && strchr("\r\n \t", line.p[line.n - 1]) && line.p[line.n - 1]) line.n--;
  while (margin < line.n && (line.p[margin] == ' ' || line.p[margin] == '\t')) margin++;
  np_str s = np_str_cut(line, margin, line.n), whole = s;
  if (!s.n || (!is_letter(s.p[0]) && s.p[0] != '#' && s.p[0] != '_')) return -1;
  np_str word = take_word(&s);
  size_t modified = 0;
  for (; s.n && modified < 6 && listed(word, modifiers, NP_COUNT(modifiers)); modified++)
    word = take_word(&s);
  bool name = s.n && (is_word_byte(s.p[0]) || strchr("(*[\"'<", s.p[0]));
  if (name && listed(word, always, NP_COUNT(always))) return margin ? 1 : 0;
  if (margin) return -1;
  if (name && listed(word, at_margin, NP_COUNT(at_margin))) return 0;
  if (listed(word, statements, NP_COUNT(statements))) return -1;
  return is_function(whole) ? 0 : -1;
}
