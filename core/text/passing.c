/*
** Finding them: the text is cut into words of letters, figures and the signs that times and ids
** are written with, and each word is looked at. next: ../token/token.h
*/
#include "text/passing.h"

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Whether `s` begins like `form`: 9 a figure, x a hexadecimal digit, T the letter or a blank,
** anything else itself. */
static bool begins(np_str s, const char *form) {
  size_t n = strlen(form);
  if (s.n < n) return false;
  for (size_t i = 0; i < n; i++) {
    char c = s.p[i];
    bool ok = form[i] == '9'   ? is_digit(c)
              : form[i] == 'x' ? is_hex(c)
              : form[i] == 'T' ? c == 'T' || c == ' '
                               : c == form[i];
    if (!ok) return false;
  }
  return true;
}

static size_t digits(np_str s) {
  size_t n = 0;
  while (n < s.n && is_digit(s.p[n])) n++;
  return n;
}

/* 12:05:33 with hours, minutes and seconds that there are. */
static bool is_time(np_str s) {
  return begins(s, "99:99:99") && s.p[0] <= '2' && s.p[3] <= '5' && s.p[6] <= '5';
}

/* Seconds from 2020 (1.6e9) to 2033, and milliseconds. Length of the clock that `s` begins with, or 0; `s` begins a word. */
static size_t clock_at(np_str s) {
  if (begins(s, "9999-99-99T99:99")) return begins(s, "9999-99-99T99:99:99") ? 19 : 16;
  if (is_time(s)) return 8;
  size_t n = digits(s);
  bool ends = n == s.n || (!is_letter(s.p[n]) && s.p[n] != '_' && s.p[n] != '-');
  bool stamp = (n == 10 || n == 13) && s.p[0] == '1' && s.p[1] >= '6';
  return stamp && ends ? n : 0;
}

/* Length of the id that `s` begins with, or 0. */
static size_t id_at(np_str s) {
  if (begins(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")) return 36;
  size_t n = 0, figures = 0;
  for (; n < s.n && is_hex(s.p[n]); n++) figures += is_digit(s.p[n]);
  bool ends = n == s.n || !is_letter(s.p[n]);
  return n >= 24 && ends && figures >= 4 && n - figures >= 4 ? n : 0;
}

/* Past the word that begins at `at`. */
static size_t word_end(np_str s, size_t at) {
  while (at < s.n && (is_letter(s.p[at]) || is_digit(s.p[at]) || s.p[at] == '_')) at++;
  return at;
}

np_passing np_passing_next(np_str s, size_t *at) {
  for (size_t i = *at; i < s.n;) {
    np_str rest = np_str_cut(s, i, s.n);
    size_t clock = clock_at(rest), n = clock ? clock : id_at(rest);
    if (n) {
      *at = i + n;
      return (np_passing){clock ? NP_PASSING_CLOCK : NP_PASSING_ID,
                          np_str_cut(rest, 0, n)};
    }
    size_t end = word_end(s, i);
    i = end > i ? end : i + 1;
  }
  *at = s.n;
  return (np_passing){NP_PASSING_NONE, NP_LIT("")};
}
