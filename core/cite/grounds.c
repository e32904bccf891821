/*
** Grounds: the terms and names of texts in a table, each as it stands; and the texts themselves,
** for names that are parts of longer ones. next: index.h
*/
#include "cite/grounds.h"

#include "base/hash.h"
#include "cite/cite.h"
#include "cite/map.h"

#define LOOKS 400      /* names that are looked for in the texts */
#define LOOK_EACH 1000 /* places of one */

struct np_grounds {
  neap_alloc alloc;
  np_map has, low; /* of terms; `low` by their small letters, made when it is needed */
  np_str *terms, *texts;
  size_t term_count, term_cap, text_count, text_cap, looks;
  size_t lowered; /* terms that are in `low` */
  np_arena found; /* names that were looked for and stand there */
};

np_grounds *np_grounds_new(const neap_alloc *a) {
  np_grounds *g = np_calloc(a, 1, sizeof *g);
  if (!g) return NULL;
  g->alloc = *a;
  np_map_init(&g->has, &g->alloc);
  np_map_init(&g->low, &g->alloc);
  np_arena_init(&g->found, &g->alloc);
  return g;
}

void np_grounds_free(np_grounds *g) {
  if (!g) return;
  neap_alloc a = g->alloc;
  np_map_free(&g->has);
  np_map_free(&g->low);
  np_arena_free(&g->found);
  np_free(&a, g->terms);
  np_free(&a, g->texts);
  np_free(&a, g);
}

static bool find(const np_grounds *g, np_str term, np_probe *p) {
  uint32_t i;
  *p = np_map_find(&g->has, np_hash64(term));
  while (np_map_next(&g->has, p, &i)) {
    if (np_str_eq(g->terms[i], term)) return true;
  }
  return false;
}

static bool grow(const neap_alloc *a, np_str **list, size_t *cap, size_t need) {
  void *items = *list;
  bool ok = np_grow(a, &items, cap, need, sizeof **list);
  *list = items;
  return ok;
}

/* False: out of memory. */
static bool put(np_grounds *g, np_str term) {
  np_probe p;
  if (!np_map_room(&g->has)) return false;
  if (find(g, term, &p)) return true;
  if (!grow(&g->alloc, &g->terms, &g->term_cap, g->term_count + 1)) return false;
  if (np_map_put(&g->has, &p, (uint32_t)g->term_count)) g->terms[g->term_count++] = term;
  return true;
}

static neap_rc add_text(np_grounds *g, np_str text, np_err *e) {
  np_term term;
  np_ident ident;
  bool ok = grow(&g->alloc, &g->texts, &g->text_cap, g->text_count + 1);
  if (ok) g->texts[g->text_count++] = text;
  g->looks = 0;
  np_term_iter terms = np_term_scan(text);
  while (ok && np_term_next(&terms, &term)) ok = put(g, term.text);
  np_ident_iter idents = np_ident_scan(text);
  while (ok && np_ident_next(&idents, &ident))
    ok = ident.kind != NP_IDENT_NAME || np_term_is_number(ident.text) ||
         put(g, ident.text);
  return ok ? NEAP_OK : np_fail_mem(e);
}

