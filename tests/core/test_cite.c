/*
** The citation index: tables, then properties against slow models.
** next: test_trim.c
*/
#include "check.h"
#include "cite/cite.h"

static np_str lit(const char *s) {
  return np_str_cstr(s);
}

static bool scanned(np_str text, np_str ident) {
  np_ident_iter it = np_ident_scan(text);
  np_ident id;
  while (np_ident_next(&it, &id)) {
    if (np_str_eq(id.text, ident)) return true;
  }
  return false;
}

/* ---- the index ---- */

static np_cite *index_new(void) {
  np_cite *c = np_cite_new(&np_alloc_libc);
  if (!c) exit(2);
  return c;
}

static neap_rc add(np_cite *c, int64_t entry, int64_t message, np_origin who,
                   const char *text) {
  return np_cite_add(c, entry, message, message, who, lit(text), NULL);
}

static const np_cite_weights weights = {
    .name = 1, .number = 0.25, .word = 0.125, .written = 16, .again = 4};

static const np_citation *citation(const np_cite *c, int64_t by, const char *text) {
  for (size_t i = 0; i < np_cite_count(c); i++) {
    const np_citation *n = np_cite_at(c, i);
    if (n->by == by && np_str_is(n->text, text)) return n;
  }
  return NULL;
}

static void facts(void) {
  np_cite *c = index_new();
  add(c, 1, 1, NP_ORIGIN_FIXED, "use tool_one");
  add(c, 2, 2, NP_ORIGIN_TASK, "fix bug-77 in app.py");
  add(c, 3, 3, NP_ORIGIN_MODEL, "look at app.py and own_idea");
  add(c, 4, 4, NP_ORIGIN_RESULT, "app.py: line_9 calls helper_fn");
  add(c, 5, 5, NP_ORIGIN_MODEL, "helper_fn in app.py, own_idea");
  add(c, 6, 6, NP_ORIGIN_USER, "try file_two");
  add(c, 7, 7, NP_ORIGIN_MODEL, "file_two with tool_one and helper_fn");
  const np_citation *n = citation(c, 3, "app.py");
  CHECK("the task's words are cited but no fact",
        n && !n->fact && n->credited == 2 && n->first == 2);
  CHECK("what the model made up cites nothing", !citation(c, 3, "own_idea"));
  n = citation(c, 5, "helper_fn");
  CHECK("a result's is a fact",
        n && n->fact && n->rare && n->credited == 4 && n->holders == 1);
  CHECK("with its step", n && n->step == 5 && n->first_step == 4);
  n = citation(c, 5, "app.py");
  CHECK("the nearest holder is credited, the first one kept",
        n && n->credited == 4 && n->first == 2 && n->holders == 3);
  n = citation(c, 5, "own_idea");
  CHECK("the model's own is no fact", n && !n->fact && n->credited == 3);
  n = citation(c, 7, "file_two");
  CHECK("a later user's is a fact", n && n->fact && n->credited == 6);
  CHECK("fixed text is no fact",
        citation(c, 7, "tool_one") && !citation(c, 7, "tool_one")->fact);
  n = citation(c, 7, "helper_fn");
  CHECK("the model's text holds too", n && n->credited == 5 && n->first == 4 && n->fact);
  np_cite_stat s = np_cite_of(c, 4);
  CHECK("hits are counted", s.hits == 2 && s.last_hit == 5 && s.identifiers == 3);
  CHECK("what nothing later holds is counted", s.latest == 1 && s.written == 0);
  s = np_cite_of(c, 7);
  CHECK("where it stands last, and that the model wrote it",
        s.latest == 2 && s.written == 2);
  uint32_t number;
  CHECK("a fact weighs where it stands last",
        np_cite_weight_of(c, 4, lit("line_9"), &weights, &number) == 1 &&
            np_cite_weight_of(c, 7, lit("helper_fn"), &weights, &number) == 1 + 16 + 8 &&
            np_cite_weight_of(c, 5, lit("helper_fn"), &weights, &number) == 0);
  CHECK("what is no fact weighs nothing",
        np_cite_weight_of(c, 7, lit("tool_one"), &weights, &number) == 0 &&
            np_cite_weight_of(c, 7, lit("nowhere_1"), &weights, &number) == 0);
  CHECK("an unknown entry has nothing", np_cite_of(c, 99).identifiers == 0);
  const int64_t *who;
  CHECK("holders are listed oldest first", np_cite_holders(c, lit("app.py"), &who) == 4 &&
                                               who[0] == 2 && who[1] == 3 && who[3] == 5);
  CHECK("one holder too", np_cite_holders(c, lit("line_9"), &who) == 1 && who[0] == 4);
  CHECK("none", np_cite_holders(c, lit("nowhere_1"), &who) == 0);
  np_str rare[8];
  CHECK("the rarest first",
        np_cite_rarest(c, 4, rare, 8) == 3 && np_str_is(rare[0], "line_9") &&
            np_str_is(rare[1], "helper_fn") && np_str_is(rare[2], "app.py"));
  CHECK("no more than asked for", np_cite_rarest(c, 4, rare, 1) == 1);
  np_cite_free(c);
}

