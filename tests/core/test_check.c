/*
** The validators, by tests/cases/check: for every rule a body that keeps it and one that breaks
** this rule alone. Requests that real clients sent must pass. next: test_pack.c
*/
#define _DEFAULT_SOURCE /* opendir */

#include <dirent.h>

#include "base/json.h"
#include "check.h"
#include "render/check.h"

static const char *const formats[] = {"openai", "responses", "anthropic", "gemini",
                                      "text"};

static bool read_file(const char *path, np_buf *out) {
  FILE *f = fopen(path, "rb");
  char bytes[4096];
  size_t n;
  np_buf_clear(out);
  if (!f) return false;
  while ((n = fread(bytes, 1, sizeof bytes, f)) > 0) np_buf_add(out, np_str_of(bytes, n));
  fclose(f);
  return !out->failed;
}

/* ---- the rules ---- */

/* A body is written as JSON, or as a string where it is none (or no plain JSON). */
static np_str body_of(np_json line, const char *key, np_buf *text) {
  np_json v;
  np_json_get(line, key, &v);
  if (v.type != NP_JSON_STRING) return v.raw;
  np_buf_clear(text);
  np_json_text(v, text);
  return np_buf_str(text);
}

static bool begins(const char *text, np_str with) {
  return strlen(text) >= with.n && memcmp(text, with.p, with.n) == 0;
}

static void check_rule(np_str format, np_json line) {
  np_buf body, want;
  np_json v;
  np_err e = {0};
  np_buf_init(&body, &np_alloc_libc);
  np_buf_init(&want, &np_alloc_libc);
  bool strict = np_json_get(line, "strict", &v);
  np_json_get(line, "rule", &v);
  neap_rc good = np_check(&np_alloc_libc, format, body_of(line, "good", &body), true, &e);
  if (good) fprintf(stderr, "%s, %.*s: %s\n", format.p, (int)v.raw.n, v.raw.p, e.text);
  CHECK("a body that keeps the rules passes", good == NEAP_OK);
  e = (np_err){0};
  np_str bad = body_of(line, "bad", &body);
  neap_rc rc = np_check(&np_alloc_libc, format, bad, true, &e);
  np_json_get(line, "want", &v);
  np_json_text(v, &want);
  bool told = rc != NEAP_OK && begins(e.text, np_buf_str(&want));
  if (!told)
    fprintf(stderr, "%s: want %s\n  got %s\n", format.p, want.p, rc ? e.text : "a pass");
  CHECK("a body that breaks one is refused for it", told);
  rc = np_check(&np_alloc_libc, format, bad, false, NULL);
  CHECK("a strict rule is for strict checks alone", (rc == NEAP_OK) == strict);
  np_buf_free(&body);
  np_buf_free(&want);
}

static void test_rules(const char *format) {
  char path[200];
  np_buf file;
  np_json line;
  size_t used, rules = 0;
  np_buf_init(&file, &np_alloc_libc);
  snprintf(path, sizeof path, "tests/cases/check/%s.jsonl", format);
  CHECK("the cases are there", read_file(path, &file));
  np_str rest = np_buf_str(&file);
  while (np_json_check_prefix(rest, &line, &used, NULL) == NEAP_OK) {
    rest = np_str_cut(rest, used, rest.n);
    check_rule(np_str_cstr(format), line);
    rules++;
  }
  CHECK("every line is a case", rules && rest.n <= 1);
  np_buf_free(&file);
}

static neap_rc check_lit(const char *format, np_str body) {
  return np_check(&np_alloc_libc, np_str_cstr(format), body, true, NULL);
}

/* What a file of JSON cannot hold. */
static void test_bytes(void) {
  np_buf deep;
  np_buf_init(&deep, &np_alloc_libc);
  np_buf_adds(&deep, "{\"messages\":");
  for (int i = 0; i < 10000; i++) np_buf_addc(&deep, '[');
  CHECK("ten thousand levels are refused",
        check_lit("openai", np_buf_str(&deep)) == NEAP_E_LIMIT);
  CHECK("bytes that are no UTF-8",
        check_lit("openai", NP_LIT("{\"messages\":\"\xC3\"}")) == NEAP_E_UTF8);
  CHECK("in text too", check_lit("text", NP_LIT("\xC3\n[step 1]\n")) == NEAP_E_UTF8);
  CHECK("nothing at all", check_lit("gemini", NP_LIT("")) == NEAP_E_JSON);
  CHECK("no such format", check_lit("telegram", NP_LIT("{}")) == NEAP_E_FORMAT);
  np_buf_free(&deep);
}

