/*
** Recordings of real agents, played again in every format under several policies: each prompt
** keeps its provider's rules, is counted again from its bytes, and goes on where the last one
** ended (watch.h). In `make test` the first turns of the smallest recording of each kind, under
** one policy in each format by turns; NEAP_TRACES=all for all of them under every policy,
** NEAP_PART=1/2 for one half.
** next: test_pack.c
*/
#include "watch.h"

typedef struct plan {
  const char *policy;
  int64_t window;
} plan;

/* `full` shows everything: its window holds all. The others are to be short of room. */
static const plan plans[] = {{"policies/full.lua", 4000000},
                             {"policies/tide.lua", 12000},
                             {"policies/mask_observations.lua", 24000}};

static struct { long recordings, turns, looked, overflows, rewrites; } sum;
static bool all;

/* ---- recordings ---- */

typedef struct trace {
  char path[900];
  long size;
} trace;

static struct {
  trace *list;
  size_t count, cap;
} found;

static int by_path(const void *a, const void *b) {
  return strcmp(((const trace *)a)->path, ((const trace *)b)->path);
}

static void note(const char *path, long size) {
  if (found.count == found.cap) {
    found.cap = found.cap ? found.cap * 2 : 64;
    found.list = realloc(found.list, found.cap * sizeof *found.list);
    if (!found.list) exit(2);
  }
  snprintf(found.list[found.count].path, sizeof found.list->path, "%s", path);
  found.list[found.count++].size = size;
}

/* All files of a folder, or the smallest. */
static void look_into(const char *dir) {
  char path[900], least[900] = "";
  long size = 0;
  struct dirent *d;
  struct stat st;
  DIR *list = opendir(dir);
  while (list && (d = readdir(list))) {
    if (d->d_name[0] == '.') continue;
    if (snprintf(path, sizeof path, "%s/%s", dir, d->d_name) >= (int)sizeof path)
      continue;
    if (stat(path, &st) || !S_ISREG(st.st_mode)) continue;
    if (all) note(path, (long)st.st_size);
    bool tie = *least && (long)st.st_size == size && strcmp(path, least) < 0;
    if (*least && (long)st.st_size >= size && !tie) continue;
    size = (long)st.st_size;
    strcpy(least, path);
  }
  if (list) closedir(list);
  if (!all && *least) note(least, size);
}

static void look_for(const char *shared) {
  char dir[700];
  struct dirent *d;
  snprintf(dir, sizeof dir, "%s/traces", shared);
  DIR *list = opendir(dir);
  while (list && (d = readdir(list))) {
    if (d->d_name[0] == '.' || strcmp(d->d_name, "LICENSES") == 0) continue;
    snprintf(dir, sizeof dir, "%s/traces/%.200s", shared, d->d_name);
    look_into(dir);
  }
  if (list) closedir(list);
  if (found.count) qsort(found.list, found.count, sizeof *found.list, by_path);
}

/* The native form, by the program. */
static bool import(const char *path, np_buf *out) {
  const char *program = getenv("NEAP_BIN");
  char command[2200], bytes[65536];
  size_t n;
  np_buf_clear(out);
  snprintf(command, sizeof command, "'%s' import --lenient '%s' 2>/dev/null", program,
           path);
  FILE *pipe = popen(command, "r");
  if (!pipe) return false;
  while ((n = fread(bytes, 1, sizeof bytes, pipe)) > 0)
    np_buf_add(out, np_str_of(bytes, n));
  return pclose(pipe) == 0 && !out->failed;
}

/* ---- playing ---- */

static bool is_role(np_str line, const char *name) {
  np_json m, role;
  return !np_json_check(line, &m, NULL) && np_json_get(m, "role", &role) &&
         np_json_is_key(role.raw, name);
}

/* One turn; false when something is wrong with its prompt. */
static bool turn(neap_session *s, watch *w, const char *name, bool look) {
  neap_str body;
  neap_rc rc = neap_prompt(s, &body);
  sum.turns++;
  if (rc == NEAP_E_BUDGET) {
    sum.overflows++;
    return true;
  }
  if (rc) fprintf(stderr, "%s: %s\n", name, neap_error(neap_session_engine(s)));
  CHECK("a recording's turn has a prompt", rc == NEAP_OK);
  if (rc) return false;
  sum.rewrites += s->rendered.rewrite;
  if (!look) {
    np_buf_clear(&w->last); /* the next one that is looked at begins anew */
    return true;
  }
  sum.looked++;
  const char *wrong = watch_prompt(w, s, body);
  if (wrong) fprintf(stderr, "%s, turn %ld: %s\n", name, (long)s->turn, wrong);
  CHECK("a recording's prompt keeps its rules, count, budget and beginning", !wrong);
  return !wrong;
}

