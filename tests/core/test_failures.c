/*
** Every failure of a store with every call that uses it: the call gives what it would give of a
** sound store, or one line that says why not and a code that fits; nothing else, whatever is damaged
** where. docs/store.md has the table for people. next: test_away.c
*/
#include "session.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char folder[300], path[400];
static np_buf sound; /* the file's bytes */

static void write_bytes(np_str bytes) {
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(bytes.p, 1, bytes.n, f) != bytes.n || fclose(f)) exit(2);
}

static void read_bytes(np_buf *out) {
  char room[65536];
  size_t n;
  FILE *f = fopen(path, "rb");
  np_buf_clear(out);
  while (f && (n = fread(room, 1, sizeof room, f)) > 0)
    np_buf_add(out, np_str_of(room, n));
  if (f) fclose(f);
}

static void remove_beside(void) {
  static const char *const ends[] = {"-wal", "-shm", "-journal", ".copy"};
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char file[500];
    snprintf(file, sizeof file, "%s%s", path, ends[i]);
    unlink(file);
  }
}

/* ---- the calls --------------------------------------------------------------------- */

static int take(void *ctx, neap_str bytes) {
  np_buf_add(ctx, bytes);
  np_buf_addc(ctx, '\n');
  return 1;
}

static int take_name(void *ctx, const neap_stored *one) {
  take(ctx, one->name);
  np_buf_int(ctx, one->events);
  return 1;
}

static void take_file(void *ctx, const neap_artifact *a, neap_str bytes) {
  take(ctx, a->path);
  np_buf_int(ctx, a->bytes);
  take(ctx, bytes);
}

/* What is found is held against the session's own words: an index that has lost some finds less,
** which a check tells, but what it finds is there. */
static void take_hit(void *ctx, const neap_hit *hit) {
  if (!np_str_is(hit->session, "run") || hit->entry < 1 || hit->entry > 8)
    take(ctx, np_str_cstr("a hit that cannot be"));
}

static void take_replay(void *ctx, const neap_replayed *r) {
  np_buf_int(ctx, r->same);
  np_buf_addc(ctx, ' ');
  np_buf_int(ctx, r->turn);
}

static neap_rc resume(neap *n, neap_session **s) {
  neap_options o = {.size = sizeof o, .window = 20000, .flags = NEAP_NO_RELOAD};
  return neap_session_open(n, "run", &o, s);
}

static neap_rc call_list(neap *n, np_buf *out) {
  return neap_session_list(n, take_name, out);
}
static neap_rc call_export(neap *n, np_buf *out) {
  return neap_session_export(n, "run", take, out);
}
static neap_rc call_resume(neap *n, np_buf *out) {
  neap_session *s;
  neap_rc rc = resume(n, &s);
  neap_str text;
  for (int64_t id = 1; !rc && id <= 6; id++) {
    rc = neap_entry_text(s, id, &text);
    if (!rc) take(out, text);
  }
  if (!rc) rc = neap_prompt(s, &text);
  if (!rc) take(out, text);
  neap_session_close(s);
  return rc;
}
static neap_rc call_observe(neap *n, np_buf *out) {
  neap_session *s;
  neap_str text;
  neap_rc rc = resume(n, &s);
  if (!rc) rc = append(s, "{'role':'user','content':'and one more'}");
  if (!rc) rc = neap_prompt(s, &text);
  if (!rc) take(out, text);
  neap_session_close(s);
  return rc;
}
static neap_rc call_read(neap *n, np_buf *out) {
  neap_session *s;
  neap_str text;
  neap_rc rc = resume(n, &s);
  if (!rc)
    rc = neap_read(s, np_str_cstr("files/1"), np_str_cstr("4000-4003"), 500, &text);
  if (!rc) take(out, text);
  neap_session_close(s);
  return rc;
}
static neap_rc call_recall(neap *n, np_buf *out) {
  return neap_recall(n, NULL, np_str_cstr("zebra"), 5, take_hit, out);
}
static neap_rc call_get(neap *n, np_buf *out) {
  return neap_artifact_get(n, "files", 2, NULL, take_file, out);
}
static neap_rc call_window(neap *n, np_buf *out) {
  neap_window w = {.size = sizeof w, .first_line = 9000, .last_line = 9005};
  return neap_artifact_get(n, "files", 1, &w, take_file, out);
}
static neap_rc call_files(neap *n, np_buf *out) {
  return neap_artifact_list(n, NULL, 0, take_file, out);
}
static neap_rc call_put(neap *n, np_buf *out) {
  int64_t id;
  (void)out;
  return neap_artifact_put(n, "files", np_str_cstr("something new"), NULL, &id);
}
static neap_rc call_remove(neap *n, np_buf *out) {
  (void)out;
  return neap_artifact_remove(n, "files", 2);
}
static neap_rc call_replay(neap *n, np_buf *out) {
  return neap_session_replay(n, "run", take_replay, out);
}
static neap_rc call_fork(neap *n, np_buf *out) {
  neap_fork how = {.size = sizeof how, .events = 4};
  (void)out;
  return neap_session_fork(n, "run", &how, "copy");
}
static neap_rc call_backup(neap *n, np_buf *out) {
  char copy[500];
  snprintf(copy, sizeof copy, "%s.copy", path);
  (void)out;
  neap_rc rc = neap_store_backup(n, copy);
  unlink(copy);
  return rc;
}
static neap_rc call_vacuum(neap *n, np_buf *out) {
  (void)out;
  return neap_store_vacuum(n, NULL);
}
static neap_rc call_check(neap *n, np_buf *out) {
  (void)out;
  return neap_store_check(n, NULL, NULL);
}

