/*
** neap_read: a part of an earlier entry, with where it is from, and never more than there is room
** for in the prompt; what remains is said, and how to get it. What is still shown from an earlier
** reading is pointed at, not given twice. next: source.c, pointer.c
*/
#include "engine/read.h"

#include "engine/words.h"

#include "base/hash.h"
#include "render/project.h"

#define HEAD_TOKENS 160 /* the head, and the line that says what remains */
#define ROOM_SHARE 16 /* of the budget that may be read at least: it makes room for it */

static bool text_of(np_json args, const char *key, np_buf *out) {
  np_json v;
  np_buf_clear(out);
  if (!np_json_get(args, key, &v)) return false;
  if (v.type == NP_JSON_STRING) np_json_text(v, out);
  else if (v.type == NP_JSON_NUMBER) np_buf_add(out, v.raw);
  return out->n > 0 && !out->failed;
}

/* "17", or "SESSION/17": the name ends at the last slash. C would read it up to a zero byte, which
** may be the name of another. */
static bool parse_id(np_str text, np_wanted *w) {
  size_t at = text.n;
  while (at > 0 && text.p[at - 1] != '/') at--;
  w->session = np_str_cut(text, 0, at ? at - 1 : 0);
  w->id = 0;
  for (size_t i = at; i < text.n; i++) {
    if (text.p[i] < '0' || text.p[i] > '9' || w->id > 1000000000) return false;
    w->id = w->id * 10 + (text.p[i] - '0');
  }
  bool cut = at && memchr(text.p, 0, at);
  return w->id > 0 && !cut && (at == 0 || at > 1);
}

/* Without leading zeros, of which a model may write a megabyte; w->session stays where it is. */
static void settle_name(np_wanted *w) {
  w->name.n = w->session.n ? w->session.n + 1 : 0;
  np_buf_int(&w->name, w->id);
}

/* ---- what is asked for ---- */

static void init(const neap_session *s, np_wanted *w) {
  *w = (np_wanted){0};
  np_buf_init(&w->name, &s->engine->alloc);
  np_buf_init(&w->words, &s->engine->alloc);
}

/* What name and words say. */
static neap_rc settle(const neap_session *s, np_wanted *w, np_err *e) {
  if (w->name.failed || w->words.failed) return np_fail_mem(e);
  if (!parse_id(np_buf_str(&w->name), w)) {
    return np_fail(e, NEAP_E_ARG,
                   "Give \"id\", the number of an entry as a [neap] mark has it: 17, or "
                   "SESSION/17 of another session.");
  }
  settle_name(w);
  if (np_str_is(w->session, s->name)) w->session = (np_str){0};
  return np_extract_parse(np_buf_str(&w->words), &w->part, e);
}

bool np_wanted_read(const neap_session *s, np_json args, np_wanted *w, np_err *e) {
  init(s, w);
  text_of(args, "id", &w->name);
  if (!text_of(args, "part", &w->words)) text_of(args, "lines", &w->words);
  return settle(s, w, e) == NEAP_OK;
}

neap_rc np_wanted_make(const neap_session *s, np_str id, np_str part, np_wanted *w,
                       np_err *e) {
  init(s, w);
  np_buf_add(&w->name, id);
  np_buf_add(&w->words, part);
  return settle(s, w, e);
}

void np_wanted_free(np_wanted *w) {
  np_buf_free(&w->name);
  np_buf_free(&w->words);
}

static bool same_wanted(const np_wanted *a, const np_wanted *b) {
  const np_extract *x = &a->part, *y = &b->part;
  return a->id == b->id && np_str_eq(a->session, b->session) && x->kind == y->kind &&
         x->from == y->from && x->to == y->to && x->count == y->count &&
         x->context == y->context && np_str_eq(x->argument, y->argument);
}

/* ---- what is shown already ---- */

#define SHOWN_AGAIN "Shown already: "

