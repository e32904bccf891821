/*
** The whole-file check: SQLite's own, then every event in order of its log, then every
** content. It reads with statements of its own, inside one snapshot. next: sqlite.c
*/
#include "store/content.h"
#include "store/fts.h"

typedef struct checker {
  np_sqlite *sq;
  void (*say)(void *ctx, np_str line);
  void *ctx;
  size_t faults;
  bool broken; /* its structure, at first look */
  np_buf line;
  np_buf tenant, session; /* of the log being walked */
  int64_t next;           /* the seq that must come now */
  neap_rc rc;             /* a failure of the world in the middle of a row */
  np_err *err;
} checker;

/* One line: names and SQLite's own texts may hold line ends. */
static void say(checker *c, const char *text) {
  c->faults++;
  np_buf_adds(&c->line, text);
  for (size_t i = 0; i < c->line.n; i++) {
    if ((unsigned char)c->line.p[i] < 0x20) c->line.p[i] = ' ';
  }
  c->say(c->ctx, np_buf_str(&c->line));
  np_buf_clear(&c->line);
}

static void say_event(checker *c, int64_t seq, const char *text) {
  np_buf_adds(&c->line, "session '");
  np_buf_add(&c->line, np_buf_str(&c->session));
  np_buf_adds(&c->line, "', event ");
  np_buf_int(&c->line, seq);
  np_buf_adds(&c->line, text);
  say(c, "");
}

/* Runs `sql` and gives each row to `row`. A failure is a fault, unless it is one of the
** world (busy, out of memory). */
static neap_rc each(checker *c, const char *sql,
                    void (*row)(checker *c, sqlite3_stmt *st), np_err *e) {
  sqlite3_stmt *st = NULL;
  bool more = true;
  np_err own;
  neap_rc rc = NEAP_OK;
  int got = sqlite3_prepare_v2(c->sq->db, sql, -1, &st, NULL);
  if (got != SQLITE_OK) rc = np_sq_fail(c->sq, got, &own);
  while (rc == NEAP_OK && more) {
    rc = np_sq_step(c->sq, st, &more, &own);
    if (rc == NEAP_OK && more) row(c, st);
    if (c->rc != NEAP_OK) more = false;
  }
  sqlite3_finalize(st);
  if (rc == NEAP_OK) return c->rc;
  if (rc != NEAP_E_CORRUPT) return np_fail(e, rc, "%s", own.text);
  say(c, own.text);
  return NEAP_OK;
}

/* ---- rows -------------------------------------------------------------------------- */

/* A page that cannot be had for want of memory is a fault to SQLite: what it finds is looked for
** twice, and told when it is there the second time. */
static void first_look(checker *c, sqlite3_stmt *st) {
  const char *text = (const char *)sqlite3_column_text(st, 0);
  if (!text || strcmp(text, "ok") != 0) c->broken = true;
}

static void on_structure(checker *c, sqlite3_stmt *st) {
  const char *text = (const char *)sqlite3_column_text(st, 0);
  if (text && strcmp(text, "ok") != 0) say(c, text);
}

/* A new log begins with its first row; then its seq counts from 1. */
static void follow(checker *c, np_str tenant, np_str session) {
  bool same = np_str_eq(np_buf_str(&c->tenant), tenant) &&
              np_str_eq(np_buf_str(&c->session), session);
  if (same && c->next > 0) return;
  np_buf_clear(&c->tenant);
  np_buf_add(&c->tenant, tenant);
  np_buf_clear(&c->session);
  np_buf_add(&c->session, session);
  c->next = 1;
}

