/*
** A file that cannot be opened for a time, when the host wants to go on all the same: the store is
** one in memory with the same tables, so that everything works, and whoever writes tries the file
** first. Once it opens, all sessions and contents are copied into it in one transaction, and the
** connection is its. What is in the file is not known until then: nothing says that something is
** missing. next: copy.c
*/
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* S_ISREG */
#endif
#include <sys/stat.h>

#include "store/sqlite.h"

/* Pages of 4 KB in memory, 64 MB: then appends fail. */
#define PAGES "16384"

/* ---- while it is away --------------------------------------------------------------- */

neap_rc np_sq_here(const np_sqlite *sq, np_err *e) {
  if (!sq->away) return NEAP_OK;
  if (e) *e = sq->trouble;
  return sq->trouble.code;
}

neap_rc np_sq_unseen(const np_sqlite *sq, neap_rc rc, np_err *e) {
  return rc == NEAP_E_NOTFOUND && sq->away ? np_sq_here(sq, e) : rc;
}

neap_rc np_sq_unwritten(np_sqlite *sq, np_err *e) {
  int64_t rows = 0;
  if (!sq->away) return NEAP_OK;
  neap_rc rc = np_sq_int(
      sq, "SELECT EXISTS(SELECT 1 FROM event) + EXISTS(SELECT 1 FROM blob)", &rows, e);
  return rc == NEAP_OK && rows > 0 ? np_sq_here(sq, e) : rc;
}

/* ---- coming back -------------------------------------------------------------------- */

/* Both files' sessions: tables of the file are those of `back`. */
typedef struct mover {
  np_sqlite *sq;
  np_buf moved, name;
  np_err *e;
} mover;

/* One statement that runs once, with texts bound. */
static neap_rc run_with(np_sqlite *sq, const char *sql, const np_str *texts, int n,
                        int64_t *value, np_err *e) {
  sqlite3_stmt *st = NULL;
  bool row = false;
  int got = sqlite3_prepare_v2(sq->db, sql, -1, &st, NULL);
  for (int i = 0; i < n && got == SQLITE_OK; i++)
    got = sqlite3_bind_text64(st, i + 1, texts[i].n ? texts[i].p : "", texts[i].n,
                              SQLITE_STATIC, SQLITE_UTF8);
  neap_rc rc = got == SQLITE_OK ? np_sq_step(sq, st, &row, e) : np_sq_fail(sq, got, e);
  if (value) *value = row ? sqlite3_column_int64(st, 0) : 0;
  sqlite3_finalize(st);
  return rc;
}

/* A name of which neither store has a session: NAME~2, NAME~3, … */
static neap_rc free_name(mover *m, np_str tenant, np_str session) {
  int64_t there = 1;
  neap_rc rc = NEAP_OK;
  for (int k = 2; rc == NEAP_OK && there; k++) {
    np_buf_clear(&m->name);
    np_buf_add(&m->name, session);
    np_buf_addc(&m->name, '~');
    np_buf_int(&m->name, k);
    if (m->name.failed) return np_fail_mem(m->e);
    np_str both[2] = {tenant, np_buf_str(&m->name)};
    rc = np_check_names(both[0], both[1], m->e);
    if (rc == NEAP_OK)
      rc = run_with(m->sq,
                    "SELECT EXISTS(SELECT 1 FROM back.session WHERE tenant = ?1 AND"
                    " name = ?2) OR EXISTS(SELECT 1 FROM main.session WHERE tenant = ?1"
                    " AND name = ?2)",
                    both, 2, &there, m->e);
  }
  return rc;
}

static void note_moved(mover *m, np_str tenant, np_str from, np_str to) {
  const np_str parts[] = {tenant, from, to};
  for (size_t i = 0; i < NP_COUNT(parts); i++) {
    np_buf_add(&m->moved, parts[i]);
    np_buf_addc(&m->moved, '\0'); /* no name holds one */
  }
}

