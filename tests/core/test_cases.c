/*
** Fault classes that users report, and bad input, as data (tests/cases/faults.jsonl,
** bad_input.jsonl): each case runs in every format. Whatever a case looks for, every prompt of it
** keeps its provider's rules, is within its budget by a count of its bytes, and goes on where
** the last one ended unless the account says that it does not. docs of the form: the first line
** of each file. next: test_pack.c
*/
#include "watch.h"

#include "case_text.h"

typedef struct run {
  neap *n;
  neap_session *s;
  const char *format;
  char name[160]; /* of the case and its format */
  np_buf text, body;
  watch w;
  int round;
} run;

static void complain(const run *r, const char *what, np_str more) {
  fprintf(stderr, "%s: %s: %.*s\n", r->name, what, more.n > 300 ? 300 : (int)more.n,
          more.p);
}

static bool is(np_json v, const char *text) {
  return v.type == NP_JSON_STRING && np_json_is_key(v.raw, text);
}

/* A string's text, written out; valid until the next call. */
static np_str text_of(run *r, np_json v) {
  np_buf plain;
  np_buf_init(&plain, &np_alloc_libc);
  np_json_text(v, &plain);
  np_buf_clear(&r->text);
  case_expand(np_buf_str(&plain), r->round, &r->text);
  np_buf_free(&plain);
  return np_buf_str(&r->text);
}

/* A value's JSON, written out. */
static np_str json_of(run *r, np_json v) {
  np_buf_clear(&r->text);
  case_expand(v.raw, r->round, &r->text);
  return np_buf_str(&r->text);
}

static int64_t int_of(np_json object, const char *key, int64_t none) {
  np_json v;
  if (!np_json_get(object, key, &v) || v.type != NP_JSON_NUMBER) return none;
  return number(object.raw, key);
}

/* ---- what a case looks for ---- */

/* The strings of a list, or of the format's own where it is an object. */
static np_json_iter strings(const run *r, np_json check, const char *key) {
  np_json v, own;
  np_json_get(check, key, &v);
  if (v.type == NP_JSON_OBJECT) {
    np_json_get(v, r->format, &own);
    v = own;
  }
  return np_json_each(v);
}

static void check_texts(run *r, np_json check, np_str where) {
  np_json v;
  np_str key;
  np_json_iter it = strings(r, check, "has");
  while (np_json_next(&it, NULL, &v)) {
    np_str want = text_of(r, v);
    bool found = np_str_find(where, want, 0) != SIZE_MAX;
    if (!found) {
      complain(r, "is not there", want);
      if (where.n < 3000) complain(r, "in", where);
    }
    CHECK("a text is there", found);
  }
  it = strings(r, check, "lacks");
  while (np_json_next(&it, NULL, &v)) {
    np_str want = text_of(r, v);
    bool found = np_str_find(where, want, 0) != SIZE_MAX;
    if (found) complain(r, "is there", want);
    CHECK("a text is not there", !found);
  }
  it = strings(r, check, "times");
  while (np_json_next(&it, &key, &v)) {
    np_json name = {NP_JSON_STRING, key};
    np_str want = text_of(r, name);
    char zero[4096];
    snprintf(zero, sizeof zero, "%.*s", (int)want.n, want.p);
    long n = strtol(v.raw.p, NULL, 10);
    if (times(where, zero) != n) {
      fprintf(stderr, "%s: %d times, not %ld: %s\n", r->name, times(where, zero), n,
              zero);
    }
    CHECK("a text is there so often", times(where, zero) == n);
  }
}

/* Texts that stand equally often: one that is cut in two makes them differ. */
static void check_alike(run *r, np_json check, np_str body) {
  np_json v;
  int first = -1;
  np_json_iter it = strings(r, check, "alike");
  while (np_json_next(&it, NULL, &v)) {
    np_str want = text_of(r, v);
    char zero[200];
    snprintf(zero, sizeof zero, "%.*s", (int)want.n, want.p);
    int n = times(body, zero);
    if (first < 0) first = n;
    if (n != first) fprintf(stderr, "%s: %d and %d: %s\n", r->name, first, n, zero);
    CHECK("texts stand equally often", n == first);
  }
}