/* Columns: tenant, session, seq, kind, version, place, sum, hash, head, body, and whether
** the content is a blob (1), was there (2) or not (0), and whether its log is known. */
static void on_event(checker *c, sqlite3_stmt *st) {
  np_event ev = {.seq = sqlite3_column_int64(st, 2),
                 .kind = sqlite3_column_int(st, 3),
                 .version = sqlite3_column_int(st, 4)};
  int place = sqlite3_column_int(st, 5);
  uint8_t want[NP_SUM];
  np_str sum = np_sq_blob(st, 6), hash = np_sq_blob(st, 7);
  ev.head = np_sq_blob(st, 8);
  follow(c, np_sq_blob(st, 0), np_sq_blob(st, 1));
  if (ev.seq == 1 && sqlite3_column_int(st, 11) == 0)
    say_event(c, 1, ": its session is gone");
  if (ev.seq != c->next) say_event(c, c->next, " is missing");
  c->next = ev.seq < NP_SEQ_MAX ? ev.seq + 1 : NP_SEQ_MAX;
  np_event_sum(&ev, want);
  if (sum.n != NP_SUM || memcmp(sum.p, want, NP_SUM) != 0) {
    say_event(c, ev.seq, ": its head differs from its sum");
  }
  if (place == NP_PLACE_NONE) return;
  bool known =
      place == NP_PLACE_INLINE || np_is_content(place) || place == NP_PLACE_PURGED;
  if (!known || hash.n != NP_SHA256) {
    say_event(c, ev.seq, " is damaged");
    return;
  }
  uint8_t key[NP_SHA256];
  memcpy(key, hash.p, sizeof key);
  if (place == NP_PLACE_INLINE && !np_hash_is(np_sq_blob(st, 9), key)) {
    say_event(c, ev.seq, ": its body differs from its hash");
  }
  if (np_is_content(place) && sqlite3_column_int(st, 10) != 1) {
    say_event(c, ev.seq, ": its body is gone");
  }
}

/* All of a content, against its hash: its pieces, its map and its marks are what its bytes make them. */
static neap_rc check_content(checker *c, np_str tenant, const uint8_t *key, int64_t size,
                             np_err *own) {
  np_content one;
  np_buf all, map;
  np_buf_init(&all, c->sq->st.alloc);
  np_buf_init(&map, c->sq->st.alloc);
  neap_rc rc = np_content_open(c->sq, tenant, key, &one, own);
  if (rc == NEAP_OK) rc = np_content_all(&one, &all, own);
  bool good =
      rc == NEAP_OK && size == (int64_t)all.n && np_hash_is(np_buf_str(&all), key);
  if (good && !one.whole) {
    np_chunk_map_write(key, np_buf_str(&all), &map);
    good = np_str_eq(np_buf_str(&map), one.text);
  }
  for (size_t n = 0; good && !one.whole && n < np_chunk_count(one.size); n++) {
    np_buf_clear(&map);
    rc = np_content_piece(&one, n, own);
    if (rc == NEAP_OK) np_chunk_marks(one.bytes, &map); /* else they are gone */
    good = rc == NEAP_OK && np_str_eq(np_buf_str(&map), one.marks);
  }
  if (all.failed || map.failed) rc = np_fail_mem(own);
  np_content_close(&one);
  np_buf_free(&all);
  np_buf_free(&map);
  return rc == NEAP_OK && !good ? NEAP_E_CORRUPT : rc;
}

/* Columns: tenant, hash, place, size, and whether there is a body. */
static void on_blob(checker *c, sqlite3_stmt *st) {
  np_str hash = np_sq_blob(st, 1);
  char hex[2 * NP_SHA256];
  np_err own = {0};
  uint8_t key[NP_SHA256] = {0};
  int64_t size = sqlite3_column_int64(st, 3);
  neap_rc rc = hash.n == NP_SHA256 ? NEAP_OK : NEAP_E_CORRUPT;
  if (rc == NEAP_OK) memcpy(key, hash.p, sizeof key);
  if (rc == NEAP_OK && sqlite3_column_int(st, 2) == NP_PLACE_PURGED) {
    rc = size == 0 && sqlite3_column_int(st, 4) == 0 ? NEAP_OK : NEAP_E_CORRUPT;
  } else if (rc == NEAP_OK) {
    rc = check_content(c, np_sq_blob(st, 0), key, size, &own);
  }
  if (rc == NEAP_OK) return;
  if (rc != NEAP_E_CORRUPT && rc != NEAP_E_LIMIT) {
    c->rc = np_fail(c->err, rc, "%s", own.text);
    return;
  }
  np_hex(key, NP_SHA256, hex);
  np_buf_adds(&c->line, "content ");
  np_buf_add(&c->line, (np_str){hex, 12});
  say(c, rc == NEAP_E_LIMIT ? "… is compressed in a way that this neap cannot read"
                            : "… differs from its hash");
}

static void on_stray(checker *c, sqlite3_stmt *st) {
  np_buf_int(&c->line, sqlite3_column_int64(st, 0));
  say(c, " pieces belong to no content");
}

static void on_names(checker *c, sqlite3_stmt *st) {
  np_buf_int(&c->line, sqlite3_column_int64(st, 0));
  say(c, " sessions have names that cannot be: empty, or with a NUL byte");
}

