/*
** From a file's text to a vocabulary: which kind it is, the name, the draft, its build.
** next: hf.c
*/
#include "token/import.h"

#define NAME_LONGEST 64

static bool is_word(char c, bool inside) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
    return true;
  }
  return inside && (c == '.' || c == '_' || c == '-');
}

bool np_import_name_ok(np_str name) {
  if (name.n == 0 || name.n > NAME_LONGEST || np_encoding_find(name)) return false;
  for (size_t i = 0; i < name.n; i++) {
    if (!is_word(name.p[i], i > 0)) return false;
  }
  return true;
}

/* JSON begins with a bracket, after white space at most; base64 never does. */
static bool is_json(np_str text) {
  size_t i = 0;
  while (i < text.n && strchr(" \t\r\n", text.p[i]) && text.p[i]) i++;
  return i < text.n && (text.p[i] == '{' || text.p[i] == '[');
}

static neap_rc read(np_draft *d, np_str text, const np_import *how, np_err *e) {
  if (!text.n) {
    return np_fail(e, NEAP_E_VOCAB, "%s: is empty; check the file", d->where);
  }
  if (!is_json(text)) return np_tiktoken_read(d, text, how->pattern, e);
  if (!how->pattern.n) return np_hf_read(d, text, e);
  return np_fail(e, NEAP_E_VOCAB,
                 "%s: says itself how text is split; leave out --pattern", d->where);
}

neap_rc np_vocab_import(const neap_alloc *a, np_str text, const np_import *how,
                        np_vocab **out, np_err *e) {
  np_draft d;
  *out = NULL;
  if (!np_import_name_ok(how->name)) {
    int n = how->name.n < 80 ? (int)how->name.n : 80;
    return np_fail(
        e, NEAP_E_ARG,
        "\"%.*s\" cannot be the name of a vocabulary: it is built in, or not 1 "
        "to 64 letters, digits, dots, lines and dashes; give another with --name",
        n, how->name.p);
  }
  np_draft_init(&d, a, how->where);
  if (text.n >= 3 && !memcmp(text.p, "\xEF\xBB\xBF", 3)) /* a byte order mark */
    text = np_str_cut(text, 3, text.n);
  neap_rc rc = read(&d, text, how, e);
  if (!rc) rc = np_draft_build(&d, how->name, how->source, out, e);
  np_draft_free(&d);
  return rc;
}