/* A line end or a tab as JSON and code write it; a backslash that is escaped itself begins none. */
static const char *next_escape(const char *p, const char *end) {
  while (p < end && (p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
    if (end - p < 2) return end;
    if (p[1] == 'n' || p[1] == 't' || p[1] == 'r') return p;
    p += 2;
  }
  return end;
}

/* "make\ntest" is also added with spaces for these: make, test. */
neap_rc np_grounds_add(np_grounds *g, np_str text, np_err *e) {
  neap_rc rc = add_text(g, text, e);
  const char *end = text.n ? text.p + text.n : text.p, *p = next_escape(text.p, end);
  if (rc || p == end) return rc;
  char *own = np_arena_alloc(&g->found, text.n);
  if (!own) return np_fail_mem(e);
  memcpy(own, text.p, text.n);
  for (; p < end; p = next_escape(p + 2, end)) {
    own[p - text.p] = ' ';
    own[p - text.p + 1] = ' ';
  }
  return add_text(g, np_str_of(own, text.n), e);
}

/* ---- parts of longer names ---- */

static bool is_word(char c) {
  return (c >= '0' && c <= '9') || c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool is_joint(char c) {
  return c == '.' || c == '-';
}

/* Behind a name a call of something of it: list.add( is of list. */
static bool is_call(np_str text, size_t at) {
  size_t to = at + 1;
  while (to < text.n && to < at + 64 && is_word(text.p[to])) to++;
  return text.p[at] == '.' && to < text.n && text.p[to] == '(';
}

/* Does a name go on at that end, seen from there? */
static bool goes_on(np_str text, size_t from, size_t to) {
  const char *p = text.p;
  if (from > 0 && is_word(p[from - 1]) && !np_term_parts_stamp(text, from - 1))
    return true;
  if (from > 1 && is_joint(p[from - 1]) && is_word(p[from - 2])) return true;
  if (to < text.n && is_word(p[to])) return !np_term_parts_stamp(text, to);
  return to + 1 < text.n && is_joint(p[to]) && is_word(p[to + 1]) && !is_call(text, to);
}

/* A number is longer than it looks: 12 is not in 12:30. */
static bool counts_on(np_str text, size_t to) {
  bool digit = to > 0 && text.p[to - 1] >= '0' && text.p[to - 1] <= '9';
  if (!digit || to + 1 >= text.n || text.p[to + 1] < '0' || text.p[to + 1] > '9')
    return false;
  return text.p[to] == '.' || text.p[to] == ',' || text.p[to] == ':';
}

static bool stands_in(np_str text, np_str name) {
  size_t at = 0;
  for (int i = 0; i < LOOK_EACH; i++) {
    size_t from = np_str_find(text, name, at);
    if (from == SIZE_MAX) return false;
    at = from + name.n;
    if (!counts_on(text, at) && !goes_on(text, from, at)) return true;
  }
  return false;
}

static bool is_term(np_str value) {
  np_term first;
  np_term_iter it = np_term_scan(value);
  return np_term_next(&it, &first) && np_str_eq(first.text, value);
}

/* It is looked for once; where there is no memory, again. */
static void remember(np_grounds *g, np_str value) {
  np_str own;
  if (np_arena_copy(&g->found, value, &own)) put(g, own);
}

/* ---- short hashes ---- */

#define HASH_SHORT 7 /* letters of a commit's hash that are mostly told */
#define HASH 40      /* … and of a whole one, at least */

static size_t hash_run(np_str text, size_t at) {
  size_t n = 0;
  for (; at + n < text.n; n++) {
    char c = text.p[at + n];
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) break;
  }
  return n;
}

/* Hexadecimal digits, some of them letters: no number, and no whole hash. */
static bool is_short_hash(np_str s) {
  bool letter = false, digit = false;
  for (size_t i = 0; i < s.n; i++) {
    letter |= s.p[i] >= 'a';
    digit |= s.p[i] <= '9';
  }
  return s.n >= HASH_SHORT && s.n < HASH && hash_run(s, 0) == s.n && letter && digit;
}

static bool begins_hash(np_str text, np_str value) {
  size_t at = 0;
  for (int i = 0; i < LOOK_EACH; i++) {
    size_t from = np_str_find(text, value, at);
    if (from == SIZE_MAX) return false;
    at = from + hash_run(text, from);
    bool begins = from == 0 || !is_word(text.p[from - 1]);
    bool ends = at == text.n || !is_word(text.p[at]);
    if (begins && ends && at - from >= HASH) return true;
  }
  return false;
}

/* ---- asking ---- */

/* The number of 88th, or the value itself. */
static np_str without_th(np_str s) {
  static const char *const ends[] = {"st", "nd", "rd", "th"};
  size_t n = 0;
  while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9') n++;
  for (size_t i = 0; n > 0 && i < NP_COUNT(ends); i++) {
    if (np_str_is(np_str_cut(s, n, s.n), ends[i])) return np_str_cut(s, 0, n);
  }
  return s;
}

bool np_grounds_hold(np_grounds *g, np_str value) {
  np_probe p;
  if (value.n == 0 || find(g, value, &p) || find(g, without_th(value), &p)) return true;
  bool is_short = is_short_hash(value);
  if ((is_term(value) && !is_short) || g->looks >= LOOKS)
    return false; /* a term would be there */
  g->looks++;
  for (size_t i = 0; i < g->text_count; i++) {
    bool has = is_short ? begins_hash(g->texts[i], value) : stands_in(g->texts[i], value);
    if (!has) continue;
    remember(g, value);
    return true;
  }
  return false;
}

/* ---- words whatever their capitals ---- */

#define WORD_MAX 64 /* bytes; longer words are none of a language */

static bool lower(np_str s, char out[WORD_MAX]) {
  if (s.n > WORD_MAX) return false;
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    if ((c | 32) < 'a' || (c | 32) > 'z') return false;
    out[i] = (char)(c | 32);
  }
  return true;
}

static bool find_low(const np_grounds *g, np_str word, np_probe *p) {
  uint32_t i;
  char own[WORD_MAX];
  *p = np_map_find(&g->low, np_hash64(word));
  while (np_map_next(&g->low, p, &i)) {
    if (lower(g->terms[i], own) && np_str_eq(np_str_of(own, g->terms[i].n), word))
      return true;
  }
  return false;
}

static bool put_low(np_grounds *g, uint32_t i) {
  char own[WORD_MAX];
  np_probe p;
  if (!lower(g->terms[i], own)) return true;
  if (!np_map_room(&g->low)) return false;
  if (!find_low(g, np_str_of(own, g->terms[i].n), &p)) np_map_put(&g->low, &p, i);
  return true;
}

neap_rc np_grounds_word(np_grounds *g, np_str word, bool *has, np_err *e) {
  char own[WORD_MAX];
  np_probe p;
  *has = false;
  for (; g->lowered < g->term_count; g->lowered++) {
    if (!put_low(g, (uint32_t)g->lowered)) return np_fail_mem(e);
  }
  if (lower(word, own)) *has = find_low(g, np_str_of(own, word.n), &p);
  return NEAP_OK;
}
