/*
** Isolation: what one tenant has stored no other reaches, by any function of the store's table or
** of neap.h, though both hold the same bytes under the same names. The tables here must name every
** function, so that a new one cannot be forgotten. next: test_store.c
*/
#define _XOPEN_SOURCE 700
#include <sys/wait.h>
#include <unistd.h>

#include "store_help.h"

#define MARK "SECRET-OF-ONE" /* in all that is tenant one's alone */
#define SHARED 400000        /* bytes of a body that both hold */
#define FILE_EVENT 19        /* NP_EV_FILE */

static char dir[64], path[128];
static np_str shared; /* the same content of both; */
static uint8_t shared_hash[NP_SHA256], own_hash[NP_SHA256]; /* one that is one's alone */

static void remove_files(void) {
  static const char *const ends[] = {"",      "-wal",      "-shm",
                                     ".copy", ".copy-wal", ".copy-shm"};
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char name[160];
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    unlink(name);
  }
}

/* ---- tenant one -------------------------------------------------------------------- */

/* All that it has, as bytes: events with heads, bodies and hashes, contents, and what is found. */
static neap_rc note(void *ctx, const np_event *ev, bool purged) {
  np_buf *b = ctx;
  np_buf_int(b, ev->seq);
  np_buf_addc(b, purged ? 'p' : '.');
  np_buf_add(b, ev->head);
  np_buf_add(b, ev->body);
  np_buf_add(b, np_str_of((const char *)ev->hash, NP_SHA256));
  return NEAP_OK;
}

static neap_rc note_session(void *ctx, const np_session_row *row) {
  np_buf_add(ctx, row->name);
  np_buf_int(ctx, row->events);
  return NEAP_OK;
}

static np_buf dump(np_store *st, const char *tenant) {
  static const char *const names[] = {"s", ("s " MARK), "files"};
  np_buf b;
  np_err e;
  np_hit hits[NP_HITS_MAX];
  np_buf found;
  size_t n = 0;
  np_str t = str(tenant);
  np_find f = {.tenant = t, .query = str("SECRET shared"), .k = 20};
  np_buf_init(&b, libc);
  np_buf_init(&found, libc);
  st->ops->sessions(st, t, note_session, &b, &e);
  for (size_t i = 0; i < NP_COUNT(names); i++)
    st->ops->read(st, t, str(names[i]), 1, note, &b, &e);
  np_buf_int(&b, st->ops->get(st, t, shared_hash, &b, &e));
  np_buf_int(&b, st->ops->get(st, t, own_hash, &b, &e));
  np_buf_int(&b, st->ops->find(st, &f, hits, &n, &found, &e));
  for (size_t i = 0; i < n; i++) {
    np_buf_add(&b, hits[i].session);
    np_buf_int(&b, hits[i].entry);
  }
  np_buf_free(&found);
  return b;
}

static void fill(np_store *st, const char *tenant, const char *mark) {
  np_err e;
  np_claim c;
  char text[100], name[40];
  snprintf(text, sizeof text, "%s is in this text", mark);
  snprintf(name, sizeof name, "s %s", mark);
  st->ops->claim(st, str(tenant), str(name), false, &c, &e);
  add(st, &c, str(mark), str(text), NEAP_DURABLE_PROCESS, &e);
  st->ops->claim(st, str(tenant), str("s"), false, &c, &e);
  np_event ev[4] = {{.seq = 1, .kind = 4, .head = str(mark), .body = str(text)},
                    {.seq = 2, .kind = 4, .head = str("both"), .body = shared},
                    {.seq = 3, .kind = FILE_EVENT, .head = str(mark), .body = shared},
                    {.seq = 4, .kind = 4, .head = str(mark)}};
  char large[5000];
  memset(large, 'x', sizeof large);
  memcpy(large, mark, strlen(mark));
  ev[2].apart = true;
  ev[3].body = np_str_of(large, sizeof large);
  if (st->ops->append(st, &c, ev, 4, NEAP_DURABLE_PROCESS, &e)) exit(2);
  np_doc doc = {.entry = 1, .seq = 1, .step = 1, .text = str(text)};
  np_docs docs = {.tenant = str(tenant), .session = str("s"), .doc = &doc, .n = 1};
  docs.to = (np_indexed){1, 0, 4};
  if (st->ops->index(st, &docs, &e)) exit(2);
  if (strcmp(mark, MARK) == 0) np_sha256(ev[3].body, own_hash);
}