/* Every member that is asked for is the account's, byte for byte. */
static void check_account(run *r, np_json check, neap_str acc) {
  np_json want, root, v, got;
  np_str key;
  char name[64];
  if (!np_json_get(check, "account", &want) || np_json_check(acc, &root, NULL)) return;
  np_json_iter it = np_json_each(want);
  while (np_json_next(&it, &key, &v)) {
    if (np_json_get(v, r->format, &got)) v = got;
    snprintf(name, sizeof name, "%.*s", (int)key.n - 2, key.p + 1);
    np_json_get(root, name, &got);
    bool same = np_str_eq(got.raw, v.raw) || (v.type == NP_JSON_NULL && !got.type);
    if (!same)
      fprintf(stderr, "%s: account %s: %.*s\n", r->name, name, (int)got.raw.n, got.raw.p);
    CHECK("the account says so", same);
  }
}

/* [[entry, "what"], …], all of them. */
static void check_repaired(run *r, np_json check, neap_str acc) {
  np_json want, root, list = {0}, pair, item, id, what;
  np_buf a, b;
  if (!np_json_get(check, "repaired", &want)) return;
  if (np_json_get(want, r->format, &item)) want = item;
  else if (want.type == NP_JSON_OBJECT) return;
  np_buf_init(&a, &np_alloc_libc);
  np_buf_init(&b, &np_alloc_libc);
  np_json_iter it = np_json_each(want);
  while (np_json_next(&it, NULL, &pair)) {
    np_json_iter two = np_json_each(pair);
    np_json_next(&two, NULL, &id);
    np_json_next(&two, NULL, &what);
    np_buf_add(&a, id.raw);
    np_buf_add(&a, what.raw);
  }
  if (np_json_check(acc, &root, NULL) == NEAP_OK) np_json_get(root, "repaired", &list);
  it = np_json_each(list);
  while (np_json_next(&it, NULL, &pair)) {
    np_json_get(pair, "entry", &id);
    np_json_get(pair, "what", &what);
    np_buf_add(&b, id.raw);
    np_buf_add(&b, what.raw);
  }
  bool same = np_str_eq(np_buf_str(&a), np_buf_str(&b));
  if (!same) {
    complain(r, "repairs, want", np_buf_str(&a));
    complain(r, "repairs, got", np_buf_str(&b));
  }
  CHECK("what was repaired is told", same);
  np_buf_free(&a);
  np_buf_free(&b);
}

static void do_prompt(run *r, np_json check) {
  neap_str body;
  neap_rc rc = neap_prompt(r->s, &body);
  if (rc) complain(r, "no prompt", np_str_cstr(neap_error(r->n)));
  CHECK("there is a prompt", rc == NEAP_OK);
  if (rc) return;
  np_buf_clear(&r->body);
  np_buf_add(&r->body, body);
  body = np_buf_str(&r->body);
  neap_str acc = account(r->s);
  const char *wrong = watch_prompt(&r->w, r->s, body);
  if (wrong) complain(r, wrong, acc);
  CHECK("a prompt keeps its rules, its count, its budget and its beginning", !wrong);
  check_texts(r, check, body);
  check_alike(r, check, body);
  check_account(r, check, acc);
  check_repaired(r, check, acc);
  int64_t most = int_of(check, "most", INT64_MAX);
  if (number(acc, "tokens") > most) complain(r, "too many tokens", acc);
  CHECK("it has at most so many tokens", number(acc, "tokens") <= most);
}

/* It cannot fit: an error by its numbers, a ledger, nothing handed out. */
static void do_overflow(run *r, np_json check) {
  neap_str body = NP_LIT("untouched");
  neap_rc rc = neap_prompt(r->s, &body);
  CHECK("it cannot fit, and nothing is handed out",
        rc == NEAP_E_BUDGET && np_str_is(body, "untouched"));
  neap_str acc = account(r->s);
  CHECK("there is a ledger", has(acc, "\"overflow\":{\"short\":"));
  check_texts(r, check, acc);
}

/* ---- steps ---- */

