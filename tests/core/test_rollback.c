/*
** Checkpoints and rollback (S0.30, S2.31, T16): after a rollback the session is what it would be
** had nothing come since, but for the record; in every format, with policies that keep a state,
** draw numbers, fold and put away; after a kill at any event. next: test_engine.c
*/
#include "session.h"

/* Decides by everything that a rollback has to take back. */
#define POLICY                                                                           \
  "return { api = 1, tools = { 'read', 'recall' }, order = 'value',\n"                   \
  "  admit = function(ctx, e)\n"                                                         \
  "    if e.kind == 'result' and ctx.random(4) == 1 then e:hold() end\n"                 \
  "    ctx.state.seen = (ctx.state.seen or 0) + 1\n"                                     \
  "  end,\n"                                                                             \
  "  compact = function(ctx)\n"                                                          \
  "    local old = ctx:span { before = ctx.step - 3 }\n"                                 \
  "    local due = ctx:due { phase = true, turns = 1 }\n"                                \
  "    if old.steps >= (due and 1 or 2) then\n"                                          \
  "      ctx:fold(old, 'Folded with ' .. ctx.state.seen)\n"                              \
  "    end\n"                                                                            \
  "    ctx.state.open = #ctx:scratchpad()\n"                                             \
  "    for _, one in ipairs(ctx:scratchpad()) do\n"                                      \
  "      if one.text:find '7' then ctx:pass(one.id, 'seven') end\n"                      \
  "    end\n"                                                                            \
  "    if ctx.state.open == 3 then ctx:phase('of the policy') end\n"                     \
  "  end,\n"                                                                             \
  "  rank = function(ctx, e) return (1 + e.citations) / e.age end,\n"                    \
  "  assemble = function(ctx)\n"                                                         \
  "    local turns = (ctx.state.turns or 0) + 1\n"                                       \
  "    ctx.state.turns = turns\n"                                                        \
  "    if turns % 3 == 0 then\n"                                                         \
  "      for e in ctx:entries { kind = 'result', at = 'full', except_last = 2 } do\n"    \
  "        e:mask('turn ' .. turns)\n"                                                   \
  "      end\n"                                                                          \
  "    end\n"                                                                            \
  "    if ctx.tokens > ctx.economy.height then ctx:shrink(ctx.economy.floor) end\n"      \
  "  end }\n"

static const char *const formats[] = {"openai", "anthropic", "responses", "gemini",
                                      "text"};

#define SCHEMA                                                                           \
  "{\"type\":\"object\",\"properties\":{\"todo\":{\"type\":\"array\",\"kind\":"          \
  "\"pending\"},\"n\":{\"type\":\"integer\"}},\"additionalProperties\":true}"

static neap_session *open_one(neap *n, const char *policy, const char *format) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o,
                    .policy = policy,
                    .window = 6000,
                    .reserve = -1,
                    .format = format,
                    .state_schema = SCHEMA,
                    .flags = NEAP_NO_RELOAD};
  neap_rc rc = neap_session_open(n, "run", &o, &s);
  if (rc) fprintf(stderr, "neap_session_open: %s\n", neap_error(n));
  CHECK("a session opens", rc == NEAP_OK);
  if (rc) exit(check_done());
  return s;
}

/* The oldest that waits on the scratchpad: its numbers are not those of one that never had others. */
static int64_t oldest(neap_session *s) {
  np_json list, one, v;
  neap_str text;
  if (neap_scratch_list(s, &text) || np_json_check(text, &list, NULL)) return 0;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &one)) {
    np_json_get(one, "status", &v);
    if (np_str_is(v.raw, "\"waiting\"")) return number(one.raw, "id");
  }
  return 0;
}

