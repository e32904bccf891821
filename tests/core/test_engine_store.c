/*
** Sessions and their store: stopping and going on gives the same bytes, one writer at a time,
** a kill or a full disk loses nothing that was acknowledged. next: test_engine_memory.c
*/
#include "session.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const char moody[] =
    "return { api = 1, tools = { 'recall', 'read' },\n"
    "  admit = function(ctx, e) ctx.state.seen = (ctx.state.seen or 0) + 1\n"
    "    if e.kind == 'user' then e:hold() end\n"
    "    if e.kind == 'result' and e.tokens > 90 then e:trim { tokens = 80, keep = "
    "'ends' } end end,\n"
    "  compact = function(ctx) ctx.state.turns = (ctx.state.turns or 0) + 1 end,\n"
    "  assemble = function(ctx)\n"
    "    local old = ctx:entries { before = ctx.step - 2 }\n"
    "    for e in old do\n"
    "      local r = ctx.random()\n"
    "      if r < 0.1 then e:drop('dropped by chance ' .. ctx.state.seen)\n"
    "      elseif r < 0.2 then e:mask('masked by chance')\n"
    "      elseif r < 0.3 then e:reference('shortened')\n"
    "      elseif r < 0.4 then e:restore('wanted again')\n"
    "      elseif r < 0.42 then e:pin('kept') end\n"
    "    end\n"
    "  end }\n";

/* What stands in the history at each stage; a stage may be the last before a stop. */
static void stage(neap_session *s, int i, np_buf *bodies) {
  neap_call c;
  if (i == 0) {
    neap_set_request(s, json("{'model':'m'}"));
    neap_set_tools(s, json("[{'type':'function','function':{'name':'bash'}}]"));
    append(s, "{'role':'system','content':'s'}");
    append(s, "{'role':'user','content':'u'}");
  } else if (i % 3 == 1) {
    neap_str p = prompt(s);
    np_buf_add(bodies, p);
    np_buf_addc(bodies, '\n');
    np_buf_add(bodies, account(s));
    np_buf_addc(bodies, '\n');
    const char *tool = i % 12 == 7 ? "neap_read" : "bash";
    CHECK("a response is taken",
          neap_append_response(s, response("so", tool, 1 + i % 4, i / 2)) == NEAP_OK);
  } else if (i % 3 == 2) { /* calls are answered after the stop, if there is one */
    while (neap_next_call(s, &c)) {
      if (!neap_handle(s, &c)) continue;
      np_buf out;
      np_buf_init(&out, &np_alloc_libc);
      for (int w = 0; w < i * 5; w++)
        np_buf_adds(&out, w % 9 ? "word " : "src/file.c:12\n");
      CHECK("a result is taken", neap_append_result(s, &c, np_buf_str(&out)) == NEAP_OK);
      np_buf_free(&out);
    }
  } else {
    append(s, i % 2 ? "{'role':'user','content':'go on with src/file.c:12'}"
                    : "{'role':'user','name':'ann','content':''}");
  }
}

#define STAGES 40

static void run(const char *store, const char *policy, const char *format, int64_t window,
                unsigned stops, np_buf *bodies) {
  neap *n = engine_open(store);
  neap_session *s = session_open(n, "run", policy, window, format);
  for (int i = 0; i < STAGES; i++) {
    stage(s, i, bodies);
    if (!(stops >> (i % 16) & 1)) continue;
    neap_session_close(s);
    if (i % 10 == 0) { /* a vocabulary is loaded anew: not at every stop */
      neap_close(n);
      n = engine_open(store);
    }
    s = session_open(n, "run", policy, window, format);
  }
  neap_close(n);
}

