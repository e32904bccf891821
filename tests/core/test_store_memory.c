/*
** Memory that runs out at any allocation, neap's or SQLite's, in what is done to a store as a whole:
** a code, no crash, no leak, nothing done by half: the store is sound, and holds what it held or
** what it was to hold. next: test_engine_memory.c
*/
#include "session.h"

#include <sqlite3.h>

/* ---- allocators that fail once ---- */

static struct {
  long live, count,
      fail_at; /* blocks of neap's; allocations so far; the one that fails */
  bool failed;
} h;

static sqlite3_mem_methods plain;

static bool refuse(void) {
  if (++h.count != h.fail_at) return false;
  h.failed = true;
  return true;
}
static void *heap_malloc(void *ctx, size_t n) {
  (void)ctx;
  void *p = refuse() ? NULL : malloc(n ? n : 1);
  h.live += p != NULL;
  return p;
}
static void *heap_realloc(void *ctx, void *p, size_t old, size_t n) {
  (void)ctx;
  (void)old;
  void *q = refuse() ? NULL : realloc(p, n ? n : 1);
  if (!p && q) h.live++;
  return q;
}
static void heap_free(void *ctx, void *p) {
  (void)ctx;
  h.live -= p != NULL;
  free(p);
}
static void *sqlite_malloc(int n) {
  return refuse() ? NULL : plain.xMalloc(n);
}
static void *sqlite_realloc(void *p, int n) {
  return refuse() ? NULL : plain.xRealloc(p, n);
}

static void watch_sqlite(void) {
  sqlite3_mem_methods own;
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain);
  own = plain;
  own.xMalloc = sqlite_malloc;
  own.xRealloc = sqlite_realloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &own);
}

/* ---- a store ---- */

static char path[400], copy[400], folder[300];
static np_buf sound, lines;

static neap_rc open_at(const char *store, neap_store_failure how, neap **n) {
  neap_config c = {.size = sizeof c,
                   .store = store,
                   .data = data_dir(),
                   .flags = NEAP_FIXED_SECRET,
                   .on_store_failure = how,
                   .alloc = {heap_malloc, heap_realloc, heap_free, NULL}};
  return neap_open(&c, n);
}

static neap_session *resume(neap *n) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o, .window = 20000, .flags = NEAP_NO_RELOAD};
  neap_rc rc = neap_session_open(n, "run", &o, &s);
  return rc ? NULL : s;
}

static int take(void *ctx, neap_str bytes) {
  np_buf_add(ctx, bytes);
  return !((np_buf *)ctx)->failed;
}

static void remove_file(const char *name) {
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char file[500];
    snprintf(file, sizeof file, "%s%s", name, ends[i]);
    unlink(file);
  }
}

static void read_bytes(np_buf *out) {
  char room[65536];
  size_t n;
  FILE *f = fopen(path, "rb");
  while (f && (n = fread(room, 1, sizeof room, f)) > 0)
    np_buf_add(out, np_str_of(room, n));
  if (f) fclose(f);
}

static void renew(void) {
  remove_file(path);
  remove_file(copy);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(sound.p, 1, sound.n, f) != sound.n || fclose(f)) exit(2);
}

static void make_sound(void) {
  neap *n;
  int64_t id;
  np_buf large;
  np_buf_init(&large, &np_alloc_libc);
  if (open_at(path, NEAP_STORE_STOP, &n)) exit(2);
  neap_session *s = resume(n);
  append(s, "{'role':'user','content':'where do zebras live?'}");
  round_trip(s, 1, 1, 400, NULL);
  prompt(s);
  for (int i = 1; i <= 12000; i++) {
    np_buf_adds(&large, "line ");
    np_buf_int(&large, i);
    np_buf_adds(&large, " of some log\n");
  }
  CHECK("put", neap_session_put(s, np_buf_str(&large), NULL, &id) == NEAP_OK);
  CHECK("put", neap_session_put(s, np_str_of(large.p, 9000), NULL, &id) == NEAP_OK);
  neap_session_close(s);
  CHECK("exported", neap_session_export(n, "run", take, &lines) == NEAP_OK);
  neap_close(n);
  np_buf_free(&large);
  read_bytes(&sound);
}

/* ---- what is done ---- */

static neap_rc do_fork(neap *n) {
  neap_fork how = {.size = sizeof how, .events = 3};
  return neap_session_fork(n, "run", &how, "again");
}
static neap_rc do_import(neap *n) {
  return neap_session_import(n, np_buf_str(&lines), "more", NULL, NULL);
}
static neap_rc do_export(neap *n) {
  np_buf out;
  np_buf_init(&out, &np_alloc_libc);
  neap_rc rc = neap_session_export(n, "run", take, &out);
  if (!rc) CHECK("it is whole", np_str_eq(np_buf_str(&out), np_buf_str(&lines)));
  np_buf_free(&out);
  return rc;
}
static neap_rc do_vacuum(neap *n) {
  return neap_store_vacuum(n, NULL);
}
static neap_rc do_backup(neap *n) {
  return neap_store_backup(n, copy);
}
static neap_rc do_copy(neap *n) {
  neap *to;
  neap_rc rc = open_at(copy, NEAP_STORE_STOP, &to);
  if (!rc) rc = neap_session_copy(n, "run", to);
  neap_close(to);
  return rc;
}
static void replayed(void *ctx, const neap_replayed *r) {
  (void)ctx;
  CHECK("each prompt is the same", r->turn == 0);
}
static neap_rc do_replay(neap *n) {
  return neap_session_replay(n, "run", replayed, NULL);
}
static neap_rc do_purge(neap *n) {
  return neap_artifact_remove(n, "run", 5);
}
static int print_fault(void *ctx, neap_str line) {
  (void)ctx;
  fprintf(stderr, "%.*s\n", (int)line.n, line.p);
  return 1;
}
static neap_rc do_check(neap *n) {
  return neap_store_check(n, print_fault, NULL);
}

