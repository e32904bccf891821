/*
** Sessions through the public interface alone, for the engine's tests: a model that follows a
** script, tools that answer from their arguments, a folder for store and policy files. In JSON
** written here ' stands for ". next: test_engine.c
*/
#ifndef NP_TESTS_SESSION_H
#define NP_TESTS_SESSION_H

#define _DEFAULT_SOURCE /* mkdtemp */

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "check.h"

static char test_dir[256];

static inline const char *data_dir(void) {
  const char *dir = getenv("NEAP_DATA");
  return dir ? dir : "core/token/data";
}

static inline void dir_make(void) {
  const char *tmp = getenv("TMPDIR");
  snprintf(test_dir, sizeof test_dir, "%s/neap-test-XXXXXX", tmp ? tmp : "/tmp");
  if (!mkdtemp(test_dir)) {
    perror(test_dir);
    exit(2);
  }
}

static inline void dir_remove(void) {
  char path[600];
  struct dirent *d;
  DIR *dir = opendir(test_dir);
  while (dir && (d = readdir(dir))) {
    snprintf(path, sizeof path, "%s/%s", test_dir, d->d_name);
    unlink(path);
  }
  if (dir) closedir(dir);
  rmdir(test_dir);
}

/* The path of a name in the folder, valid to the end. */
static inline const char *dir_path(const char *name) {
  static char *paths[256];
  char path[400];
  size_t i = 0;
  snprintf(path, sizeof path, "%s/%s", test_dir, name);
  while (i < NP_COUNT(paths) - 1 && paths[i] && strcmp(paths[i], path) != 0) i++;
  if (!paths[i]) paths[i] = strdup(path);
  return paths[i];
}

static inline const char *policy_file(const char *name, const char *lua) {
  const char *path = dir_path(name);
  FILE *f = fopen(path, "wb");
  if (!f || fputs(lua, f) < 0 || fclose(f)) CHECK("a policy file is written", !"written");
  return path;
}

/* ---- handles ---- */

static inline neap *engine_open(const char *store) {
  neap *n = NULL;
  neap_rc rc = neap_open(&(neap_config){.size = sizeof(neap_config),
                                        .store = store,
                                        .data = data_dir(),
                                        .flags = NEAP_FIXED_SECRET},
                         &n);
  if (rc) fprintf(stderr, "neap_open: %s\n", neap_error(n));
  CHECK("the engine opens", rc == NEAP_OK);
  return n;
}

static inline neap_session *session_open(neap *n, const char *name, const char *policy,
                                         int64_t window, const char *format) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o,
                    .policy = policy,
                    .window = window,
                    .reserve = -1,
                    .format = format,
                    .flags = NEAP_NO_RELOAD};
  neap_rc rc = neap_session_open(n, name, &o, &s);
  if (rc) fprintf(stderr, "neap_session_open: %s\n", neap_error(n));
  CHECK("a session opens", rc == NEAP_OK);
  if (rc) exit(check_done());
  return s;
}

/* ---- messages ---- */

static np_buf made; /* the message being made */

static inline neap_str json(const char *s) {
  made.alloc = &np_alloc_libc;
  np_buf_clear(&made);
  for (; *s; s++) np_buf_addc(&made, *s == '\'' ? '"' : *s);
  return np_buf_str(&made);
}

static inline neap_rc append(neap_session *s, const char *message) {
  return neap_append(s, json(message));
}

/* `{"role":ROLE,"content":TEXT n times}` */
static inline neap_str say(const char *role, const char *text, int times) {
  np_buf t;
  np_buf_init(&t, &np_alloc_libc);
  for (int i = 0; i < times; i++) np_buf_adds(&t, text);
  json("{'role':'");
  np_buf_adds(&made, role);
  np_buf_adds(&made, "\",\"content\":");
  np_json_quote(&made, np_buf_str(&t));
  np_buf_addc(&made, '}');
  np_buf_free(&t);
  return np_buf_str(&made);
}