/* What must not drift, in one of five ways. */
static void keep_straight(neap_session *s, int kind, int n) {
  char text[100];
  neap_rc rc;
  neap_proposal p = {.size = sizeof p, .who = "controller", .reason = NP_LIT("r")};
  neap_scratch d = {.size = sizeof d, .who = "model"};
  switch (kind) {
    case 0:
      snprintf(text, sizeof text, "{\"n\":%d,\"m%d\":\"v%d\"}", n, n % 3, n);
      p.patch = np_str_cstr(text);
      rc = neap_state_propose(s, &p, NULL);
      break;
    case 1:
      snprintf(text, sizeof text, "conclusion %d", n);
      d.text = np_str_cstr(text);
      if (n % 2) d.patch = NP_LIT("{\"n\":77}");
      rc = neap_scratch_put(s, &d, NULL);
      break;
    case 2:
      snprintf(text, sizeof text, "part %d", n);
      rc = neap_phase(s, text);
      break;
    case 3: rc = neap_refute(s, 0, 2, NP_LIT("it was another")); break;
    default:
      rc = !oldest(s) ? NEAP_OK
           : n % 2    ? neap_scratch_reject(s, oldest(s), "user", NP_LIT("no"))
                      : neap_scratch_pass(s, oldest(s), "user", NP_LIT(""), NULL, NULL);
  }
  if (rc) fprintf(stderr, "%s\n", neap_error(neap_session_engine(s)));
  CHECK("it is taken", rc == NEAP_OK);
}

/* One piece of history, by a number. */
static void piece(neap_session *s, int kind, int n, np_buf *body) {
  char text[200];
  if (kind >= 5) {
    keep_straight(s, kind - 5, n);
  } else if (kind == 0) {
    snprintf(text, sizeof text, "{'role':'user','content':'And src/file%d.c?'}", n);
    CHECK("a message is taken", append(s, text) == NEAP_OK);
  } else if (kind == 1) {
    snprintf(text, sizeof text, "{'kind':'evidence','content':'E%d of case_%d'}", n, n);
    CHECK("evidence is taken", append(s, text) == NEAP_OK);
  } else {
    round_trip(s, n, kind - 2, 30 + n % 7 * 20, body);
  }
}

static void begin(neap_session *s) {
  append(s, "{'role':'system','content':'Be careful.'}");
  append(s, "{'role':'user','content':'Why does the build of src/main.c fail?'}");
}

/* A call whose id came before goes out under one that its entry's number makes. */
static void blind_twins(np_buf *b) {
  for (size_t i = 0; i + 7 <= b->n; i++) {
    if (memcmp(b->p + i, "\"neap_", 6) != 0) continue;
    for (i += 6; i < b->n && b->p[i] >= '0' && b->p[i] <= '9'; i++) b->p[i] = '#';
  }
}

/* Runs of blinded digits as one: an id may have a digit more. */
static void shorten(np_buf *b) {
  size_t to = 0;
  for (size_t i = 0; i < b->n; i++) {
    if (b->p[i] == '#' && to && b->p[to - 1] == '#') continue;
    b->p[to++] = b->p[i];
  }
  b->n = to;
}

/* Ids and the numbers of marks aside. */
static bool same_prompts(np_buf *a, np_buf *b) {
  blind_marks(a);
  blind_marks(b);
  blind_twins(a);
  blind_twins(b);
  shorten(a);
  shorten(b);
  return np_str_eq(np_buf_str(a), np_buf_str(b));
}

/* What the newest entry says, as the block that it came as. */
static void newest_as_block(neap_session *s, np_buf *out) {
  neap_str text = NP_LIT("");
  int64_t id = 1;
  while (!neap_entry_text(s, id, &text)) id++;
  neap_entry_text(s, id - 1, &text);
  np_buf_clear(out);
  np_buf_adds(out, "{\"kind\":\"notice\",\"content\":");
  np_json_quote(out, text);
  np_buf_addc(out, '}');
}

