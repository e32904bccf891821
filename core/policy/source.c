/*
** Files of policies: read whole with what their stat said, or refused in one line; hashed;
** found as modules of the policy's own folder. next: load.c
*/
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath, O_CLOEXEC, nanoseconds of a stat */
#endif

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/host.h"

#define SETTLE_NS INT64_C(50000000)
#define FRESH_S 3 /* file systems keep times of 10 ms to 2 s */

static void take_stat(np_source *src, const struct stat *st) {
  src->mtime_s = st->st_mtim.tv_sec;
  src->mtime_ns = st->st_mtim.tv_nsec;
  src->ctime_s = st->st_ctim.tv_sec;
  src->ctime_ns = st->st_ctim.tv_nsec;
  src->size = st->st_size;
  src->inode = (int64_t)st->st_ino;
}

bool np_source_same(const np_source *src, const char *path_cstr) {
  struct stat st;
  np_source now = {.size = -1};
  if (stat(path_cstr, &st)) return false;
  take_stat(&now, &st);
  return now.mtime_s == src->mtime_s && now.mtime_ns == src->mtime_ns &&
         now.ctime_s == src->ctime_s && now.ctime_ns == src->ctime_ns &&
         now.size == src->size && now.inode == src->inode;
}

bool np_source_unsettled(const char *path_cstr) {
  struct stat st;
  int64_t s, ns;
  if (stat(path_cstr, &st)) return true;
  np_clock_now(&s, &ns);
  int64_t age = s - st.st_mtim.tv_sec; /* a time in the future says nothing */
  if (age < 0 || age > 2) return false;
  age = age * 1000000000 + ns - st.st_mtim.tv_nsec;
  return age >= 0 && age < SETTLE_NS;
}

#define FOLDERS_DEEP 4
#define NAMES_MOST 1000 /* more is no folder of policies */

/* The order in which a folder lists its files does not count. */
static uint64_t mark_names(DIR *dir, int depth, int *left) {
  uint64_t sum = 0;
  /* cppcheck-suppress readdirCalled ; the stream is our own */
  for (struct dirent *d; (d = readdir(dir)) != NULL && --*left > 0;) {
    struct stat st;
    np_str name = np_str_cstr(d->d_name);
    bool lua = name.n > 4 && memcmp(name.p + name.n - 4, ".lua", 4) == 0;
    if (lua) sum += np_hash64(name);
    if (lua || name.p[0] == '.' || depth == FOLDERS_DEEP) continue;
    if (fstatat(dirfd(dir), d->d_name, &st, 0) || !S_ISDIR(st.st_mode)) continue;
    int fd = openat(dirfd(dir), d->d_name, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    DIR *below = fd < 0 ? NULL : fdopendir(fd);
    if (!below && fd >= 0) close(fd);
    if (!below) continue;
    sum += np_hash64(name) ^ (mark_names(below, depth + 1, left) * 31);
    closedir(below);
  }
  return sum;
}

uint64_t np_folder_mark(const char *folder_cstr) {
  int left = NAMES_MOST;
  DIR *dir = opendir(folder_cstr[0] ? folder_cstr : ".");
  if (!dir) return 0;
  uint64_t sum = mark_names(dir, 0, &left);
  closedir(dir);
  return sum;
}

/* Reads to the end of `fd`, one byte further than a policy may be long. */
static bool read_all(int fd, np_buf *text) {
  while (text->n <= NP_POLICY_SOURCE && np_buf_reserve(text, 16384)) {
    ssize_t n = read(fd, text->p + text->n, 16384);
    if (n < 0) return false;
    if (n == 0) return true;
    text->n += (size_t)n;
  }
  return true;
}

static neap_rc read_open(int fd, const char *path, np_source *src, np_buf *text,
                         np_err *e) {
  struct stat st;
  if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
    return np_fail(e, NEAP_E_POLICY, "%s: is no regular file; name a Lua file", path);
  }
  take_stat(src, &st);
  int64_t now, ns;
  np_clock_now(&now, &ns);
  src->fresh = now - src->mtime_s < FRESH_S;
  if (!read_all(fd, text)) {
    return np_fail(e, NEAP_E_POLICY, "%s: cannot be read to its end; check the disk",
                   path);
  }
  if (text->failed) return np_fail_mem(e);
  if (text->n > NP_POLICY_SOURCE) {
    return np_fail(e, NEAP_E_POLICY, "%s: is larger than 1 MiB; a policy is a short file",
                   path);
  }
  np_sha256(np_buf_str(text), src->sha256);
  if (text->n && memchr(text->p, 0, text->n)) {
    return np_fail(e, NEAP_E_POLICY, "%s: holds a NUL byte; a policy is Lua source text",
                   path);
  }
  return NEAP_OK;
}

