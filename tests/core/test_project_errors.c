/*
** Errors in a long log: what real tools print (tests/cases/projections) is put into thousands of
** lines that say nothing; its traces and messages must be shown, and the log's end, in 1,500
** tokens. next: test_trim.c
*/
#include "project_help.h"

static const struct {
  const char *file, *want[6];
} cases[] = {
    {"python",
     {"Traceback (most recent call last):", "    with open(path) as f:",
      "FileNotFoundError: [Errno 2] No such file or directory: 'missing.json'",
      "RuntimeError: cannot start"}},
    {"node",
     {"TypeError: Cannot read properties of undefined (reading 'value')",
      "    at amount (/app/app.js:2:38)",
      "    at Function.executeUserEntryPoint [as runMain] "
      "(node:internal/modules/run_main:164:12)"}},
    {"java",
     {"Exception in thread \"main\" java.lang.IllegalStateException: no stock for bolt",
      "\tat App.main(App.java:8)", "Caused by: java.lang.NullPointerException",
      "\tat App.need(App.java:5)"}},
    {"javac", {"Bad.java:1: error: ';' expected", "1 error"}},
    {"rust_panic",
     {"thread 'main' (25337) panicked at main.rs:1:39:",
      "index out of bounds: the len is 3 but the index is 5",
      "             at ./main.rs:2:51"}},
    {"rustc",
     {"error[E0609]: no field `b` on type `S`", " --> bad.rs:2:23",
      "error[E0308]: mismatched types", " --> bad.rs:3:26"}},
    {"gcc",
     {"bad.c:2:39: error: \xE2\x80\x98"
      "b\xE2\x80\x99 undeclared",
      "bad.c:3:53: error: expected"}},
    {"clang",
     {"bad.c:2:39: error: use of undeclared identifier 'b'",
      "bad.c:3:53: error: expected ';' after expression"}},
    {"ld", {"link.c:(.text+0x5): undefined reference to `g'", "collect2: error"}},
    {"make",
     {"bad.c:2:39: error:", "make: *** [Makefile:4: sub] Error 1",
      "make: *** No rule to make target 'nothing'.  Stop."}},
    {"git",
     {"CONFLICT (content): Merge conflict in a", "Automatic merge failed",
      "error: pathspec 'nothere' did not match", "fatal: Could not read from remote"}},
    {"cargo_test",
     {"panicked at src/lib.rs:6:22:", "half of an odd number is rounded up", "  left: 2",
      "             at ./src/lib.rs:6:22", "panicked at src/lib.rs:7:50:",
      "index out of bounds: the len is 0 but the index is 0"}},
    {"pytest",
     {"E   AssertionError: assert 5 == 6", "E       FileNotFoundError: [Errno 2]",
      "E   assert 2 < 2", "test_app.py:3: AssertionError",
      "FAILED test_app.py::test_n[2] - assert 2 < 2"}},
    {"jest",
     {"FAIL ./sum.test.js", "\xE2\x97\x8F sums \xE2\x80\xBA adds two numbers",
      "expect(received).toBe(expected)", "TypeError: Cannot read properties",
      "      at b (sum.js:2:27)"}},
};

static bool read_file(const char *path, np_buf *out) {
  char part[4096];
  FILE *f = fopen(path, "rb");
  for (size_t n; f && (n = fread(part, 1, sizeof part, f)) > 0;)
    np_buf_add(out, np_str_of(part, n));
  if (f) fclose(f);
  return f && out->n;
}

static void add_noise(np_buf *out, int lines) {
  static const char *const words[] = {"cache", "queue", "worker",
                                      "batch", "index", "page"};
  for (int i = 0; i < lines; i++) {
    np_buf_adds(out, "2026-03-01 12:");
    np_buf_int(out, 10 + i % 50);
    np_buf_adds(out, " INFO ");
    np_buf_adds(out, words[i * 7 % 6]);
    np_buf_adds(out, " took item ");
    np_buf_int(out, 1000 + i * 37 % 9000);
    np_buf_adds(out, " of ");
    np_buf_adds(out, words[i * 5 % 6]);
    np_buf_addc(out, '\n');
  }
}

static bool shows(const char *file, const projected *r, const char *want) {
  if (np_str_find(r->text, np_str_cstr(want), 0) != SIZE_MAX) return true;
  fprintf(stderr, "%s: not shown: %s\n%.*s\n", file, want, (int)r->text.n, r->text.p);
  return false;
}

static void in_noise(size_t i, np_str text) {
  np_buf log;
  np_buf_init(&log, &np_alloc_libc);
  add_noise(&log, 1300);
  np_buf_add(&log, text);
  add_noise(&log, 1300);
  np_str all = np_buf_str(&log);
  CHECK("the log has some fifty thousand tokens", np_vocab_count(vocab, all) > 45000);
  projected r = project(all, "errors", NP_TRIM_ANY);
  CHECK("it is shown in 1,500", r.rc == NEAP_OK && r.p.tokens <= NP_PROJECT_PLAIN);
  CHECK("which is 97 % less", r.p.tokens * 100 <= np_vocab_count(vocab, all) * 3 + 300);
  for (size_t k = 0; k < NP_COUNT(cases[i].want) && cases[i].want[k]; k++)
    CHECK("an error's line is shown", shows(cases[i].file, &r, cases[i].want[k]));
  const np_range *last = &r.p.kept[r.p.count - 1];
  CHECK("and the log's end", last->to == all.n && last->line_to - last->line_from >= 2);
  CHECK("what always holds", !project_fault(all, &r, NP_PROJECT_PLAIN));
  np_buf_free(&log);
}

int main(void) {
  project_begin();
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    char path[200];
    np_buf text;
    snprintf(path, sizeof path, "tests/cases/projections/%s.txt", cases[i].file);
    np_buf_init(&text, &np_alloc_libc);
    CHECK("a tool's output is there", read_file(path, &text));
    in_noise(i, np_buf_str(&text));
    np_buf_free(&text);
  }
  project_end();
  return check_done();
}
