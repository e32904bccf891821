/*
** Reading a part as it is written: one small language for models, policies and the command
** line. next: extract.c
*/
#include "text/extract.h"
#include "text/text.h"

#define FORMS                                                                            \
  "41-380, head 50, tail 50, ends 50, match timeout, errors, json $.items[0], rows "     \
  "1-20, section Install, outline, about retry policy"
#define NUMBER_MAX 1000000000000u /* lines; more is a mistake */
#define CONTEXT_MAX 100

typedef enum argument { NONE, RANGE, NUMBER, TEXT, PATTERN } argument;

static const struct {
  const char *name;
  argument takes;
} forms[] = {
    [NP_EXTRACT_ALL] = {"all", NONE},         [NP_EXTRACT_LINES] = {"lines", RANGE},
    [NP_EXTRACT_HEAD] = {"head", NUMBER},     [NP_EXTRACT_TAIL] = {"tail", NUMBER},
    [NP_EXTRACT_ENDS] = {"ends", NUMBER},     [NP_EXTRACT_MATCH] = {"match", PATTERN},
    [NP_EXTRACT_ERRORS] = {"errors", NONE},   [NP_EXTRACT_JSON] = {"json", TEXT},
    [NP_EXTRACT_ROWS] = {"rows", RANGE},      [NP_EXTRACT_SECTION] = {"section", TEXT},
    [NP_EXTRACT_OUTLINE] = {"outline", NONE}, [NP_EXTRACT_ABOUT] = {"about", TEXT},
};

const char *np_extract_name(np_extract_kind kind) {
  return (size_t)kind < NP_COUNT(forms) ? forms[kind].name : "unknown";
}

static bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static np_str trim(np_str s) {
  while (s.n && is_blank(s.p[0])) s = np_str_cut(s, 1, s.n);
  while (s.n && is_blank(s.p[s.n - 1])) s.n--;
  return s;
}

static bool is_digit(np_str s) {
  return s.n && s.p[0] >= '0' && s.p[0] <= '9';
}

/* Takes a number from the front of *s; false when there is none or it is far too large. */
static bool take_number(np_str *s, size_t *out) {
  if (!is_digit(*s)) return false;
  for (*out = 0; is_digit(*s); *s = np_str_cut(*s, 1, s->n)) {
    if (*out > NUMBER_MAX) return false;
    *out = *out * 10 + (size_t)(s->p[0] - '0');
  }
  return true;
}

/* A hyphen, or the dash that marks are written with. */
static bool take_dash(np_str *s) {
  size_t n = s->n && s->p[0] == '-' ? 1 : 0;
  if (s->n >= 3 && memcmp(s->p, "\xE2\x80\x93", 3) == 0) n = 3;
  *s = np_str_cut(*s, n, s->n);
  return n > 0;
}

/* "41-380", "41-", "-380", "41". */
static bool parse_range(np_str s, np_extract *out) {
  out->from = 1;
  out->to = SIZE_MAX;
  bool first = take_number(&s, &out->from), dash = take_dash(&s);
  if (!dash) out->to = out->from;
  bool last = dash && take_number(&s, &out->to);
  return (first || last) && s.n == 0 && out->from > 0 && out->to >= out->from;
}

static bool parse_number(np_str s, np_extract *out) {
  out->count = NP_EXTRACT_LINES_PLAIN;
  return s.n == 0 || (take_number(&s, &out->count) && s.n == 0 && out->count > 0);
}

/* "-C 2 pattern" or "-C2 pattern": lines around each match, as grep has it. */
static bool parse_pattern(np_str s, np_extract *out) {
  out->argument = s;
  if (s.n > 2 && memcmp(s.p, "-C", 2) == 0) {
    s = trim(np_str_cut(s, 2, s.n));
    if (!take_number(&s, &out->context) || !s.n || !is_blank(s.p[0])) return false;
    if (out->context > CONTEXT_MAX) return false;
    out->argument = trim(s);
  }
  return out->argument.n > 0;
}

static bool parse_argument(argument takes, np_str s, np_extract *out) {
  switch (takes) {
    case RANGE: return parse_range(s, out);
    case NUMBER: return parse_number(s, out);
    case PATTERN: return parse_pattern(s, out);
    case TEXT: out->argument = s; return s.n > 0;
    default: return s.n == 0;
  }
}

static bool parse(np_str s, np_extract *out) {
  np_str word = s;
  for (word.n = 0; word.n < s.n && !is_blank(s.p[word.n]);) word.n++;
  np_str rest = trim(np_str_cut(s, word.n, s.n));
  for (size_t i = 0; i < NP_COUNT(forms); i++) {
    if (!np_str_is(word, forms[i].name)) continue;
    out->kind = (np_extract_kind)i;
    return parse_argument(forms[i].takes, rest, out);
  }
  if (s.p[0] == '$') {
    out->kind = NP_EXTRACT_JSON;
    out->argument = s;
    return true;
  }
  out->kind = NP_EXTRACT_LINES;
  return parse_range(s, out);
}

neap_rc np_extract_parse(np_str words, np_extract *out, np_err *e) {
  np_str s = trim(words);
  *out = (np_extract){.kind = NP_EXTRACT_ALL};
  if (s.n == 0 || parse(s, out)) return NEAP_OK;
  size_t n = np_utf8_floor(s, s.n < 60 ? s.n : 60);
  return np_fail(e, NEAP_E_ARG, "\"%.*s%s\" names no part of a text; use one of: " FORMS,
                 (int)n, s.p, n < s.n ? "\xE2\x80\xA6" : "");
}