static void run(const char *format, const char *policy, unsigned long long seed) {
  const char *path = dir_path("rollback.db");
  np_buf a, b, record;
  np_buf_init(&a, &np_alloc_libc);
  np_buf_init(&b, &np_alloc_libc);
  np_buf_init(&record, &np_alloc_libc);
  unlink(path);
  neap *n = engine_open(path), *m = engine_open(NULL);
  neap_session *s = open_one(n, policy, format), *t = open_one(m, policy, format);
  int before = 2 + (int)(check_random(&seed) % 6);
  int gone = 1 + (int)(check_random(&seed) % 5);
  int behind = 3 + (int)(check_random(&seed) % 5), count = 0;
  begin(s);
  begin(t);
  for (int i = 0; i < before; i++) {
    int kind = (int)(check_random(&seed) % 10);
    piece(s, kind, ++count, NULL);
    piece(t, kind, count, NULL);
  }
  CHECK("a checkpoint is taken", neap_checkpoint(s, "here") == NEAP_OK);
  for (int again = 0; again < 2; again++) {
    for (int i = 0; i < gone; i++)
      piece(s, (int)(check_random(&seed) % (i ? 10 : 9)), 100 + count + i, NULL);
    neap_rc rc = neap_rollback(s, "here", 0, NP_LIT("it \"led\"\nnowhere"));
    if (rc) fprintf(stderr, "%s\n", neap_error(n));
    CHECK("it goes back", rc == NEAP_OK);
    newest_as_block(s, &record);
    CHECK("the record is of one line each",
          times(np_buf_str(&record), "it 'led' nowhere") == 1);
    CHECK("the other is told the same", neap_append(t, np_buf_str(&record)) == NEAP_OK);
  }
  for (int i = 0; i < behind; i++) {
    int kind = 2 + (int)(check_random(&seed) % 3);
    if (check_random(&seed) % 3 == 0) { /* killed: what was acknowledged is in the file */
      neap_close(n);
      n = engine_open(path);
      s = open_one(n, policy, format);
    }
    int more = 5 + (int)(check_random(&seed) % 10);
    piece(s, kind, ++count, &a);
    piece(t, kind, count, &b);
    if (more < 10) piece(s, more, count, NULL);
    if (more < 10) piece(t, more, count, NULL);
    bool same = same_prompts(&a, &b);
    if (!same) {
      size_t at = 0;
      while (at < a.n && at < b.n && a.p[at] == b.p[at]) at++;
      size_t from = at > 80 ? at - 80 : 0;
      fprintf(stderr, "%s, turn %d, byte %zu:\n%.*s\n%.*s\n", format, i, at,
              (int)(at + 80 < a.n ? at + 80 - from : a.n - from), a.p + from,
              (int)(at + 80 < b.n ? at + 80 - from : b.n - from), b.p + from);
      fprintf(stderr, "%.300s\n", account(s).p);
      fprintf(stderr, "%.300s\n", account(t).p);
    }
    CHECK("its prompts are those of one that never was there (T16)", same);
  }
  neap_close(n);
  neap_close(m);
  np_buf_free(&a);
  np_buf_free(&b);
  np_buf_free(&record);
}

static void property(void) {
  unsigned long long seed = check_seed(11);
  const char *policy = policy_file("rollback.lua", POLICY);
  for (int i = 0; i < 40; i++) {
    const char *format = formats[i % (int)NP_COUNT(formats)];
    run(format, i % 7 == 6 ? NULL : policy, check_random(&seed));
    if (check_failed) return;
  }
}

/* ---- one by one ---- */

static void told(void) {
  neap *n = engine_open(NULL);
  neap_session *s = open_one(
      n, policy_file("t.lua", "return { api = 1, tools = { 'read' } }"), "openai");
  neap_str body, text;
  neap_call c;
  begin(s);
  round_trip(s, 1, 1, 20, NULL);
  CHECK("a checkpoint is taken", neap_checkpoint(s, "m") == NEAP_OK);
  round_trip(s, 2, 2, 20, NULL);
  round_trip(s, 3, 0, 20, NULL);
  int64_t epoch = number(account(s), "epoch");
  CHECK("it goes back", neap_rollback(s, "m", 0, NP_LIT("a dead end")) == NEAP_OK);
  body = prompt(s);
  CHECK("what was tried is told (S0.30)",
        has(body, "## Void attempt\\n- 2 steps were carried out (steps 2\xE2\x80\x93"
                  "3, "
                  "entries 6\xE2\x80\x93"
                  "11) and are void, because: \\\"a dead end\\\". Do "
                  "not repeat this path."));
  CHECK("and nothing else of it", !has(body, "200 ") && !has(body, "done"));
  CHECK("it is one epoch more", number(account(s), "epoch") == epoch + 1);
  CHECK("and the account says why",
        has(account(s), "\"rewrite\":true,\"rolled_back\":{"));
  CHECK("nothing is lost", neap_entry_text(s, 9, &text) == NEAP_OK && has(text, "200 "));
  CHECK("the model asks for it",
        neap_append_response(s, response("looking", "neap_read", 1, 9)) == NEAP_OK);
  while (neap_next_call(s, &c)) CHECK("the engine answers", neap_handle(s, &c) == 0);
  body = prompt(s);
  CHECK("what is read is said to be void",
        has(body, "Void: rolled back because \\\"a dead end\\\"."));
  CHECK("later turns are of that epoch",
        number(account(s), "epoch") == epoch + 1 && !has(account(s), "rolled_back"));
  neap_close(n);
}

