/*
** Loading: one new state, the file compiled in it as text, run once on a budget of its own,
** its table checked. All in one protected call; a policy that fails is freed whole.
** next: call.c
*/
#include <stdio.h>

#include "policy/host.h"

#define LOAD_INSTRUCTIONS INT64_C(20000000)
#define CALL_INSTRUCTIONS INT64_C(5000000)
#define STATE_BYTES ((size_t)32 << 20)
#define BLOCK_BYTES ((size_t)8 << 20)
#ifndef NP_CALL_MS /* a sanitized build, many times slower, gives its tests more */
#define NP_CALL_MS 250
#endif
#define PIECE ((size_t)2 << 10) /* bytes compiled between two looks at the clock */

static np_limits with_defaults(const np_limits *limits) {
  np_limits l = {0};
  if (limits) l = *limits;
  if (l.load_instructions <= 0) l.load_instructions = LOAD_INSTRUCTIONS;
  if (l.call_instructions <= 0) l.call_instructions = CALL_INSTRUCTIONS;
  if (l.bytes == 0) l.bytes = STATE_BYTES;
  if (l.block == 0) l.block = BLOCK_BYTES;
  if (l.call_ms == 0) l.call_ms = NP_CALL_MS;
  return l;
}

void np_policy_free(np_policy *p) {
  if (!p) return;
  neap_alloc a = p->alloc;
  np_policy_free(p->trusted);
  if (p->L) lua_close(p->L);
  if (p->pool.alloc) np_pool_free(&p->pool);
  np_buf_free(&p->state);
  np_run_free(p);
  np_pending_free(p);
  np_buf_free(&p->patch);
  np_buf_free(&p->faults);
  np_buf_free(&p->wording);
  np_shun_free(p);
  np_buf_free(&p->next_state);
  np_free(&a, p->options);
  np_free(&a, p->sources);
  np_locale_free(p);
  np_arena_free(&p->arena);
  np_free(&a, p);
}

np_policy *np_policy_new(const neap_alloc *a, const np_limits *limits) {
  np_policy *p = np_calloc(a, 1, sizeof *p);
  if (!p) return NULL;
  p->alloc = *a;
  p->limits = with_defaults(limits);
  p->heap.limit = p->limits.bytes;
  p->heap.block = p->limits.block;
  np_arena_init(&p->arena, &p->alloc);
  np_arena_init(&p->run.arena, &p->alloc);
  np_arena_init(&p->pending_text, &p->alloc);
  np_buf_init(&p->patch, &p->alloc);
  np_buf_init(&p->faults, &p->alloc);
  np_buf_init(&p->wording, &p->alloc);
  np_arena_init(&p->shun.arena, &p->alloc);
  np_buf_init(&p->state, &p->alloc);
  np_buf_init(&p->next_state, &p->alloc);
  p->info.name = p->info.about = p->info.source = p->info.path = p->folder = NP_LIT("");
  p->info.layout = np_layout_usual();
  p->L = np_locale_new(p) ? np_state_new(p) : NULL;
  if (p->L) return p;
  np_policy_free(p);
  return NULL;
}

/* "mask" of "policies/mask.lua", whose folder keeps its slash. */
static bool take_names(np_policy *p, np_str path, bool file, np_source *src) {
  size_t cut = path.n;
  while (cut && path.p[cut - 1] != '/') cut--;
  np_str base = np_str_cut(path, cut, path.n), name = base;
  if (name.n > 4 && memcmp(name.p + name.n - 4, ".lua", 4) == 0) name.n -= 4;
  if (name.n > 64) name.n = 64;
  p->from_file = file;
  return np_arena_copy(&p->arena, path, &p->info.path) &&
         np_arena_copy(&p->arena, base, &src->name) &&
         np_arena_copy(&p->arena, path, &src->path) &&
         np_arena_copy(&p->arena, name, &p->info.name) &&
         np_arena_copy(&p->arena, np_str_cut(path, 0, cut), &p->folder);
}

/* ---- inside the state ---- */

/* Text for the compiler, a piece at a time: some programs take it the square of their length
** (a chain of elseif), and no hook is called meanwhile, so each piece looks at the clock. */
typedef struct feed {
  np_str rest;
} feed;

static const char *next_piece(lua_State *L, void *ud, size_t *n) {
  feed *f = ud;
  np_charge_slow(L, 0);
  np_str piece = np_str_cut(f->rest, 0, f->rest.n < PIECE ? f->rest.n : PIECE);
  f->rest = np_str_cut(f->rest, piece.n, f->rest.n);
  *n = piece.n;
  return piece.p;
}

void np_compile(lua_State *L, np_str name, np_str text) {
  np_str lua = np_source_lua(text);
  feed f = {lua};
  lua_pushfstring(L, "@%s", name.p);
  if (lua_load(L, next_piece, &f, lua_tostring(L, -1), "t")) lua_error(L);
  lua_remove(L, -2);
  np_check_powers(L, name, lua);
  lua_getfield(L, LUA_REGISTRYINDEX, "neap.env");
  if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1); /* it uses no global at all */
}

typedef struct load_job {
  np_str text, options;
} load_job;

static int load_body(lua_State *L) {
  const load_job *job = lua_touserdata(L, 1);
  np_policy *p = np_host(L);
  lua_newtable(L);
  lua_setfield(L, LUA_REGISTRYINDEX, "neap.modules");
  np_env_open(L);
  lua_setfield(L, LUA_REGISTRYINDEX, "neap.env");
  np_context_open(L);
  np_charge(L, job->text.n);
  np_compile(L, p->sources[0].name, job->text);
  lua_call(L, 0, 1);
  np_shape_read(L, -1, job->options);
  return 0;
}

