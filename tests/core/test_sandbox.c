/*
** Attacks on the sandbox, each a file of tests/cases/sandbox that says how it ends:
**   -- expect: ok | load TEXT | call TEXT     TEXT with alternatives: "a | b"
**   -- with WORD: …    a run of its own, with the option `with` = "WORD" (migrate: old.with)
**   -- calls: compact answer compact    the hooks to call, assemble when not said, and answers to
**                                       what compact asks; all but the last end well
**   -- beside: odd files    it lies in a folder with pipes, links and a file of 1 GiB
** Each run is a process of its own with an alarm, so that a hang is a failure. Afterwards the
** pack is as it was, the same policy and another one work, no memory is left, and the same run
** once more has come to the same. next: ../../core/policy/meter.c
*/
#define _XOPEN_SOURCE 700
#include "apart.h"
#include "policy_world.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define CASES "tests/cases/sandbox"

typedef struct trial {
  const char *path;
  char with[40], expected[300], calls[200];
  bool beside;
} trial;

static np_vocab *vocab;
static char folder[PATH_MAX]; /* of a case that needs files beside it */

/* ---- reading a case ---- */

static bool after(const char *line, const char *head, char *out, size_t cap) {
  size_t n = strlen(head);
  if (strncmp(line, head, n) != 0) return false;
  snprintf(out, cap, "%s", line + n);
  out[strcspn(out, "\n")] = '\0';
  return true;
}

/* The runs that a file asks for. */
static size_t read_trials(const char *path, trial *list, size_t room) {
  trial t = {.path = path, .calls = "assemble"};
  char line[400], rest[400];
  size_t n = 0;
  FILE *f = fopen(path, "rb");
  while (f && fgets(line, sizeof line, f) && n < room) {
    list[n] = t;
    after(line, "-- calls: ", t.calls, sizeof t.calls);
    t.beside = t.beside || strncmp(line, "-- beside: ", 11) == 0;
    if (after(line, "-- expect: ", list[n].expected, sizeof t.expected) ||
        after(line, "#! expect: ", list[n].expected, sizeof t.expected)) {
      n++;
    } else if (after(line, "-- with ", rest, sizeof rest) && strstr(rest, ": ")) {
      char *colon = strstr(rest, ": ");
      snprintf(list[n].expected, sizeof t.expected, "%.250s", colon + 2);
      *colon = '\0';
      snprintf(list[n++].with, sizeof t.with, "%.30s", rest);
    }
  }
  if (f) fclose(f);
  for (size_t i = 0; i < n; i++) {
    memcpy(list[i].calls, t.calls, sizeof t.calls);
    list[i].beside = t.beside;
  }
  return n;
}

static int told(const trial *t, const char *what, const char *text) {
  fprintf(stderr, "%s %s: %s: %s (expected: %s)\n", t->path, t->with, what, text,
          t->expected);
  return 1;
}

/* ---- odd files ---- */

static const char *at(const char *name) {
  static char path[PATH_MAX + 100];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void put(const char *name, const char *text) {
  FILE *f = fopen(at(name), "wb");
  if (!f || fputs(text, f) < 0 || fclose(f)) exit(2);
}

static const char *const odd[] = {"in/pipe.lua",
                                  "in/link.lua",
                                  "in/dir.lua",
                                  "in/linked",
                                  "in/huge.lua",
                                  "in/device.lua",
                                  "in/turned.lua",
                                  "in/unending.lua",
                                  "in/bytecode.lua",
                                  "in/nul.lua",
                                  "in/case.lua",
                                  "in/fine.lua",
                                  "in",
                                  "out/secret.lua",
                                  "out"};

static void clean(void) {
  for (size_t i = 0; i < NP_COUNT(odd); i++) {
    if (unlink(at(odd[i]))) rmdir(at(odd[i]));
  }
  rmdir(folder);
}

/* in/ holds the policy; out/ is what it must not reach. */
static void make_folder(const char *path) {
  char text[8192];
  snprintf(folder, sizeof folder, "/tmp/neap-sandbox-XXXXXX");
  if (!mkdtemp(folder) || mkdir(at("in"), 0700) || mkdir(at("out"), 0700)) exit(2);
  put("out/secret.lua", "return 'secret'");
  put("in/fine.lua", "return 'fine'");
  put("in/bytecode.lua", "\x1bLuaS");
  put("in/huge.lua", "return 1 --");
  if (truncate(at("in/huge.lua"), (off_t)1 << 30)) exit(2);
  FILE *nul = fopen(at("in/nul.lua"), "wb");
  if (!nul || fwrite("return 1\0", 1, 9, nul) != 9 || fclose(nul)) exit(2);
  if (mkfifo(at("in/pipe.lua"), 0600) || mkdir(at("in/dir.lua"), 0700)) exit(2);
  if (symlink("../out/secret.lua", at("in/link.lua")) ||
      symlink("../out", at("in/linked")) || symlink("/dev/zero", at("in/device.lua")) ||
      symlink("turned.lua", at("in/turned.lua")) ||
      symlink("/dev/stdin", at("in/unending.lua")))
    exit(2);
  FILE *f = fopen(path, "rb");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f) fclose(f);
  text[n] = '\0';
  put("in/case.lua", text);
}