/* ---- the store's table ------------------------------------------------------------- */

/* What an intruder is given, and what it has learnt. */
typedef struct intruder {
  np_store *st;
  np_str tenant;
  np_buf got;
  np_err e;
} intruder;

static neap_rc hear(void *ctx, const np_event *ev, bool purged) {
  return note(&((intruder *)ctx)->got, ev, purged);
}

static neap_rc hear_session(void *ctx, const np_session_row *row) {
  return note_session(&((intruder *)ctx)->got, row);
}

static void do_claim(intruder *x) {
  np_claim c = {0};
  x->st->ops->claim(x->st, x->tenant, str("s " MARK), true, &c, &x->e);
  np_buf_int(&x->got, c.last_seq);
  x->st->ops->claim(x->st, x->tenant, str("s"), false, &c, &x->e);
}

static void do_append(intruder *x) {
  for (int64_t fence = 1; fence <= 4; fence++) {
    np_claim guessed = {x->tenant, str("s " MARK), fence, 1};
    neap_rc rc =
        add(x->st, &guessed, str("intruded"), str("x"), NEAP_DURABLE_PROCESS, &x->e);
    CHECK("a guessed claim is worth nothing", rc != NEAP_OK);
  }
  np_claim c;
  np_event named = {.kind = 4, .apart = true};
  memcpy(named.hash, own_hash, sizeof named.hash);
  x->st->ops->claim(x->st, x->tenant, str("taken"), false, &c, &x->e);
  named.seq = c.last_seq + 1;
  CHECK("nobody names another's content as its own",
        x->st->ops->append(x->st, &c, &named, 1, NEAP_DURABLE_PROCESS, &x->e) ==
            NEAP_E_NOTFOUND);
}

static void do_read(intruder *x) {
  x->st->ops->read(x->st, x->tenant, str("s"), 1, hear, x, &x->e);
  x->st->ops->read(x->st, x->tenant, str("s " MARK), 1, hear, x, &x->e);
}

static void do_heads(intruder *x) {
  x->st->ops->heads(x->st, x->tenant, str("s"), 0, 1, hear, x, &x->e);
  x->st->ops->heads(x->st, x->tenant, str("s " MARK), 4, 1, hear, x, &x->e);
}

static void do_fork(intruder *x) {
  np_str to = str("stolen");
  x->st->ops->fork(x->st, x->tenant, str("s " MARK), to, 1, &x->e);
  x->st->ops->read(x->st, x->tenant, to, 1, hear, x, &x->e);
}

static void do_restore(intruder *x) {
  np_event ev = {.seq = 1, .kind = 4, .apart = true};
  memcpy(ev.hash, own_hash, sizeof ev.hash);
  neap_rc rc = x->st->ops->restore(x->st, x->tenant, str("made"), &ev, 1, &x->e);
  CHECK("nor when a session is made whole", rc == NEAP_E_NOTFOUND);
}

static void do_put(intruder *x) {
  uint8_t hash[NP_SHA256];
  x->st->ops->put(x->st, x->tenant, str("of the intruder"), hash, &x->e);
}

static void do_get(intruder *x) {
  CHECK("content is not got by its hash",
        x->st->ops->get(x->st, x->tenant, own_hash, &x->got, &x->e) == NEAP_E_NOTFOUND);
}

