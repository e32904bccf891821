/*
** Logs that lie although every sum in them is right, as those in a store or an export from
** elsewhere may: numbers, names and bytes in heads and bodies are others, events stand elsewhere,
** twice or not at all. Opening, replaying, searching and writing out such a session gives a result
** or one line of what is wrong, soon, and never reads or writes beside what there is.
** next: test_stored.c
*/
#include "session.h"

#include <time.h>

#include "engine/engine.h"

static const char moody[] =
    "return { api = 1, tools = { 'recall', 'read' },\n"
    "  admit = function(ctx, e) ctx.state.seen = (ctx.state.seen or 0) + 1 end,\n"
    "  compact = function(ctx)\n"
    "    if ctx.step % 4 ~= 0 then return end\n"
    "    local old = ctx:span { before = ctx.step - 3 }\n"
    "    if old.steps > 1 then ctx:fold(old, '- steps until ' .. ctx.step) end end,\n"
    "  assemble = function(ctx)\n"
    "    for e in ctx:entries { before = ctx.step - 2 } do\n"
    "      if e.id % 3 == 0 then e:mask('by number') end end end }\n";

static const char *policy;

/* ---- the logs ---- */

/* All kinds of events that a session writes by itself. */
static void make(neap *n, const char *name, bool back) {
  int64_t id;
  neap_artifact a = {.size = sizeof a, .tool = NP_LIT("grep"), .ttl = 5, .made = 1000};
  neap_session *s = session_open(n, name, policy, 6000, "openai");
  neap_set_tools(s, json("[{'type':'function','function':{'name':'bash'}}]"));
  append(s, "{'role':'user','content':'mend src/file.c'}");
  for (int i = 1; i < 9; i++) {
    neap_set_now(s, 1000000 * (int64_t)i);
    if (i == 2) CHECK("put", !neap_session_put(s, NP_LIT("one\ntwo\n"), &a, &id));
    if (i == 3) CHECK("a checkpoint", !neap_checkpoint(s, "here"));
    if (i == 5) CHECK("refuted", !neap_refute(s, 1, 0, NP_LIT("another machine")));
    if (i == 6 && back) CHECK("back", !neap_rollback(s, "here", 0, NP_LIT("wrong")));
    round_trip(s, i, 1 + i % 2, 30, NULL);
  }
  neap_session_close(s);
}

typedef struct log {
  np_arena *ar;
  np_event ev[400];
  size_t n;
} log;

static neap_rc take(void *ctx, const np_event *ev, bool purged) {
  log *l = ctx;
  (void)purged;
  if (l->n == NP_COUNT(l->ev)) return NEAP_OK;
  np_event *one = &l->ev[l->n++];
  *one = *ev;
  bool ok = np_arena_copy(l->ar, ev->head, &one->head) &&
            np_arena_copy(l->ar, ev->apart ? NP_LIT("one\ntwo\n") : ev->body, &one->body);
  return ok ? NEAP_OK : NEAP_E_MEMORY;
}

static void read_log(neap *n, const char *name, np_arena *ar, log *out) {
  np_err e;
  *out = (log){.ar = ar};
  neap_rc rc =
      n->store->ops->read(n->store, NP_LIT(""), np_str_cstr(name), 1, take, out, &e);
  CHECK("the log is read", rc == NEAP_OK && out->n > 40);
}

/* ---- trying one ---- */

static void see_replay(void *ctx, const neap_replayed *r) {
  *(bool *)ctx = r->turn == 0;
}

static void see_hit(void *ctx, const neap_hit *hit) {
  *(size_t *)ctx += hit->snippet.n;
}

static void see_file(void *ctx, const neap_artifact *a, neap_str bytes) {
  *(size_t *)ctx += a->path.n + bytes.n;
}

static int see_text(void *ctx, neap_str text) {
  np_buf_add(ctx, text);
  return 1;
}

/* A failure says in one line what it is. */
static void told(neap *n, neap_rc rc, unsigned *failed) {
  const char *text = neap_error(n);
  if (rc == NEAP_OK) return;
  ++*failed;
  CHECK("a failure is told in one line", text && *text && !strchr(text, '\n'));
}

static void use(neap_session *s) {
  neap_str text;
  size_t seen = 0;
  neap *n = neap_session_engine(s);
  unsigned failed = 0;
  told(n, neap_prompt(s, &text), &failed);
  told(n, neap_append(s, json("{'role':'user','content':'and src/other.c?'}")), &failed);
  told(n, neap_session_recall(s, NP_LIT("src"), 3, see_hit, &seen), &failed);
  for (int id = 1; id < 40; id++) {
    char digits[12];
    snprintf(digits, sizeof digits, "%d", id);
    told(n, neap_read(s, np_str_cstr(digits), NP_LIT(""), 100, &text), &failed);
  }
  told(n, neap_prompt(s, &text), &failed);
}