static const struct call {
  const char *name;
  neap_rc (*run)(neap *n, np_buf *out);
  bool writes;
} calls[] = {
    {"list", call_list, false},    {"export", call_export, false},
    {"resume", call_resume, true}, {"observe", call_observe, true},
    {"read", call_read, true},     {"recall", call_recall, false},
    {"get", call_get, false},      {"window", call_window, false},
    {"files", call_files, false},  {"put", call_put, true},
    {"remove", call_remove, true}, {"replay", call_replay, false},
    {"fork", call_fork, true},     {"backup", call_backup, false},
    {"vacuum", call_vacuum, true}, {"check", call_check, false},
};
#define CALLS NP_COUNT(calls)

static np_buf good[CALLS];

/* ---- judging ----------------------------------------------------------------------- */

static neap_rc open_store(neap **n) {
  neap_config c = {
      .size = sizeof c, .store = path, .data = data_dir(), .flags = NEAP_FIXED_SECRET};
  return neap_open(&c, n);
}

/* What a call came to. */
typedef struct outcome {
  neap_rc rc;
  char text[600];
  np_buf out;
} outcome;

static void make_call(size_t i, outcome *o) {
  neap *n;
  np_buf_clear(&o->out);
  o->rc = open_store(&n);
  if (!o->rc) o->rc = calls[i].run(n, &o->out);
  snprintf(o->text, sizeof o->text, "%s", o->rc ? neap_error(n) : "");
  neap_close(n);
}

static bool is_one_line(const outcome *o) {
  size_t n = strlen(o->text);
  return n > 10 && !strchr(o->text, '\n') &&
         (strstr(o->text, "; ") || strstr(o->text, ": "));
}

/* `allowed` ends with NEAP_OK, which stands for itself when it is first, too. */
static bool is_allowed(neap_rc rc, const neap_rc *allowed) {
  for (size_t i = 0; allowed[i]; i++) {
    if (allowed[i] == rc) return true;
  }
  return false;
}

/* True when the call was right, or was told to be wrong in one line with one of the codes. */
static bool is_right(const char *failure, size_t i, const outcome *o,
                     const neap_rc *codes) {
  bool same = np_str_eq(np_buf_str(&o->out), np_buf_str(&good[i]));
  bool right = o->rc == NEAP_OK ? same : is_allowed(o->rc, codes) && is_one_line(o);
  if (!right)
    fprintf(stderr, "%s, %s: %s '%s'%s\n", failure, calls[i].name, neap_rc_name(o->rc),
            o->text, o->rc == NEAP_OK ? ", another output" : "");
  return right;
}

/* ---- a store ------------------------------------------------------------------------ */

/* Two turns with results of several sizes, an artifact in pieces and one in a row, an index. */
static void make_sound(void) {
  neap *n;
  neap_session *s;
  int64_t id;
  np_buf large;
  np_buf_init(&large, &np_alloc_libc);
  if (open_store(&n) || resume(n, &s)) exit(2);
  append(s, "{'role':'user','content':'where do zebra and okapi live? nobody knows'}");
  round_trip(s, 1, 2, 30, NULL);
  round_trip(s, 2, 2, 900, NULL);
  prompt(s);
  neap_session_close(s);
  for (int i = 1; i <= 20000; i++) {
    np_buf_adds(&large, "line ");
    np_buf_int(&large, i);
    np_buf_adds(&large, " of a log of a zebra\n");
  }
  neap_artifact a = {.size = sizeof a, .path = NP_LIT("big.log")};
  neap_artifact b = {.size = sizeof b, .path = NP_LIT("small.log")};
  neap_artifact_put(n, "files", np_buf_str(&large), &a, &id);
  neap_artifact_put(n, "files", np_str_of(large.p, 20000), &b, &id);
  np_buf none;
  np_buf_init(&none, &np_alloc_libc);
  call_recall(n, &none); /* all words go to the index */
  np_buf_free(&none);
  neap_close(n);
  np_buf_free(&large);
  read_bytes(&sound);
}

