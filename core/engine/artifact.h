/*
** Artifacts: files of the host's that are entries of a session. head.c is what an event says of
** one, files.c those of an open session, artifact.c the public calls on the store.
** next: file_head.c
*/
#ifndef NP_ENGINE_ARTIFACT_H
#define NP_ENGINE_ARTIFACT_H

#include "engine/engine.h"

/* The highest id: what neap_read and others take as one. */
#define NP_FILE_ID_MAX INT64_C(1000000000)

/* One artifact as its event has it; texts are in an arena. */
typedef struct np_file {
  int64_t id, bytes, lines, made, ttl;
  np_str tool, query, path, kind;
  uint8_t hash[NP_SHA256];
  bool purged;
} np_file;

/* ---- file_head.c ---- */
/* Checks what the host gives and makes the artifact of it, but for its id. */
neap_rc np_file_make(const neap_artifact *a, np_str bytes, int64_t now, np_file *out,
                     np_err *e);
void np_file_write(const np_file *f, np_buf *head);
/* False when the head is none. Texts that have escapes go to the arena. */
bool np_file_read(np_arena *ar, const np_event *ev, bool purged, np_file *out);
/* When its time is over, in milliseconds; INT64_MAX: never. */
int64_t np_file_end(const np_file *f);
/* EXPIRED or PURGED at the time `now` (0: not known), with how to make it again. */
neap_rc np_file_check(const np_file *f, np_str session, int64_t now, np_err *e);

/* What the host asks for, checked; *now is the time it tells. */
neap_rc np_file_window(const neap_window *given, np_window *out, int64_t *now, np_err *e);

/* ---- files.c ---- */
/* The session's event of an artifact, in resuming. */
neap_rc np_files_take(neap_session *s, const np_event *ev, bool purged);
/* NULL: no artifact has that id. */
const np_file *np_files_find(const neap_session *s, int64_t id);
/* Appends a window of it. NEAP_E_EXPIRED at the time `now` or the session's, the later of the
** two; _PURGED, store. */
neap_rc np_files_read(neap_session *s, const np_file *f, np_window *w, int64_t now,
                      np_buf *out, np_err *e);
/* What a policy is told of them, and reads: np_turn.artifact, np_turn.artifact_text. */
bool np_files_next(void *session, int64_t after, np_outside *out);
neap_rc np_files_text(void *session, int64_t id, np_window *w, np_buf *out, np_err *e);

#endif