/* Whether the result is in the next prompt as it is: nothing has put it away. */
static bool is_whole(const neap_session *s, int64_t id) {
  const np_shown *sh = np_view_at(&s->pack.view, id);
  return sh->listed && sh->rung == NP_FULL && !sh->folded;
}

/* The newest earlier reading of the same part that is still shown; 0: none. */
static int64_t shown_before(neap_session *s, const np_wanted *w) {
  for (int64_t id = (int64_t)s->log.entry_count; id > 0; id--) {
    const np_entry *en = np_log_entry(&s->log, id);
    if (en->kind != NP_KIND_RESULT || !en->pair || !np_str_is(en->tool, "neap_read"))
      continue;
    if (en->text.n == 0 || en->text.p[0] != '[' || !is_whole(s, id)) continue;
    np_wanted had;
    np_json args;
    np_err e = {0};
    const np_entry *call = np_log_entry(&s->log, en->pair);
    if (np_json_check(call->text, &args, NULL)) continue;
    bool same = np_wanted_read(s, args, &had, &e) && same_wanted(&had, w);
    np_wanted_free(&had);
    if (same) return id;
  }
  return 0;
}

static void say_shown(const neap_session *s, int64_t id, np_buf *out) {
  np_buf_adds(out, SHOWN_AGAIN "the same part was read in step ");
  np_buf_int(out, np_log_entry(&s->log, id)->step);
  np_buf_adds(out, ", and stands above as entry ");
  np_buf_int(out, id);
  np_buf_adds(out, ".");
}

/* ---- room ---- */

/* Tokens that the text may have: what is left of the budget, or the share that the next turn makes
** room for anyway. */
static size_t room(neap_session *s) {
  np_err e = {0};
  int64_t budget = s->pack.budget, least = budget / ROOM_SHARE;
  if (budget <= 0 || np_view_sync(&s->pack.view, &e)) return NP_TRIM_ANY;
  int64_t left = budget - np_pack_tokens(&s->pack) - HEAD_TOKENS;
  return (size_t)(left > least ? left : least);
}

/* ---- the answer ---- */

static void add_rest(const np_wanted *w, const np_projection *p, np_buf *out) {
  if (!p->rest_from) return;
  if (out->n && out->p[out->n - 1] != '\n') np_buf_addc(out, '\n');
  np_buf_adds(out, "[lines ");
  np_buf_int(out, (int64_t)p->rest_from);
  np_buf_addc(out, '-');
  np_buf_int(out, (int64_t)p->rest_to);
  np_buf_adds(out, " remain: neap_read(");
  np_read_add_line(np_buf_str(&w->name), out);
  np_buf_adds(out, ", \"");
  np_buf_int(out, (int64_t)p->rest_from);
  np_buf_addc(out, '-');
  np_buf_int(out, (int64_t)p->rest_to);
  np_buf_adds(out, "\")]");
}

static void add_head(const np_wanted *w, const np_projection *p, np_str text,
                     np_str origin, np_buf *out) {
  uint8_t hash[NP_SHA256];
  char hex[2 * NP_SHA256];
  np_sha256(text, hash);
  np_hex(hash, NP_SHA256, hex);
  np_buf_addc(out, '[');
  np_read_add_line(np_buf_str(&w->name), out);
  np_locator_add(p, NP_LIT(""), np_str_of(hex, sizeof hex), out);
  if (origin.n) np_buf_adds(out, "; ");
  np_buf_add(out, origin);
  np_buf_adds(out, "]\n");
}

neap_rc np_read_part(neap_session *s, const np_wanted *w, np_str text, np_str origin,
                     size_t tokens, np_buf *out, np_err *e) {
  np_arena ar;
  np_projection p;
  np_buf shown;
  np_project_ask ask = {.what = w->part, .tokens = tokens};
  np_arena_init(&ar, &s->engine->alloc);
  np_buf_init(&shown, &s->engine->alloc);
  neap_rc rc = np_project(s->vocab, text, &ask, &ar, &p, &shown, e);
  if (rc == NEAP_OK) {
    add_head(w, &p, text, origin, out);
    np_buf_add(out, np_buf_str(&shown));
    add_rest(w, &p, out);
  }
  if (shown.failed || out->failed) rc = np_fail_mem(e);
  np_buf_free(&shown);
  np_arena_free(&ar);
  return rc;
}