static neap_rc load_policy(np_policy *p, np_str text, np_str options, np_err *e) {
  load_job job = {text, options};
  int64_t ms = p->limits.call_ms < 0 ? -1 : p->limits.call_ms * 4;
  p->loading = true;
  neap_rc rc = np_enter(p, p->limits.load_instructions, ms, load_body, &job, e);
  p->loading = false;
  np_source_digest(p->sources, p->source_count, p->info.sha256);
  memcpy(p->shun.seen, p->info.sha256, NP_SHA256);
  return rc;
}

/* Gives the loaded policy to the caller, or frees it. */
static neap_rc hand_over(np_policy *p, neap_rc rc, np_policy **out) {
  *out = rc ? NULL : p;
  if (rc) np_policy_free(p);
  return rc;
}

neap_rc np_policy_load_text(const neap_alloc *a, np_str name, np_str text, np_str options,
                            const np_limits *limits, np_policy **out, np_err *e) {
  np_source src = {.size = (int64_t)text.n};
  *out = NULL;
  np_policy *p = np_policy_new(a, limits);
  if (!p) return np_fail_mem(e);
  if (text.n > NP_POLICY_SOURCE || (text.n && memchr(text.p, 0, text.n))) {
    np_fail(e, NEAP_E_POLICY,
            "%.*s: is larger than 1 MiB or holds a NUL byte; a policy is Lua text",
            (int)(name.n < 200 ? name.n : 200), name.p);
    return hand_over(p, NEAP_E_POLICY, out);
  }
  np_sha256(text, src.sha256);
  if (!take_names(p, name, false, &src) || !np_arena_copy(&p->arena, text, &src.text) ||
      !np_source_push(p, &src)) {
    return hand_over(p, np_fail_mem(e), out);
  }
  return hand_over(p, load_policy(p, text, options, e), out);
}

neap_rc np_policy_load_sources(const neap_alloc *a, np_str sources, np_str options,
                               np_policy **out, np_err *e) {
  np_json list, first, name, text;
  np_buf own[2];
  np_str kept;
  np_source src = {.size = 0};
  neap_rc rc = np_json_check(sources, &list, e);
  *out = NULL;
  if (rc) return rc;
  np_json_iter it = np_json_each(list);
  bool ok = list.type == NP_JSON_ARRAY && np_json_next(&it, NULL, &first) &&
            np_json_get(first, "name", &name) && name.type == NP_JSON_STRING &&
            np_json_get(first, "text", &text) && text.type == NP_JSON_STRING;
  if (!ok) return np_fail(e, NEAP_E_POLICY, "the policy's text is not as the log has it");
  np_policy *p = np_policy_new(a, NULL);
  if (!p) return np_fail_mem(e);
  for (int i = 0; i < 2; i++) np_buf_init(&own[i], a);
  np_json_text(name, &own[0]);
  np_json_text(text, &own[1]);
  np_sha256(np_buf_str(&own[1]), src.sha256);
  src.size = (int64_t)own[1].n;
  ok = !own[0].failed && !own[1].failed && np_arena_copy(&p->arena, sources, &kept) &&
       take_names(p, np_buf_str(&own[0]), false, &src) &&
       np_arena_copy(&p->arena, np_buf_str(&own[1]), &src.text) &&
       np_source_push(p, &src);
  if (ok) np_json_check(kept, &p->pinned, NULL);
  rc = ok ? load_policy(p, np_buf_str(&own[1]), options, e) : np_fail_mem(e);
  for (int i = 0; i < 2; i++) np_buf_free(&own[i]);
  return hand_over(p, rc, out);
}

static neap_rc load_file(np_policy *p, const char *path, np_str options, np_err *e) {
  np_source src = {.size = 0};
  np_buf text;
  neap_rc rc = np_source_read(p, path, &src, &text, e);
  if (rc) return rc;
  if (!take_names(p, np_str_cstr(path), true, &src) ||
      !np_arena_copy(&p->arena, np_buf_str(&text), &src.text) ||
      !np_source_push(p, &src)) {
    rc = np_fail_mem(e);
  } else {
    rc = load_policy(p, np_buf_str(&text), options, e);
  }
  np_buf_free(&text);
  return rc;
}

neap_rc np_policy_load(const neap_alloc *a, const char *path_cstr, np_str options,
                       const np_limits *limits, np_policy **out, np_err *e) {
  if (!path_cstr) {
    return np_policy_load_text(a, NP_LIT("empty"), NP_LIT("return { api = 1 }"), options,
                               limits, out, e);
  }
  np_policy *p;
  neap_rc rc = np_load_whole(a, path_cstr, options, limits, &p, e);
  *out = NULL;
  return p ? hand_over(p, rc, out) : rc;
}

neap_rc np_load_whole(const neap_alloc *a, const char *path_cstr, np_str options,
                      const np_limits *limits, np_policy **out, np_err *e) {
  *out = np_policy_new(a, limits);
  return *out ? load_file(*out, path_cstr, options, e) : np_fail_mem(e);
}

const np_policy_info *np_policy_info_of(const np_policy *p) {
  return &p->info;
}

bool np_policy_has(const np_policy *p, const char *hook) {
  static const char *const names[] = {
#define NP_X(id, name) name,
      NP_HOOKS(NP_X)
#undef NP_X
  };
  for (int i = 0; i < NP_HOOK_COUNT; i++) {
    if (strcmp(names[i], hook) == 0) return p->hooks[i] != 0;
  }
  return false;
}