neap_rc np_source_read(np_policy *p, const char *path_cstr, np_source *src, np_buf *text,
                       np_err *e) {
  np_buf_init(text, &p->alloc);
  int fd = open(path_cstr, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait */
  if (fd < 0) {
    return np_fail(e, NEAP_E_POLICY,
                   "%s: cannot be opened; check the path and its rights", path_cstr);
  }
  neap_rc rc = read_open(fd, path_cstr, src, text, e);
  close(fd);
  if (rc) np_buf_free(text);
  return rc;
}

np_str np_source_lua(np_str text) {
  if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0)
    text = np_str_cut(text, 3, text.n);
  if (text.n == 0 || text.p[0] != '#') return text;
  const char *end = memchr(text.p, '\n', text.n); /* kept: lines keep their numbers */
  return end ? np_str_of(end, text.n - (size_t)(end - text.p)) : np_str_of(text.p, 0);
}

bool np_source_push(np_policy *p, const np_source *src) {
  void *list = p->sources;
  bool ok = np_grow(&p->alloc, &list, &p->source_cap, p->source_count + 1, sizeof *src);
  p->sources = list;
  if (ok) p->sources[p->source_count++] = *src;
  return ok;
}

neap_rc np_policy_sources(const np_policy *p, np_buf *out, np_err *e) {
  np_buf_addc(out, '[');
  for (size_t i = 0; i < p->source_count; i++) {
    np_buf_adds(out, i ? ",{\"name\":" : "{\"name\":");
    np_json_quote(out, p->sources[i].name);
    np_buf_adds(out, ",\"text\":");
    np_json_quote(out, p->sources[i].text);
    np_buf_addc(out, '}');
  }
  np_buf_addc(out, ']');
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}

/* One file: its own hash. With modules: that of the list of hashes, in the order of loading,
** which the file decides. */
void np_source_digest(const np_source *list, size_t n, uint8_t out[NP_SHA256]) {
  memset(out, 0, NP_SHA256);
  if (n) memcpy(out, list[0].sha256, NP_SHA256);
  for (size_t i = 1; i < n; i++) {
    uint8_t both[2 * NP_SHA256];
    memcpy(both, out, NP_SHA256);
    memcpy(both + NP_SHA256, list[i].sha256, NP_SHA256);
    np_sha256(np_str_of((const char *)both, sizeof both), out);
  }
}

/* ---- require ---- */

/* "a.b_1": words of small letters, digits and _, that begin with a letter, joined by dots. */
static bool is_module_name(np_str s) {
  bool start = true;
  if (s.n == 0 || s.n > 100) return false;
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    bool letter = c >= 'a' && c <= 'z';
    if (start && !letter) return false;
    if (!letter && c != '_' && c != '.' && !(c >= '0' && c <= '9')) return false;
    start = c == '.';
  }
  return !start;
}

/* Whether the file's real place is below the folder's. The real path goes to `out`. */
static bool is_inside(const char *folder, const char *path, char *out) {
  char dir[PATH_MAX];
  if (!realpath(folder[0] ? folder : ".", dir) || !realpath(path, out)) return false;
  size_t n = strlen(dir);
  if (n && dir[n - 1] == '/') n--;
  return strncmp(dir, out, n) == 0 && out[n] == '/';
}

/* Writes "lib/rank.lua" for "lib.rank". */
static void file_name(np_str name, char out[128]) {
  for (size_t i = 0; i < name.n; i++) out[i] = name.p[i] == '.' ? '/' : name.p[i];
  memcpy(out + name.n, ".lua", 5);
}