/* ---- one run ---- */

/* Everything that another run of the same must repeat. */
typedef struct outcome {
  neap_rc rc;
  np_err e;
  const char *stage;
  uint64_t mark, before, said, state, random;
  size_t said_bytes;
  bool other, again;
  int64_t left; /* bytes that were not freed */
} outcome;

static neap_rc migrate(np_policy *p, const char *with, np_err *e) {
  static const char old_text[] = "return { api = 1, state_version = 7 }";
  char state[80];
  np_policy *old = NULL;
  snprintf(state, sizeof state, "{\"with\":\"%s\"}", with);
  neap_rc rc = np_policy_load_text(&np_alloc_libc, NP_LIT("old.lua"), NP_LIT(old_text),
                                   NP_LIT(""), NULL, &old, e);
  if (!rc) rc = np_policy_set_state(old, np_str_cstr(state), e);
  if (!rc) rc = np_policy_migrate(p, old, e);
  np_policy_free(old);
  return rc;
}

static neap_rc answer(np_policy *p, np_err *e) {
  const np_ask *ask = np_policy_open_ask(p, 0);
  if (!ask) return np_fail(e, NEAP_E_ARG, "nothing was asked");
  return np_policy_answer(p, ask->id, NP_LIT(""), NP_LIT("an answer"), true, e);
}

static neap_rc call(np_policy *p, const char *hook, const char *with, np_err *e) {
  int64_t found[8];
  size_t count;
  if (strcmp(hook, "assemble") == 0) return np_policy_assemble(p, e);
  if (strcmp(hook, "compact") == 0) return np_policy_compact(p, e);
  if (strcmp(hook, "admit") == 0) return np_policy_admit(p, 5, e);
  if (strcmp(hook, "overflow") == 0) return np_policy_overflow(p, 5, e);
  if (strcmp(hook, "selftest") == 0) return np_policy_selftest(p, e);
  if (strcmp(hook, "migrate") == 0) return migrate(p, with, e);
  if (strcmp(hook, "answer") == 0) return answer(p, e);
  if (strcmp(hook, "recall") == 0)
    return np_policy_recall(p, NP_LIT("value_205"), found, NP_COUNT(found), &count, e);
  return np_fail(e, NEAP_E_ARG, "there is no hook %s", hook);
}

/* The hooks one after the other; the outcome is that of the last. */
static void call_all(world *w, np_policy *p, const trial *t, outcome *o) {
  char list[200];
  int64_t ask = 0;
  snprintf(list, sizeof list, "%s", t->calls);
  w->turn.asks = &ask;
  world_attach(w, p);
  for (char *hook = strtok(list, " "); hook && !o->rc; hook = strtok(NULL, " ")) {
    o->before = world_mark(w);
    o->stage = "call";
    o->rc = call(p, hook, t->with, &o->e);
  }
}

static bool other_works(world *w) {
  np_policy *p = NULL;
  np_str text = NP_LIT(
      "return { api = 1, assemble = function(ctx) for e in ctx:entries {"
      " kind = 'result', except_last = 1 } do e:restore() assert(e:mask()) end end }");
  neap_rc rc = np_policy_load_text(&np_alloc_libc, NP_LIT("other.lua"), text, NP_LIT(""),
                                   NULL, &p, NULL);
  if (!rc) world_attach(w, p);
  if (!rc) rc = np_policy_assemble(p, NULL);
  np_policy_free(p);
  return rc == NEAP_OK;
}

/* After any failure the same policy can be called: overflow has a default of C's. */
static bool works_again(np_policy *p) {
  if (np_policy_has(p, "rank") || np_policy_has(p, "overflow")) return true;
  return np_policy_overflow(p, 5, NULL) == NEAP_OK;
}

