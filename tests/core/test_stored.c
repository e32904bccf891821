/*
** Stored sessions: listed, copied at any turn, written out and read back. A copy goes on as a
** session to which nothing more was appended; what is written out is read back to the byte, and
** what is damaged makes no session. next: test_relive.c
*/
#include "session.h"

#include <time.h>

#include "engine/engine.h"

static const char moody[] =
    "return { api = 1, tools = { 'recall', 'read' },\n"
    "  admit = function(ctx, e) ctx.state.seen = (ctx.state.seen or 0) + 1\n"
    "    if e.kind == 'result' and e.tokens > 90 then e:trim { tokens = 80, keep = "
    "'ends' } end end,\n"
    "  compact = function(ctx)\n"
    "    if ctx.step % 5 ~= 0 then return end\n"
    "    local old = ctx:span { before = ctx.step - 3 }\n"
    "    if old.steps > 1 then ctx:fold(old, '- steps until ' .. ctx.step) end end,\n"
    "  assemble = function(ctx)\n"
    "    for e in ctx:entries { before = ctx.step - 2 } do\n"
    "      local r = ctx.random()\n"
    "      if r < 0.1 then e:drop('dropped by chance ' .. ctx.state.seen)\n"
    "      elseif r < 0.2 then e:mask('masked by chance')\n"
    "      elseif r < 0.3 then e:reference('shortened')\n"
    "      elseif r < 0.4 then e:restore('wanted again') end\n"
    "    end end }\n";

static const char *policy;

/* As in a program: each store has a secret of its own. */
static neap *engine_secret(const char *store) {
  neap *n = NULL;
  neap_config c = {.size = sizeof c, .store = store, .data = data_dir()};
  neap_rc rc = neap_open(&c, &n);
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a store with its own secret opens", rc == NEAP_OK);
  return n;
}

static neap_session *resume(neap *n, const char *name, const char *format) {
  return session_open(n, name, policy, 6000, format);
}

static void begin(neap_session *s) {
  neap_set_tools(s, json("[{'type':'function','function':{'name':'bash'}}]"));
  append(s, "{'role':'system','content':'s'}");
  append(s, "{'role':'user','content':'mend src/file.c'}");
}

/* Turns `from` to `to`; the last one's prompt alone, without an answer. */
static void turns(neap_session *s, int from, int to) {
  for (int i = from; i < to; i++) round_trip(s, i, 1 + i % 3, 20 + i * 17 % 160, NULL);
  prompt(s);
}

static void answer_last(neap_session *s, int i) {
  neap_call c;
  neap_append_response(s, response("so", "bash", 1 + i % 2, i));
  while (neap_next_call(s, &c)) neap_append_result(s, &c, NP_LIT("src/file.c:7 fails"));
}

/* Three further turns: their prompts one behind the other. */
static void go_on(neap_session *s, int i, np_buf *out) {
  for (int k = 0; k < 3; k++) {
    answer_last(s, i + k);
    if (k == 1) append(s, "{'role':'user','content':'and src/other.c?'}");
    np_buf_add(out, prompt(s));
    np_buf_addc(out, '\n');
  }
}

static bool same(const char *what, const np_buf *a, const np_buf *b) {
  bool ok = np_str_eq(np_buf_str(a), np_buf_str(b));
  size_t at = 0;
  while (at < a->n && at < b->n && a->p[at] == b->p[at]) at++;
  at = at > 100 ? at - 100 : 0;
  if (!ok)
    fprintf(stderr, "%s: %zu and %zu bytes\n  %.300s\n  %.300s\n", what, a->n, b->n,
            a->p + at, b->p + at);
  return ok;
}

/* ---- copies ---- */

#define TURNS 12