/* A session that is closed and opened again at any point goes on byte for byte. */
static void test_going_on(void) {
  static const unsigned patterns[] = {0, 0xFFFF, 0x5295, 0x8124};
  static const char *const formats[] = {"openai", "text"};
  const char *policy = policy_file("moody.lua", moody);
  for (size_t f = 0; f < NP_COUNT(formats); f++) {
    for (int64_t window = 2000; window <= (f ? 2000 : 50000); window *= 25) {
      np_buf first, other;
      np_buf_init(&first, &np_alloc_libc);
      np_buf_init(&other, &np_alloc_libc);
      for (size_t i = 0; i < NP_COUNT(patterns); i++) {
        char name[40];
        snprintf(name, sizeof name, "go-%s-%d-%d.db", formats[f], (int)window, (int)i);
        np_buf *b = i ? &other : &first;
        np_buf_clear(b);
        run(dir_path(name), policy, formats[f], window, patterns[i], b);
        bool same = np_str_eq(np_buf_str(b), np_buf_str(&first));
        if (!same) {
          size_t at = 0;
          while (at < first.n && at < other.n && first.p[at] == other.p[at]) at++;
          at = at > 200 ? at - 200 : 0;
          fprintf(stderr, "%s %d stops %x\n  at once %.*s\n  stopped %.*s\n", formats[f],
                  (int)window, patterns[i], 400, first.p + at, 400, other.p + at);
        }
        CHECK("stopping and going on gives the same prompts and accounts", same);
      }
      CHECK("the policy did something", has(np_buf_str(&first), "by chance") &&
                                            has(np_buf_str(&first), "wanted again"));
      CHECK("the model read", has(np_buf_str(&first), "neap_read"));
      np_buf_free(&first);
      np_buf_free(&other);
    }
  }
}

/* Calls that wait when a session stops are handed out when it goes on. */
static void test_calls_after_stop(void) {
  neap_call c;
  neap *n = engine_open(dir_path("calls.db"));
  neap_session *s = session_open(n, "x", NULL, 9000, NULL);
  append(s, "{'role':'user','content':'u'}");
  prompt(s);
  neap_append_response(s, response("so", "bash", 3, 0));
  CHECK("a call comes", neap_next_call(s, &c));
  neap_append_result(s, &c, NP_LIT("first"));
  neap_close(n);
  n = engine_open(dir_path("calls.db"));
  s = session_open(n, "x", NULL, 9000, NULL);
  CHECK("the second comes after the stop", neap_next_call(s, &c) && np_str_is(c.id, "b"));
  CHECK("its result is taken", neap_append_result(s, &c, NP_LIT("second")) == NEAP_OK);
  CHECK("and the third",
        neap_next_call(s, &c) && np_str_is(c.id, "c") && !neap_next_call(s, &c));
  prompt(s);
  neap_close(n);
  n = engine_open(dir_path("calls.db"));
  s = session_open(n, "x", NULL, 9000, NULL);
  CHECK("after a prompt the turn is over", !neap_next_call(s, &c));
  neap_close(n);
}

/* ---- one writer ---- */

static void test_fence(void) {
  neap *a = engine_open(dir_path("fence.db")), *b = engine_open(dir_path("fence.db"));
  neap_session *first = session_open(a, "x", NULL, 9000, NULL);
  neap_str p, before, text;
  append(first, "{'role':'user','content':'one'}");
  append(first, "{'role':'assistant','content':'two'}");
  before = prompt(first);
  size_t length = before.n;
  neap_session *second = session_open(b, "x", NULL, 9000, NULL);
  CHECK("the newer one sees all",
        neap_entry_text(second, 2, &text) == NEAP_OK && np_str_is(text, "two"));
  CHECK("the older one may not append",
        append(first, "{'role':'user','content':'late'}") == NEAP_E_FENCED);
  CHECK("nor answer",
        neap_append_response(first, response("so", "bash", 1, 0)) == NEAP_E_FENCED);
  CHECK("nothing was kept", neap_entry_text(first, 3, &text) == NEAP_E_NOTFOUND);
  CHECK("nor may it make a prompt", neap_prompt(first, &p) == NEAP_E_FENCED &&
                                        neap_prompt(first, &p) == NEAP_E_FENCED);
  CHECK("the newer one may",
        append(second, "{'role':'user','content':'three'}") == NEAP_OK);
  CHECK("its prompt has it", prompt(second).n > length);
  neap_session *other = session_open(a, "y", NULL, 9000, NULL);
  CHECK("other sessions are free",
        append(other, "{'role':'user','content':'x'}") == NEAP_OK);
  first = session_open(a, "x", NULL, 9000, NULL);
  CHECK("who opens again goes on",
        append(first, "{'role':'user','content':'four'}") == NEAP_OK &&
            neap_entry_text(first, 4, &text) == NEAP_OK && np_str_is(text, "four"));
  CHECK("the other is now the older one",
        append(second, "{'role':'user','content':'x'}") == NEAP_E_FENCED);
  neap_close(a);
  neap_close(b);
}

/* ---- kills ---- */