static void do_window(intruder *x) {
  np_window w = {.from = 0, .to = 100};
  CHECK("nor a window of it", x->st->ops->window(x->st, x->tenant, own_hash, &w, &x->got,
                                                 &x->e) == NEAP_E_NOTFOUND);
}

static void do_purge(intruder *x) {
  CHECK("nor purged",
        x->st->ops->purge(x->st, x->tenant, own_hash, &x->e) == NEAP_E_NOTFOUND);
  x->st->ops->purge(x->st, x->tenant, shared_hash, &x->e);
}

static void do_release(intruder *x) {
  np_release one = {.seen = 0};
  size_t gone = 7;
  memcpy(one.hash, own_hash, sizeof one.hash);
  x->st->ops->release(x->st, x->tenant, &one, 1, &gone, &x->e);
  CHECK("nor released", gone == 0);
  memcpy(one.hash, shared_hash, sizeof one.hash);
  x->st->ops->release(x->st, x->tenant, &one, 1, &gone, &x->e);
}

static void do_sessions(intruder *x) {
  x->st->ops->sessions(x->st, x->tenant, hear_session, x, &x->e);
}

static void do_indexed(intruder *x) {
  np_indexed at = {0};
  x->st->ops->indexed(x->st, x->tenant, str("s " MARK), &at, &x->e);
  CHECK("nothing is told of how far another's index is", at.entry == 0 && at.seq == 0);
}

static void do_index(intruder *x) {
  np_doc doc = {.entry = 1, .seq = 1, .step = 1, .text = str("intruded SECRET shared")};
  np_docs docs = {.tenant = x->tenant, .session = str("s " MARK), .doc = &doc, .n = 1};
  docs.to = (np_indexed){1, 0, 1};
  x->st->ops->index(x->st, &docs, &x->e);
}

static void do_find(intruder *x) {
  static const char *const sessions[] = {"", "s", ("s " MARK)};
  np_hit hits[NP_HITS_MAX];
  np_buf names;
  size_t n = 0;
  np_buf_init(&names, libc);
  for (size_t i = 0; i < NP_COUNT(sessions); i++) {
    np_find f = {x->tenant, str(sessions[i]), str("is in this text"), 50};
    x->st->ops->find(x->st, &f, hits, &n, &names, &x->e);
    for (size_t k = 0; k < n; k++)
      CHECK("what is found is its own",
            !np_str_is(hits[k].session, "s " MARK) || x->tenant.n != 3);
  }
  np_buf_free(&names);
}

static void do_waiting(intruder *x) {
  np_waiting w = {.events = 0};
  if (x->st->ops->waiting) x->st->ops->waiting(x->st, x->tenant, str("s " MARK), &w);
  CHECK("nor of what waits", w.events == 0 && w.bytes == 0);
}

static void do_remove(intruder *x) {
  np_removed out = {0};
  if (!x->st->ops->remove) return;
  CHECK("nor removed",
        x->st->ops->remove(x->st, x->tenant, str("s " MARK), &out, &x->e) != NEAP_OK &&
            !out.events);
}

static void do_flush(intruder *x) {
  x->st->ops->flush(x->st, &x->e);
}

/* Every function of the table: `run`, or why it concerns no tenant. */
static const struct {
  const char *name;
  void (*run)(intruder *x);
  const char *why;
} ops[] = {{"claim", do_claim, NULL},
           {"append", do_append, NULL},
           {"read", do_read, NULL},
           {"heads", do_heads, NULL},
           {"fork", do_fork, NULL},
           {"restore", do_restore, NULL},
           {"put", do_put, NULL},
           {"get", do_get, NULL},
           {"window", do_window, NULL},
           {"sessions", do_sessions, NULL},
           {"indexed", do_indexed, NULL},
           {"find", do_find, NULL},
           {"index", do_index, NULL},
           {"purge", do_purge, NULL},
           {"release", do_release, NULL},
           {"remove", do_remove, NULL},
           {"waiting", do_waiting, NULL},
           {"flush", do_flush, NULL},
           {"secret", NULL, "the store's"},
           {"check", NULL, "for the owner of the file"},
           {"stats", NULL, "for the owner of the file"},
           {"vacuum", NULL, "for the owner of the file"},
           {"backup", NULL, "for the owner of the file"},
           {"close", NULL, "the store's"}};