static void test_fork(const char *format, int at, bool stop) {
  char whole[40], part[40];
  np_buf a, b;
  snprintf(whole, sizeof whole, "whole-%s-%d.db", format, at);
  snprintf(part, sizeof part, "part-%s-%d.db", format, at);
  np_buf_init(&a, &np_alloc_libc);
  np_buf_init(&b, &np_alloc_libc);
  neap *n = engine_open(dir_path(whole)), *m = engine_open(dir_path(part));
  neap_session *s = resume(n, "run", format), *t = resume(m, "run", format);
  begin(s);
  begin(t);
  turns(s, 1, TURNS);
  turns(t, 1, at);
  if (stop) {
    neap_session_close(t);
    t = resume(m, "run", format);
  }
  neap_fork how = {.size = sizeof how, .turn = at};
  CHECK("a session is copied at a turn",
        neap_session_fork(n, "run", &how, "copy") == NEAP_OK);
  neap_session *copy = resume(n, "copy", format);
  go_on(copy, at, &a);
  go_on(t, at, &b);
  CHECK("it goes on as one to which nothing more was appended",
        same("fork", &a, &b) && a.n > 1000);
  answer_last(s, TURNS);
  CHECK("the origin goes on as well", prompt(s).n > 0);
  neap_close(n);
  neap_close(m);
  np_buf_free(&a);
  np_buf_free(&b);
}

static int count_one(void *ctx, const neap_stored *one) {
  np_buf *b = ctx;
  np_buf_add(b, one->name);
  np_buf_addc(b, ' ');
  return 1;
}

static int count_event(void *ctx, const neap_event *ev) {
  (void)ev;
  ++*(int64_t *)ctx;
  return 1;
}

static int64_t events_of(neap *n, const char *name) {
  int64_t k = 0;
  return neap_session_events(n, name, 1, count_event, &k) ? -1 : k;
}

/* A copy that ends at any event opens and can go on. */
static void test_fork_anywhere(void) {
  neap *n = engine_open(dir_path("anywhere.db"));
  neap_session *s = resume(n, "run", "openai");
  begin(s);
  turns(s, 1, 7);
  int64_t all = events_of(n, "run");
  bool good = all > 30;
  for (int64_t k = 1; k <= all; k++) {
    char name[24];
    neap_str p;
    neap_session *copy = NULL;
    neap_fork how = {.size = sizeof how, .events = k};
    neap_options o = {.size = sizeof o, .policy = policy, .window = 6000};
    snprintf(name, sizeof name, "copy-%d", (int)k);
    neap_rc rc = neap_session_fork(n, "run", &how, name);
    if (!rc) rc = neap_session_open(n, name, &o, &copy);
    if (!rc) rc = append(copy, "{'role':'user','content':'go on'}");
    if (!rc) rc = neap_prompt(copy, &p);
    if (rc) fprintf(stderr, "cut at %d: %s\n", (int)k, neap_error(n));
    good = good && !rc;
    neap_session_close(copy);
  }
  CHECK("a copy of any beginning goes on", good);
  neap_close(n);
}

static void test_fork_wrong(void) {
  neap *n = engine_open(dir_path("wrong.db"));
  np_buf names;
  np_buf_init(&names, &np_alloc_libc);
  neap_session *s = resume(n, "run", "openai");
  begin(s);
  turns(s, 1, 3);
  neap_session_close(s);
  static const struct {
    const char *from, *to;
    neap_fork how;
    neap_rc rc;
  } rows[] = {
      {"gone", "x", {.size = sizeof(neap_fork)}, NEAP_E_NOTFOUND},
      {"run", "run", {.size = sizeof(neap_fork)}, NEAP_E_MISUSE},
      {"run", "", {.size = sizeof(neap_fork)}, NEAP_E_ARG},
      {"run", "a\xff", {.size = sizeof(neap_fork)}, NEAP_E_ARG},
      {"run", "x", {.size = sizeof(neap_fork), .turn = 4}, NEAP_E_NOTFOUND},
      {"run", "x", {.size = sizeof(neap_fork), .turn = -1}, NEAP_E_ARG},
      {"run", "x", {.size = sizeof(neap_fork), .events = 9999}, NEAP_E_NOTFOUND},
      {"run", "x", {.size = sizeof(neap_fork), .turn = 1, .events = 1}, NEAP_E_ARG},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    neap_rc rc = neap_session_fork(n, rows[i].from, &rows[i].how, rows[i].to);
    if (rc != rows[i].rc)
      fprintf(stderr, "row %d: %s: %s\n", (int)i, neap_rc_name(rc), neap_error(n));
    CHECK("a copy that cannot be is refused in one line",
          rc == rows[i].rc && !strchr(neap_error(n), '\n') && neap_error(n)[0]);
  }
  neap_session_list(n, count_one, &names);
  CHECK("and makes no session", np_str_is(np_buf_str(&names), "run "));
  np_buf_free(&names);
  neap_close(n);
}