/* Its fence stays what it is, so that its claim goes on. One that is in the file already, from
** before, keeps its log there: what was said meanwhile becomes a session beside it. */
static neap_rc move_session(mover *m, np_str tenant, np_str session) {
  int64_t there = 0, events = 0;
  np_str names[3] = {tenant, session, session};
  neap_rc rc =
      run_with(m->sq, "SELECT count(*) FROM main.event WHERE tenant = ? AND session = ?",
               names, 2, &events, m->e);
  if (rc == NEAP_OK)
    rc = run_with(
        m->sq, "SELECT EXISTS(SELECT 1 FROM back.session WHERE tenant = ? AND name = ?)",
        names, 2, &there, m->e);
  if (rc != NEAP_OK || (there && !events)) return rc;
  if (there) {
    rc = free_name(m, tenant, session);
    names[2] = np_buf_str(&m->name);
    note_moved(m, tenant, session, names[2]);
  }
  if (rc == NEAP_OK)
    rc = run_with(m->sq,
                  "INSERT INTO back.session(tenant, name, fence, version)"
                  " SELECT tenant, ?3, fence, version FROM main.session"
                  " WHERE tenant = ?1 AND name = ?2",
                  names, 3, NULL, m->e);
  if (rc != NEAP_OK) return rc;
  return run_with(m->sq,
                  "INSERT INTO back.event(tenant, session, seq, kind, fence, version,"
                  " place, sum, hash, head, body) SELECT tenant, ?3, seq, kind, fence,"
                  " version, place, sum, hash, head, body FROM main.event"
                  " WHERE tenant = ?1 AND session = ?2",
                  names, 3, NULL, m->e);
}

/* What was purged in the file and comes again is kept again. */
static const char contents[] =
    "INSERT INTO back.blob(tenant, hash, fence, version, place, size, enc, sum, body)"
    " SELECT tenant, hash, fence, version, place, size, enc, sum, body FROM main.blob"
    " WHERE true ON CONFLICT(tenant, hash) DO UPDATE SET place = excluded.place,"
    " size = excluded.size, enc = excluded.enc, sum = excluded.sum,"
    " body = excluded.body WHERE place = 3;"
    "INSERT OR IGNORE INTO back.chunk(id, fence, version, enc, sum, marks, body)"
    " SELECT b.id << 24 | (c.id & 16777215), c.fence, c.version, c.enc, c.sum, c.marks,"
    " c.body FROM main.blob AS m JOIN main.chunk AS c"
    " ON c.id >= m.id << 24 AND c.id < (m.id + 1) << 24"
    " JOIN back.blob AS b ON b.tenant = m.tenant AND b.hash = m.hash"
    " WHERE m.place = 4 AND b.place = 4";

static neap_rc move_all(mover *m) {
  sqlite3_stmt *st = NULL;
  bool row = true;
  int got = sqlite3_prepare_v2(
      m->sq->db, "SELECT tenant, name FROM main.session ORDER BY tenant, name", -1, &st,
      NULL);
  neap_rc rc = got == SQLITE_OK ? NEAP_OK : np_sq_fail(m->sq, got, m->e);
  while (rc == NEAP_OK) {
    rc = np_sq_step(m->sq, st, &row, m->e);
    if (rc != NEAP_OK || !row) break;
    np_str tenant = np_sq_blob(st, 0), session = np_sq_blob(st, 1);
    rc = move_session(m, tenant, session);
  }
  sqlite3_finalize(st);
  if (rc == NEAP_OK) rc = np_sq_exec(m->sq, contents, m->e);
  return rc == NEAP_OK && m->moved.failed ? np_fail_mem(m->e) : rc;
}

/* Copies all to the file that `to` has opened, or nothing. */
static neap_rc move(mover *m, np_sqlite *to) {
  np_sqlite *sq = m->sq;
  np_str path = np_str_cstr(sqlite3_db_filename(to->db, "main"));
  sqlite3_limit(sq->db, SQLITE_LIMIT_ATTACHED, 1);
  sqlite3_busy_timeout(sq->db, 0);
  neap_rc rc = run_with(sq, "ATTACH ? AS back", &path, 1, NULL, m->e);
  if (rc == NEAP_OK) {
    rc = np_sq_begin(sq, m->e);
    if (rc == NEAP_OK) rc = np_sq_end(sq, move_all(m), m->e);
    np_sq_exec(sq, "DETACH back", NULL);
  }
  sqlite3_busy_timeout(sq->db, NP_BUSY_MS);
  sqlite3_limit(sq->db, SQLITE_LIMIT_ATTACHED, 0);
  return rc;
}