/* A response with `calls` calls of tool `name`, ids a, b, …, arguments numbered from `n`. */
static inline neap_str response(const char *text, const char *name, int calls, int n) {
  json("{'id':'r','choices':[{'index':0,'message':{'role':'assistant','content':");
  np_json_quote(&made, np_str_cstr(text));
  for (int i = 0; i < calls; i++) {
    char call[200];
    snprintf(call, sizeof call,
             "%s{\"id\":\"%c\",\"type\":\"function\",\"function\":{\"name\":\"%s\","
             "\"arguments\":"
             "\"{\\\"id\\\":%d,\\\"query\\\":\\\"needle\\\"}\"}}",
             i ? "," : ",\"tool_calls\":[", 'a' + i, name, n + i);
    np_buf_adds(&made, call);
  }
  np_buf_adds(&made, calls ? "]}}]}" : "}}]}");
  return np_buf_str(&made);
}

/* ---- looking at a prompt ---- */

static inline bool has(neap_str body, const char *text) {
  return np_str_find(body, np_str_cstr(text), 0) != SIZE_MAX;
}

/* Mark keys come from the session's name, and with them the tokens of what holds one: both
** made alike, to compare two sessions. */
static inline void blind_marks(np_buf *b) {
  for (size_t i = 0; i + 10 <= b->n; i++) {
    if (memcmp(b->p + i, "neap\xC2\xB7", 6) != 0) continue;
    memcpy(b->p + i + 6, "....", 4);
    for (i += 10; i < b->n && b->p[i] != ']'; i++) {
      if (b->p[i] >= '0' && b->p[i] <= '9') b->p[i] = '#';
    }
  }
}

static inline int times(neap_str body, const char *text) {
  int n = 0;
  for (size_t at = 0; (at = np_str_find(body, np_str_cstr(text), at)) != SIZE_MAX; at++)
    n++;
  return n;
}

static inline int64_t number(neap_str object, const char *key) {
  np_json root, v;
  char digits[24] = "";
  if (np_json_check(object, &root, NULL) || !np_json_get(root, key, &v) || v.raw.n > 20)
    return -1;
  memcpy(digits, v.raw.p, v.raw.n);
  return strtoll(digits, NULL, 10);
}

/* The account of the last turn. */
static inline neap_str account(neap_session *s) {
  neap_str a = NP_LIT("");
  CHECK("there is an account", neap_account(s, &a) == NEAP_OK);
  np_json v;
  CHECK("the account is JSON", np_json_check(a, &v, NULL) == NEAP_OK);
  return a;
}

static inline neap_str prompt(neap_session *s) {
  neap_str body = NP_LIT("");
  neap_rc rc = neap_prompt(s, &body);
  if (rc) fprintf(stderr, "neap_prompt: %s\n", neap_error(neap_session_engine(s)));
  CHECK("there is a prompt", rc == NEAP_OK);
  return body;
}

/* One round of the loop: a prompt, a response, its results. `body` keeps the prompt's bytes. */
static inline void round_trip(neap_session *s, int n, int calls, int words,
                              np_buf *body) {
  neap_call c;
  neap_str p = prompt(s);
  if (body) {
    np_buf_clear(body);
    np_buf_add(body, p);
  }
  CHECK("a response is taken",
        neap_append_response(s, response(calls ? "looking" : "done", "bash", calls, n)) ==
            NEAP_OK);
  for (int i = 0; neap_next_call(s, &c); i++) {
    np_buf out;
    np_buf_init(&out, &np_alloc_libc);
    for (int w = 0; w < words; w++) {
      np_buf_adds(&out, w % 10 ? "word " : "src/file.c\n");
      np_buf_int(&out, n * 100 + i);
      np_buf_addc(&out, ' ');
    }
    CHECK("a host's call is the host's", neap_handle(s, &c) == 1);
    CHECK("a result is taken", neap_append_result(s, &c, np_buf_str(&out)) == NEAP_OK);
    np_buf_free(&out);
  }
}

#endif