/* ---- out and in ---- */

static int take(void *ctx, neap_str bytes) {
  np_buf_add(ctx, bytes);
  return 1;
}

static void export_to(neap *n, const char *name, np_buf *out) {
  np_buf_clear(out);
  neap_rc rc = neap_session_export(n, name, take, out);
  if (rc) fprintf(stderr, "export: %s\n", neap_error(n));
  CHECK("a session is written out", rc == NEAP_OK && out->n > 0);
}

static void import_from(neap *n, const np_buf *text, const char *name) {
  np_buf said;
  np_buf_init(&said, &np_alloc_libc);
  neap_rc rc = neap_session_import(n, np_buf_str(text), NULL, take, &said);
  if (rc) fprintf(stderr, "import: %s\n", neap_error(n));
  CHECK("it is read back under its name",
        rc == NEAP_OK && np_str_is(np_buf_str(&said), name));
  np_buf_free(&said);
}

/* Into a store with another secret: the same lines again, and the same prompts. */
static void test_round_trip(const char *format) {
  np_buf text, again, a, b;
  np_buf *all[] = {&text, &again, &a, &b};
  char from[40], to[40];
  for (size_t i = 0; i < NP_COUNT(all); i++) np_buf_init(all[i], &np_alloc_libc);
  snprintf(from, sizeof from, "from-%s.db", format);
  snprintf(to, sizeof to, "to-%s.db", format);
  neap *n = engine_secret(dir_path(from)), *m = engine_secret(dir_path(to));
  neap_session *s = resume(n, "run \"1\"/\xC3\xA9", format);
  begin(s);
  turns(s, 1, TURNS);
  export_to(n, "run \"1\"/\xC3\xA9", &text);
  import_from(m, &text, "run \"1\"/\xC3\xA9");
  export_to(m, "run \"1\"/\xC3\xA9", &again);
  CHECK("what is read back is written out the same", same("lines", &text, &again));
  CHECK("it is not read over a session that is there",
        neap_session_import(m, np_buf_str(&text), NULL, NULL, NULL) == NEAP_E_MISUSE);
  neap_session *t = resume(m, "run \"1\"/\xC3\xA9", format);
  go_on(s, TURNS, &a);
  go_on(t, TURNS, &b);
  CHECK("marks have the key that they had", has(np_buf_str(&a), "[neap"));
  CHECK("it goes on to the byte, in a store with another secret",
        same("prompts", &a, &b));
  neap_close(n);
  neap_close(m);
  for (size_t i = 0; i < NP_COUNT(all); i++) np_buf_free(all[i]);
}

/* ---- any bytes ---- */

static np_str random_bytes(np_arena *ar, unsigned long long *r, size_t n) {
  np_str s;
  char *p = malloc(n + 1);
  static const char *const shapes[] = {
      "{}",          "[1]",      "{\"a\":\"\\u0000\"}", "{bad}",
      "{\"a\":1}\n", "\"text\"", "{\"\xff\":1}"};
  unsigned how = (unsigned)(check_random(r) % 4);
  for (size_t i = 0; i < n; i++) {
    unsigned v = (unsigned)(check_random(r) >> 20);
    p[i] = (char)(how == 0   ? v & 255
                  : how == 1 ? 32 + v % 95
                             : (unsigned)"\0\n\r\"\\/ {"[v % 8]);
  }
  const char *shape = shapes[check_random(r) % NP_COUNT(shapes)];
  np_str from = how == 3 && n ? np_str_cstr(shape) : np_str_of(p, n);
  if (!np_arena_copy(ar, from, &s)) exit(2);
  free(p);
  return s;
}

