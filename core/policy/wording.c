/*
** What stands for steps says nothing that they do not: every number, name and path of a text that a
** policy or a host has written must be in the steps, in what else the prompt holds of the user and
** of notes, or in the state object. What the engine has made, or verified as an answer, is not
** looked at twice. It looks at values, not at meaning. next: span.c
*/
#include "base/json.h"
#include "cite/cite.h"
#include "cite/grounds.h"
#include "policy/host.h"
#include "text/text.h"

#define TOLD 20        /* values of one text that are told */
#define VALUE_MAX 200  /* bytes of one that are told */
#define MAPS_MAX 65536 /* bytes of maps of one run */

typedef struct wording {
  np_policy *p;
  np_grounds *grounds;
  np_buf own,
      bare;       /* the text without what was verified; and without its own numbering */
  np_str *values; /* of the bare text that were not found so far */
  size_t count, cap;
} wording;

static void wording_free(wording *w) {
  np_grounds_free(w->grounds);
  np_buf_free(&w->own);
  np_buf_free(&w->bare);
  np_free(&w->p->alloc, w->values);
}

/* ---- what was verified ---- */

/* Takes a piece out of the text, wherever it stands. */
static void take_out(wording *w, np_str piece) {
  size_t at = 0, from;
  np_str text = np_buf_str(&w->own);
  if (!np_str_says(piece) || np_str_find(text, piece, 0) == SIZE_MAX) return;
  np_buf_clear(&w->bare);
  while ((from = np_str_find(text, piece, at)) != SIZE_MAX) {
    np_buf_add(&w->bare, np_str_cut(text, at, from));
    np_buf_addc(&w->bare, '\n');
    at = from + piece.n;
  }
  np_buf_add(&w->bare, np_str_cut(text, at, text.n));
  np_buf own = w->own;
  w->own = w->bare;
  w->bare = own;
}

static void take_out_known(wording *w) {
  const np_run_of *r = &w->p->run;
  if (w->p->hook != NP_HOOK_COMPACT) return;
  for (size_t i = 0; i < r->count; i++) {
    if (!r->asks[i].vouched) continue;
    take_out(w, r->asks[i].answer);
    take_out(w, r->asks[i].kept);
  }
  for (size_t i = 0; i < r->map_count; i++) take_out(w, r->maps[i]);
}

void np_wording_map(np_policy *p, np_str map) {
  np_run_of *r = &p->run;
  void *maps = r->maps;
  if (p->hook != NP_HOOK_COMPACT || r->map_bytes + map.n > MAPS_MAX) return;
  bool ok = np_grow(&p->alloc, &maps, &r->map_cap, r->map_count + 1, sizeof(np_str));
  r->maps = maps;
  if (!ok || !np_arena_copy(&r->arena, map, &r->maps[r->map_count])) return;
  r->map_bytes += map.n;
  r->map_count++;
}

/* ---- the text's own numbering ---- */

static const char *past_spaces(const char *p, const char *end) {
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  return p;
}

/* A whole number; its end, or `p` where there is none. */
static const char *past_number(const char *p, const char *end, int64_t *n) {
  *n = 0;
  while (p < end && *p >= '0' && *p <= '9') {
    if (*n < INT64_MAX / 100) *n = *n * 10 + (*p - '0');
    p++;
  }
  return p;
}

/* "3. ", "12) ", "- ", "* ", "#" of a list or a heading. */
static const char *past_marker(const char *p, const char *end) {
  int64_t n;
  p = past_spaces(p, end);
  const char *q = past_number(p, end, &n);
  if (q > p && n < 1000 && end - q > 1 && (*q == '.' || *q == ')') && q[1] == ' ')
    return q + 2;
  if (end - p > 1 && (*p == '-' || *p == '*') && p[1] == ' ') return p + 2;
  return p;
}

