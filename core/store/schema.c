/*
** The tables, and the steps from one version of the file to the next. Every table has a
** `fence` (whose claim wrote the row) and a `version` (how to read it); every key starts
** with the tenant. Bodies are the last column, so that the others are found without them.
** next: blobs.c
*/
#include "store/sqlite.h"

/* `place` is np_place, `size` the content's whatever is kept of it here. */
static const char create[] =
    "PRAGMA application_id = 0x6E656170;"
    "CREATE TABLE meta("
    " tenant TEXT NOT NULL, name TEXT NOT NULL,"
    " fence INTEGER NOT NULL, version INTEGER NOT NULL,"
    " value BLOB NOT NULL, PRIMARY KEY(tenant, name)) STRICT;"
    "CREATE TABLE session("
    " tenant TEXT NOT NULL, name TEXT NOT NULL,"
    " fence INTEGER NOT NULL, version INTEGER NOT NULL, PRIMARY KEY(tenant, name)) "
    "STRICT;"
    "CREATE TABLE event("
    " tenant TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, fence INTEGER NOT NULL, version INTEGER NOT NULL,"
    " place INTEGER NOT NULL, sum BLOB NOT NULL, hash BLOB, head BLOB NOT NULL, body "
    "BLOB,"
    " PRIMARY KEY(tenant, session, seq)) STRICT;"
    "CREATE TABLE blob("
    " id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, hash BLOB NOT NULL,"
    " fence INTEGER NOT NULL, version INTEGER NOT NULL,"
    " place INTEGER NOT NULL, size INTEGER NOT NULL, body BLOB,"
    " UNIQUE(tenant, hash)) STRICT;";

/* The words of entries. A scope is a session; the ids of its docs are scope.id << 24 | entry,
** and a tenant's scopes are neighbours (fts.h), so that who searches one tenant or session
** never sees more than its range. The index itself is made when something is indexed: this
** SQLite may be one without FTS5. */
static const char add_words[] =
    "CREATE TABLE scope("
    " id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, session TEXT NOT NULL,"
    " fence INTEGER NOT NULL, version INTEGER NOT NULL,"
    " entry INTEGER NOT NULL, cited INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " docs INTEGER NOT NULL, words INTEGER NOT NULL, UNIQUE(tenant, session)) STRICT;"
    "CREATE TABLE doc("
    " id INTEGER PRIMARY KEY, fence INTEGER NOT NULL, version INTEGER NOT NULL,"
    " seq INTEGER NOT NULL,"
    " part INTEGER NOT NULL, rank INTEGER NOT NULL, step INTEGER NOT NULL,"
    " pair INTEGER NOT NULL, cites INTEGER NOT NULL, words INTEGER NOT NULL,"
    " sum INTEGER NOT NULL) STRICT;";

static neap_rc make_words(np_sqlite *sq, np_err *e) {
  return np_sq_exec(sq, add_words, e);
}

/* Pieces of large contents (chunk.h). A content's pieces are chunk.id = blob.id << 24 | n: they
** are reached through its row alone, whose key starts with the tenant; the body of that row is
** their map. What an older neap has written stays as it is until it is written again. `enc` is
** np_enc; 0 and 1 take no byte of a row, and are read without what is before them. */
static const char add_chunks[] =
    "CREATE TABLE chunk("
    " id INTEGER PRIMARY KEY, fence INTEGER NOT NULL, version INTEGER NOT NULL,"
    " enc INTEGER NOT NULL, sum INTEGER NOT NULL, marks BLOB NOT NULL,"
    " body BLOB NOT NULL) STRICT;"
    "ALTER TABLE blob ADD COLUMN enc INTEGER NOT NULL DEFAULT 0;";

static neap_rc make_chunks(np_sqlite *sq, np_err *e) {
  return np_sq_exec(sq, add_chunks, e);
}