/* Logs of random bytes, put there behind the engine's back; some of them are purged. Entries are not
** among them: one that cannot be read is no entry (test_unreadable). */
static void test_any_bytes(unsigned long long seed) {
  unsigned long long r = seed;
  static const size_t sizes[] = {0, 1, 2, 3, 100, 1023, 1024, 5000, 300000};
  np_buf text, again;
  np_arena ar;
  np_buf_init(&text, &np_alloc_libc);
  np_buf_init(&again, &np_alloc_libc);
  np_arena_init(&ar, &np_alloc_libc);
  neap *n = engine_open(dir_path("bytes.db")), *m = engine_open(NULL);
  for (int round = 0; round < 30; round++) {
    np_err e;
    char name[16];
    np_event ev[12];
    uint8_t hash[NP_SHA256];
    snprintf(name, sizeof name, "s%d", round);
    for (size_t i = 0; i < NP_COUNT(ev); i++) {
      size_t size = sizes[check_random(&r) % NP_COUNT(sizes)];
      ev[i] = (np_event){.seq = (int64_t)i + 1,
                         .kind = 1 + (int)(check_random(&r) % 16),
                         .version = (int)(check_random(&r) % 3)};
      if (ev[i].kind == NP_EV_MESSAGE || ev[i].kind == NP_EV_NOTE)
        ev[i].kind = NP_EV_RESPONSE;
      ev[i].head = random_bytes(&ar, &r, size % 2000);
      ev[i].body = random_bytes(&ar, &r, size);
    }
    neap_rc rc = n->store->ops->restore(n->store, NP_LIT(""), np_str_cstr(name), ev,
                                        NP_COUNT(ev), &e);
    CHECK("a log of any bytes is stored", rc == NEAP_OK);
    np_str gone = ev[round % 12].body;
    np_sha256(gone, hash);
    if (gone.n && round % 3 == 0)
      CHECK("a body is purged",
            n->store->ops->purge(n->store, NP_LIT(""), hash, &e) == NEAP_OK);
    export_to(n, name, &text);
    import_from(m, &text, name);
    export_to(m, name, &again);
    CHECK("any bytes come back", same("bytes", &text, &again));
    CHECK("a purged body is told as one, and does not come back",
          !gone.n || round % 3 || has(np_buf_str(&again), "\"purged\":true"));
    np_arena_clear(&ar);
  }
  neap_close(n);
  neap_close(m);
  np_arena_free(&ar);
  np_buf_free(&text);
  np_buf_free(&again);
}

/* ---- damaged lines ---- */

/* Every byte of an export changed in turn, every line left out, doubled, and cut: no session, or
** (where the change says the same) the same one. */
static void test_damage(void) {
  np_buf text, bad, again, names;
  np_buf *all[] = {&text, &bad, &again, &names};
  for (size_t i = 0; i < NP_COUNT(all); i++) np_buf_init(all[i], &np_alloc_libc);
  neap *n = engine_open(NULL);
  neap_session *s = session_open(n, "run", NULL, 6000, "openai");
  append(s, "{'role':'user','content':'u'}");
  prompt(s);
  export_to(n, "run", &text);
  int taken = 0, told = 0;
  for (size_t i = 0; i < text.n; i++) {
    np_buf_clear(&bad);
    np_buf_add(&bad, np_buf_str(&text));
    bad.p[i] = (char)(bad.p[i] ^ (i % 2 ? 1 : 0x80));
    neap *m = engine_open(NULL);
    neap_rc rc = neap_session_import(m, np_buf_str(&bad), "x", NULL, NULL);
    np_buf_clear(&names);
    neap_session_list(m, count_one, &names);
    bool good = rc ? names.n == 0 && !strchr(neap_error(m), '\n') : names.n == 2;
    if (!rc) { /* the name, or a key that nobody reads */
      export_to(m, "x", &again);
      size_t first = np_str_find(np_buf_str(&text), NP_LIT("\n"), 0),
             other = np_str_find(np_buf_str(&again), NP_LIT("\n"), 0);
      good = np_str_eq(np_str_cut(np_buf_str(&text), first, text.n),
                       np_str_cut(np_buf_str(&again), other, again.n));
    }
    if (!good) fprintf(stderr, "byte %zu: %s %s\n", i, neap_rc_name(rc), neap_error(m));
    CHECK("a changed byte makes no session, or changes nothing", good);
    taken += !rc;
    told += rc != 0;
    neap_close(m);
  }
  fprintf(stderr, "%d changes told, %d without a meaning\n", told, taken);
  CHECK("nearly all are told", told > 9 * taken);
  for (size_t at = 0, line = 0; at < text.n; line++) {
    size_t end = np_str_find(np_buf_str(&text), NP_LIT("\n"), at) + 1;
    for (int how = 0; how < 3; how++) {
      np_buf_clear(&bad);
      np_buf_add(&bad, np_str_cut(np_buf_str(&text), 0, how == 2 ? end - 1 : at));
      if (how == 2) bad.n -= 2; /* cut inside a line */
      if (how == 1) {
        np_buf_add(&bad, np_str_cut(np_buf_str(&text), at, end));
        np_buf_add(&bad, np_str_cut(np_buf_str(&text), at, text.n));
      }
      if (how == 0) np_buf_add(&bad, np_str_cut(np_buf_str(&text), end, text.n));
      CHECK("a line that is left out, doubled or cut is told",
            neap_session_import(n, np_buf_str(&bad), "x", NULL, NULL) != NEAP_OK);
    }
    at = end;
  }
  for (size_t i = 0; i < NP_COUNT(all); i++) np_buf_free(all[i]);
  neap_close(n);
}

