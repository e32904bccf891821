/*
** A stored session run again from its log alone gives the same prompts: after stops, with other
** settings, new versions of the policy, rolled back ones, asks, usage, a shadow. And what was
** changed behind its back is told, with turn and place. next: test_stored.c
*/
#include "session.h"

#include <time.h>

#include "engine/engine.h"

static const char form[] =
    "return { api = 1, tools = { 'recall', 'read' }, state_version = 1,\n"
    "  admit = function(ctx, e) ctx.state.seen = (ctx.state.seen or 0) + 1\n"
    "    if e.kind == 'result' and e.tokens > 90 then e:trim { tokens = %d, keep = "
    "'ends' } end end,\n"
    "  compact = function(ctx)\n"
    "    if ctx.step %% 4 ~= 0 then return end\n"
    "    local old = ctx:span { before = ctx.step - 2 }\n"
    "    if old.steps > 1 then ctx:fold(old, (ctx:summarize(old)) or '- gone') end end,\n"
    "  assemble = function(ctx)\n"
    "    %s\n"
    "    for e in ctx:entries { before = ctx.step - 2 } do\n"
    "      local r = ctx.random()\n"
    "      if r < 0.1 then e:drop('dropped by chance ' .. ctx.state.seen)\n"
    "      elseif r < 0.2 then e:mask('masked by chance')\n"
    "      elseif r < 0.4 then e:restore('wanted again') end\n"
    "    end end }\n";

static const char *write_policy(int tokens, const char *extra) {
  char text[2000];
  snprintf(text, sizeof text, form, tokens, extra);
  return policy_file("replay.lua", text);
}

typedef struct result {
  int64_t same, turn, unpinned;
  char cause[480];
  np_buf was, is;
} result;

static void keep(void *ctx, const neap_replayed *r) {
  result *out = ctx;
  out->same = r->same;
  out->turn = r->turn;
  out->unpinned = r->unpinned;
  snprintf(out->cause, sizeof out->cause, "%s", r->cause);
  if (r->turn)
    fprintf(stderr, "  turn %d, byte %zu: %s\n    was %.160s\n    is  %.160s\n",
            (int)r->turn, r->at, r->cause, r->was.p + (r->at > 60 ? r->at - 60 : 0),
            r->is.n > r->at ? r->is.p + (r->at > 60 ? r->at - 60 : 0) : "");
}

static neap_rc replay(neap *n, const char *name, result *out) {
  *out = (result){0};
  neap_rc rc = neap_session_replay(n, name, keep, out);
  if (rc) fprintf(stderr, "replay: %s\n", neap_error(n));
  return rc;
}

static neap_session *open_as(neap *n, const char *name, const char *policy,
                             const char *format, int64_t window) {
  neap_session *s = NULL;
  neap_options o = {
      .size = sizeof o, .policy = policy, .format = format, .window = window};
  neap_rc rc = neap_session_open(n, name, &o, &s);
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a session opens", rc == NEAP_OK);
  if (rc) exit(check_done());
  return s;
}

static void answer_asks(neap_session *s, unsigned long long *r) {
  neap_ask a;
  for (int64_t id = 0; neap_ask_after(s, id, &a); id = a.id) {
    unsigned k = (unsigned)(check_random(r) % 4);
    if (k == 0) neap_refuse(s, a.id, "error", NP_LIT("no model"));
    else if (k < 3) neap_answer(s, a.id, NP_LIT("- src/file.c was looked at"));
  }
}

static neap_str with_usage(neap_str response, int tokens) {
  char end[80];
  static np_buf b;
  b.alloc = &np_alloc_libc;
  np_buf_clear(&b);
  np_buf_add(&b, np_str_cut(response, 0, response.n - 1));
  snprintf(end, sizeof end, ",\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":5}}",
           tokens);
  np_buf_adds(&b, end);
  return np_buf_str(&b);
}

static int backs; /* rollbacks that were taken, in all lives */