static outcome run_once(const trial *t, const char *path) {
  world w;
  counter c = {0};
  neap_alloc a = counter_alloc(&c);
  np_policy *p = NULL;
  outcome o = {.stage = "load", .again = true};
  np_limits limits = {.call_ms = 1500};
  char options[80];
  np_buf state;
  np_buf_init(&state, &np_alloc_libc);
  snprintf(options, sizeof options, "{\"with\":\"%s\"}", t->with);
  bool option = *t->with && !strstr(t->calls, "migrate");
  world_open(&w, vocab, 6);
  o.before = world_mark(&w);
  o.rc = np_policy_load(&a, path, np_str_cstr(option ? options : ""), &limits, &p, &o.e);
  if (!o.rc) call_all(&w, p, t, &o);
  o.mark = world_mark(&w);
  if (p) {
    np_policy_state(p, &state, NULL);
    o.again = works_again(p);
  }
  np_policy_free(p);
  o.left = c.live;
  o.state = np_hash64(np_buf_str(&state));
  o.said = np_hash64(np_buf_str(&w.said));
  o.said_bytes = w.said.n;
  o.random = w.random;
  o.other = other_works(&w);
  np_buf_free(&state);
  world_close(&w);
  return o;
}

/* How the run ended against what the case says. */
static int judge(const trial *t, const char *path, const outcome *o) {
  const char *want = t->expected;
  if (!o->rc) return strcmp(want, "ok") == 0 ? 0 : told(t, o->stage, "ended well");
  if (o->rc != NEAP_E_POLICY) return told(t, "another code", o->e.text);
  if (strncmp(want, o->stage, 4) != 0) return told(t, o->stage, o->e.text);
  if (strlen(o->e.text) > 4096) return told(t, o->stage, "the message is too long");
  if (strncmp(o->e.text, path, strlen(path)) != 0 &&
      (!t->beside || strncmp(o->e.text, folder, strlen(folder)) != 0))
    return told(t, "names no file", o->e.text);
  return world_says(o->e.text, want + 5) ? 0 : told(t, "another text", o->e.text);
}

/* What the clock has ended may end elsewhere the next time. */
static bool by_clock(const outcome *o) {
  return o->rc && strstr(o->e.text, "time of one call") != NULL;
}

static bool same(const outcome *a, const outcome *b) {
  return a->rc == b->rc && strcmp(a->e.text, b->e.text) == 0 && a->mark == b->mark &&
         a->said == b->said && a->state == b->state && a->random == b->random;
}

static int run_trial(const trial *t) {
  const char *path = t->path;
  char copy[PATH_MAX + 100];
  if (t->beside) {
    snprintf(copy, sizeof copy, "%s", at("in/case.lua"));
    path = copy;
  }
  outcome o = run_once(t, path), once_more;
  int bad = judge(t, path, &o);
  if (o.rc && o.mark != o.before) bad |= told(t, "the pack", "is not as it was");
  if (o.left) bad |= told(t, "memory", "is left");
  if (o.said_bytes > 3 * 65536) bad |= told(t, "log", "is flooded");
  if (!o.again) bad |= told(t, "the same policy", "cannot be called again");
  if (!o.other) bad |= told(t, "another policy", "does not work afterwards");
  if (bad || by_clock(&o)) return bad;
  once_more = run_once(t, path);
  if (!by_clock(&once_more) && !same(&o, &once_more))
    bad |= told(t, "the same again", once_more.e.text);
  return bad;
}

static bool trial_passes(const void *arg) {
  int bad = run_trial(arg);
  np_vocab_free(vocab);
  return bad == 0;
}

/* Whether it went as expected; else a line was printed. */
static bool passes(const trial *t) {
  const char *wrong = apart(trial_passes, t);
  if (wrong && strcmp(wrong, "failed") != 0) told(t, "the process", wrong);
  return !wrong;
}

static int by_name(const void *a, const void *b) {
  return strcmp(a, b);
}

static void run_file(const char *path) {
  trial list[60];
  size_t n = read_trials(path, list, NP_COUNT(list));
  if (n == 0) fprintf(stderr, "%s: says no expect:\n", path);
  CHECK("a case says how it ends", n > 0);
  if (n && list[0].beside) make_folder(path);
  for (size_t i = 0; i < n; i++) {
    CHECK("a sandbox case ends as it says", passes(&list[i]));
  }
  if (n && list[0].beside) clean();
}

int main(int argc, char **argv) {
  static char names[400][80];
  size_t n = 0;
  DIR *dir = opendir(CASES);
  for (struct dirent *d; dir && (d = readdir(dir)) != NULL;) {
    size_t len = strlen(d->d_name);
    if (len < 5 || len > 79 || strcmp(d->d_name + len - 4, ".lua") != 0 || n == 400)
      continue;
    if (argc > 1 && !strstr(d->d_name, argv[1])) continue;
    memcpy(names[n++], d->d_name, len + 1);
  }
  if (dir) closedir(dir);
  qsort(names, n, sizeof names[0], by_name);
  CHECK("there are cases", n > 0);
  vocab = world_vocab();
  for (size_t i = 0; i < n; i++) {
    char path[200];
    snprintf(path, sizeof path, CASES "/%s", names[i]);
    run_file(path);
  }
  np_vocab_free(vocab);
  return check_done();
}