/* `sq` gets the connection of `to`, which gets that to memory. */
static void change_places(np_sqlite *sq, np_sqlite *to) {
  np_sqlite old = *sq;
  sq->db = to->db;
  sq->empty = to->empty;
  sq->version = to->version;
  sq->words = to->words;
  sq->fts = to->fts;
  sq->counted = to->counted;
  sq->sync = to->sync;
  memcpy(sq->stmt, to->stmt, sizeof sq->stmt);
  to->db = old.db;
  to->fts = old.fts;
  memcpy(to->stmt, old.stmt, sizeof to->stmt);
}

/* What is held back goes to memory first: it comes along with its session. */
static neap_rc come_back(np_sqlite *sq, np_err *e) {
  np_sqlite *to = NULL;
  neap_rc rc = np_sq_flush_all(sq, e);
  if (rc == NEAP_OK || rc == NEAP_E_FENCED)
    rc = np_sq_open(sq->st.alloc, sq->away, false, 0, &to, e);
  if (rc != NEAP_OK) return rc;
  mover m = {.sq = sq, .e = e};
  np_buf_init(&m.moved, sq->st.alloc);
  np_buf_init(&m.name, sq->st.alloc);
  rc = move(&m, to);
  if (rc == NEAP_OK) {
    change_places(sq, to);
    np_buf_free(&sq->moved);
    sq->moved = m.moved;
    np_free(sq->st.alloc, sq->away);
    sq->away = NULL;
    sq->first_fence = 1;
  } else {
    np_buf_free(&m.moved);
  }
  np_buf_free(&m.name);
  np_sq_free(to);
  return rc;
}

np_sqlite *np_sq_lock_back(np_store *st) {
  np_err e = {0};
  np_sqlite *sq = np_sq_lock(st);
  if (!sq->away) return sq;
  if (come_back(sq, &e) != NEAP_OK && e.code != NEAP_E_MEMORY) sq->trouble = e;
  return sq;
}

/* ---- under another name ------------------------------------------------------------- */

/* The part up to the next NUL byte. */
static np_str next_part(np_str list, size_t *at) {
  size_t from = *at, to = from;
  while (to < list.n && list.p[to]) to++;
  *at = to + 1;
  return np_str_cut(list, from, to);
}

neap_rc np_sq_say_moved(const np_sqlite *sq, const np_claim *c, neap_rc rc, np_err *e) {
  np_str list = np_buf_str(&sq->moved);
  for (size_t at = 0; at < list.n;) {
    np_str tenant = next_part(list, &at), from = next_part(list, &at);
    np_str to = next_part(list, &at);
    if (!np_str_eq(tenant, c->tenant) || !np_str_eq(from, c->session)) continue;
    return np_fail(e, NEAP_E_FENCED,
                   "session '%.*s' was in the store already, which could not be opened; "
                   "what it did meanwhile is session '%.*s': open either to go on",
                   NP_SHOW(from), NP_SHOW(to));
  }
  return rc;
}

/* ---- going away --------------------------------------------------------------------- */

/* What stands at the path is no file, and will be none. */
static bool is_no_place(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* Fences that the file's sessions hardly have: a claim from here must not pass for one of theirs. */
static neap_rc draw_fence(int64_t *out, np_err *e) {
  uint8_t four[4];
  neap_rc rc = np_random(four, sizeof four, e);
  *out = (int64_t)1 << 32;
  for (int i = 0; rc == NEAP_OK && i < 4; i++) *out += (int64_t)four[i] << (8 * i);
  return rc;
}

neap_rc np_store_sqlite_away(const neap_alloc *a, const char *path_cstr,
                             const np_err *why, np_store **out, np_err *e) {
  np_sqlite *sq = NULL;
  size_t n = strlen(path_cstr) + 1;
  *out = NULL;
  if (!np_sq_may_pass(why->code) || is_no_place(path_cstr)) {
    *e = *why;
    return why->code;
  }
  neap_rc rc = np_sq_open_memory(a, path_cstr, &sq, e);
  if (rc == NEAP_OK) rc = np_sq_exec(sq, "PRAGMA max_page_count = " PAGES, e);
  if (rc == NEAP_OK) rc = draw_fence(&sq->first_fence, e);
  if (rc == NEAP_OK) sq->away = np_malloc(a, n);
  if (rc == NEAP_OK && !sq->away) rc = np_fail_mem(e);
  if (rc == NEAP_OK) {
    memcpy(sq->away, path_cstr, n);
    sq->trouble = *why;
    *out = &sq->st;
  } else if (sq) {
    np_sq_free(sq);
  }
  return rc;
}
