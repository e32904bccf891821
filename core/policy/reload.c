/*
** Whether a policy's file, or a module it has loaded, is another one by now. Swapping is the
** engine's: it loads the new version beside this one and frees the one that fails.
**
** Each new content is reported once. While a reported version does not load, a change of any
** Lua file beside it is reported too: the mistake may be in a module that the serving version
** does not know. next: policy.h
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

/* Reads a source anew. What cannot be read is a content of its own. Remembers the stat of one
** that is as it was. */
static void look(np_policy *p, np_source *src, np_source *now) {
  np_buf text;
  np_err e;
  *now = *src;
  if (np_source_read(p, src->path.p, now, &text, &e)) {
    np_sha256(np_str_cstr(e.text), now->sha256);
    return;
  }
  np_buf_free(&text);
  if (memcmp(now->sha256, src->sha256, NP_SHA256) == 0) *src = *now;
}

bool np_policy_changed(np_policy *p) {
  uint8_t digest[NP_SHA256];
  if (!p->from_file || p->source_count == 0 || all_same(p) || any_unsettled(p))
    return false;
  np_source *now = np_calloc(&p->alloc, p->source_count, sizeof *now);
  if (!now) return false;
  for (size_t i = 0; i < p->source_count; i++) look(p, &p->sources[i], &now[i]);
  np_source_digest(now, p->source_count, digest);
  np_free(&p->alloc, now);
  bool again = memcmp(digest, p->seen, NP_SHA256) == 0;
  memcpy(p->seen, digest, NP_SHA256);
  if (memcmp(digest, p->info.sha256, NP_SHA256) == 0) return false;
  uint64_t mark = np_folder_mark(p->folder.p);
  if (again && mark == p->folder_mark) return false;
  p->folder_mark = mark;
  return true;
}