static void messages(void) {
  np_cite *c = index_new();
  add(c, 1, 1, NP_ORIGIN_RESULT, "alpha_1 beta_22");
  add(c, 2, 2, NP_ORIGIN_MODEL, "new_thing");
  add(c, 3, 2, NP_ORIGIN_MODEL, "new_thing alpha_1");
  add(c, 4, 2, NP_ORIGIN_MODEL, "alpha_1 alpha_1");
  add(c, 4, 2, NP_ORIGIN_MODEL, "alpha_1 beta_22");
  CHECK("parts of a message do not cite each other", !citation(c, 3, "new_thing"));
  const np_citation *n = citation(c, 4, "alpha_1");
  CHECK("they credit the entry before the message",
        n && n->credited == 1 && n->holders == 1);
  CHECK("an entry counts an identifier once",
        np_cite_count(c) == 3 && np_cite_of(c, 1).hits == 3);
  CHECK("several calls make one entry", np_cite_of(c, 4).identifiers == 2);
  np_err e = {0};
  CHECK("ids that fall are refused",
        np_cite_add(c, 3, 2, 2, NP_ORIGIN_MODEL, lit("x_y_z"), &e) == NEAP_E_ARG &&
            e.text[0]);
  add(c, 5, 5, NP_ORIGIN_OTHER, "memory_item alpha_1");
  add(c, 6, 6, NP_ORIGIN_MODEL, "memory_item alpha_1");
  CHECK("memory is no source", !citation(c, 6, "memory_item"));
  n = citation(c, 6, "alpha_1");
  CHECK("nor is it credited", n && n->credited == 4 && n->holders == 3 && n->rare);
  CHECK("but it has identifiers", np_cite_of(c, 5).identifiers == 2);
  add(c, 7, 7, NP_ORIGIN_MODEL, "alpha_1");
  n = citation(c, 7, "alpha_1");
  CHECK("what stands everywhere is not rare and no hit",
        n && n->holders == 4 && !n->rare && np_cite_of(c, 6).hits == 0);
  np_cite_free(c);
}

static void words_and_cjk(void) {
  np_cite *c = index_new();
  add(c, 1, 1, NP_ORIGIN_RESULT,
      "the harbour, {\"name\":\"\xE5\x8C\x97\xE4\xBA\xAC\xE9\xA5\xAD\xE5\xBA\x97\"}");
  add(c, 2, 2, NP_ORIGIN_MODEL,
      "harbour: "
      "\xE6\x88\x91\xE6\x8E\xA8\xE8\x8D\x90\xE5\x8C\x97\xE4\xBA\xAC\xE9\xA5\xAD\xE5\xBA"
      "\x97\xE7\xBB\x99\xE4\xBD\xA0\xE4\xBB\xAC\xE4\xBD\x8F");
  const np_citation *n = citation(c, 2, "harbour");
  CHECK("a word is cited, but is no hit", n && n->kind == NP_IDENT_WORD && n->fact);
  n = citation(c, 2, "\xE5\x8C\x97\xE4\xBA\xAC\xE9\xA5\xAD\xE5\xBA\x97");
  CHECK("a CJK name is found inside a sentence",
        n && n->kind == NP_IDENT_CJK && n->credited == 1);
  CHECK("and is one hit",
        np_cite_of(c, 1).hits == 1 && np_cite_of(c, 1).identifiers == 1);
  CHECK("the sentence holds it", np_cite_of(c, 2).identifiers == 1);
  np_cite_free(c);
}

