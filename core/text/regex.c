/*
** The library's own limits count each start of a match anew, so they bound no line. Here a step
** is counted before every item of the pattern, and each byte that an item has passed: the sum
** over a text is bounded. What passes bytes without reaching a next item is refused: back
** references and large counts. next: match.c
*/
#include "text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define COUNT_MAX 255  /* of {n}: such a repeat may pass as many bytes uncounted */
#define NEST_MAX 50    /* parentheses in parentheses */
#define HEAP_KIB 16384 /* memory of one match: 16 MiB */
#define MATCH_CALLS 10000000u

struct np_regex {
  const neap_alloc *alloc;
  pcre2_general_context *general;
  pcre2_match_context *match;
  pcre2_code *code;
  pcre2_match_data *data;
  uint64_t left;
  size_t at;       /* where the last step was */
  bool spent, out; /* of the budget; of memory */
};

/* Blocks carry their size: the library does not say it when it frees. */
static void *give(PCRE2_SIZE n, void *ctx) {
  np_regex *r = ctx;
  void *p = np_malloc(r->alloc, n);
  if (!p) r->out = true;
  return p;
}

static void take_back(void *p, void *ctx) {
  np_free(((np_regex *)ctx)->alloc, p);
}

static int step(pcre2_callout_block *b, void *ctx) {
  np_regex *r = ctx;
  size_t at = b->current_position;
  uint64_t cost = 1 + (at > r->at ? at - r->at : 0);
  r->at = at;
  if (cost > r->left) {
    r->left = 0;
    r->spent = true;
    return PCRE2_ERROR_CALLOUT;
  }
  r->left -= cost;
  return 0;
}

static neap_rc fail(np_err *e, np_str pattern, const char *why) {
  int n = pattern.n > 80 ? 80 : (int)pattern.n;
  return np_fail(e, NEAP_E_ARG, "the pattern \"%.*s%s\" is not taken: %s", n, pattern.p,
                 (size_t)n < pattern.n ? "\xE2\x80\xA6" : "", why);
}

/* The brace at `at` is one of \x{2022}, \p{Greek}, …: an odd number of backslashes before. */
static bool names_character(np_str s, size_t at) {
  size_t n = 0;
  if (at < 2 || !strchr("xopPNu", s.p[at - 1])) return false;
  while (n < at - 1 && s.p[at - 2 - n] == '\\') n++;
  return n % 2 == 1;
}

/* {300}, {2,300}, wherever it stands. */
static bool counts_far(np_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] != '{' || names_character(s, i)) continue;
    size_t n = 0;
    for (i++; i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || strchr(", ", s.p[i]));
         i++) {
      if (!s.p[i]) break;
      n = s.p[i] >= '0' ? n * 10 + (size_t)(s.p[i] - '0') : 0;
      if (n > COUNT_MAX) return true;
    }
    i--;
  }
  return false;
}

static neap_rc fail_compile(np_regex *r, np_str pattern, int code, size_t at, np_err *e) {
  char why[128], text[200];
  if (r->out || code == PCRE2_ERROR_HEAP_FAILED) return np_fail_mem(e);
  if (pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why) < 0) why[0] = '\0';
  np_err inner;
  np_fail(&inner, NEAP_E_ARG, "at %zu: %.120s; it is read as grep -P reads it", at, why);
  memcpy(text, inner.text, sizeof text - 1);
  text[sizeof text - 1] = '\0';
  return fail(e, pattern, text);
}

static bool make_contexts(np_regex *r, pcre2_compile_context **c) {
  r->general = pcre2_general_context_create(give, take_back, r);
  *c = r->general ? pcre2_compile_context_create(r->general) : NULL;
  r->match = *c ? pcre2_match_context_create(r->general) : NULL;
  if (!r->match) return false;
  pcre2_set_newline(*c, PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(*c, NEST_MAX);
  pcre2_set_match_limit(r->match, MATCH_CALLS);
  pcre2_set_heap_limit(r->match, HEAP_KIB);
  pcre2_set_callout(r->match, step, r);
  return true;
}

static neap_rc compile(np_regex *r, np_str pattern, bool fold, np_err *e) {
  pcre2_compile_context *c = NULL;
  int code = 0;
  PCRE2_SIZE at = 0;
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF |
                     PCRE2_AUTO_CALLOUT | PCRE2_NEVER_BACKSLASH_C |
                     (fold ? PCRE2_CASELESS : 0),
           back = 0;
  bool ok = make_contexts(r, &c);
  if (ok)
    r->code = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, options, &code, &at, c);
  pcre2_compile_context_free(c);
  if (!ok) return np_fail_mem(e);
  if (!r->code) return fail_compile(r, pattern, code, at, e);
  pcre2_pattern_info(r->code, PCRE2_INFO_BACKREFMAX, &back);
  if (back) return fail(e, pattern, "back references are not known here");
  r->data = pcre2_match_data_create(1, r->general);
  return r->data ? NEAP_OK : np_fail_mem(e);
}

neap_rc np_regex_new(np_str pattern, bool fold, const neap_alloc *a, np_regex **out,
                     np_err *e) {
  *out = NULL;
  if (pattern.n > NP_REGEX_MAX) return fail(e, pattern, "it has more than 2,048 bytes");
  if (counts_far(pattern)) return fail(e, pattern, "a count is above 255");
  np_regex *r = np_calloc(a, 1, sizeof *r);
  if (!r) return np_fail_mem(e);
  r->alloc = a;
  neap_rc rc = compile(r, pattern, fold, e);
  if (rc) np_regex_free(r);
  else *out = r;
  return rc;
}

void np_regex_free(np_regex *r) {
  if (!r) return;
  pcre2_match_data_free(r->data);
  pcre2_code_free(r->code);
  pcre2_match_context_free(r->match);
  pcre2_general_context_free(r->general);
  np_free(r->alloc, r);
}

void np_regex_allow(np_regex *r, size_t bytes) {
  r->left = (uint64_t)bytes * NP_REGEX_PER_BYTE + NP_REGEX_BASE;
}

uint64_t np_regex_left(const np_regex *r) {
  return r->left;
}

neap_rc np_regex_find(np_regex *r, np_str line, bool *found, size_t *from, size_t *to,
                      np_err *e) {
  r->at = 0;
  r->spent = r->out = *found = false;
  int rc = pcre2_match(r->code, (PCRE2_SPTR)(line.n ? line.p : ""), line.n, 0, 0, r->data,
                       r->match);
  if (rc == PCRE2_ERROR_NOMATCH) return NEAP_OK;
  if (rc < 0 && (r->out || rc == PCRE2_ERROR_NOMEMORY)) return np_fail_mem(e);
  if (rc < 0)
    return np_fail(e, NEAP_E_LIMIT, "the pattern takes too long; make it simpler");
  const PCRE2_SIZE *v = pcre2_get_ovector_pointer(r->data);
  *found = true;
  *from = v[0] <= v[1] ? v[0] : v[1]; /* \K may turn them around */
  *to = v[0] <= v[1] ? v[1] : v[0];
  return NEAP_OK;
}