/* Into the store as it is, and by an export, which may refuse it. */
static unsigned try_log(neap *n, neap *m, const char *name, const log *l) {
  np_err e;
  np_buf text;
  neap_session *s = NULL;
  bool same = false;
  unsigned failed = 0;
  size_t seen = 0;
  neap_options o = {.size = sizeof o,
                    .policy = policy,
                    .window = 6000,
                    .reserve = -1,
                    .flags = NEAP_NO_RELOAD};
  np_str tenant = NP_LIT("");
  neap_rc rc =
      n->store->ops->restore(n->store, tenant, np_str_cstr(name), l->ev, l->n, &e);
  CHECK("what any sums fit is stored", rc == NEAP_OK);
  told(n, neap_session_replay(n, name, see_replay, &same), &failed);
  told(n, neap_artifact_list(n, name, 1, see_file, &seen), &failed);
  told(n, neap_artifact_get(n, name, 3, NULL, see_file, &seen), &failed);
  np_buf_init(&text, &np_alloc_libc);
  told(n, neap_session_export(n, name, see_text, &text), &failed);
  told(m, neap_session_import(m, np_buf_str(&text), NULL, NULL, NULL), &failed);
  np_buf_free(&text);
  rc = neap_session_open(n, name, &o, &s);
  told(n, rc, &failed);
  if (rc == NEAP_OK) use(s);
  neap_session_close(s);
  return failed;
}

/* ---- turns that cannot be ---- */

static void put_le(char *p, uint64_t v) {
  for (int i = 0; i < 8; i++) p[i] = (char)(v >> (8 * i) & 255);
}

/* Whoever reads "the JSON ends early" wants to know of which session and where. */
static void test_told(neap *n, const log *l) {
  static const struct {
    int kind;
    const char *body;
  } bad[] = {
      {NP_EV_TOOLS, "[{"},        {NP_EV_TOOLS, "7"},
      {NP_EV_REQUEST, "{\"a\":"}, {NP_EV_MESSAGE, "{\"x\":"},
      {NP_EV_SCHEMA, "["},        {NP_EV_REQUEST, "{\"messages\":[]}"},
  };
  log *lie = malloc(sizeof *lie);
  if (!lie) exit(2);
  for (size_t i = 0; i < NP_COUNT(bad); i++) {
    np_err e;
    char name[24], where[60];
    neap_session *s = NULL;
    neap_options o = {.size = sizeof o, .policy = policy, .window = 6000, .reserve = -1};
    snprintf(name, sizeof name, "told %zu", i);
    *lie = *l;
    np_event *last = &lie->ev[lie->n++];
    *last = (np_event){.seq = (int64_t)lie->n, .kind = bad[i].kind, .version = 1};
    last->head = NP_LIT("{}");
    last->body = np_str_cstr(bad[i].body);
    snprintf(where, sizeof where, "session %s, event %zu cannot be read (", name, lie->n);
    neap_rc rc = n->store->ops->restore(n->store, NP_LIT(""), np_str_cstr(name), lie->ev,
                                        lie->n, &e);
    CHECK("the log is stored", rc == NEAP_OK);
    rc = neap_session_open(n, name, &o, &s);
    bool told = rc != NEAP_OK && strstr(neap_error(n), where);
    if (!told) fprintf(stderr, "%zu: %d %s\n", i, (int)rc, neap_error(n));
    CHECK("what cannot be read is told with its session and event", told);
    neap_session_close(s);
  }
  free(lie);
}

/* The body of a turn begins with how many keys were derived. */
static void test_turns(neap *n, neap *m, const log *l) {
  static const uint64_t keys[] = {UINT64_MAX, (uint64_t)INT64_MAX, (uint64_t)1 << 62,
                                  (uint64_t)1 << 40, 100000};
  log *lie = malloc(sizeof *lie);
  size_t at = 0;
  while (at < l->n && l->ev[at].kind != NP_EV_TURN) at++;
  if (!lie || at == l->n) exit(2);
  for (size_t cut = 0; cut <= 20; cut++) {
    char name[24];
    snprintf(name, sizeof name, "cut %zu", cut);
    char *body = malloc(cut + 1); /* exactly so many bytes: what reads on is seen */
    if (!body) exit(2);
    memcpy(body, l->ev[at].body.p, cut);
    *lie = *l;
    lie->ev[at].body = np_str_of(body, cut);
    CHECK("a turn that is cut short is told", cut == 16 || try_log(n, m, name, lie) > 0);
    free(body);
  }
  for (size_t i = 0; i < 2 * NP_COUNT(keys); i++) {
    char name[24], body[400];
    size_t size = l->ev[at].body.n;
    snprintf(name, sizeof name, "keys %zu", i);
    if (size > sizeof body) exit(2);
    memcpy(body, l->ev[at].body.p, size);
    put_le(body, keys[i / 2]);
    *lie = *l; /* with its own key, and as those of before, which had to derive it */
    lie->ev[at].body = np_str_of(body, i % 2 ? size : 16);
    bool sound = i % 2 && keys[i / 2] < UINT64_C(1000000000000000);
    CHECK("keys that nobody can have derived are told, and soon",
          sound || try_log(n, m, name, lie) > 0);
  }
  free(lie);
}