/* A life of a session: everything that a log can hold, in a random order. Returns its turns. */
static int64_t live(neap *n, const char *name, const char *format,
                    unsigned long long *r) {
  const char *policy = write_policy(80, "");
  int64_t window = 6000, turns = 0;
  neap_session *s = open_as(n, name, policy, format, window);
  neap_set_tools(s, json("[{'type':'function','function':{'name':'bash'}}]"));
  append(s, "{'role':'system','content':'s'}");
  append(s, "{'role':'user','content':'mend src/file.c'}");
  int64_t now = 1000000;
  for (int i = 0; i < 30; i++) {
    neap_str p;
    neap_call c;
    switch (check_random(r) % 18) {
      case 0: /* stop and go on, now and then with another window */
        neap_session_close(s);
        if (check_random(r) % 3 == 0)
          window = 5000 + (int64_t)(check_random(r) % 3) * 3000;
        s = open_as(n, name, policy, format, window);
        break;
      case 1:
        policy = write_policy(60 + (int)(check_random(r) % 50), "");
        neap_reload(s);
        break;
      case 2: /* a version that fails in its first turn, and is rolled back */
        write_policy(70, "error('no')");
        neap_reload(s);
        break;
      case 3: append(s, "{'role':'user','content':'and src/other.c:12?'}"); break;
      case 4: neap_set_now(s, now += 1000000); break;
      case 5: append(s, "{'kind':'memory','content':'the build is cmake'}"); break;
      case 6: neap_shadow(s, check_random(r) % 2 ? policy : NULL, NULL); break;
      case 7:
      case 8: neap_checkpoint(s, "here"); break;
      case 9:
      case 10: backs += !neap_rollback(s, "here", 0, NP_LIT("a dead end")); break;
      case 11: neap_refute(s, i / 2, 0, NP_LIT("another machine")); break;
      case 12: neap_phase(s, i % 2 ? "odd" : "even"); break;
      default: break;
    }
    answer_asks(s, r);
    neap_rc rc = neap_prompt(s, &p);
    if (rc) fprintf(stderr, "%s\n", neap_error(n));
    CHECK("there is a prompt", rc == NEAP_OK);
    turns++;
    const char *tool = i % 9 == 5 ? "neap_read" : "bash";
    neap_str answer = response("so", tool, 1 + i % 3, 1 + i / 2);
    if (i % 3 == 0) answer = with_usage(answer, 900 + (int)(check_random(r) % 2000));
    neap_append_response(s, answer);
    while (neap_next_call(s, &c)) {
      if (!neap_handle(s, &c)) continue;
      np_buf out;
      np_buf_init(&out, &np_alloc_libc);
      for (unsigned w = 0; w < 20 + check_random(r) % 200; w++)
        np_buf_adds(&out, w % 9 ? "word " : "src/file.c:12\n");
      neap_append_result(s, &c, np_buf_str(&out));
      np_buf_free(&out);
    }
  }
  neap_session_close(s);
  return turns;
}

static void test_lives(unsigned long long seed) {
  static const char *const formats[] = {"openai", "anthropic", "responses", "gemini",
                                        "text"};
  unsigned long long r = seed;
  for (size_t f = 0; f < NP_COUNT(formats); f++) {
    char store[40];
    snprintf(store, sizeof store, "lives-%s.db", formats[f]);
    neap *n = engine_open(dir_path(store));
    for (int i = 0; i < 3; i++) {
      char name[16];
      result got;
      snprintf(name, sizeof name, "run-%d", i);
      int64_t turns = live(n, name, formats[f], &r);
      neap_rc rc = replay(n, name, &got);
      bool good = !rc && got.turn == 0 && got.same == turns && got.unpinned == 0;
      if (!good)
        fprintf(stderr, "%s %s: %d of %d turns\n", formats[f], name, (int)got.same,
                (int)turns);
      CHECK("a session run again gives every prompt to the byte", good);
    }
    neap_close(n);
  }
}

/* ---- changed behind its back ---- */