/* Two turns in a row are looked at, of every so many, so that one goes on from the other. */
static bool is_looked_at(int n) {
  return all || n % 5 < 2;
}

#define SAMPLE 16 /* turns of a recording in `make test` */

/* Before each answer of the model a prompt is made from what came before it. */
static void play(neap *n, const char *path, np_str native, const plan *p,
                 const char *format) {
  static long number;
  char name[1200], id[40];
  neap_session *s = NULL;
  watch w;
  bool begun = false;
  int turns = 0;
  snprintf(id, sizeof id, "trace-%ld", number++);
  snprintf(name, sizeof name, "%s, %s, %s", path, p->policy, format);
  neap_options o = {.size = sizeof o,
                    .policy = p->policy,
                    .window = p->window,
                    .format = format,
                    .encoding = "o200k_base",
                    .cache = NEAP_CACHE_NONE,
                    .durable = NEAP_DURABLE_MEMORY,
                    .flags = NEAP_NO_RELOAD | NEAP_NO_TOOLS};
  CHECK("a session opens", neap_session_open(n, id, &o, &s) == NEAP_OK);
  watch_open(&w);
  while (s && native.n) {
    size_t end = np_str_find(native, NP_LIT("\n"), 0);
    np_str line = np_str_cut(native, 0, end == SIZE_MAX ? native.n : end);
    native = np_str_cut(native, line.n + 1, native.n);
    if (!line.n || np_str_find(np_str_cut(line, 0, 8), NP_LIT("{\"neap\""), 0) == 0)
      continue;
    if (begun && is_role(line, "assistant")) {
      bool look = is_looked_at(turns++);
      if (!turn(s, &w, name, look) || (!all && turns > SAMPLE)) break;
    }
    begun = begun || !is_role(line, "system");
    neap_rc rc = neap_append(s, line);
    if (rc) fprintf(stderr, "%s: %s\n", name, neap_error(n));
    CHECK("a recording's message is taken", rc == NEAP_OK);
  }
  if (s && begun) {
    np_buf_clear(&w.last);
    turn(s, &w, name, true);
  }
  watch_close(&w);
  neap_session_close(s);
}

static void play_all(const char *path) {
  np_buf native;
  np_buf_init(&native, &np_alloc_libc);
  bool ok = import(path, &native) && native.n > 0;
  if (!ok) fprintf(stderr, "%s: cannot be imported\n", path);
  CHECK("a recording is imported", ok);
  for (size_t i = 0; ok && i < NP_COUNT(plans); i++) {
    for (size_t f = 0; np_format_at(f); f++) {
      if (!all && (f + (size_t)sum.recordings) % NP_COUNT(plans) != i) continue;
      neap *n = engine_open(NULL); /* its memory goes with it */
      play(n, path, np_buf_str(&native), &plans[i], np_format_at(f)->name);
      neap_close(n);
    }
  }
  sum.recordings++;
  np_buf_free(&native);
}

int main(void) {
  const char *shared = check_shared(), *which = getenv("NEAP_TRACES");
  const char *part = getenv("NEAP_PART");
  size_t first = 1, parts = 1;
  all = which && strcmp(which, "all") == 0;
  if (part && sscanf(part, "%zu/%zu", &first, &parts) != 2) first = parts = 1;
  if (!getenv("NEAP_BIN")) check_skip("recordings of real agents", "NEAP_BIN is not set");
  else if (!shared)
    check_skip("recordings of real agents", "the shared data is not here");
  else look_for(shared);
  for (size_t i = first - 1; i < found.count; i += parts) play_all(found.list[i].path);
  if (found.count) {
    fprintf(stderr,
            "%ld recordings, %ld turns, %ld looked at, %ld rewrites, %ld overflows\n",
            sum.recordings, sum.turns, sum.looked, sum.rewrites, sum.overflows);
    CHECK("there are recordings of many kinds", all || sum.recordings >= 15);
    CHECK("policies were short of room", sum.rewrites > 0);
  }
  free(found.list);
  np_buf_free(&made);
  return check_done();
}