static int count_one(void *ctx, const neap_stored *one) {
  (void)one;
  ++*(int *)ctx;
  return 1;
}

/* `sessions`: how many there are when it is done; before, one. `file`: it makes `copy`. */
static const struct deed {
  const char *name;
  neap_rc (*run)(neap *n);
  int sessions;
  bool file;
} deeds[] = {
    {"fork", do_fork, 2, false},     {"import", do_import, 2, false},
    {"export", do_export, 1, false}, {"vacuum", do_vacuum, 1, false},
    {"backup", do_backup, 1, true},  {"copy", do_copy, 1, false},
    {"replay", do_replay, 1, false}, {"purge", do_purge, 1, false},
    {"check", do_check, 1, false},
};

/* With memory enough: the store is sound, and has all of it or nothing. */
static bool is_whole(const struct deed *d, neap_rc rc) {
  neap *n;
  int sessions = 0;
  neap_rc found = open_at(path, NEAP_STORE_STOP, &n);
  if (!found) found = neap_store_check(n, NULL, NULL);
  if (!found) found = neap_session_list(n, count_one, &sessions);
  bool good = !found && sessions == (rc ? 1 : d->sessions);
  if (good && d->run != do_purge) good = do_export(n) == NEAP_OK;
  if (good && d->file) good = (access(copy, F_OK) == 0) == !rc;
  if (!good)
    fprintf(stderr, "%s, allocation %ld (%s): %s, %d sessions\n", d->name, h.count,
            neap_rc_name(rc), found ? neap_error(n) : "not whole", sessions);
  neap_close(n);
  return good;
}

/* The first hundred allocations one by one, then some. */
static void sweep(const struct deed *d) {
  long failures = 0, bad = 0, wrong = 0, leaks = 0;
  bool through = false;
  for (long at = 1; !through && at < 60000; at += at < 100 ? 1 : 1 + at / 40) {
    neap *n;
    h.fail_at = 0;
    renew();
    if (open_at(path, NEAP_STORE_STOP, &n)) exit(2);
    h.count = 0;
    h.failed = false;
    h.fail_at = at;
    neap_rc rc = d->run(n);
    h.fail_at = 0;
    if (rc && rc != NEAP_E_MEMORY) {
      fprintf(stderr, "%s, allocation %ld: %s: %s\n", d->name, at, neap_rc_name(rc),
              neap_error(n));
      wrong++;
    }
    failures += rc != NEAP_OK;
    through = !h.failed;
    neap_close(n);
    leaks += h.live != 0 || sqlite3_memory_used() != 0;
    bad += !is_whole(d, rc);
  }
  CHECK("running out of memory is told as that", wrong == 0);
  CHECK("it was told", failures > 5 && through);
  CHECK("nothing leaks", leaks == 0);
  CHECK("nothing is done by half", bad == 0);
}

/* ---- a file that comes back ---- */

/* What was acknowledged while the file was away is there in the end, whichever allocation fails. */
static void sweep_away(void) {
  char store[400];
  bool through = false;
  long wrong = 0, lost = 0, leaks = 0;
  snprintf(store, sizeof store, "%s/later.db", folder);
  for (long at = 1; !through && at < 60000; at += at < 60 ? 1 : 1 + at / 25) {
    neap *n = NULL;
    neap_session *s = NULL;
    int said = 0;
    h.count = 0;
    h.failed = false;
    h.fail_at = at;
    neap_rc rc = open_at(store, NEAP_STORE_HOLD, &n);
    if (!rc) s = resume(n);
    for (int i = 0; s && i < 3; i++) {
      rc = neap_append(s, say("user", "0123456789", 300));
      if (!rc) said++;
      if (i == 1) mkdir(folder, 0700);
      if (rc && rc != NEAP_E_MEMORY) wrong++;
    }
    if (s) rc = neap_flush(n);
    if (rc && rc != NEAP_E_MEMORY && rc != NEAP_E_IO) wrong++;
    h.fail_at = 0;
    through = !h.failed;
    mkdir(folder, 0700);
    if (s && neap_flush(n)) wrong++;
    rc = neap_close(n);
    if (s && rc) wrong++;
    leaks += h.live != 0 || sqlite3_memory_used() != 0;
    if (s) {
      neap_str text;
      if (open_at(store, NEAP_STORE_STOP, &n) || !(s = resume(n))) exit(2);
      if (said && neap_entry_text(s, said, &text)) lost++;
      if (neap_store_check(n, NULL, NULL)) wrong++;
      neap_close(n);
    }
    remove_file(store);
    rmdir(folder);
  }
  CHECK("a store that comes back without memory is told, or comes back later",
        wrong == 0);
  CHECK("what was acknowledged is there", lost == 0);
  CHECK("nothing leaks there", leaks == 0 && through);
}

int main(void) {
  watch_sqlite();
  dir_make();
  np_buf_init(&sound, &np_alloc_libc);
  np_buf_init(&lines, &np_alloc_libc);
  snprintf(path, sizeof path, "%s/agent.db", test_dir);
  snprintf(copy, sizeof copy, "%s/copy.db", test_dir);
  snprintf(folder, sizeof folder, "%s/folder", test_dir);
  make_sound();
  for (size_t i = 0; i < NP_COUNT(deeds); i++) sweep(&deeds[i]);
  sweep_away();
  remove_file(path);
  remove_file(copy);
  np_buf_free(&sound);
  np_buf_free(&lines);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
