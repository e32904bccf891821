/*
** Reads a .tiktoken file into a draft: a line for each token, its bytes in base64, a blank,
** its rank, which is its id and says when it is merged. The file does not say how text is
** split nor which special tokens there are: whoever imports it names the split family.
** next: rank.c
*/
#include "token/import.h"

static neap_rc bad_line(const np_draft *d, size_t line, const char *what, np_err *e) {
  return np_fail(e, NEAP_E_VOCAB,
                 "%s:%lu: %s; a line is a token in base64, a blank, a rank", d->where,
                 (unsigned long)line, what);
}

static int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Bytes of base64 with its padding, or false. */
static bool decode(np_str s, np_buf *out) {
  np_buf_clear(out);
  if (s.n == 0 || s.n % 4) return false;
  size_t pad = s.p[s.n - 1] == '=' ? s.p[s.n - 2] == '=' ? 2 : 1 : 0;
  uint32_t bits = 0;
  for (size_t i = 0; i < s.n; i++) {
    int v = i < s.n - pad ? value_of(s.p[i]) : 0;
    if (v < 0) return false;
    bits = bits << 6 | (uint32_t)v;
    if (i % 4 < 3) continue;
    size_t keep = i + 1 < s.n ? 3 : 3 - pad;
    for (size_t k = 0; k < keep; k++)
      np_buf_addc(out, (char)(bits >> (16 - 8 * k) & 0xFF));
    bits = 0;
  }
  return true;
}

static bool rank_of(np_str s, uint32_t *rank) {
  *rank = 0;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] < '0' || s.p[i] > '9' || *rank >= NP_TOKEN_IDS) return false;
    *rank = 10 * *rank + (uint32_t)(s.p[i] - '0');
  }
  return s.n > 0 && *rank < NP_TOKEN_IDS;
}

/* Ranks rise from line to line: so the order of the file is that of merging. */
static neap_rc read_line(np_draft *d, np_str line, size_t n, np_buf *bytes, np_err *e) {
  uint32_t rank;
  size_t blank = np_str_find(line, NP_LIT(" "), 0);
  if (blank == SIZE_MAX || !decode(np_str_cut(line, 0, blank), bytes) ||
      !rank_of(np_str_cut(line, blank + 1, line.n), &rank)) {
    return bad_line(d, n, "is not understood", e);
  }
  if (d->token_n && rank <= d->tokens[d->token_n - 1].id) {
    return bad_line(d, n, "its rank is not above the one before", e);
  }
  return np_draft_add(d, np_buf_str(bytes), rank, e);
}

static neap_rc read_lines(np_draft *d, np_str text, np_buf *bytes, np_err *e) {
  neap_rc rc = NEAP_OK;
  for (size_t n = 1; !rc && text.n; n++) {
    size_t end = np_str_find(text, NP_LIT("\n"), 0);
    np_str line = np_str_cut(text, 0, end);
    if (line.n && line.p[line.n - 1] == '\r') line.n--;
    if (line.n || end == SIZE_MAX) rc = read_line(d, line, n, bytes, e);
    text = np_str_cut(text, end == SIZE_MAX ? text.n : end + 1, text.n);
  }
  return rc;
}

/* Any two tokens that make a third are merged, and its rank says when. */
static neap_rc add_merges(np_draft *d, uint32_t result, np_err *e) {
  np_str s = np_draft_text(d, result);
  neap_rc rc = NEAP_OK;
  for (size_t k = 1; !rc && k < s.n; k++) {
    np_draft_merge m = {np_draft_find(d, np_str_cut(s, 0, k)), NP_TOKEN_NONE, result};
    if (m.left == NP_TOKEN_NONE) continue;
    m.right = np_draft_find(d, np_str_cut(s, k, s.n));
    if (m.right != NP_TOKEN_NONE) rc = np_draft_merge_add(d, m, e);
  }
  return rc;
}

neap_rc np_tiktoken_read(np_draft *d, np_str text, np_str pattern, np_err *e) {
  np_buf b;
  np_buf_init(&b, d->alloc);
  d->split = np_pattern_named(pattern);
  if (!d->split) {
    np_pattern_names(&b);
    np_buf_addc(&b, '\0');
    neap_rc rc = np_fail(e, NEAP_E_VOCAB, "%s: %s; name it with --pattern: %s", d->where,
                         pattern.n ? "its split family is not known"
                                   : "does not say how text is split",
                         b.failed ? "" : b.p);
    np_buf_free(&b);
    return rc;
  }
  d->flags |= NP_VOCAB_WHOLE;
  neap_rc rc = read_lines(d, text, &b, e);
  for (uint32_t i = 0; !rc && i < d->token_n; i++) rc = add_merges(d, i, e);
  if (!rc && b.failed) rc = np_fail_mem(e);
  np_buf_free(&b);
  return rc;
}