/* ---- any lie ---- */

static unsigned long long state;

static size_t pick(size_t n) {
  return (size_t)(check_random(&state) % n);
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* A run of digits becomes another number; a byte another byte; the end is cut off. */
static np_str changed(np_arena *ar, np_str was) {
  static const char *const numbers[] = {"0",    "-1",         "7",           "16777217",
                                        "1e30", "4294967297", "99999999999", "null",
                                        "\"\"", "[]"};
  np_buf b;
  np_str out = NP_LIT("");
  size_t at = was.n ? pick(was.n) : 0, to = at, how = pick(4);
  np_buf_init(&b, &np_alloc_libc);
  while (how < 2 && at < was.n && !is_digit(was.p[at])) to = ++at;
  while (how < 2 && to < was.n && is_digit(was.p[to])) to++;
  np_buf_add(&b, np_str_cut(was, 0, at));
  if (how < 2 && at < to) np_buf_adds(&b, numbers[pick(NP_COUNT(numbers))]);
  if (how == 2 && at < was.n) np_buf_addc(&b, (char)check_random(&state));
  if (how < 3) np_buf_add(&b, np_str_cut(was, how == 2 ? at + 1 : to, was.n));
  if (!np_arena_copy(ar, np_buf_str(&b), &out)) exit(2);
  np_buf_free(&b);
  return out;
}

static void lie_once(log *l) {
  size_t a = pick(l->n), b = pick(l->n), how = pick(10);
  for (int i = 0; i < 8 && l->ev[a].kind == NP_EV_MESSAGE; i++) a = pick(l->n);
  np_event hold = l->ev[a];
  if (how < 4) l->ev[a].head = changed(l->ar, hold.head);
  else if (how < 7) l->ev[a].body = changed(l->ar, hold.body);
  else if (how == 7) l->ev[a] = l->ev[b];
  else if (how == 8) l->ev[a].kind = 1 + (int)pick(NP_EV_END - 1);
  else l->ev[a].body = l->ev[b].body;
  if (how == 7 && pick(2)) l->ev[b] = hold;
  if (how == 9 && pick(2)) l->n -= pick(3);
  for (size_t i = 0; i < l->n; i++) {
    l->ev[i].seq = (int64_t)i + 1;
    l->ev[i].apart = l->ev[i].kind == NP_EV_FILE;
    if (!l->ev[i].apart) memset(l->ev[i].hash, 0, NP_SHA256);
  }
}

static void test_any(neap *n, neap *m, const log *l, const char *of, int rounds) {
  log *lie = malloc(sizeof *lie);
  unsigned failed = 0;
  if (!lie) exit(2);
  for (int i = 0; i < rounds; i++) {
    char name[40];
    snprintf(name, sizeof name, "%s %d", of, i);
    *lie = *l;
    for (size_t k = 1 + pick(3); k > 0; k--) lie_once(lie);
    failed += try_log(n, m, name, lie) > 0;
  }
  CHECK("many lies are told", failed > (unsigned)rounds / 4);
  free(lie);
}

int main(void) {
  state = check_seed((unsigned long long)time(NULL));
  dir_make();
  policy = policy_file("moody.lua", moody);
  np_arena ar;
  np_arena_init(&ar, &np_alloc_libc);
  neap *n = engine_open(NULL), *m = engine_open(NULL);
  log *l = malloc(2 * sizeof *l);
  if (!l) return 2;
  make(n, "plain", false);
  make(n, "back", true);
  read_log(n, "plain", &ar, &l[0]);
  read_log(n, "back", &ar, &l[1]);
  test_turns(n, m, &l[0]);
  test_told(n, &l[0]);
  test_any(n, m, &l[0], "plain", 150);
  test_any(n, m, &l[1], "back", 100);
  neap_close(n);
  neap_close(m);
  np_arena_free(&ar);
  free(l);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