static bool starts(const char *p, const char *end, const char *word) {
  size_t n = strlen(word);
  return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

/* What parts two numbers of a list; `p` where nothing does. */
static const char *past_between(const char *p, const char *end) {
  static const char *const all[] = {", ",    "-",    "\xE2\x80\x93", "\xE3\x80\x81",
                                    " and ", " to ", " & "};
  for (size_t i = 0; i < NP_COUNT(all); i++) {
    if (starts(p, end, all[i])) return p + strlen(all[i]);
  }
  return p;
}

static const char *past_word(const char *p, const char *end) {
  static const char *const all[] = {"until ", "before ", "after ",
                                    "from ",  "since ",  "up to "};
  for (size_t i = 0; i < NP_COUNT(all); i++) {
    if (starts(p, end, all[i])) return p + strlen(all[i]);
  }
  return p;
}

/* "step 3", "steps 3-9", "steps until 7", "steps 3, 4 and 7": numbers of steps that were. Its end, or `p`. */
static const char *past_steps(const char *p, const char *end, int64_t last) {
  const char *done = p, *q = p + 4;
  int64_t n;
  if (end - p < 6 || (*p | 32) != 's' || memcmp(p + 1, "tep", 3) != 0) return p;
  if (*q == 's') q++;
  const char *from = past_spaces(q, end);
  if (from > q) from = past_word(from, end);
  while (from > q) {
    q = past_number(from, end, &n);
    if (q == from || n > last) break;
    done = q;
    from = past_between(q, end);
  }
  return done;
}

/* "第 3 步" */
static const char *past_step_zh(const char *p, const char *end, int64_t last) {
  int64_t n;
  if (!starts(p, end, "\xE7\xAC\xAC")) return p;
  const char *from = past_spaces(p + 3, end), *to = past_number(from, end, &n);
  const char *q = past_spaces(to, end);
  bool is_step = to > from && n <= last && starts(q, end, "\xE6\xAD\xA5");
  return is_step ? q + 3 : p;
}

/* The head of a note: `[F3 v2 step 14; refuted 15]`. */
static const char *past_head(const char *p, const char *end, int64_t last) {
  static const char *const states[] = {"; refuted ", "; done ", "; answered "};
  const char *q = p + 1;
  int64_t n;
  if (p == end || *p != '[') return p;
  if (q < end && *q >= 'A' && *q <= 'Z') {
    q = past_number(q + 1, end, &n);
    if (starts(q, end, " v")) q = past_number(q + 2, end, &n);
    if (q < end && *q == ' ') q++;
  }
  const char *to = past_steps(q, end, last);
  for (size_t i = 0; i < NP_COUNT(states) && to > q; i++) {
    if (!starts(to, end, states[i])) continue;
    const char *from = to + strlen(states[i]);
    to = past_number(from, end, &n);
    if (to == from || n > last) return p;
    i = SIZE_MAX;
  }
  return to > q && to < end && *to == ']' ? to + 1 : p;
}

/* Names of the engine's tools are known to every model, and entries by their numbers: `neap_read`,
** `neap_read(17`, `neap:17`. */
static const char *past_tool(const char *p, const char *end, int64_t entries) {
  static const char *const names[] = {"neap_recall", "neap_read", "neap:"};
  int64_t n;
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    if (!starts(p, end, names[i])) continue;
    const char *q = p + strlen(names[i]), *from = q < end && *q == '(' ? q + 1 : q;
    const char *to = past_number(from, end, &n);
    bool numbered = to > from && n <= entries && (i == 2 || from > q);
    return numbered ? to : i < 2 ? q : p;
  }
  return p;
}

/* The end of a tag, as models close parts with: </summary>. Its end, or `p`. */
static const char *past_tag(const char *p, const char *end) {
  if (!starts(p, end, "</")) return p;
  const char *q = p + 2;
  while (q < end && (*q | 32) >= 'a' && (*q | 32) <= 'z') q++;
  return q > p + 2 && q < end && *q == '>' ? q + 1 : p;
}

static bool in_word(const char *begin, const char *p) {
  unsigned char c = p > begin ? (unsigned char)p[-1] : ' ';
  return (c >= '0' && c <= '9') || (c | 32) >= 'a' || c == '_';
}

