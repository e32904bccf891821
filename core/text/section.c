/*
** A section: from its heading to the next one that is not below it. Titles are compared by their
** letters and digits alone, in any case: the same, then one that begins so, then one that holds
** it. next: outline.c
*/
#include "text/extract_own.h"
#include "text/headings.h"
#include "text/text.h"

#define TITLE_MAX 256 /* bytes of a title that are compared */
#define LISTED 12     /* titles in a message */
#define LISTED_BYTES 300

typedef struct finder {
  char wanted[TITLE_MAX];
  size_t n;
  np_heading best;
  int quality; /* of the best: 3 the same, 2 begins so, 1 holds it, 0 none */
  size_t to;   /* where its section ends; 0: not known yet */
  size_t found;
  np_buf list;
  size_t titles;
} finder;

/* How many bytes a character entity has behind its &, as `&amp;` and `&#38;`; 0: it is none. */
static size_t entity(np_str s) {
  size_t n = 1;
  for (char c; n < s.n && n < 12; n++) {
    c = s.p[n];
    bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!letter && c != '#' && !(c >= '0' && c <= '9')) break;
  }
  return n > 1 && n < s.n && s.p[n] == ';' ? n : 0;
}

/* Small letters, digits and what is no ASCII; tags and entities are left out. */
static size_t letters(np_str s, char *out) {
  size_t n = 0;
  bool closes = true; /* a > may come: looked for until there is none */
  for (size_t i = 0; i < s.n && n < TITLE_MAX; i++) {
    char c = s.p[i];
    if (c == '<') {
      const char *end = closes ? memchr(s.p + i, '>', s.n - i) : NULL;
      closes = end != NULL;
      if (end) i = (size_t)(end - s.p);
      continue;
    }
    if (c == '&') i += entity(np_str_cut(s, i, s.n));
    if (c >= 'A' && c <= 'Z') c = (char)(c | 0x20);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80)
      out[n++] = c;
  }
  return n;
}

static int compare(const finder *f, np_str title) {
  char text[TITLE_MAX];
  np_str have = {text, letters(title, text)}, want = {f->wanted, f->n};
  if (!want.n) return 0;
  if (np_str_eq(have, want)) return 3;
  size_t at = np_str_find(have, want, 0);
  return at == SIZE_MAX ? 0 : at == 0 ? 2 : 1;
}

static bool look(void *ctx, const np_heading *h) {
  finder *f = ctx;
  if (f->quality && !f->to && h->level <= f->best.level) f->to = h->from;
  int quality = compare(f, h->title);
  if (quality > f->quality) {
    f->best = *h;
    f->quality = quality;
    f->to = 0;
  }
  f->found++;
  if (f->titles < LISTED && f->list.n < LISTED_BYTES && h->title.n) {
    np_buf_adds(&f->list, f->titles++ ? ", " : "");
    np_buf_add(&f->list, np_str_cut(h->title, 0, np_utf8_floor(h->title, 60)));
  }
  return true;
}

static neap_rc fail_none(np_extract_job *j, const finder *f) {
  np_str s = j->what->argument;
  int n = (int)np_utf8_floor(s, s.n < 80 ? s.n : 80);
  if (!f->found)
    return np_fail(j->err, NEAP_E_NOTFOUND,
                   "the text has no headings; match %.*s looks for the words", n, s.p);
  return np_fail(j->err, NEAP_E_NOTFOUND, "no section \"%.*s\"; there are %zu: %.*s%s", n,
                 s.p, f->found, (int)f->list.n, np_buf_str(&f->list).p,
                 f->titles < f->found ? ", \xE2\x80\xA6" : "");
}

neap_rc np_extract_section(np_extract_job *j) {
  finder f = {.quality = 0};
  np_str wanted = j->what->argument;
  while (wanted.n && wanted.p[0] == '#') wanted = np_str_cut(wanted, 1, wanted.n);
  f.n = letters(wanted, f.wanted);
  np_buf_init(&f.list, j->alloc);
  np_headings_each(j->text, look, &f);
  neap_rc rc = NEAP_OK;
  if (f.list.failed) {
    rc = np_fail_mem(j->err);
  } else if (!f.quality) {
    rc = fail_none(j, &f);
  } else {
    np_stretch s = {
        .from = f.best.from, .to = f.to ? f.to : j->text.n, .focus = f.best.from};
    if (!np_stretches_add(j->out, j->alloc, s)) rc = np_fail_mem(j->err);
  }
  np_buf_free(&f.list);
  return rc;
}
