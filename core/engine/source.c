/*
** Where a reading comes from: an entry of the session, an artifact of it, or of another session of
** the tenant's; and what is said when it is there no more. Never of another tenant: the store
** looks under the handle's own. next: read.c
*/
#include "engine/read.h"

#include "engine/artifact.h"
#include "render/mark.h"
#include "text/text.h"

void np_read_add_line(np_str text, np_buf *out) {
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    np_buf_addc(out, (unsigned char)c < 0x20 || c == 0x7F ? ' ' : c);
  }
}

/* `bash "make test"`, or what else tells what it is. */
static void add_made_by(np_str tool, np_str query, np_str path, np_str kind,
                        np_buf *out) {
  np_str named = query.n ? query : path;
  np_str line = np_str_cut(named, 0, np_utf8_floor(named, named.n < 200 ? named.n : 200));
  np_str by = tool.n ? tool : kind.n ? kind : NP_LIT("file");
  np_read_add_line(np_str_cut(by, 0, np_utf8_floor(by, by.n < 200 ? by.n : 200)), out);
  if (!line.n) return;
  np_buf_adds(out, " \"");
  for (size_t i = 0; i < line.n; i++) {
    char c = line.p[i];
    np_buf_addc(out, c == '"' ? '\'' : (unsigned char)c < 0x20 ? ' ' : c);
  }
  np_buf_adds(out, named.n > line.n ? "\xE2\x80\xA6\"" : "\"");
}

static neap_rc of_file(neap_session *s, const np_file *f, np_buf *text, np_buf *origin,
                       np_err *e) {
  np_window all = {.by_lines = true, .from = 1, .to = SIZE_MAX};
  add_made_by(f->tool, f->query, f->path, f->kind, origin);
  neap_rc rc = np_files_read(s, f, &all, s->now, text, e);
  return rc == NEAP_OK && text->failed ? np_fail_mem(e) : rc;
}

static neap_rc of_session(neap_session *s, int64_t id, np_buf *text, np_buf *origin,
                          np_err *e) {
  const np_entry *en = np_log_entry(&s->log, id);
  if (!en || (en->kind == NP_KIND_LOG && !en->voided)) {
    return np_fail(e, NEAP_E_NOTFOUND,
                   "There is no entry %lld; use the number in a [neap] mark.",
                   (long long)id);
  }
  if (en->apart) return of_file(s, np_files_find(s, id), text, origin, e);
  np_mark_what(&s->pack.view, en, origin);
  np_buf_adds(origin, ", step ");
  np_buf_int(origin, en->step);
  np_buf_add(text, en->text);
  return text->failed || origin->failed ? np_fail_mem(e) : NEAP_OK;
}

typedef struct copy {
  np_buf *text, *origin;
} copy;

static void take(void *ctx, const neap_artifact *a, neap_str bytes) {
  copy *c = ctx;
  add_made_by(a->tool, a->query, a->path, a->kind, c->origin);
  np_buf_add(c->text, bytes);
}

/* Only what is of the same tenant is there to be found. */
static neap_rc of_store(neap_session *s, const np_wanted *w, np_buf *text, np_buf *origin,
                        np_err *e) {
  copy c = {text, origin};
  np_buf name;
  np_buf_init(&name, &s->engine->alloc);
  np_buf_add(&name, w->session);
  np_buf_addc(&name, '\0');
  if (name.failed) return np_fail_mem(e);
  neap_window all = {.size = sizeof all, .now = s->now};
  neap_rc rc = neap_artifact_get(s->engine, name.p, w->id, &all, take, &c);
  np_buf_free(&name);
  if (rc != NEAP_OK) return np_fail(e, rc, "%s", neap_error(s->engine));
  return text->failed || origin->failed ? np_fail_mem(e) : NEAP_OK;
}

neap_rc np_read_source(neap_session *s, const np_wanted *w, np_buf *text, np_buf *origin,
                       np_err *e) {
  return w->session.n ? of_store(s, w, text, origin, e)
                      : of_session(s, w->id, text, origin, e);
}

/* ---- what is gone ---- */

#define GONE "Gone: "
#define UNREAD "Not read: "

void np_read_say_gone(const np_err *e, np_str origin, np_buf *out) {
  if (e->code == NEAP_E_ARG || e->code == NEAP_E_NOTFOUND) {
    np_buf_adds(out, e->text);
    return;
  }
  bool gone = e->code == NEAP_E_PURGED || e->code == NEAP_E_EXPIRED;
  np_buf_adds(out, gone ? GONE : UNREAD);
  np_buf_adds(out, e->text);
  np_buf_adds(out, ". Nothing of it is given here");
  if (origin.n) {
    np_buf_adds(out, "; what made it can be run again: ");
    np_buf_add(out, origin);
  }
  np_buf_addc(out, '.');
}

static bool begins(np_str text, const char *with) {
  size_t n = strlen(with);
  return text.n >= n && memcmp(text.p, with, n) == 0;
}

int64_t np_read_dangling(neap_session *s) {
  for (; s->dangling_seen < (int64_t)s->log.entry_count; s->dangling_seen++) {
    const np_entry *en = np_log_entry(&s->log, s->dangling_seen + 1);
    if (en->kind != NP_KIND_RESULT || !np_str_is(en->tool, "neap_read")) continue;
    s->dangling += begins(en->text, GONE) || begins(en->text, UNREAD) ? 1 : 0;
  }
  return s->dangling;
}