static void renew(void) {
  remove_beside();
  unlink(path);
  write_bytes(np_buf_str(&sound));
}

static void learn(void) {
  outcome o = {.rc = NEAP_OK};
  np_buf_init(&o.out, &np_alloc_libc);
  for (size_t i = 0; i < CALLS; i++) {
    np_buf_init(&good[i], &np_alloc_libc);
    renew();
    make_call(i, &o);
    if (o.rc) fprintf(stderr, "%s: %s\n", calls[i].name, o.text);
    CHECK("of a sound store every call is right", o.rc == NEAP_OK);
    np_buf_add(&good[i], np_buf_str(&o.out));
  }
  np_buf_free(&o.out);
}

/* ---- damage ------------------------------------------------------------------------- */

static const neap_rc damaged[] = {NEAP_E_CORRUPT, NEAP_E_FOREIGN, NEAP_E_NEWER,
                                  NEAP_E_LIMIT,   NEAP_E_IO,      NEAP_OK};

/* A bit anywhere in the file: whatever a call gives is what it gave before. */
static void one_bit(unsigned long long *r, int rounds) {
  int wrong = 0, told = 0;
  outcome o = {.rc = NEAP_OK};
  np_buf_init(&o.out, &np_alloc_libc);
  for (int k = 0; k < rounds; k++) {
    size_t at = (size_t)(check_random(r) % sound.n);
    char name[60], old = sound.p[at];
    snprintf(name, sizeof name, "bit %d of byte %zu", (int)(check_random(r) % 8), at);
    for (size_t i = 0; i < CALLS; i++) {
      sound.p[at] = (char)(old ^ 1 << (name[4] - '0'));
      renew();
      sound.p[at] = old;
      make_call(i, &o);
      if (!is_right(name, i, &o, damaged)) wrong++;
      told += o.rc != NEAP_OK;
    }
  }
  CHECK("a flipped bit is told, or changes nothing", wrong == 0);
  CHECK("some were told", told > 0);
  np_buf_free(&o.out);
}

static void cut_short(unsigned long long *r, int rounds) {
  int wrong = 0, passed = 0;
  outcome o = {.rc = NEAP_OK};
  np_buf_init(&o.out, &np_alloc_libc);
  for (int k = 0; k < rounds; k++) {
    char name[60];
    size_t n = 1 + (size_t)(check_random(r) % (sound.n - 1));
    snprintf(name, sizeof name, "the first %zu bytes", n);
    for (size_t i = 0; i < CALLS; i++) {
      remove_beside();
      write_bytes(np_str_of(sound.p, n));
      make_call(i, &o);
      if (!is_right(name, i, &o, damaged)) wrong++;
      passed += o.rc == NEAP_OK && calls[i].run == call_check;
    }
  }
  CHECK("a file that was cut short is told, or what is asked was not in the rest",
        wrong == 0);
  CHECK("a check always tells", passed == 0);
  np_buf_free(&o.out);
}

/* ---- places and files ---------------------------------------------------------------- */

static sqlite3 *other;