/* ---- the check --------------------------------------------------------------------- */

static const char all_events[] =
    "SELECT e.tenant, e.session, e.seq, e.kind, e.version, e.place, e.sum, e.hash, "
    "e.head,"
    " e.body, CASE WHEN e.place IN (2, 5) THEN coalesce((SELECT CASE WHEN b.place IN (2, "
    "4) "
    "THEN 1 ELSE 2"
    " END FROM blob AS b WHERE b.tenant = e.tenant AND b.hash = e.hash), 0) ELSE 0 END,"
    " CASE WHEN e.seq = 1 THEN EXISTS(SELECT 1 FROM session AS s WHERE s.tenant = "
    "e.tenant"
    " AND s.name = e.session) ELSE 1 END"
    " FROM event AS e ORDER BY e.tenant, e.session, e.seq";

static const char all_blobs[] =
    "SELECT tenant, hash, place, size, coalesce(length(body), 0) FROM blob";
static const char names[] =
    "SELECT count(*) FROM session WHERE name = ''"
    " OR instr(CAST(name AS BLOB), x'00') > 0 HAVING count(*) > 0";
static const char strays[] =
    "SELECT count(*) FROM chunk WHERE NOT EXISTS(SELECT 1 FROM blob AS b"
    " WHERE b.id = chunk.id >> 24 AND b.place = 4) HAVING count(*) > 0";

/* The index of words by its own check, which is a statement that writes: not of a store that is
** opened for reading. It can be made again, so that is what its fault says. */
static neap_rc check_words(checker *c, np_err *e) {
  int64_t there = 0;
  np_err own = {0};
  if (c->sq->readonly) return NEAP_OK;
  neap_rc rc = np_sq_int(c->sq, "SELECT count(*) FROM sqlite_schema WHERE name = 'words'",
                         &there, e);
  if (rc != NEAP_OK || !there) return rc;
  rc = np_fts_ready(c->sq, &own);
  if (rc == NEAP_E_LIMIT) return NEAP_OK; /* this SQLite has no such index */
  if (rc == NEAP_OK)
    rc = np_sq_exec(c->sq, "INSERT INTO words(words) VALUES('integrity-check')", &own);
  if (rc == NEAP_E_CORRUPT) say(c, "the index of words is damaged");
  else if (rc != NEAP_OK) return np_fail(e, rc, "%s", own.text);
  return NEAP_OK;
}

static neap_rc check_all(checker *c, np_err *e) {
  neap_rc rc = np_sq_exec(c->sq, "BEGIN", e);
  if (rc != NEAP_OK) return rc;
  rc = each(c, "PRAGMA integrity_check", first_look, e);
  if (rc == NEAP_OK && c->broken) rc = each(c, "PRAGMA integrity_check", on_structure, e);
  if (rc == NEAP_OK) rc = each(c, all_events, on_event, e);
  if (rc == NEAP_OK) rc = each(c, names, on_names, e);
  if (rc == NEAP_OK) rc = each(c, all_blobs, on_blob, e);
  if (rc == NEAP_OK && c->sq->version >= 3) rc = each(c, strays, on_stray, e);
  if (!sqlite3_get_autocommit(c->sq->db)) np_sq_exec(c->sq, "ROLLBACK", NULL);
  return rc == NEAP_OK ? check_words(c, e) : rc;
}

neap_rc np_sq_check(np_store *store, void (*fn)(void *ctx, np_str line), void *ctx,
                    np_err *e) {
  checker c = {.sq = np_sq_lock_back(store), .say = fn, .ctx = ctx, .err = e};
  np_buf_init(&c.line, store->alloc);
  np_buf_init(&c.tenant, store->alloc);
  np_buf_init(&c.session, store->alloc);
  neap_rc rc = np_sq_here(c.sq, e);
  if (rc == NEAP_OK) rc = check_all(&c, e);
  if (rc == NEAP_OK && (c.tenant.failed || c.session.failed)) rc = np_fail_mem(e);
  if (rc == NEAP_OK && c.faults > 0) {
    rc = np_fail(e, NEAP_E_CORRUPT, "store '%s': %zu faults; restore a copy of the store",
                 c.sq->label, c.faults);
  }
  np_sq_unlock(c.sq, rc);
  np_buf_free(&c.line);
  np_buf_free(&c.tenant);
  np_buf_free(&c.session);
  return rc;
}