static void chinese(void) {
  neap *n = engine_open(NULL);
  neap_session *s = open_one(n, NULL, "openai");
  append(s, "{'role':'user','content':'\xE4\xB8\xBA\xE4\xBB\x80\xE4\xB9\x88\xE6\x9E\x84"
            "\xE5\xBB\xBA\xE5\xA4\xB1\xE8\xB4\xA5\xEF\xBC\x9F'}");
  neap_checkpoint(s, "m");
  round_trip(s, 2, 1, 20, NULL);
  CHECK("it goes back",
        neap_rollback(s, "m", 0, NP_LIT("\xE8\xB5\xB0\xE4\xB8\x8D\xE9\x80\x9A")) ==
            NEAP_OK);
  CHECK("what is Chinese is told so (S0.30)",
        has(prompt(s),
            "## \xE5\xB7\xB2\xE4\xBD\x9C\xE5\xBA\x9F\xE7\x9A\x84\xE5\xB0\x9D\xE8"
            "\xAF\x95\\n- \xE6\x9B\xBE\xE6\x89\xA7\xE8\xA1\x8C 1 \xE6\xAD\xA5"));
  neap_close(n);
}

/* What makes no entry is taken back, too. */
static void noted(void) {
  neap *n = engine_open(NULL);
  neap_session *s = open_one(n, NULL, "openai");
  neap_str list;
  begin(s);
  neap_checkpoint(s, "m");
  CHECK("a phase begins", neap_phase(s, "wrong") == NEAP_OK);
  neap_scratch d = {.size = sizeof d, .who = "model", .text = NP_LIT("wrong")};
  CHECK("a conclusion is put", neap_scratch_put(s, &d, NULL) == NEAP_OK);
  CHECK("it goes back", neap_rollback(s, "m", 0, NP_LIT("a dead end")) == NEAP_OK);
  CHECK("it is told", has(prompt(s), "- What was noted since is void, because: "));
  CHECK("the phase is gone", !has(account(s), "\"phase\""));
  CHECK("and the conclusion", !neap_scratch_list(s, &list) && np_str_is(list, "[]"));
  neap_checkpoint(s, "n");
  CHECK("then there is nothing", neap_rollback(s, "n", 0, NP_LIT("r")) == NEAP_E_MISUSE);
  neap_close(n);
}

static void refused(void) {
  neap *n = engine_open(NULL);
  neap_session *s = open_one(n, NULL, "openai");
  neap_call c;
  char long_name[300];
  memset(long_name, 'x', sizeof long_name);
  long_name[sizeof long_name - 1] = '\0';
  begin(s);
  neap_checkpoint(s, "m");
  CHECK("there is nothing to void",
        neap_rollback(s, "m", 0, NP_LIT("r")) == NEAP_E_MISUSE);
  prompt(s);
  neap_append_response(s, response("looking", "bash", 2, 1));
  CHECK("a batch that is open has no place for a mark",
        neap_checkpoint(s, "open") == NEAP_E_MISUSE);
  CHECK("nor for going back to", neap_rollback(s, NULL, 5, NP_LIT("r")) == NEAP_E_MISUSE);
  while (neap_next_call(s, &c)) neap_append_result(s, &c, NP_LIT("R"));
  CHECK("inside a message there is none",
        neap_rollback(s, NULL, 3, NP_LIT("r")) == NEAP_E_MISUSE);
  CHECK("between results, neither",
        neap_rollback(s, NULL, 6, NP_LIT("r")) == NEAP_E_MISUSE);
  CHECK("a mark that is not there",
        neap_rollback(s, "x", 0, NP_LIT("r")) == NEAP_E_NOTFOUND);
  CHECK("an entry that is not there",
        neap_rollback(s, NULL, 99, NP_LIT("r")) == NEAP_E_NOTFOUND);
  CHECK("it needs a reason", neap_rollback(s, "m", 0, NP_LIT("")) == NEAP_E_ARG);
  CHECK("and a name", neap_checkpoint(s, "") == NEAP_E_ARG &&
                          neap_checkpoint(s, NULL) == NEAP_E_ARG &&
                          neap_checkpoint(s, long_name) == NEAP_E_ARG);
  neap_checkpoint(s, "late");
  CHECK("it goes back to an entry", neap_rollback(s, NULL, 2, NP_LIT("r")) == NEAP_OK);
  CHECK("a mark that was rolled back is none",
        neap_rollback(s, "late", 0, NP_LIT("r")) == NEAP_E_NOTFOUND);
  CHECK("nor an entry", neap_rollback(s, NULL, 7, NP_LIT("r")) == NEAP_E_NOTFOUND);
  CHECK("and the session goes on", prompt(s).n > 0);
  neap_session *t = NULL;
  neap_options o = {.size = sizeof o, .flags = NEAP_NO_LOG};
  neap_session_open(n, "no log", &o, &t);
  begin(t);
  CHECK("without a log there is no way back", neap_checkpoint(t, "m") == NEAP_E_MISUSE);
  neap_close(n);
}