static void none_to_open(void) {
  unlink(path);
  rmdir(folder);
}
static void folder_again(void) {
  mkdir(folder, 0700);
}
static void newer(void) {
  memcpy(sound.p + 60, "\0\0\0\x63", 4);
  renew();
  memcpy(sound.p + 60, "\0\0\0\4", 4);
}
static void another_program(void) {
  char old[4];
  memcpy(old, sound.p + 68, 4);
  memcpy(sound.p + 68, "GPKG", 4);
  renew();
  memcpy(sound.p + 68, old, 4);
}
static void no_database(void) {
  write_bytes(np_str_cstr("a text of somebody's, which is no store at all\n"));
}
static void lock(void) {
  sqlite3_open(path, &other);
  CHECK("another has the lock",
        sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
}
static void unlock(void) {
  sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
  sqlite3_close(other);
}
static void fill_disk(void) {
  struct rlimit r;
  getrlimit(RLIMIT_FSIZE, &r);
  r.rlim_cur = 100;
  setrlimit(RLIMIT_FSIZE, &r);
}
static void free_disk(void) {
  struct rlimit r;
  getrlimit(RLIMIT_FSIZE, &r);
  r.rlim_cur = RLIM_INFINITY;
  setrlimit(RLIMIT_FSIZE, &r);
}
static void bar_file(void) {
  chmod(path, 0400);
}
static void unbar_file(void) {
  chmod(path, 0600);
}
static void bar_folder(void) {
  chmod(folder, 0500);
}
static void unbar_folder(void) {
  chmod(folder, 0700);
}

static const struct failure {
  const char *name;
  void (*begin)(void), (*end)(void);
  neap_rc code;
  /* which calls must fail: 'a' all, 'w' those that write; others may, or be right */
  char which;
  bool unprivileged; /* means something only to who is not root */
} failures[] = {
    {"its folder is missing", none_to_open, folder_again, NEAP_E_IO, 'a', false},
    {"a newer neap's file", newer, NULL, NEAP_E_NEWER, 'a', false},
    {"another program's database", another_program, NULL, NEAP_E_FOREIGN, 'a', false},
    {"no database at all", no_database, NULL, NEAP_E_FOREIGN, 'a', false},
    {"the disk is full", fill_disk, free_disk, NEAP_E_FULL, 'w', false},
    {"its file is read-only", bar_file, unbar_file, NEAP_E_READONLY, 'a', true},
    {"its folder is read-only", bar_folder, unbar_folder, NEAP_E_READONLY, 'a', true},
};

static bool must_fail(const struct failure *f, size_t i) {
  return f->which == 'a' || calls[i].writes;
}

static void try_failure(const struct failure *f, size_t i, outcome *o, int *wrong) {
  const neap_rc codes[] = {f->code, NEAP_OK};
  np_buf before, after;
  np_buf_init(&before, &np_alloc_libc);
  np_buf_init(&after, &np_alloc_libc);
  renew();
  f->begin();
  read_bytes(&before);
  make_call(i, o);
  read_bytes(&after);
  if (f->end) f->end();
  bool right = is_right(f->name, i, o, codes);
  if (right && must_fail(f, i) && o->rc == NEAP_OK) {
    fprintf(stderr, "%s, %s: it was done\n", f->name, calls[i].name);
    right = false;
  }
  if (right && f->which == 'a' && !np_str_eq(np_buf_str(&before), np_buf_str(&after))) {
    fprintf(stderr, "%s, %s: the file has changed\n", f->name, calls[i].name);
    right = false;
  }
  *wrong += !right;
  np_buf_free(&before);
  np_buf_free(&after);
}

static void fail_each(void) {
  outcome o = {.rc = NEAP_OK};
  np_buf_init(&o.out, &np_alloc_libc);
  for (size_t k = 0; k < NP_COUNT(failures); k++) {
    int wrong = 0;
    if (failures[k].unprivileged && geteuid() == 0) {
      check_skip(failures[k].name, "who is root may do all");
      continue;
    }
    for (size_t i = 0; i < CALLS; i++) try_failure(&failures[k], i, &o, &wrong);
    CHECK("each call is right, or says in one line why not", wrong == 0);
  }
  np_buf_free(&o.out);
}

/* Waits for the lock in each call that writes, 5 seconds: three of them, and all that read. */
static void while_locked(void) {
  static const neap_rc busy[] = {NEAP_E_BUSY, NEAP_OK};
  int wrong = 0, told = 0, waited = 0;
  outcome o = {.rc = NEAP_OK};
  np_buf_init(&o.out, &np_alloc_libc);
  for (size_t i = 0; i < CALLS; i++) {
    if (calls[i].writes && ++waited > 3) continue;
    renew();
    lock();
    make_call(i, &o);
    unlock();
    wrong += !is_right("locked", i, &o, busy);
    told += o.rc != NEAP_OK;
  }
  CHECK("each call is right, or says that another has the lock", wrong == 0);
  CHECK("those that write say it", told >= 3);
  np_buf_free(&o.out);
}

/* All of it as somebody who is not root, where that can be. */
static void as_nobody(void) {
  if (geteuid() != 0) return;
  bool readable = chown(folder, 65534, 65534) == 0 &&
                  chown(test_dir, 65534, 65534) == 0 && setegid(65534) == 0 &&
                  seteuid(65534) == 0;
  if (readable && access(data_dir(), R_OK | X_OK) == 0 && access(folder, W_OK) == 0)
    return;
  if (seteuid(0) != 0 || setegid(0) != 0 || chown(folder, 0, 0) != 0) exit(2);
}

static void as_before(void) {
  if (getuid() == 0 && (seteuid(0) != 0 || setegid(0) != 0)) exit(2);
}

int main(void) {
  unsigned long long r = check_seed(71);
  const char *rounds = getenv("NEAP_ROUNDS");
  int n = rounds ? atoi(rounds) : 20;
  signal(SIGXFSZ, SIG_IGN);
  dir_make();
  np_buf_init(&sound, &np_alloc_libc);
  snprintf(folder, sizeof folder, "%s/place", test_dir);
  snprintf(path, sizeof path, "%s/agent.db", folder);
  mkdir(folder, 0700);
  as_nobody();
  make_sound();
  learn();
  fail_each();
  while_locked();
  one_bit(&r, n);
  cut_short(&r, n / 2);
  as_before();
  remove_beside();
  unlink(path);
  rmdir(folder);
  for (size_t i = 0; i < CALLS; i++) np_buf_free(&good[i]);
  np_buf_free(&sound);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