static void append_for_ever(int out, neap_durable durable) {
  neap *n = NULL;
  neap_session *s = NULL;
  neap_config c = {.size = sizeof c,
                   .store = dir_path("kill.db"),
                   .data = data_dir(),
                   .flags = NEAP_FIXED_SECRET};
  neap_options o = {.size = sizeof o, .durable = durable, .window = 100000};
  if (neap_open(&c, &n) || neap_session_open(n, "x", &o, &s)) _exit(3);
  for (int i = 0;; i++) {
    char m[80];
    neap_str p;
    int n_bytes =
        snprintf(m, sizeof m, "{\"role\":\"user\",\"content\":\"message %d\"}", i);
    if (neap_append(s, np_str_of(m, (size_t)n_bytes))) _exit(4);
    if (durable == NEAP_DURABLE_BATCH && neap_prompt(s, &p)) _exit(5);
    if (write(out, "+", 1) != 1) _exit(6);
  }
}

/* Messages that the store holds, in order from 0; -1 when one is wrong. */
static int stored(void) {
  neap *n = engine_open(dir_path("kill.db"));
  neap_session *s = session_open(n, "x", NULL, 100000, NULL);
  int i = 0;
  for (;; i++) {
    neap_str text;
    char want[40];
    snprintf(want, sizeof want, "message %d", i);
    if (neap_entry_text(s, i + 1, &text)) break;
    if (!np_str_is(text, want)) i = -1000000;
  }
  if (i) prompt(s);
  neap_close(n);
  return i;
}

static void test_kill(neap_durable durable) {
  for (int round = 0; round < 2; round++) {
    int fd[2], acknowledged = 0, status = 0;
    char c[64];
    if (pipe(fd)) break;
    pid_t pid = fork();
    if (pid == 0) {
      close(fd[0]);
      append_for_ever(fd[1], durable);
    }
    close(fd[1]);
    while (acknowledged < 5 + round * 60) {
      ssize_t got = read(fd[0], c, sizeof c);
      if (got <= 0) break;
      acknowledged += (int)got;
    }
    kill(pid, SIGKILL);
    for (ssize_t got; (got = read(fd[0], c, sizeof c)) > 0;) acknowledged += (int)got;
    waitpid(pid, &status, 0);
    close(fd[0]);
    CHECK("it ran until it was killed", WIFSIGNALED(status) && acknowledged >= 5);
    int kept = stored();
    if (kept < acknowledged)
      fprintf(stderr, "%d acknowledged, %d kept\n", acknowledged, kept);
    CHECK("what was acknowledged survives a kill",
          kept >= acknowledged && kept <= acknowledged + 1);
    const char *tails[] = {"kill.db", "kill.db-wal", "kill.db-shm"};
    for (size_t i = 0; i < NP_COUNT(tails); i++) unlink(dir_path(tails[i]));
  }
}

/* ---- a store that cannot be written ---- */

static void limit_files(rlim_t bytes) {
  struct rlimit r;
  getrlimit(RLIMIT_FSIZE, &r);
  r.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &r);
}

/* Runs the same history with a disk that is full for a while at one of its calls, and without. */
static void full_disk(neap *n, int at, np_buf *bodies, int *failures) {
  char name[32];
  snprintf(name, sizeof name, "full-%d", at);
  neap_session *s = session_open(n, name, policy_file("moody.lua", moody), 20000, NULL);
  struct rlimit was;
  getrlimit(RLIMIT_FSIZE, &was);
  int call = 0;
  append(s, "{'role':'user','content':'u'}");
  for (int i = 0; i < 5; i++) {
    for (int kind = 0; kind < 4; kind++, call++) {
      neap_rc rc = NEAP_OK;
      neap_str p = NP_LIT("");
      neap_call c;
      for (int try = 0; try < 2; try++) {
        if (call == at && !try) limit_files(100);
        if (kind == 0) rc = neap_prompt(s, &p);
        if (kind == 1) rc = neap_append_response(s, response("so", "bash", 1, i));
        if (kind == 2 && (try || neap_next_call(s, &c)))
          rc = neap_append_result(s, &c, NP_LIT("src/file.c:12 is long, and so on"));
        if (kind == 3)
          rc = append(s, "{'role':'user','content':'more of src/file.c:12'}");
        if (call == at && !try) {
          limit_files(was.rlim_cur);
          *failures += rc != NEAP_OK;
          CHECK("a full disk is told", rc == NEAP_E_FULL || rc == NEAP_E_IO);
        }
        if (rc == NEAP_OK) break;
      }
      CHECK("then it goes on", rc == NEAP_OK);
      np_buf_add(bodies, p);
    }
  }
  neap_session_close(s);
  s = session_open(n, name, policy_file("moody.lua", moody), 20000, NULL);
  np_buf_add(bodies, prompt(s));
  neap_session_close(s);
  blind_marks(bodies);
}

