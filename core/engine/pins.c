/*
** What the log pins besides decisions: whose name and which key a session's marks have, so that
** a copy under another name, or in another store, has the same; and the digest of each prompt,
** so that a replay can tell whether it gives the same bytes. next: relive.c
*/
#include "engine/engine.h"

/* ---- mark keys ---- */

/* Members of NP_EV_OPEN: {"session","key","keys"}. */
void np_pins_open(const neap_session *s, np_buf *out) {
  np_buf_adds(out, ",\"session\":");
  np_json_quote(out, np_str_cstr(s->key_name));
  np_buf_adds(out, ",\"key\":\"");
  np_buf_add(out, np_str_of(s->pack.view.key, NP_KEY));
  np_buf_adds(out, "\",\"keys\":");
  np_buf_int(out, s->rekeys);
}

static bool is_key(np_str key) {
  for (size_t i = 0; i < key.n; i++) {
    char c = key.p[i];
    if (!(c >= 'a' && c <= 'z') && !(c >= '2' && c <= '7')) return false;
  }
  return key.n == NP_KEY;
}

static neap_rc damaged(neap_session *s) {
  return np_fail(&s->err, NEAP_E_CORRUPT,
                 "session %s: a mark key in its log is none; check the store", s->name);
}

/* No session has derived as many; more can be counted on from there. */
#define KEYS_MAX INT64_C(1000000000000000)

neap_rc np_pins_key(neap_session *s, np_str key, int64_t keys) {
  char own[NP_KEY];
  if (!is_key(key) || keys < 0 || keys > KEYS_MAX) return damaged(s);
  s->rekeys = keys;
  memcpy(own, key.p, NP_KEY);
  if (memcmp(own, s->pack.view.key, NP_KEY) == 0) return NEAP_OK;
  return np_view_rekey(&s->pack.view, own, &s->err);
}

static bool read_number(np_json head, const char *name, int64_t *out) {
  np_json v;
  *out = 0;
  if (!np_json_get(head, name, &v) || v.type != NP_JSON_NUMBER || v.raw.n > 15)
    return false;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return false;
    *out = *out * 10 + (v.raw.p[i] - '0');
  }
  return true;
}

/* Logs of before have no such members: their keys are derived again. */
neap_rc np_pins_take(neap_session *s, np_str text) {
  np_json head, name, key;
  np_buf kept;
  np_str own;
  int64_t keys;
  if (np_json_check(text, &head, NULL) || !np_json_get(head, "session", &name) ||
      !np_json_get(head, "key", &key) || !read_number(head, "keys", &keys))
    return NEAP_OK;
  if (name.type != NP_JSON_STRING || key.raw.n != NP_KEY + 2) return damaged(s);
  neap_rc rc = NEAP_OK;
  np_buf_init(&kept, &s->engine->alloc);
  np_json_text(name, &kept);
  if (kept.failed || !np_arena_copy(&s->arena, np_buf_str(&kept), &own))
    rc = np_fail_mem(&s->err);
  if (!rc) s->key_name = own.p;
  np_buf_free(&kept);
  return rc ? rc : np_pins_key(s, np_str_cut(key.raw, 1, 1 + NP_KEY), keys);
}

/* ---- the digest of a prompt ---- */

static void add_size(np_sha *sha, uint64_t v) {
  char le[8];
  for (int i = 0; i < 8; i++) le[i] = (char)(v >> (8 * i) & 255);
  np_sha_add(sha, np_str_of(le, sizeof le));
}

/* The engine's cache marks are written into a copy of the prompt: where they stand counts. */
static void add_marks(const neap_session *s, np_sha *sha) {
  const np_breaks *b = &s->breaks;
  const np_frame *f = &s->pack.frame;
  if (!s->pack.view.format->marks || np_breaks_are_hosts(&s->pack.view)) return;
  for (size_t i = 0; i < b->count; i++) add_size(sha, f->segments[b->at[i]].end);
  if (b->count) add_size(sha, (uint64_t)s->options.cache);
}

/* Only what is new is hashed: the state is kept where the last segment begins, which what
** comes behind it may still change. */
void np_pins_digest(neap_session *s, uint8_t out[NP_SHA256]) {
  const np_frame *f = &s->pack.frame;
  np_str body = s->rendered.body;
  size_t upto = f->count > 1 ? f->segments[f->count - 2].end : 0;
  if (!s->hashed || s->rendered.kept < s->hashed || upto < s->hashed) {
    np_sha_begin(&s->hash);
    s->hashed = 0;
  }
  np_sha_add(&s->hash, np_str_cut(body, s->hashed, upto));
  s->hashed = upto;
  np_sha sha = s->hash;
  np_sha_add(&sha, np_str_cut(body, upto, body.n));
  add_marks(s, &sha);
  np_sha_end(&sha, out);
}