/* A line without its marker, its note's head and the steps that it names. */
static void add_bare(wording *w, np_str line) {
  int64_t last = w->p->pack->log->step + 1; /* the turn that is made */
  const char *begin = line.p, *end = line.p + line.n;
  const char *p = past_marker(begin, end);
  p = past_head(p, end, last);
  while (p < end) {
    const char *q = past_tag(p, end);
    if (q == p && !in_word(begin, p)) {
      q = past_steps(p, end, last);
      if (q == p) q = past_step_zh(p, end, last);
      if (q == p) q = past_tool(p, end, (int64_t)w->p->pack->log->entry_count);
    }
    if (q > p) np_buf_addc(&w->bare, ' ');
    else np_buf_addc(&w->bare, *q++);
    p = q;
  }
  np_buf_addc(&w->bare, '\n');
}

static void make_bare(wording *w) {
  np_buf_clear(&w->bare);
  np_str text = np_buf_str(&w->own);
  while (text.n) {
    size_t n = np_str_find(text, NP_LIT("\n"), 0);
    if (n == SIZE_MAX) n = text.n;
    add_bare(w, np_str_cut(text, 0, n));
    text = np_str_cut(text, n + 1, text.n);
  }
}

/* ---- values ---- */

static bool add_value(wording *w, np_str value) {
  void *values = w->values;
  bool ok = np_grow(&w->p->alloc, &values, &w->cap, w->count + 1, sizeof(np_str));
  w->values = values;
  if (ok) w->values[w->count++] = value;
  return ok;
}

/* False: out of memory. */
static bool find_values(wording *w) {
  np_term term;
  np_ident ident;
  np_str bare = np_buf_str(&w->bare);
  bool ok = !w->own.failed && !w->bare.failed;
  np_term_iter terms = np_term_scan(bare);
  while (ok && np_term_next(&terms, &term))
    ok = !np_term_is_value(term) || add_value(w, term.text);
  np_ident_iter idents = np_ident_scan(bare);
  while (ok && np_ident_next(&idents, &ident))
    ok = ident.kind != NP_IDENT_NAME || np_name_is_plain(ident.text) ||
         add_value(w, ident.text);
  return ok;
}

/* Forgets what the grounds hold by now. */
static void sift(wording *w) {
  size_t kept = 0;
  for (size_t i = 0; i < w->count; i++) {
    if (!np_grounds_hold(w->grounds, w->values[i])) w->values[kept++] = w->values[i];
  }
  w->count = kept;
}

/* ---- grounds ---- */

static neap_rc add_entry(wording *w, const np_entry *en, np_err *e) {
  neap_rc rc = np_grounds_add(w->grounds, en->text, e);
  if (!rc && en->tool.n) rc = np_grounds_add(w->grounds, en->tool, e);
  if (!rc && en->path.n) rc = np_grounds_add(w->grounds, en->path, e);
  return rc;
}

static neap_rc add_span(wording *w, const np_span *s, np_err *e) {
  const np_log *lg = w->p->pack->log;
  neap_rc rc = NEAP_OK;
  for (size_t i = 0; i < s->atoms; i++) {
    int64_t id = lg->atoms[s->atom[i]].first;
    for (; !rc && id; id = np_log_entry(lg, id)->next)
      rc = add_entry(w, np_log_entry(lg, id), e);
  }
  return rc;
}

static bool is_beside(np_kind kind) {
  return kind == NP_KIND_USER || kind == NP_KIND_SUMMARY || kind == NP_KIND_STATE ||
         kind == NP_KIND_MEMORY || kind == NP_KIND_EVIDENCE || kind == NP_KIND_SYSTEM;
}

/* What else a prompt holds that no model has written: rules, the user's words, notes, the state. */
static neap_rc add_beside(wording *w, np_err *e) {
  const np_pack *p = w->p->pack;
  const np_turn *turn = &w->p->turn;
  np_str object = turn->object ? turn->object(turn->deed_ctx) : NP_LIT("");
  neap_rc rc = np_grounds_add(w->grounds, object, e);
  for (size_t i = 0; !rc && i < p->log->entry_count && i < p->view.count; i++) {
    const np_entry *en = &p->log->entries[i];
    if (is_beside(en->kind) && np_view_at(&p->view, en->id)->listed)
      rc = np_grounds_add(w->grounds, en->text, e);
  }
  return rc;
}

