/*
** The table of error codes and the one way to fail. next: json.c
*/
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
  const char *name, *text;
} codes[NEAP_RC_COUNT] = {
#define ROW(id, name, text) {name, text},
    NEAP_CODES(ROW)
#undef ROW
};

const char *neap_rc_name(neap_rc rc) {
  return (unsigned)rc < NEAP_RC_COUNT ? codes[rc].name : "unknown";
}

const char *neap_rc_text(neap_rc rc) {
  return (unsigned)rc < NEAP_RC_COUNT ? codes[rc].text : "unknown code";
}

const char *neap_version(void) {
  return NEAP_VERSION;
}

/* Cuts a text that filled its buffer back to a whole character and keeps it one line. */
static void tidy(char *text, size_t n) {
  while (n && ((unsigned char)text[n - 1] & 0xC0) == 0x80) n--;
  if (n && (unsigned char)text[n - 1] >= 0xC0) n--;
  text[n] = '\0';
}

/* What a file or a name brought in may hold anything: no control characters, valid UTF-8. */
static void one_line(char *text) {
  const char *end = text + strlen(text);
  while (text < end) {
    size_t n = np_utf8_len(text, end);
    if (!n) *text = '?';
    if (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7F)) *text = ' ';
    text += n ? n : 1;
  }
}

neap_rc np_fail(np_err *e, neap_rc code, const char *fmt, ...) {
  if (!e) return code;
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(e->text, sizeof e->text, fmt, args);
  va_end(args);
  if (n < 0) e->text[0] = '\0';
  if (n >= (int)sizeof e->text) tidy(e->text, sizeof e->text - 1);
  one_line(e->text);
  e->code = code;
  e->pos = 0;
  return code;
}

neap_rc np_fail_at(np_err *e, neap_rc code, size_t pos, const char *text) {
  np_fail(e, code, "%s", text);
  if (e) e->pos = pos;
  return code;
}

neap_rc np_fail_mem(np_err *e) {
  return np_fail(e, NEAP_E_MEMORY, "%s", neap_rc_text(NEAP_E_MEMORY));
}