/* The line that leads what was rolled back, here or in another session. */
static neap_rc tell_void(neap_session *s, const np_wanted *w, np_buf *out, np_err *e) {
  np_buf why;
  bool is = false;
  const np_entry *en = w->session.n ? NULL : np_log_entry(&s->log, w->id);
  if (en && en->voided) np_back_tell(s, en, out);
  if (!w->session.n || !s->engine->store) return NEAP_OK;
  np_buf_init(&why, &s->engine->alloc);
  neap_rc rc = np_voided(s->engine, w->session, w->id, &why, &is, e);
  if (rc == NEAP_OK && is) np_void_tell(np_buf_str(&why), out);
  np_buf_free(&why);
  return rc;
}

static neap_rc read_wanted(neap_session *s, const np_wanted *w, np_buf *out) {
  np_err e = {0};
  np_buf text, origin;
  size_t tokens = room(s);
  int64_t before = shown_before(s, w);
  if (before) {
    say_shown(s, before, out);
    return NEAP_OK;
  }
  np_buf_init(&text, &s->engine->alloc);
  np_buf_init(&origin, &s->engine->alloc);
  neap_rc rc = np_read_source(s, w, &text, &origin, &e);
  if (rc == NEAP_OK) rc = tell_void(s, w, out, &e);
  if (rc != NEAP_OK && rc != NEAP_E_MEMORY) {
    np_read_say_gone(&e, np_buf_str(&origin), out);
    rc = NEAP_OK;
  } else if (rc == NEAP_OK) {
    rc = np_read_part(s, w, np_buf_str(&text), np_buf_str(&origin), tokens, out, &e);
    if (rc != NEAP_OK && rc != NEAP_E_MEMORY) { /* it is there, and has no such part */
      np_buf_adds(out, e.text);
      rc = NEAP_OK;
    }
  }
  np_buf_free(&text);
  np_buf_free(&origin);
  return rc == NEAP_E_MEMORY ? np_fail_mem(&s->err) : rc;
}

neap_rc np_read_answer(neap_session *s, np_json args, np_buf *out) {
  np_wanted w;
  np_err e = {0};
  neap_rc rc = NEAP_OK;
  if (!np_wanted_read(s, args, &w, &e)) np_buf_adds(out, e.text);
  else rc = read_wanted(s, &w, out);
  np_wanted_free(&w);
  return rc;
}

/* ---- hosts ---- */

static neap_rc read_for_host(neap_session *s, const np_wanted *w, size_t tokens,
                             neap_str *text) {
  np_buf whole, origin;
  np_buf_init(&whole, &s->engine->alloc);
  np_buf_init(&origin, &s->engine->alloc);
  np_buf_clear(&s->text);
  neap_rc rc = np_read_source(s, w, &whole, &origin, &s->err);
  if (rc == NEAP_OK) rc = tell_void(s, w, &s->text, &s->err);
  if (rc == NEAP_OK) {
    rc = np_read_part(s, w, np_buf_str(&whole), np_buf_str(&origin),
                      tokens ? tokens : NP_TRIM_ANY, &s->text, &s->err);
  }
  if (rc == NEAP_OK) *text = np_buf_str(&s->text);
  np_buf_free(&whole);
  np_buf_free(&origin);
  return rc;
}

neap_rc neap_read(neap_session *s, neap_str id, neap_str part, size_t tokens,
                  neap_str *text) {
  np_wanted w;
  neap_rc rc = np_session_enter_out(s, text);
  if (rc) return rc;
  rc = np_wanted_make(s, id, part, &w, &s->err);
  if (!rc) rc = read_for_host(s, &w, tokens, text);
  np_wanted_free(&w);
  return np_session_leave(s, rc);
}