/* What the run of compact has given a model to read: answers may be drawn from it. */
static neap_rc add_prompts(wording *w, np_err *e) {
  const np_run_of *r = &w->p->run;
  neap_rc rc = NEAP_OK;
  for (size_t i = 0; !rc && w->p->hook == NP_HOOK_COMPACT && i < r->count; i++) {
    if (!r->asks[i].summary) rc = np_grounds_add(w->grounds, r->asks[i].text, e);
  }
  return rc;
}

/* ---- the check ---- */

static neap_rc begin(wording *w, np_policy *p, np_str text, np_err *e) {
  *w = (wording){.p = p};
  np_buf_init(&w->own, &p->alloc);
  np_buf_init(&w->bare, &p->alloc);
  np_buf_add(&w->own, text);
  take_out_known(w);
  make_bare(w);
  if (!find_values(w)) return np_fail_mem(e);
  if (!w->count) return NEAP_OK;
  w->grounds = np_grounds_new(&p->alloc);
  return w->grounds ? NEAP_OK : np_fail_mem(e);
}

static bool was_told(const wording *w, size_t i) {
  for (size_t k = 0; k < i; k++) {
    if (np_str_eq(w->values[k], w->values[i])) return true;
  }
  return false;
}

static np_str clipped(np_str s) {
  return np_str_cut(s, 0, s.n > VALUE_MAX ? np_utf8_floor(s, VALUE_MAX) : s.n);
}

/* {"rung","code","what","value"} for each value, parted by commas. */
static neap_rc tell(const wording *w, const char *rung, np_buf *faults, np_err *e) {
  np_buf what;
  np_buf_init(&what, &w->p->alloc);
  for (size_t i = 0; i < w->count && i < TOLD; i++) {
    if (was_told(w, i)) continue;
    np_buf_clear(&what);
    np_buf_add(&what, clipped(w->values[i]));
    np_buf_adds(&what, " does not stand in the steps");
    np_buf_adds(faults, faults->n ? ",{\"rung\":\"" : "{\"rung\":\"");
    np_buf_adds(faults, rung);
    np_buf_adds(faults, "\",\"code\":\"invented\",\"what\":");
    np_json_quote(faults, np_buf_str(&what));
    np_buf_adds(faults, ",\"value\":");
    np_json_quote(faults, clipped(w->values[i]));
    np_buf_addc(faults, '}');
  }
  bool ok = !what.failed && !faults->failed;
  np_buf_free(&what);
  return ok ? NEAP_OK : np_fail_mem(e);
}

/* What is not in the steps is looked for beside them. */
static neap_rc finish(wording *w, const char *rung, np_buf *faults, np_err *e) {
  neap_rc rc = NEAP_OK;
  if (w->count) sift(w);
  if (w->count) rc = add_beside(w, e);
  if (!rc && w->count) sift(w);
  return rc || !w->count ? rc : tell(w, rung, faults, e);
}

neap_rc np_wording_fold(np_policy *p, const np_span *s, np_str text, np_buf *faults,
                        np_err *e) {
  wording w;
  np_buf_clear(faults);
  neap_rc rc = begin(&w, p, text, e);
  if (!rc && w.count) rc = add_span(&w, s, e);
  if (!rc && w.count) rc = add_prompts(&w, e);
  if (!rc) rc = finish(&w, "policy", faults, e);
  wording_free(&w);
  return rc;
}

neap_rc np_policy_check_answer(np_policy *p, int64_t ask, np_str text, np_buf *faults,
                               bool *checked, np_err *e) {
  const np_run_of *r = &p->run;
  size_t i = 0;
  wording w;
  *checked = false;
  np_buf_clear(faults);
  while (i < r->count && r->asks[i].id != ask) i++;
  if (i == r->count || !r->asks[i].summary || !r->asks[i].text.n || !p->pack)
    return NEAP_OK;
  *checked = true;
  neap_rc rc = begin(&w, p, text, e);
  if (!rc && w.count) rc = np_grounds_add(w.grounds, r->asks[i].text, e);
  if (!rc && w.count) rc = np_grounds_add(w.grounds, r->asks[i].notes, e);
  if (!rc) rc = finish(&w, "host", faults, e);
  wording_free(&w);
  return rc;
}

void np_policy_take_faults(np_policy *p, np_buf *faults) {
  np_buf_add(faults, np_buf_str(&p->wording));
  np_buf_clear(&p->wording);
}