static void test_newer(void) {
  static const struct {
    const char *text;
    neap_rc rc;
  } rows[] = {
      {"{\"neap_session\":2,\"name\":\"a\",\"events\":0}\n", NEAP_E_NEWER},
      {"{\"neap_session\":1,\"name\":\"a\",\"events\":1}\n"
       "{\"seq\":1,\"kind\":\"other\",\"version\":1,\"sum\":\"00\"}\n",
       NEAP_E_NEWER},
      {"{\"neap_session\":1,\"name\":\"a\",\"events\":1}\n"
       "{\"seq\":1,\"kind\":\"open\",\"version\":9,\"sum\":\"00\"}\n",
       NEAP_E_NEWER},
      {"{\"neap_session\":1,\"name\":\"\",\"events\":0}\n", NEAP_E_ARG},
      {"{\"neap_session\":1,\"name\":\"a\\u0000b\",\"events\":0}\n", NEAP_E_ARG},
      {"{\"neap_session\":1,\"events\":0}\n", NEAP_E_SHAPE},
      {"{\"neap_session\":1,\"name\":\"a\",\"events\":99999999999999999999}",
       NEAP_E_SHAPE},
      {"{\"neap_session\":1,\"name\":\"a\",\"events\":2}\n", NEAP_E_CORRUPT},
      {"{\"neap_session\":", NEAP_E_JSON},
      {"{\"role\":\"user\"}", NEAP_E_SHAPE},
      {"", NEAP_E_SHAPE},
  };
  neap *n = engine_open(NULL);
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    neap_rc rc = neap_session_import(n, np_str_cstr(rows[i].text), NULL, NULL, NULL);
    if (rc != rows[i].rc)
      fprintf(stderr, "row %d: %s: %s\n", (int)i, neap_rc_name(rc), neap_error(n));
    CHECK("lines that are not an export of ours are told", rc == rows[i].rc);
  }
  neap_close(n);
}

/* ---- lies ---- */

static void count_hit(void *ctx, const neap_hit *hit) {
  (void)hit;
  ++*(int *)ctx;
}

static void count_file(void *ctx, const neap_artifact *a, neap_str bytes) {
  (void)a;
  (void)bytes;
  ++*(int *)ctx;
}