static void intrude(np_store *st, const char *tenant) {
  np_buf before = dump(st, "one");
  for (size_t i = 0; i < NP_COUNT(ops); i++) {
    intruder x = {.st = st, .tenant = str(tenant)};
    if (!ops[i].run) continue;
    np_buf_init(&x.got, libc);
    ops[i].run(&x);
    np_buf after = dump(st, "one");
    if (!np_str_eq(np_buf_str(&before), np_buf_str(&after)))
      fprintf(stderr, "  %s, tenant '%s'\n", ops[i].name, tenant);
    CHECK("tenant one has what it had",
          np_str_eq(np_buf_str(&before), np_buf_str(&after)));
    CHECK("nothing of it was heard",
          np_str_find(np_buf_str(&x.got), str(MARK), 0) == SIZE_MAX);
    np_buf_free(&after);
    np_buf_free(&x.got);
  }
  np_buf_free(&before);
}

static void say(void *ctx, np_str line) {
  (void)ctx;
  fprintf(stderr, "  %.*s\n", (int)line.n, line.p);
}

static void test_ops(bool file) {
  static const char *const others[] = {"two", "", "on", "onee", "One", "one ", "one/s"};
  np_store *st = NULL;
  np_err e;
  neap_rc rc = file ? np_store_sqlite_open(libc, path, false, &st, &e)
                    : np_store_memory_open(libc, &st, &e);
  CHECK("a store opens", rc == NEAP_OK);
  if (rc != NEAP_OK) return;
  CHECK("every function of the store's table is in this one",
        NP_COUNT(ops) ==
            (sizeof(np_store_ops) - sizeof(char *)) / sizeof(void (*)(void)));
  fill(st, "one", MARK);
  fill(st, "two", "OTHER");
  for (size_t i = 0; i < NP_COUNT(others); i++) intrude(st, others[i]);
  st->ops->check(st, say, NULL, &e);
  CHECK("the check is clean", faults(st, &e) == 0);
  st->ops->close(st, &e);
  remove_files();
}

/* ---- neap.h ------------------------------------------------------------------------ */

typedef struct guest {
  neap *n;
  neap_session *s; /* one of its own, of the same name */
  np_buf got;
} guest;

static int hear_text(void *ctx, neap_str text) {
  np_buf_add(&((guest *)ctx)->got, text);
  return 1;
}

static int hear_stored(void *ctx, const neap_stored *one) {
  return hear_text(ctx, one->name);
}

static int hear_event(void *ctx, const neap_event *ev) {
  return hear_text(ctx, ev->head) && hear_text(ctx, ev->body);
}

static void hear_hit(void *ctx, const neap_hit *hit) {
  hear_text(ctx, hit->session);
  hear_text(ctx, hit->snippet);
}

static void hear_artifact(void *ctx, const neap_artifact *a, neap_str bytes) {
  hear_text(ctx, a->session);
  hear_text(ctx, a->path);
  hear_text(ctx, bytes);
}

static void by_open(guest *g) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o};
  neap_str text;
  if (neap_session_open(g->n, "of " MARK, &o, &s)) return;
  for (int64_t id = 1; id < 4; id++) {
    if (!neap_entry_text(s, id, &text)) hear_text(g, text);
    if (!neap_session_get(s, id, NULL, &text)) hear_text(g, text);
  }
  neap_session_close(s);
}

static void by_list(guest *g) {
  neap_session_list(g->n, hear_stored, g);
}

static void by_events(guest *g) {
  neap_session_events(g->n, "run", 1, hear_event, g);
  neap_session_events(g->n, "of " MARK, 1, hear_event, g);
}