static void repeats(void) {
  const char *ten =
      "line one\nline two\nline three\nline four\nline five\nline six\nline seven\n"
      "line eight\nline nine\nline ten\n";
  np_cite *c = index_new();
  add(c, 1, 1, NP_ORIGIN_RESULT, ten);
  add(c, 2, 2, NP_ORIGIN_RESULT, "a few\nlines\n}\n");
  add(c, 3, 3, NP_ORIGIN_RESULT,
      "line one\nline two\nline three\nline four\nline five\nline six\nline seven\n");
  CHECK("seven of ten lines are not enough", np_cite_of(c, 1).repeated_by == 0);
  add(c, 4, 4, NP_ORIGIN_MODEL, ten);
  CHECK("the model's text repeats nothing", np_cite_of(c, 1).repeated_by == 0);
  add(c, 5, 5, NP_ORIGIN_RESULT, "line one\nline two\nline three\nline four\nline one\n");
  add(c, 5, 5, NP_ORIGIN_RESULT,
      "new\r\nline five\r\nline six\r\nline seven\r\nline nine\r\na few\r\nlines");
  CHECK("eight of ten lines are, in several calls", np_cite_of(c, 1).repeated_by == 5);
  CHECK("all lines are", np_cite_of(c, 3).repeated_by == 5);
  CHECK("two lines say nothing", np_cite_of(c, 2).repeated_by == 0);
  add(c, 6, 6, NP_ORIGIN_RESULT, ten);
  CHECK("the latest repetition counts", np_cite_of(c, 1).repeated_by == 6);
  CHECK("the newest is not repeated", np_cite_of(c, 6).repeated_by == 0);
  np_cite_free(c);
}

/* ---- a slow model of the definition ---- */

#define MODEL_ENTRIES 60

typedef struct slow_entry {
  int64_t message;
  np_origin who;
  char text[256];
  size_t n;
} slow_entry;

static bool slow_holds(const slow_entry *e, np_str ident) {
  return e->who != NP_ORIGIN_OTHER && scanned(np_str_of(e->text, e->n), ident);
}

/* Every citation of entry `by` that the definition gives, counted and compared. */
static size_t slow_compare(const np_cite *c, const slow_entry *all, size_t by,
                           size_t *n) {
  size_t wrong = 0;
  np_ident_iter it = np_ident_scan(np_str_of(all[by].text, all[by].n));
  np_ident id;
  while (np_ident_next(&it, &id)) {
    np_str before = np_str_of(all[by].text, (size_t)(id.text.p - all[by].text));
    if (scanned(before, id.text)) continue; /* not the first time in this entry */
    int64_t first = 0, nearest = 0;
    uint32_t holders = 0;
    for (size_t i = 0; i < by; i++) {
      if (all[i].message == all[by].message || !slow_holds(&all[i], id.text)) continue;
      if (!first) first = (int64_t)i + 1;
      nearest = (int64_t)i + 1;
      holders++;
    }
    char text[256];
    memcpy(text, id.text.p, id.text.n);
    text[id.text.n] = '\0';
    const np_citation *got = citation(c, (int64_t)by + 1, text);
    np_origin from = first ? all[first - 1].who : NP_ORIGIN_OTHER;
    bool fact = from == NP_ORIGIN_RESULT || from == NP_ORIGIN_USER;
    if (!nearest || (id.kind == NP_IDENT_WORD && (!fact || holders > 3))) {
      wrong += got != NULL;
      continue;
    }
    ++*n;
    wrong += !got || got->credited != nearest || got->first != first ||
             got->holders != holders || got->fact != fact || got->rare != (holders <= 3);
  }
  return wrong;
}

/* An identifier that entry `at` shows, last of all: how many hold it up to there, how often the
** model wrote it (4 times at most), whether it can be a fact. */
static bool slow_last(const slow_entry *all, size_t at, np_str ident, uint32_t *holders,
                      uint32_t *uses) {
  const slow_entry *first = NULL;
  *holders = *uses = 0;
  for (size_t i = 0; i < MODEL_ENTRIES; i++) {
    if (!slow_holds(&all[i], ident)) continue;
    if (i > at) return false;
    if (!first) first = &all[i];
    ++*holders;
    *uses += all[i].who == NP_ORIGIN_MODEL && *uses < 4;
  }
  return first && (first->who == NP_ORIGIN_RESULT || first->who == NP_ORIGIN_USER);
}

/* What entry `at` shows last of what can be a fact, and of that what the model wrote. */
static bool slow_latest(const np_cite *c, const slow_entry *all, size_t at) {
  np_ident_iter it = np_ident_scan(np_str_of(all[at].text, all[at].n));
  np_cite_stat got = np_cite_of(c, (int64_t)at + 1), want = got;
  double sum = 0;
  np_ident id;
  want.latest = want.written = want.numbers = want.again = want.words = 0;
  while (np_ident_next(&it, &id) && all[at].who != NP_ORIGIN_OTHER) {
    np_str before = np_str_of(all[at].text, (size_t)(id.text.p - all[at].text));
    uint32_t holders, uses, unused;
    if (scanned(before, id.text) || !slow_last(all, at, id.text, &holders, &uses))
      continue;
    sum += np_cite_weight_of(c, (int64_t)at + 1, id.text, &weights, &unused);
    if (id.kind == NP_IDENT_WORD) {
      want.words += holders <= 3;
      continue;
    }
    want.latest++;
    want.written += uses > 0;
    want.again += uses;
    want.numbers += np_ident_class_of(id.text, id.kind) == NP_CLASS_NUMBER;
  }
  return memcmp(&got, &want, sizeof got) == 0 && np_cite_worth(&got, &weights) == sum;
}