static const struct {
  const char *name;
  neap_rc rc;
} codes[] = {{"json", NEAP_E_JSON},     {"utf8", NEAP_E_UTF8},
             {"shape", NEAP_E_SHAPE},   {"limit", NEAP_E_LIMIT},
             {"misuse", NEAP_E_MISUSE}, {"config", NEAP_E_CONFIG},
             {"policy", NEAP_E_POLICY}};

static void check_code(run *r, np_json step, neap_rc rc) {
  np_json v;
  neap_rc want = NEAP_OK;
  if (np_json_get(step, "refused", &v)) {
    want = NEAP_E_ARG;
    for (size_t i = 0; i < NP_COUNT(codes); i++) {
      if (is(v, codes[i].name)) want = codes[i].rc;
    }
  }
  if (rc != want) complain(r, "another code", np_str_cstr(rc ? neap_error(r->n) : "ok"));
  CHECK("it is taken, or refused as it should be", rc == want);
  if (rc && np_json_get(step, "says", &v)) {
    np_str said = text_of(r, v);
    if (np_str_find(np_str_cstr(neap_error(r->n)), said, 0) == SIZE_MAX)
      complain(r, "the error", np_str_cstr(neap_error(r->n)));
    CHECK("the error says what is wrong",
          np_str_find(np_str_cstr(neap_error(r->n)), said, 0) != SIZE_MAX);
  }
}

static void do_result(run *r, np_json text) {
  neap_call c;
  CHECK("a call waits", neap_next_call(r->s, &c));
  CHECK("it is the host's", neap_handle(r->s, &c) == 1);
  CHECK("its result is taken", neap_append_result(r->s, &c, text_of(r, text)) == NEAP_OK);
}

static void do_entry(run *r, np_json step) {
  neap_str text = NP_LIT("");
  CHECK("an entry has its text",
        neap_entry_text(r->s, int_of(step, "entry", 0), &text) == NEAP_OK &&
            (int64_t)text.n == int_of(step, "size", -1));
}

static void do_steps(run *r, np_json list);

static void do_loop(run *r, np_json step) {
  np_json steps;
  int64_t n = int_of(step, "loop", 0);
  np_json_get(step, "run", &steps);
  for (r->round = 1; r->round <= n; r->round++) do_steps(r, steps);
  r->round = 0;
}

static void do_step(run *r, np_json step) {
  np_json v;
  neap_call c;
  if (np_json_get(step, "in", &v)) {
    np_json only;
    bool here = false;
    np_json_iter it = np_json_each(v);
    while (np_json_next(&it, NULL, &only)) here = here || is(only, r->format);
    if (!here) return;
  }
  if (np_json_get(step, "add", &v)) check_code(r, step, neap_append(r->s, json_of(r, v)));
  else if (np_json_get(step, "bytes", &v))
    check_code(r, step, neap_append(r->s, text_of(r, v)));
  else if (np_json_get(step, "response", &v))
    check_code(r, step, neap_append_response(r->s, json_of(r, v)));
  else if (np_json_get(step, "tools", &v))
    check_code(r, step, neap_set_tools(r->s, json_of(r, v)));
  else if (np_json_get(step, "request", &v))
    check_code(r, step, neap_set_request(r->s, json_of(r, v)));
  else if (np_json_get(step, "result", &v)) do_result(r, v);
  else if (np_json_get(step, "prompt", &v)) do_prompt(r, v);
  else if (np_json_get(step, "overflow", &v)) do_overflow(r, v);
  else if (np_json_get(step, "entry", &v)) do_entry(r, step);
  else if (np_json_get(step, "loop", &v)) do_loop(r, step);
  else if (np_json_get(step, "answered", &v))
    CHECK("a call is answered by the engine",
          neap_next_call(r->s, &c) && neap_handle(r->s, &c) == 0);
  else CHECK("a step of a case is known", !"known");
}

static void do_steps(run *r, np_json list) {
  np_json step;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &step)) do_step(r, step);
}

/* ---- cases ---- */

