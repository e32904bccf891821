/*
** Whether a policy's file, or a module it has loaded, is another one by now, and the next
** version, loaded and checked beside this one. Swapping is the engine's.
**
** Each new content is reported once. What a version that did not serve was made of is shunned:
** it is reported again when one of those files has another content, or a Lua file has come or
** gone beside them, for the mistake may be in a module that the serving version does not know.
** next: policy.h
*/
#include "policy/host.h"

static bool all_same(np_policy *p) {
  for (size_t i = 0; i < p->source_count; i++) {
    const np_source *src = &p->sources[i];
    if (src->fresh || !np_source_same(src, src->path.p)) return false;
  }
  return true;
}

static bool any_unsettled(np_policy *p) {
  for (size_t i = 0; i < p->source_count; i++) {
    if (np_source_unsettled(p->sources[i].path.p)) return true;
  }
  return false;
}

/* Reads a file anew. What cannot be read is a content of its own. */
static void read_now(np_policy *p, const char *path, np_source *now) {
  np_buf text;
  np_err e;
  if (np_source_read(p, path, now, &text, &e)) {
    np_sha256(np_str_cstr(e.text), now->sha256);
    return;
  }
  np_buf_free(&text);
}

/* The hash of what the version's files hold by now. Remembers the stat of one that is as it
** was. False when out of memory. */
static bool look(np_policy *p, uint8_t digest[NP_SHA256]) {
  np_source *now = np_calloc(&p->alloc, p->source_count + 1, sizeof *now);
  if (!now) return false;
  for (size_t i = 0; i < p->source_count; i++) {
    np_source *src = &p->sources[i];
    now[i] = *src;
    read_now(p, src->path.p, &now[i]);
    if (memcmp(now[i].sha256, src->sha256, NP_SHA256) == 0) *src = now[i];
  }
  np_source_digest(now, p->source_count, digest);
  np_free(&p->alloc, now);
  return true;
}

/* ---- what did not serve ---- */

static uint64_t mark_file(np_str path, const uint8_t sha256[NP_SHA256]) {
  return np_hash64(path) * 31 ^ np_hash64(np_str_of((const char *)sha256, NP_SHA256));
}

/* Of the shunned files as they are now. */
static uint64_t mark_now(np_policy *p) {
  uint64_t sum = np_folder_mark(p->folder.p);
  for (size_t i = 0; i < p->shun.count; i++) {
    np_source now = {.size = 0};
    read_now(p, p->shun.files[i].path.p, &now);
    sum += mark_file(p->shun.files[i].path, now.sha256);
  }
  return sum;
}

static bool shun_file(np_policy *p, const np_source *src) {
  np_shun *s = &p->shun;
  np_shunned one = {.path = src->path};
  void *files = s->files;
  bool ok = np_grow(&p->alloc, &files, &s->cap, s->count + 1, sizeof one);
  s->files = files;
  memcpy(one.sha256, src->sha256, NP_SHA256);
  if (!ok || !np_arena_copy(&s->arena, src->path, &one.path)) return false;
  s->files[s->count++] = one;
  return true;
}

neap_rc np_policy_shun(np_policy *p, const np_policy *bad, np_err *e) {
  np_shun *s = &p->shun;
  bool ok = true;
  s->count = 0;
  np_arena_clear(&s->arena);
  for (size_t i = 0; ok && i < bad->source_count; i++)
    ok = shun_file(p, &bad->sources[i]);
  if (!ok || !look(p, s->seen)) return np_fail_mem(e);
  s->mark = np_folder_mark(p->folder.p);
  for (size_t i = 0; i < s->count; i++)
    s->mark += mark_file(s->files[i].path, s->files[i].sha256);
  s->marked = true;
  return NEAP_OK;
}

void np_shun_free(np_policy *p) {
  np_free(&p->alloc, p->shun.files);
  np_arena_free(&p->shun.arena);
}

bool np_policy_changed(np_policy *p) {
  uint8_t digest[NP_SHA256];
  np_shun *s = &p->shun;
  if (!p->from_file || p->source_count == 0 || all_same(p) || any_unsettled(p))
    return false;
  if (!look(p, digest)) return false;
  bool again = memcmp(digest, s->seen, NP_SHA256) == 0;
  memcpy(s->seen, digest, NP_SHA256);
  if (memcmp(digest, p->info.sha256, NP_SHA256) == 0) return false;
  if (!again) {
    s->marked = false;
    return true;
  }
  uint64_t mark = mark_now(p);
  again = !s->marked || mark == s->mark;
  s->marked = true;
  s->mark = mark;
  return !again;
}

/* ---- the next version ---- */

static neap_rc check(np_policy *p, np_policy *old, np_err *e) {
  neap_rc rc = np_policy_migrate(p, old, e);
  return rc ? rc : np_policy_selftest(p, e);
}

neap_rc np_policy_next(np_policy *old, np_str options, np_policy **out,
                       uint8_t sha256[NP_SHA256], np_err *e) {
  np_err none;
  np_policy *p = NULL;
  *out = NULL;
  neap_rc rc = np_load_whole(&old->alloc, old->info.path.p, options, &old->limits, &p, e);
  if (!rc) rc = check(p, old, e);
  memset(sha256, 0, NP_SHA256);
  if (p && p->source_count) np_source_digest(p->sources, p->source_count, sha256);
  if (rc && p && np_policy_shun(old, p, &none)) rc = np_fail_mem(e);
  if (rc) np_policy_free(p);
  else *out = p;
  return rc;
}