static void by_remove(guest *g) {
  int64_t events = 0;
  neap_rc rc = neap_session_remove(g->n, "alone", &events, NULL);
  CHECK("another's session is not removed", rc != NEAP_OK && events == 0);
}

static void by_fork(guest *g) {
  neap_fork how = {.size = sizeof how, .events = 1};
  neap_session_fork(g->n, "alone", &how, "mine");
  neap_session_events(g->n, "mine", 1, hear_event, g);
}

static void by_export(guest *g) {
  neap_session_export(g->n, "run", hear_text, g);
  neap_session_export(g->n, "alone", hear_text, g);
}

static void hear_replayed(void *ctx, const neap_replayed *r) {
  hear_text(ctx, r->was);
  hear_text(ctx, r->is);
  hear_text(ctx, np_str_cstr(r->cause));
}

static void by_replay(guest *g) {
  neap_rc rc = neap_session_replay(g->n, "alone", hear_replayed, g);
  CHECK("nobody else's session is run again", rc == NEAP_E_NOTFOUND);
  neap_session_replay(g->n, "of " MARK, hear_replayed, g);
}

static void by_import(guest *g) {
  np_buf lines;
  guest own = {.n = g->n};
  np_buf_init(&own.got, libc);
  neap_session_export(g->n, "run", hear_text, &own);
  lines = own.got;
  neap_session_import(g->n, np_buf_str(&lines), "alone", hear_text, g);
  np_buf_free(&lines);
}

static void by_copy(guest *g) {
  neap *to = NULL;
  neap_open(&(neap_config){.size = sizeof(neap_config)}, &to);
  if (!neap_session_copy(g->n, "alone", to)) {
    neap_session_events(to, "alone", 1, hear_event, g);
  }
  neap_close(to);
}

static void by_recall(guest *g) {
  neap_recall(g->n, NULL, str("SECRET one text shared"), 100, hear_hit, g);
  neap_recall(g->n, "alone", str("SECRET one text shared"), 100, hear_hit, g);
  if (g->s) neap_session_recall(g->s, str("SECRET one text"), 100, hear_hit, g);
}

static void by_artifact(guest *g) {
  static const char *const sessions[] = {NULL, "run", "alone"};
  int64_t id;
  neap_artifact_list(g->n, NULL, 0, hear_artifact, g);
  for (size_t i = 0; i < NP_COUNT(sessions); i++) {
    neap_artifact_list(g->n, sessions[i], 0, hear_artifact, g);
    for (id = 1; id < 6; id++)
      neap_artifact_get(g->n, sessions[i], id, NULL, hear_artifact, g);
    neap_artifact_put(g->n, sessions[i], shared, NULL, &id);
    for (id = 1; id < 6; id++) neap_artifact_remove(g->n, sessions[i], id);
  }
  neap_artifact_expire(g->n, INT64_C(9000000000000), NULL);
}

static void by_session(guest *g) {
  neap_str body;
  int64_t id;
  if (!g->s) return;
  neap_session_put(g->s, shared, NULL, &id);
  neap_append(g->s, str("{\"role\":\"user\",\"content\":\"What did the others say?\"}"));
  if (!neap_prompt(g->s, &body)) hear_text(g, body);
  if (!neap_account(g->s, &body)) hear_text(g, body);
  for (id = 1; id < 9; id++) {
    if (!neap_entry_text(g->s, id, &body)) hear_text(g, body);
  }
}

/* Entries of other sessions, by their whole ids. */
static void by_read(guest *g) {
  static const char *const ids[] = {"alone/1", "alone/2", "alone/3",    "of " MARK "/1",
                                    "run/1",   "files/1", "one/alone/1"};
  neap_str text;
  for (size_t i = 0; g->s && i < NP_COUNT(ids); i++) {
    char arguments[100];
    if (!neap_read(g->s, str(ids[i]), str(""), 0, &text)) hear_text(g, text);
    snprintf(arguments, sizeof arguments, "{\"text\":\"neap:%s\"}", ids[i]);
    if (strstr(ids[i], MARK)) continue; /* what is no pointer comes back as it is */
    if (!neap_resolve(g->s, str(arguments), &text)) hear_text(g, text);
  }
}