/* The sum of a content that is one row (chunk.h; NULL or 0: none), so that reading it need not take
** the SHA-256 of all of it. Rows of an older neap have none until a vacuum. In a file without
** contents the table is made anew, with the body behind all that is read before it. */
static const char order_blob[] =
    "DROP TABLE blob;"
    "CREATE TABLE blob("
    " id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, hash BLOB NOT NULL,"
    " fence INTEGER NOT NULL, version INTEGER NOT NULL,"
    " place INTEGER NOT NULL, size INTEGER NOT NULL, enc INTEGER NOT NULL,"
    " sum INTEGER, body BLOB, UNIQUE(tenant, hash)) STRICT;";

static neap_rc make_sums(np_sqlite *sq, np_err *e) {
  int64_t some = 0;
  neap_rc rc = np_sq_int(sq, "SELECT EXISTS(SELECT 1 FROM blob)", &some, e);
  if (rc != NEAP_OK) return rc;
  return np_sq_exec(sq, some ? "ALTER TABLE blob ADD COLUMN sum INTEGER" : order_blob, e);
}

/* The store's secret is made with the file, so that readers always find one. */
static neap_rc add_secret(np_sqlite *sq, np_err *e) {
  uint8_t secret[NP_SHA256];
  sqlite3_stmt *st;
  bool row;
  neap_rc rc = np_random(secret, sizeof secret, e);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_use(sq, SQL_SECRET_ADD, &st, e, "ib", (int64_t)NP_ROW_VERSION,
                 np_hash_str(secret));
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  return rc;
}

/* Another program may have filled the empty file while we waited for the lock. */
static neap_rc make(np_sqlite *sq, np_err *e) {
  int64_t tables = 0;
  neap_rc rc = np_sq_int(sq, "SELECT count(*) FROM sqlite_schema", &tables, e);
  if (rc == NEAP_OK && tables > 0) {
    rc = np_sq_say(sq, NEAP_E_FOREIGN, "no neap store; give another path", e);
  }
  if (rc == NEAP_OK) rc = np_sq_exec(sq, create, e);
  return rc == NEAP_OK ? add_secret(sq, e) : rc;
}

/* Step n leads from version n to version n + 1, inside one transaction. */
static neap_rc (*const steps[NP_STORE_VERSION])(np_sqlite *sq, np_err *e) = {
    make, make_words, make_chunks, make_sums};

neap_rc np_sq_version_check(const np_sqlite *sq, int64_t version, np_err *e) {
  if (version >= 0 && version <= NP_STORE_VERSION) return NEAP_OK;
  return np_fail(e, NEAP_E_NEWER,
                 "store '%s': its version is %lld, this neap reads up to %d; update neap",
                 sq->label, (long long)version, NP_STORE_VERSION);
}

/* SQLite takes no parameters in a PRAGMA. */
static neap_rc set_version(np_sqlite *sq, int64_t version, np_err *e) {
  char sql[64];
  sqlite3_snprintf((int)sizeof sql, sql, "PRAGMA user_version = %lld",
                   (long long)version);
  return np_sq_exec(sq, sql, e);
}

/* One step, unless another process has done it while we waited. */
static neap_rc step(np_sqlite *sq, int64_t seen, np_err *e) {
  int64_t now = 0;
  neap_rc rc = np_sq_begin(sq, e);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_int(sq, "PRAGMA user_version", &now, e);
  if (rc == NEAP_OK && now == seen) {
    rc = steps[seen](sq, e);
    if (rc == NEAP_OK) rc = set_version(sq, seen + 1, e);
  }
  return np_sq_end(sq, rc, e);
}

/* Reads older versions as they are; brings them up to date when it may write. */
neap_rc np_sq_migrate(np_sqlite *sq, np_err *e) {
  for (;;) {
    int64_t version = 0;
    neap_rc rc = np_sq_int(sq, "PRAGMA user_version", &version, e);
    if (rc == NEAP_OK) rc = np_sq_version_check(sq, version, e);
    sq->version = version;
    if (rc != NEAP_OK || version == NP_STORE_VERSION) return rc;
    if (sq->readonly && version > 0) return NEAP_OK;
    if (sq->readonly) {
      return np_sq_say(sq, NEAP_E_NOTFOUND, "it is empty; open it once for writing", e);
    }
    rc = step(sq, version, e);
    if (rc != NEAP_OK) return rc;
  }
}