typedef struct log {
  np_arena arena;
  np_event ev[400];
  size_t n;
} log_copy;

static neap_rc copy_event(void *ctx, const np_event *ev, bool purged) {
  log_copy *l = ctx;
  np_event *one = &l->ev[l->n++];
  (void)purged;
  *one = *ev;
  np_arena_copy(&l->arena, ev->head, &one->head);
  np_arena_copy(&l->arena, ev->body, &one->body);
  return l->n < 400 ? NEAP_OK : NEAP_E_LIMIT;
}

static void change(np_arena *ar, np_str *text, const char *from, const char *to) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  size_t at = np_str_find(*text, np_str_cstr(from), 0);
  CHECK("there is something to change", at != SIZE_MAX);
  if (at == SIZE_MAX) return;
  np_buf_add(&b, np_str_cut(*text, 0, at));
  np_buf_adds(&b, to);
  np_buf_add(&b, np_str_cut(*text, at + strlen(from), text->n));
  np_arena_copy(ar, np_buf_str(&b), text);
  np_buf_free(&b);
}

static void test_changed(unsigned long long seed) {
  static log_copy l;
  unsigned long long r = seed;
  np_err e;
  result got;
  neap *n = engine_open(NULL);
  np_arena_init(&l.arena, &np_alloc_libc);
  (void)r;
  const char *policy = write_policy(80, "");
  neap_session *s = open_as(n, "run", policy, "openai", 6000);
  append(s, "{'role':'user','content':'mend src/file.c'}");
  for (int i = 1; i < 8; i++) round_trip(s, i, 2, 200, NULL);
  neap_session_close(s);
  n->store->ops->read(n->store, NP_LIT(""), NP_LIT("run"), 1, copy_event, &l, &e);
  size_t last_turn = 0;
  for (size_t i = 0; i < l.n; i++)
    if (l.ev[i].kind == NP_EV_TURN) last_turn = i;
  log_copy good = l;
  change(&l.arena, &l.ev[0].body, "tokens = 80", "tokens = 70");
  n->store->ops->restore(n->store, NP_LIT(""), NP_LIT("policy"), l.ev, l.n, &e);
  CHECK("another policy is told, with the turn that it changed",
        replay(n, "policy", &got) == NEAP_OK && got.turn == 2 && got.same == 1 &&
            strstr(got.cause, "the policy decides otherwise"));
  l = good;
  change(&l.arena, &l.ev[0].head, "\"neap\":\"" NEAP_VERSION, "\"neap\":\"0.0.9");
  change(&l.arena, &l.ev[0].body, "tokens = 80", "tokens = 70");
  n->store->ops->restore(n->store, NP_LIT(""), NP_LIT("version"), l.ev, l.n, &e);
  CHECK("another version of neap is the likely cause",
        replay(n, "version", &got) == NEAP_OK && got.turn == 2 &&
            strstr(got.cause, "another version of neap wrote it"));
  l = good;
  np_str body = l.ev[last_turn].body;
  char *p = malloc(body.n);
  memcpy(p, body.p, body.n);
  p[body.n - 1] ^= 1; /* the digest is the last that is written */
  l.ev[last_turn].body.p = p;
  n->store->ops->restore(n->store, NP_LIT(""), NP_LIT("digest"), l.ev, l.n, &e);
  CHECK("a prompt that is not the one that was sent is told",
        replay(n, "digest", &got) == NEAP_OK && got.turn == 7 && got.same == 6 &&
            strstr(got.cause, "another prompt than the one that was sent"));
  free(p);
  CHECK("a session that is not there is told",
        replay(n, "gone", &got) == NEAP_E_NOTFOUND);
  CHECK("nothing was written", replay(n, "run", &got) == NEAP_OK && got.same == 7);
  np_arena_free(&l.arena);
  neap_close(n);
}

int main(void) {
  unsigned long long seed = check_seed((unsigned long long)time(NULL));
  dir_make();
  test_lives(seed);
  CHECK("some went back", backs > 0);
  test_changed(seed);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