/* Groups of functions by what runs them; those of an open session see its log alone. */
static const struct {
  void (*run)(guest *g);
  const char *names; /* each between spaces */
} calls[] = {
    {by_list, " neap_session_list "},
    {by_events, " neap_session_events "},
    {by_fork, " neap_session_fork "},
    {by_remove, " neap_session_remove "},
    {by_export, " neap_session_export "},
    {by_replay, " neap_session_replay "},
    {by_import, " neap_session_import "},
    {by_copy, " neap_session_copy "},
    {by_read, " neap_read neap_resolve "},
    {by_recall, " neap_recall neap_session_recall "},
    {by_artifact, " neap_artifact_list neap_artifact_get neap_artifact_put"
                  " neap_artifact_remove neap_artifact_expire "},
    {by_session, " neap_session_put neap_append neap_prompt neap_account "},
    /* last, since it makes a session of that name */
    {by_open,
     " neap_open neap_session_open neap_session_get neap_entry_text neap_session_close "},
    /* these work on an open session's own log, which is one of the above */
    {NULL,
     " neap_set_tools neap_set_request neap_set_now neap_append_response neap_next_call"
     " neap_handle neap_append_result neap_ask_next neap_ask_after neap_answer "
     "neap_ask_faults"
     " neap_refuse neap_asks neap_reload neap_shadow neap_shadow_account"
     " neap_state_propose neap_state_begin neap_state_get neap_state_history "
     "neap_state_diff"
     " neap_session_engine neap_checkpoint neap_rollback neap_refute neap_refutations"
     " neap_scratch_put neap_scratch_pass neap_scratch_reject neap_scratch_list "
     "neap_phase "},
    /* these are for who owns the whole file, tenants and all */
    {NULL, " neap_store_check neap_store_stats neap_store_vacuum neap_store_backup"
           " neap_flush neap_close "},
    /* and these know no store */
    {NULL, " neap_rc_name neap_rc_text neap_version neap_error neap_error_info"
           " neap_is_export neap_encoding_get neap_encoding_add neap_count neap_token_fit"
           " neap_counter_new neap_counter_add neap_counter_tokens neap_counter_reset"
           " neap_counter_copy neap_counter_free "},
};

static bool is_known(np_str name) {
  char word[100];
  snprintf(word, sizeof word, " %.*s ", (int)name.n, name.p);
  for (size_t i = 0; i < NP_COUNT(calls); i++) {
    if (strstr(calls[i].names, word)) return true;
  }
  return false;
}

/* The functions that neap.h declares: NEAP_API … name(. */
static void names_all(void) {
  np_buf text;
  char chunk[4096];
  size_t n, found = 0, unknown = 0;
  np_buf_init(&text, libc);
  FILE *f = fopen("core/include/neap.h", "rb");
  if (!f) {
    check_skip("every function of neap.h is named", "the header is not at hand");
    return;
  }
  while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
    np_buf_add(&text, np_str_of(chunk, n));
  fclose(f);
  np_str all = np_buf_str(&text);
  for (size_t at = 0; (at = np_str_find(all, str("\nNEAP_API "), at)) != SIZE_MAX; at++) {
    size_t end = np_str_find(all, str("("), at), from = end;
    while (from > at &&
           (all.p[from - 1] == '_' || (all.p[from - 1] >= 'a' && all.p[from - 1] <= 'z')))
      from--;
    np_str name = np_str_cut(all, from, end);
    found++;
    if (is_known(name)) continue;
    unknown++;
    fprintf(stderr, "  %.*s is in no group of this test\n", (int)name.n, name.p);
  }
  CHECK("every function of neap.h is named here", found > 40 && unknown == 0);
  np_buf_free(&text);
}