static void model_agrees(void) {
  static const char *const names[] = {
      "aa_1",  "bb_2", "cc_3",  "dd_4",   "ee_5",  "ff_6", "gg_7", "wordy",
      "other", "1234", "x/y/z", "fooBar", "short", "30ms", "no",   "\"as it was\""};
  static slow_entry all[MODEL_ENTRIES];
  unsigned long long rng = check_seed(9);
  size_t wrong = 0, seen = 0, total = 0;
  for (int round = 0; round < 60; round++) {
    np_cite *c = index_new();
    int64_t message = 1;
    size_t expected = 0;
    for (size_t i = 0; i < MODEL_ENTRIES; i++) {
      slow_entry *e = &all[i];
      if (check_random(&rng) % 3) message++;
      e->message = message;
      e->who = (np_origin)(check_random(&rng) % (NP_ORIGIN_OTHER + 1));
      if (check_random(&rng) % 2) e->who = NP_ORIGIN_MODEL;
      e->n = 0;
      for (size_t k = check_random(&rng) % 6; k > 0; k--) {
        const char *s = names[check_random(&rng) % NP_COUNT(names)];
        e->n += (size_t)snprintf(e->text + e->n, sizeof e->text - e->n, "%s, ", s);
      }
      np_cite_add(c, (int64_t)i + 1, message, (int64_t)i, e->who,
                  np_str_of(e->text, e->n), NULL);
    }
    for (size_t i = 0; i < MODEL_ENTRIES; i++) {
      if (all[i].who == NP_ORIGIN_MODEL) wrong += slow_compare(c, all, i, &expected);
      wrong += !slow_latest(c, all, i);
    }
    seen += np_cite_count(c);
    total += expected;
    np_cite_free(c);
  }
  CHECK("there were citations", total > 1000);
  CHECK("the index finds what the definition says", wrong == 0 && seen == total);
}

/* ---- memory and size ---- */

typedef struct counter {
  size_t left, live;
} counter;

static void *count_malloc(void *ctx, size_t n) {
  counter *k = ctx;
  if (k->left == 0) return NULL;
  k->left--;
  void *p = malloc(n);
  k->live += p != NULL;
  return p;
}

static void *count_realloc(void *ctx, void *p, size_t old, size_t n) {
  (void)old;
  counter *k = ctx;
  if (k->left == 0) return NULL;
  k->left--;
  return realloc(p, n);
}

static void count_free(void *ctx, void *p) {
  counter *k = ctx;
  k->live -= p != NULL;
  free(p);
}

/* Every allocation fails once: an error each time, nothing leaks. */
static void out_of_memory(void) {
  static char text[4000];
  size_t n = 0, failed = 0;
  bool done = false, bad = false;
  for (int i = 0; i < 300; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "id_%d\n", i);
  for (size_t k = 0; !done && k < 1000; k++) {
    counter count = {k, 0};
    neap_alloc a = {count_malloc, count_realloc, count_free, &count};
    np_cite *c = np_cite_new(&a);
    np_err e = {0};
    neap_rc rc = c ? NEAP_OK : NEAP_E_MEMORY;
    for (int64_t i = 1; rc == NEAP_OK && i < 8; i++) {
      np_origin who = i % 2 ? NP_ORIGIN_RESULT : NP_ORIGIN_MODEL;
      rc = np_cite_add(c, i, i, i, who, np_str_of(text, n), &e);
    }
    np_cite_free(c);
    done = rc == NEAP_OK;
    failed += rc == NEAP_E_MEMORY;
    bad = bad || count.live != 0 || (rc && rc != NEAP_E_MEMORY);
  }
  CHECK("every failing allocation is reported, and nothing leaks",
        done && !bad && failed > 20);
}