/* Many parallel calls, all ids in one table: 20,000 of them are one walk. */
static void test_many(void) {
  enum { N = 20000 };
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_adds(&b, "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},"
                  "{\"role\":\"assistant\",\"content\":[");
  for (int i = 0; i < N; i++) {
    np_buf_adds(&b, i ? ",{\"type\":\"tool_use\",\"id\":\"c"
                      : "{\"type\":\"tool_use\",\"id\":\"c");
    np_buf_int(&b, i);
    np_buf_adds(&b, "\",\"name\":\"f\",\"input\":{}}");
  }
  np_buf_adds(&b, "]},{\"role\":\"user\",\"content\":[");
  for (int i = N - 1; i >= 0; i--) {
    np_buf_adds(&b, "{\"type\":\"tool_result\",\"tool_use_id\":\"c");
    np_buf_int(&b, i);
    np_buf_adds(&b, i ? "\"}," : "\"}");
  }
  np_buf_adds(&b, "]}]}");
  CHECK("parallel calls are paired", check_lit("anthropic", np_buf_str(&b)) == NEAP_OK);
  np_buf_free(&b);
}

/* ---- requests of real clients ---- */

static const char *format_of(np_str path) {
  if (np_str_find(path, NP_LIT("/chat/completions"), 0) != SIZE_MAX) return "openai";
  if (np_str_find(path, NP_LIT("/responses"), 0) != SIZE_MAX) return "responses";
  return np_str_find(path, NP_LIT("/messages"), 0) != SIZE_MAX ? "anthropic" : NULL;
}

static void check_wire(const char *path, np_buf *file, int *count) {
  np_json root, method, address, body;
  np_err e = {0};
  CHECK("a fixture is read",
        read_file(path, file) && np_json_check(np_buf_str(file), &root, &e) == NEAP_OK);
  if (e.code) return;
  np_json_get(root, "method", &method);
  np_json_get(root, "path", &address);
  np_json_get(root, "body", &body);
  const char *format = format_of(address.raw);
  if (!format || !np_str_is(method.raw, "\"POST\"") || body.type != NP_JSON_OBJECT)
    return;
  neap_rc rc = np_check(&np_alloc_libc, np_str_cstr(format), body.raw, true, &e);
  if (rc) fprintf(stderr, "%s: %s\n", path, e.text);
  CHECK("a real client's request passes", rc == NEAP_OK);
  ++*count;
}

static void check_folder(const char *dir, np_buf *file, int *count) {
  char path[1024];
  struct dirent *d;
  DIR *list = opendir(dir);
  while (list && (d = readdir(list))) {
    if (d->d_name[0] == '.' || !strstr(d->d_name, ".json")) continue;
    snprintf(path, sizeof path, "%s/%s", dir, d->d_name);
    check_wire(path, file, count);
  }
  if (list) closedir(list);
}

static void test_wire(void) {
  static const char *const clients[] = {
      "anthropic-sdk", "openai-sdk",   "claude-code", "claude-code-continue",
      "codex",         "codex-openai", "pi",          "opencode"};
  const char *shared = check_shared();
  char dir[700];
  np_buf file;
  int count = 0;
  if (!shared) {
    check_skip("requests of real clients", "the shared data is not here");
    return;
  }
  np_buf_init(&file, &np_alloc_libc);
  for (size_t i = 0; i < NP_COUNT(clients); i++) {
    snprintf(dir, sizeof dir, "%s/wire/%s", shared, clients[i]);
    check_folder(dir, &file, &count);
  }
  fprintf(stderr, "%d requests of real clients\n", count);
  CHECK("there are many", count >= 25);
  np_buf_free(&file);
}

int main(void) {
  for (size_t i = 0; i < NP_COUNT(formats); i++) test_rules(formats[i]);
  test_bytes();
  test_many();
  test_wire();
  return check_done();
}