/* A session as the case wants it; NULL when it is refused, as that wants too. */
static void open_session(run *r, np_json item) {
  np_json v;
  np_buf lua, model;
  np_buf_init(&lua, &np_alloc_libc);
  np_buf_init(&model, &np_alloc_libc);
  neap_options o = {.size = sizeof o,
                    .window = int_of(item, "window", 100000),
                    .reserve = int_of(item, "reserve", -1),
                    .format = r->format,
                    .encoding = "o200k_base",
                    .cache = NEAP_CACHE_NONE,
                    .flags = NEAP_NO_RELOAD};
  if (np_json_get(item, "policy", &v)) {
    np_json_text(v, &lua);
    np_buf_addc(&lua, '\0');
    o.policy = policy_file("case.lua", lua.p);
  }
  if (np_json_get(item, "model", &v)) {
    np_json_text(v, &model);
    np_buf_addc(&model, '\0');
    o.model = model.p;
  }
  np_json_get(item, "tools", &v);
  r->w.uncounted = v.type == NP_JSON_ARRAY;
  neap_rc rc = neap_session_open(r->n, r->name, &o, &r->s);
  check_code(r, item, rc);
  if (!rc && r->w.uncounted)
    CHECK("tools are taken", neap_set_tools(r->s, json_of(r, v)) == NEAP_OK);
  if (!rc && np_json_get(item, "request", &v))
    CHECK("members are taken", neap_set_request(r->s, json_of(r, v)) == NEAP_OK);
  np_buf_free(&lua);
  np_buf_free(&model);
}

static void run_case(np_json item, const char *format) {
  run r = {.format = format};
  np_json v;
  np_json_get(item, "strict", &v);
  watch_open(&r.w);
  r.w.lenient = np_str_is(v.raw, "false");
  np_json_get(item, "case", &v);
  snprintf(r.name, sizeof r.name, "%.*s in %s", v.raw.n > 100 ? 100 : (int)v.raw.n - 2,
           v.raw.p + 1, format);
  np_buf_init(&r.text, &np_alloc_libc);
  np_buf_init(&r.body, &np_alloc_libc);
  int before = check_failed;
  r.n = engine_open(NULL);
  open_session(&r, item);
  if (r.s && np_json_get(item, "run", &v)) do_steps(&r, v);
  neap_session_close(r.s);
  neap_close(r.n);
  np_buf_free(&r.text);
  np_buf_free(&r.body);
  watch_close(&r.w);
  if (check_failed != before) fprintf(stderr, "that was: %s\n", r.name);
}

static bool wants(np_json item, const char *format) {
  np_json v, one;
  if (!np_json_get(item, "formats", &v)) return true;
  np_json_iter it = np_json_each(v);
  while (np_json_next(&it, NULL, &one)) {
    if (is(one, format)) return true;
  }
  return false;
}

/* Lines without a case are for the reader. NEAP_CASE=word runs those whose name holds it. */
static void test_file(const char *path, size_t least) {
  np_buf file;
  np_json line, name;
  size_t used, count = 0;
  char bytes[4096];
  const char *only = getenv("NEAP_CASE");
  np_buf_init(&file, &np_alloc_libc);
  FILE *f = fopen(path, "rb");
  while (f && (used = fread(bytes, 1, sizeof bytes, f)) > 0)
    np_buf_add(&file, np_str_of(bytes, used));
  if (f) fclose(f);
  np_str rest = np_buf_str(&file);
  while (np_json_check_prefix(rest, &line, &used, NULL) == NEAP_OK) {
    rest = np_str_cut(rest, used, rest.n);
    if (!np_json_get(line, "case", &name)) continue;
    count++;
    if (only && np_str_find(name.raw, np_str_cstr(only), 0) == SIZE_MAX) continue;
    for (size_t i = 0; np_format_at(i); i++) {
      if (wants(line, np_format_at(i)->name)) run_case(line, np_format_at(i)->name);
    }
  }
  if (rest.n > 1) fprintf(stderr, "%s: cannot be read from: %.*s\n", path, 80, rest.p);
  CHECK("every line is a case", count >= least && rest.n <= 1);
  np_buf_free(&file);
}

int main(void) {
  dir_make();
  test_file("tests/cases/faults.jsonl", 1);
  test_file("tests/cases/bad_input.jsonl", 1);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