static void large(void) {
  size_t n = 0, cap = 8 << 20;
  char *p = malloc(cap + 32);
  np_cite *c = index_new();
  uint32_t k = 0;
  while (p && n < cap) n += (size_t)snprintf(p + n, 32, "n_%u ", k++);
  CHECK("8 MB of distinct identifiers",
        p && np_cite_add(c, 1, 1, 1, NP_ORIGIN_RESULT, np_str_of(p, n), NULL) == NEAP_OK);
  CHECK("are all counted",
        np_cite_of(c, 1).identifiers == k - 10); /* "n_0" to "n_9" are short */
  free(p);
  for (int64_t i = 2; i < 100002; i++) {
    np_origin who = i % 2 ? NP_ORIGIN_MODEL : NP_ORIGIN_RESULT;
    np_cite_add(c, i, i, i, who, lit("n_500 again"), NULL);
  }
  const int64_t *who;
  CHECK("one identifier in 100,000 entries",
        np_cite_holders(c, lit("n_500"), &who) == 64 && who[0] == 1 && who[63] == 64);
  const np_citation *last = np_cite_at(c, np_cite_count(c) - 1);
  CHECK("credits the nearest", last && last->credited == last->by - 1);
  np_cite_free(c);
}

/* A step and who writes in it; `drift` after it in hundredths, -1: unknown. */
typedef struct drift_row {
  np_origin who;
  const char *text;
  int drift;
} drift_row;

static void drift_rows(const char *what, const drift_row *rows, size_t n) {
  np_cite *c = index_new();
  int64_t step = 0;
  for (size_t i = 0; i < n; i++) {
    double share = -1;
    if (rows[i].who == NP_ORIGIN_MODEL) step++;
    np_cite_add(c, (int64_t)i + 1, (int64_t)i, step, rows[i].who, lit(rows[i].text),
                NULL);
    bool known = np_cite_drift(c, &share);
    int got = known ? (int)(share * 100 + 0.5) : -1;
    if (got != rows[i].drift) {
      fprintf(stderr, "%s, row %zu (%s): %d, expected %d\n", what, i, rows[i].text, got,
              rows[i].drift);
    }
    CHECK(what, got == rows[i].drift);
  }
  np_cite_free(c);
}

static void drift(void) {
  static const drift_row side_issue[] = {
      {NP_ORIGIN_FIXED, "use tool_one", -1},
      {NP_ORIGIN_TASK, "Repair src/pump.c, please", -1},
      {NP_ORIGIN_RESULT, "nothing", -1},
      {NP_ORIGIN_MODEL, "I open /home/me/src/pump.c:17", 0},
      {NP_ORIGIN_RESULT, "pump.c needs valve.h", 0},
      {NP_ORIGIN_MODEL, "now valve.h", 50},
      {NP_ORIGIN_MODEL, "and again valve.h", 67},
      {NP_ORIGIN_MODEL, "pump.c: done", 50},
      {NP_ORIGIN_USER, "Now valve.h, all of it", 50},
      {NP_ORIGIN_MODEL, "valve.h", 40},
      {NP_ORIGIN_USER, "Good.", 40},
      {NP_ORIGIN_MODEL, "valve.h is no goal any more", 50},
      {NP_ORIGIN_MODEL, "the task stays one: pump.c", 43},
  };
  static const drift_row no_names[] = {
      {NP_ORIGIN_TASK, "Do what is right", -1},
      {NP_ORIGIN_MODEL, "src/pump.c", -1},
      {NP_ORIGIN_USER, "look at E4711", -1},
      {NP_ORIGIN_MODEL, "E4711 it is", 0},
  };
  static const drift_row short_parts[] = {
      {NP_ORIGIN_TASK, "src/a.c and \xE6\xB0\xB4\xE6\xB3\xB5", -1},
      {NP_ORIGIN_MODEL, "lib/a.c", 100},
      {NP_ORIGIN_MODEL, "src/a.c", 50},
      {NP_ORIGIN_MODEL, "\xE6\xB0\xB4\xE6\xB3\xB5", 33},
  };
  drift_rows("drift of a side issue", side_issue, NP_COUNT(side_issue));
  drift_rows("drift without names", no_names, NP_COUNT(no_names));
  drift_rows("drift of short names", short_parts, NP_COUNT(short_parts));
  np_cite *c = index_new();
  double share = -1;
  add(c, 1, 1, NP_ORIGIN_TASK, "goal_name");
  for (int64_t i = 2; i <= 40; i++)
    np_cite_add(c, i, i, i, NP_ORIGIN_MODEL, lit(i <= 30 ? "other" : "goal_name"), NULL);
  CHECK("drift looks at ten steps", np_cite_drift(c, &share) && share == 0);
  np_cite_free(c);
}

int main(void) {
  facts();
  messages();
  words_and_cjk();
  repeats();
  model_agrees();
  out_of_memory();
  large();
  drift();
  return check_done();
}