typedef struct module {
  np_buf text;
  np_source src;
  char name[128];
} module;

static int push_module(lua_State *L) {
  const module *m = lua_touserdata(L, 1);
  np_charge_slow(L, m->text.n);
  np_compile(L, np_str_cstr(m->name), np_buf_str(&m->text));
  return 1;
}

/* A module that the log has pinned, with its text. */
static bool find_pinned(const np_policy *p, const char *name, np_buf *text) {
  np_json_iter it = np_json_each(p->pinned);
  np_json one, v;
  if (p->pinned.type != NP_JSON_ARRAY) return false;
  while (np_json_next(&it, NULL, &one)) {
    if (!np_json_get(one, "name", &v) || !np_json_is_key(v.raw, name)) continue;
    if (!np_json_get(one, "text", &v) || v.type != NP_JSON_STRING) return false;
    np_json_text(v, text);
    return true;
  }
  return false;
}

static neap_rc keep_module(np_policy *p, const char *path, module *m, np_err *e) {
  if (!m->text.failed && np_arena_copy(&p->arena, np_str_cstr(m->name), &m->src.name) &&
      np_arena_copy(&p->arena, np_str_cstr(path), &m->src.path) &&
      np_arena_copy(&p->arena, np_buf_str(&m->text), &m->src.text) &&
      np_source_push(p, &m->src))
    return NEAP_OK;
  np_buf_free(&m->text);
  return np_fail_mem(e);
}

static neap_rc read_module(np_policy *p, np_str name, module *m, np_err *e) {
  char path[PATH_MAX], real[PATH_MAX];
  file_name(name, m->name);
  np_buf_init(&m->text, &p->alloc);
  if (find_pinned(p, m->name, &m->text)) {
    m->src = (np_source){.size = (int64_t)m->text.n};
    np_sha256(np_buf_str(&m->text), m->src.sha256);
    return keep_module(p, m->name, m, e);
  }
  int n = snprintf(path, sizeof path, "%s%s", p->folder.p, m->name);
  if (!p->from_file || n < 0 || n >= (int)sizeof path ||
      !is_inside(p->folder.p, path, real)) {
    return np_fail(e, NEAP_E_POLICY,
                   "require: '%s' is not in the policy's folder; put %s there", m->name,
                   m->name);
  }
  neap_rc rc = np_source_read(p, path, &m->src, &m->text, e);
  if (rc) return rc;
  return keep_module(p, path, m, e);
}

/* Pushes the chunk of a module. Its text is freed whatever compiling it raises. */
static void load_module(lua_State *L, np_str name) {
  np_policy *p = np_host(L);
  module m;
  np_err e;
  neap_rc rc = read_module(p, name, &m, &e);
  if (rc == NEAP_E_MEMORY) np_break(L, &e); /* not the policy's to catch */
  if (rc) luaL_error(L, "%s", e.text);
  lua_pushcfunction(L, push_module);
  lua_pushlightuserdata(L, &m);
  int status = lua_pcall(L, 1, 1, 0);
  np_buf_free(&m.text);
  if (status) lua_error(L);
}

/* require "x": a file of the policy's own folder, while the policy loads; kept for later. */
int np_require(lua_State *L) {
  np_str name;
  name.p = luaL_checklstring(L, 1, &name.n);
  lua_settop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "neap.modules");
  lua_pushvalue(L, 1);
  if (lua_rawget(L, 2) != LUA_TNIL) return 1;
  if (!is_module_name(name)) {
    return luaL_error(
        L, "require: a module's name is small letters, digits and _, joined by dots");
  }
  if (!np_host(L)->loading) {
    return luaL_error(
        L, "require: '%s' was not loaded; require it at the top of the file", name.p);
  }
  lua_pushvalue(L, 1);
  lua_pushboolean(L, 1); /* what a circle of modules gets */
  lua_rawset(L, 2);
  load_module(L, name);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_pushboolean(L, 1);
  }
  lua_pushvalue(L, 1);
  lua_pushvalue(L, -2);
  lua_rawset(L, 2);
  return 1;
}