/* A log whose sums are right and whose second event says what is not so. */
static void test_lie(neap *m, const np_event *lie, const char *says) {
  np_err e;
  np_buf text;
  int hits = 0, files = 0;
  np_buf_init(&text, &np_alloc_libc);
  neap *n = engine_open(NULL);
  np_event ev[2] = {{.seq = 1,
                     .kind = NP_EV_MESSAGE,
                     .version = 1,
                     .head = NP_LIT("{}"),
                     .body = NP_LIT("{\"role\":\"user\",\"content\":\"okapi\"}")},
                    *lie};
  ev[1].seq = 2;
  ev[1].version = 1;
  neap_rc rc = n->store->ops->restore(n->store, NP_LIT(""), NP_LIT("lies"), ev, 2, &e);
  CHECK("the log is stored", rc == NEAP_OK);
  export_to(n, "lies", &text);
  rc = neap_session_import(m, np_buf_str(&text), NULL, NULL, NULL);
  bool told = rc != NEAP_OK && strstr(neap_error(m), "line 3: ");
  if (says ? !told || !strstr(neap_error(m), says) : rc != NEAP_OK)
    fprintf(stderr, "%s: %s\n", says ? says : "true", neap_error(m));
  CHECK("a lie is told with its line, the truth is taken",
        says ? told && strstr(neap_error(m), says) : rc == NEAP_OK);
  rc = neap_recall(m, NULL, NP_LIT("zebra"), 5, count_hit, &hits);
  CHECK("other sessions are searched as before", rc == NEAP_OK && hits == 1);
  rc = neap_artifact_list(m, NULL, 0, count_file, &files);
  CHECK("and their artifacts listed", rc == NEAP_OK && files == (says ? 1 : 2));
  neap_close(n);
  np_buf_free(&text);
}

static void test_unreadable(void) {
  static const char not_so[] = "what it says of its artifact is not so";
  static const struct {
    int kind;
    bool apart;
    const char *head, *body, *says;
  } rows[] = {
      {NP_EV_MESSAGE, false, "{}", "{bad}", "cannot be read"},
      {NP_EV_MESSAGE, false, "{}", "", "cannot be read"},
      {NP_EV_MESSAGE, false, "{}", "{\"role\":7}", "cannot be read"},
      {NP_EV_MESSAGE, true, "{}", "{\"role\":\"user\",\"content\":\"b\"}", "apart"},
      {NP_EV_FILE, true, "{}", "xx", not_so},
      {NP_EV_FILE, true, "7", "xx", not_so},
      {NP_EV_FILE, true, "{\"entry\":9999999999999999,\"bytes\":2,\"lines\":1}", "xx",
       not_so},
      {NP_EV_FILE, true, "{\"entry\":3,\"bytes\":2,\"lines\":1}", "xx",
       "stands where 2 should"},
      {NP_EV_FILE, true, "{\"entry\":2,\"bytes\":9999999999,\"lines\":1}", "xx", not_so},
      {NP_EV_FILE, true, "{\"entry\":2,\"bytes\":2,\"lines\":99}", "xx", not_so},
      {NP_EV_FILE, false, "{\"entry\":2,\"bytes\":2,\"lines\":1}", "xx", not_so},
      {NP_EV_FILE, true, "{\"entry\":2,\"bytes\":2,\"lines\":1}", "", not_so},
      {NP_EV_FILE, true, "{\"entry\":2,\"bytes\":2,\"lines\":1}", "xx", NULL},
  };
  int64_t id;
  neap *m = engine_open(NULL);
  neap_session *s = session_open(m, "good", NULL, 6000, "openai");
  append(s, "{'role':'user','content':'zebra'}");
  CHECK("an artifact is put", !neap_session_put(s, NP_LIT("stripes"), NULL, &id));
  neap_session_close(s);
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    np_event lie = {.kind = rows[i].kind,
                    .apart = rows[i].apart,
                    .head = np_str_cstr(rows[i].head),
                    .body = np_str_cstr(rows[i].body)};
    test_lie(m, &lie, rows[i].says);
  }
  neap_close(m);
}

int main(void) {
  unsigned long long seed = check_seed((unsigned long long)time(NULL));
  static const char *const formats[] = {"openai", "responses", "anthropic", "gemini",
                                        "text"};
  dir_make();
  policy = policy_file("moody.lua", moody);
  for (size_t f = 0; f < NP_COUNT(formats); f++) {
    for (int at = 1; at <= TURNS; at += 4) test_fork(formats[f], at, at % 8 == 1);
    test_round_trip(formats[f]);
  }
  test_fork_anywhere();
  test_fork_wrong();
  test_any_bytes(seed);
  test_damage();
  test_newer();
  test_unreadable();
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