/* The state object goes back to its version, and the numbers of versions go on. */
static void state(void) {
  const char *path = dir_path("rollback-state.db");
  neap *n = engine_open(path);
  neap_session *s = NULL;
  neap_str text;
  neap_options o = {.size = sizeof o,
                    .state_schema =
                        "{\"type\":\"object\",\"additionalProperties\":true}"};
  CHECK("a session opens", neap_session_open(n, "s", &o, &s) == NEAP_OK);
  neap_proposal p = {.size = sizeof p, .who = "model"};
  begin(s);
  p.patch = NP_LIT("{\"a\":1}");
  neap_state_propose(s, &p, NULL);
  neap_checkpoint(s, "m");
  p.patch = NP_LIT("{\"a\":2}");
  neap_state_propose(s, &p, NULL);
  p.patch = NP_LIT("{\"b\":3}");
  neap_state_propose(s, &p, NULL);
  CHECK("it goes back (S2.31)", neap_rollback(s, "m", 0, NP_LIT("wrong")) == NEAP_OK);
  for (int i = 0; i < 2; i++) {
    CHECK("the state is that of the mark",
          !neap_state_get(s, 0, &text) && np_str_is(text, "{\"a\":1}"));
    CHECK("and shown", has(prompt(s), "{\\\"a\\\":1}") && !has(prompt(s), "\\\"b\\\""));
    CHECK("a version that is void is none",
          neap_state_get(s, 3, &text) == NEAP_E_NOTFOUND);
    CHECK("the history has it",
          !neap_state_history(s, &text) && times(text, "\"void\":true") == 2);
    neap_close(n);
    n = engine_open(path);
    o.state_schema = NULL;
    CHECK("it opens again", neap_session_open(n, "s", &o, &s) == NEAP_OK);
  }
  p.patch = NP_LIT("{\"c\":4}");
  CHECK("versions go on",
        !neap_state_propose(s, &p, &text) && number(text, "version") == 4);
  neap_close(n);
}

static int hits;
static void count_hit(void *ctx, const neap_hit *h) {
  (void)ctx, (void)h;
  hits++;
}

static void searches(void) {
  const char *path = dir_path("rollback-words.db");
  neap *n = engine_open(path);
  neap_session *s = open_one(n, NULL, "openai");
  begin(s);
  neap_checkpoint(s, "m");
  append(s, "{'role':'user','content':'the word zanzibar_42'}");
  hits = 0;
  neap_session_recall(s, NP_LIT("zanzibar_42"), 5, count_hit, NULL);
  CHECK("it is found", hits == 1);
  neap_rollback(s, "m", 0, NP_LIT("wrong"));
  hits = 0;
  neap_session_recall(s, NP_LIT("zanzibar_42"), 5, count_hit, NULL);
  CHECK("what is void is not", hits == 0);
  append(s, "{'role':'user','content':'again zanzibar_42'}");
  neap_session_recall(s, NP_LIT("zanzibar_42"), 5, count_hit, NULL);
  CHECK("what comes later is", hits == 1);
  neap_close(n);
}

int main(void) {
  dir_make();
  property();
  told();
  chinese();
  refused();
  noted();
  state();
  searches();
  dir_remove();
  np_buf_free(&made);
  return check_done();
}