static neap *open_engine(const char *tenant) {
  neap *n = NULL;
  neap_config c = {.size = sizeof c, .store = path, .tenant = tenant};
  if (neap_open(&c, &n)) fprintf(stderr, "open: %s\n", neap_error(n));
  return n;
}

static void live(const char *tenant, const char *mark) {
  neap *n = open_engine(tenant);
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o};
  char text[200], name[40];
  int64_t id;
  const char *sessions[] = {"run", "alone", name};
  snprintf(name, sizeof name, "of %s", mark);
  snprintf(text, sizeof text, "{\"role\":\"user\",\"content\":\"%s, one text\"}", mark);
  for (size_t i = 0; i < NP_COUNT(sessions); i++) {
    if (i && strcmp(mark, MARK) != 0) break;
    if (neap_session_open(n, sessions[i], &o, &s)) exit(2);
    neap_artifact a = {.size = sizeof a, .path = str(mark)};
    neap_append(s, str(text));
    neap_session_put(s, shared, &a, &id);
    neap_session_put(s, str(mark), &a, &id);
    neap_session_close(s);
  }
  neap_artifact_put(n, NULL, shared, &(neap_artifact){.size = sizeof(neap_artifact)},
                    &id);
  neap_close(n);
}

/* All that tenant one sees of itself. */
static np_buf view_of_one(void) {
  static const char *const sessions[] = {"run", "alone", ("of " MARK), "files"};
  guest g = {.n = open_engine("one")};
  np_buf_init(&g.got, libc);
  neap_session_list(g.n, hear_stored, &g);
  for (size_t i = 0; i < NP_COUNT(sessions); i++) {
    neap_session_export(g.n, sessions[i], hear_text, &g);
  }
  neap_artifact_list(g.n, NULL, 0, hear_artifact, &g);
  neap_close(g.n);
  return g.got;
}

static void test_public(void) {
  static const char *const others[] = {"two", "", "onee"};
  live("one", MARK);
  live("two", "OTHER");
  np_buf before = view_of_one();
  CHECK("tenant one sees what it has",
        np_str_find(np_buf_str(&before), str(MARK), 0) != SIZE_MAX);
  for (size_t i = 0; i < NP_COUNT(others); i++) {
    for (size_t k = 0; k < NP_COUNT(calls); k++) {
      neap_options o = {.size = sizeof o};
      guest g = {.n = open_engine(others[i])};
      if (!calls[k].run) {
        neap_close(g.n);
        continue;
      }
      np_buf_init(&g.got, libc);
      if (calls[k].run == by_session || calls[k].run == by_recall ||
          calls[k].run == by_read)
        neap_session_open(g.n, "run", &o, &g.s);
      calls[k].run(&g);
      neap_close(g.n);
      bool heard = np_str_find(np_buf_str(&g.got), str(MARK), 0) != SIZE_MAX;
      if (heard)
        fprintf(stderr, "  tenant '%s' heard it by%s\n", others[i], calls[k].names);
      CHECK("nothing of another tenant is heard", !heard);
      np_buf_free(&g.got);
      np_buf after = view_of_one();
      bool same = np_str_eq(np_buf_str(&before), np_buf_str(&after));
      if (!same)
        fprintf(stderr, "  tenant '%s' changed it by%s\n", others[i], calls[k].names);
      CHECK("and nothing of it is changed", same);
      np_buf_free(&after);
    }
  }
  np_buf_free(&before);
  remove_files();
}

int main(void) {
  bool has_shm = access("/dev/shm", W_OK) == 0;
  snprintf(dir, sizeof dir, "%s/neap-tenants-XXXXXX", has_shm ? "/dev/shm" : "/tmp");
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  shared = make_body(SHARED, 6);
  np_sha256(shared, shared_hash);
  test_ops(false);
  test_ops(true);
  names_all();
  test_public();
  free_body(shared);
  remove_files();
  rmdir(dir);
  return check_done();
}