static void test_full_disk(void) {
  np_buf whole, other;
  int failures = 0;
  signal(SIGXFSZ, SIG_IGN);
  np_buf_init(&whole, &np_alloc_libc);
  np_buf_init(&other, &np_alloc_libc);
  neap *n = engine_open(dir_path("full.db"));
  full_disk(n, -1, &whole, &failures);
  for (int at = 0; at < 20; at++) {
    np_buf_clear(&other);
    full_disk(n, at, &other, &failures);
    bool same = np_str_eq(np_buf_str(&whole), np_buf_str(&other));
    if (!same) fprintf(stderr, "full at call %d\n", at);
    CHECK("a failed write changes nothing: the same prompts, before and after a stop",
          same);
  }
  CHECK("every call failed once", failures == 20);
  neap_close(n);
  np_buf_free(&whole);
  np_buf_free(&other);
}

/* A turn that could not be written, and then not a prompt but a message comes. */
static void test_unwritten_turn(void) {
  np_buf bodies[2];
  struct rlimit was;
  getrlimit(RLIMIT_FSIZE, &was);
  for (int k = 0; k < 2; k++) {
    const char *store = dir_path(k ? "unwritten.db" : "written.db");
    np_buf_init(&bodies[k], &np_alloc_libc);
    neap *n = engine_open(store);
    neap_session *s = session_open(n, "x", policy_file("moody.lua", moody), 20000, NULL);
    append(s, "{'role':'user','content':'u'}");
    for (int i = 0; i < 5; i++) round_trip(s, i, 1, 30, NULL);
    neap_str p;
    if (k) limit_files(100);
    CHECK("the turn is told", (neap_prompt(s, &p) == NEAP_OK) == !k);
    limit_files(was.rlim_cur);
    CHECK("an answer is taken",
          neap_append_response(s, response("so", "bash", 1, 9)) == NEAP_OK);
    neap_close(n);
    n = engine_open(store);
    s = session_open(n, "x", policy_file("moody.lua", moody), 20000, NULL);
    for (int i = 0; i < 3; i++) {
      np_buf_add(&bodies[k], prompt(s));
      np_buf_add(&bodies[k], account(s));
      append(s, "{'role':'assistant','content':'ok'}");
    }
    neap_close(n);
  }
  CHECK("the turn was written before the next event",
        np_str_eq(np_buf_str(&bodies[0]), np_buf_str(&bodies[1])));
  np_buf_free(&bodies[0]);
  np_buf_free(&bodies[1]);
}

static void test_readonly(void) {
  neap *n = engine_open(dir_path("ro.db"));
  neap_session *s = session_open(n, "x", NULL, 9000, NULL);
  append(s, "{'role':'user','content':'kept'}");
  prompt(s);
  neap_close(n);
  n = NULL;
  neap_config c = {.size = sizeof c,
                   .store = dir_path("ro.db"),
                   .data = data_dir(),
                   .flags = NEAP_READONLY};
  CHECK("a store opens for reading", neap_open(&c, &n) == NEAP_OK);
  neap_options o = {.size = sizeof o};
  neap_str text;
  CHECK("so does its session", neap_session_open(n, "x", &o, &s) == NEAP_OK);
  CHECK("its entries are there",
        neap_entry_text(s, 1, &text) == NEAP_OK && np_str_is(text, "kept"));
  neap_close(n);
  c.store = dir_path("absent.db");
  CHECK("a file that is not there is told",
        neap_open(&c, &n) != NEAP_OK && strstr(neap_error(n), "absent.db"));
  neap_close(n);
}

int main(void) {
  dir_make();
  test_going_on();
  test_calls_after_stop();
  test_fence();
  test_kill(NEAP_DURABLE_PROCESS);
  test_kill(NEAP_DURABLE_BATCH);
  test_full_disk();
  test_unwritten_turn();
  test_readonly();
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
