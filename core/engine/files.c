/*
** The artifacts of an open session: put, found by id, read by windows. next: artifact.c
*/
#include "engine/artifact.h"

/* ---- the list ---------------------------------------------------------------------- */

static bool reserve(neap_session *s) {
  void *files = s->files;
  bool ok = np_grow(&s->engine->alloc, &files, &s->file_cap, s->file_count + 1,
                    sizeof *s->files);
  s->files = files;
  return ok;
}

static bool keep_text(neap_session *s, np_str *text) {
  return np_arena_copy(&s->arena, *text, text);
}

static bool keep_texts(neap_session *s, np_file *f) {
  return keep_text(s, &f->tool) && keep_text(s, &f->query) && keep_text(s, &f->path) &&
         keep_text(s, &f->kind);
}

/* Ids rise, so that the list is in their order. */
const np_file *np_files_find(const neap_session *s, int64_t id) {
  size_t lo = 0, hi = s->file_count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (s->files[mid].id < id) lo = mid + 1;
    else hi = mid;
  }
  return lo < s->file_count && s->files[lo].id == id ? &s->files[lo] : NULL;
}

neap_rc np_files_take(neap_session *s, const np_event *ev, bool purged) {
  np_file f;
  int64_t id = 0;
  if (!np_file_read(&s->arena, ev, purged, &f)) {
    return np_fail(&s->err, NEAP_E_CORRUPT,
                   "session %s: an artifact's event cannot be read; check the store",
                   s->name);
  }
  if (!reserve(s)) return np_fail_mem(&s->err);
  neap_rc rc = np_log_file(&s->log, f.tool, f.path, &id, &s->err);
  if (rc != NEAP_OK) return rc;
  if (id != f.id) {
    return np_fail(&s->err, NEAP_E_CORRUPT,
                   "session %s: artifact %lld stands where %lld should; check the store",
                   s->name, (long long)f.id, (long long)id);
  }
  s->files[s->file_count++] = f;
  return NEAP_OK;
}

/* ---- putting ----------------------------------------------------------------------- */

static neap_rc check_writes(neap_session *s) {
  if (s->options.flags & NEAP_NO_LOG) {
    return np_fail(&s->err, NEAP_E_MISUSE,
                   "session %s has no log; open it with one to keep artifacts", s->name);
  }
  if (!(s->engine->flags & NEAP_READONLY)) return NEAP_OK;
  return np_fail(&s->err, NEAP_E_READONLY,
                 "the store is open for reading; open it for writing to keep artifacts");
}

/* Everything that can fail is done before it is written. */
static neap_rc write(neap_session *s, const np_file *f, np_str bytes) {
  np_buf head;
  np_buf_init(&head, &s->engine->alloc);
  np_file_write(f, &head);
  np_event ev = {
      .kind = NP_EV_FILE, .head = np_buf_str(&head), .body = bytes, .apart = true};
  neap_rc rc = head.failed ? np_fail_mem(&s->err) : np_session_write(s, &ev, 1);
  np_buf_free(&head);
  return rc;
}

static neap_rc put(neap_session *s, np_str bytes, const neap_artifact *a, int64_t *id) {
  np_file f;
  neap_rc rc = check_writes(s);
  if (rc == NEAP_OK) rc = np_file_make(a, bytes, s->now, &f, &s->err);
  if (rc != NEAP_OK) return rc;
  if (!reserve(s) || !keep_texts(s, &f)) return np_fail_mem(&s->err);
  rc = np_log_file(&s->log, f.tool, f.path, &f.id, &s->err);
  if (rc != NEAP_OK) return rc;
  rc = write(s, &f, bytes);
  if (rc != NEAP_OK) {
    np_log_unfile(&s->log);
    return rc;
  }
  np_log_index_note(&s->log);
  s->files[s->file_count++] = f;
  *id = f.id;
  return NEAP_OK;
}

neap_rc neap_session_put(neap_session *s, neap_str bytes, const neap_artifact *a,
                         int64_t *id) {
  neap_rc rc = np_session_enter_text(s, &bytes);
  if (rc != NEAP_OK) return rc;
  rc = id ? put(s, bytes, a, id)
          : np_fail(&s->err, NEAP_E_ARG, "the place for the id is NULL; give one");
  return np_session_leave(s, rc);
}

/* ---- reading ----------------------------------------------------------------------- */

neap_rc np_files_read(neap_session *s, const np_file *f, np_window *w, int64_t now,
                      np_buf *out, np_err *e) {
  np_store *st = s->engine->store;
  neap_rc rc = np_file_check(f, np_str_cstr(s->name), now > s->now ? now : s->now, e);
  if (rc != NEAP_OK || !f->bytes) return rc;
  return st->ops->window(st, np_str_cstr(s->engine->tenant), f->hash, w, out, e);
}

static neap_rc get(neap_session *s, int64_t entry, np_window *w, int64_t now,
                   np_str *text) {
  const np_entry *en = np_log_entry(&s->log, entry);
  if (!en) {
    return np_fail(&s->err, NEAP_E_NOTFOUND, "session %s has no entry %lld", s->name,
                   (long long)entry);
  }
  if (!en->apart) {
    *text = np_window_of(en->text, w);
    return NEAP_OK;
  }
  np_buf_clear(&s->text);
  neap_rc rc = np_files_read(s, np_files_find(s, entry), w, now, &s->text, &s->err);
  if (rc == NEAP_OK && s->text.failed) rc = np_fail_mem(&s->err);
  if (rc == NEAP_OK) *text = np_buf_str(&s->text);
  return rc;
}

neap_rc neap_session_get(neap_session *s, int64_t entry, const neap_window *w,
                         neap_str *text) {
  np_window part;
  int64_t now = 0;
  neap_rc rc = np_session_enter_out(s, text);
  if (rc != NEAP_OK) return rc;
  rc = np_file_window(w, &part, &now, &s->err);
  if (rc == NEAP_OK) rc = get(s, entry, &part, now, text);
  return np_session_leave(s, rc);
}

neap_rc neap_entry_text(neap_session *s, int64_t entry, neap_str *text) {
  return neap_session_get(s, entry, NULL, text);
}

/* ---- policies ---------------------------------------------------------------------- */

bool np_files_next(void *session, int64_t after, np_outside *out) {
  const neap_session *s = session;
  size_t lo = 0, hi = s->file_count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (s->files[mid].id <= after) lo = mid + 1;
    else hi = mid;
  }
  if (lo == s->file_count) return false;
  const np_file *f = &s->files[lo];
  *out = (np_outside){.id = f->id,
                      .bytes = f->bytes,
                      .lines = f->lines,
                      .step = np_log_entry(&s->log, f->id)->step,
                      .tool = f->tool,
                      .query = f->query,
                      .path = f->path,
                      .kind = f->kind};
  return true;
}

neap_rc np_files_text(void *session, int64_t id, np_window *w, np_buf *out, np_err *e) {
  neap_session *s = session;
  return np_files_read(s, np_files_find(s, id), w, s->now, out, e);
}
