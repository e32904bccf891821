/*
** The handle: allocator, store, secret, vocabularies, the last error. next: session.c
*/
#include "engine/words.h"

#include <stdlib.h>

#include "base/port.h"

neap_rc np_engine_fail(neap *n, const np_err *e) {
  mtx_lock(&n->lock);
  n->error = *e;
  mtx_unlock(&n->lock);
  return e->code;
}

const char *neap_error(const neap *n) {
  return n ? n->error.text : "out of memory";
}

neap_err neap_error_info(const neap *n) {
  if (!n) return (neap_err){NEAP_E_MEMORY, 0};
  return (neap_err){n->error.code, n->error.pos};
}

static char *copy_cstr(const neap_alloc *a, const char *s) {
  size_t n = strlen(s) + 1;
  char *p = np_malloc(a, n);
  if (p) memcpy(p, s, n);
  return p;
}

/* ---- where the vocabularies are ---- */

typedef struct place {
  char path[4096];
} place;

static bool join(place *out, const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  if (n + m + 1 > sizeof out->path) return false;
  memcpy(out->path, a, n);
  memcpy(out->path + n, b, m + 1);
  return true;
}

static bool holds_vocabularies(const char *dir) {
  place file;
  return (join(&file, dir, "/o200k_base.neapvocab") && np_port_readable(file.path)) ||
         (join(&file, dir, "/o200k_base.neapready") && np_port_readable(file.path));
}

/* Beside the program or library, in a build tree and under a prefix. */
static bool beside(place *out) {
  static const char *const tails[] = {
      "/share/neap/vocabularies", "/../share/neap/vocabularies",
      "/../../share/neap/vocabularies", "/../../../../share/neap/vocabularies"};
  place self;
  if (!np_port_self_dir(self.path, sizeof self.path)) return false;
  for (size_t i = 0; i < NP_COUNT(tails); i++) {
    if (join(out, self.path, tails[i]) && holds_vocabularies(out->path)) return true;
  }
  return false;
}

#ifndef NEAP_DATA_DIR
#define NEAP_DATA_DIR "/usr/local/share/neap"
#endif

/* What the host names is taken as it is, so that a wrong name is an error and not silently
** something else. */
static char *find_data(const neap *n, const char *configured) {
  place p;
  const char *env = getenv("NEAP_DATA");
  if (configured && *configured) return copy_cstr(&n->alloc, configured);
  if (env && *env) return copy_cstr(&n->alloc, env);
  if (beside(&p)) return copy_cstr(&n->alloc, p.path);
  return copy_cstr(&n->alloc, NEAP_DATA_DIR "/vocabularies");
}

/* ---- open and close ---- */

static const uint8_t fixed_secret[NP_SHA256] = "neap: marks of replays and tests";

static neap_rc open_store(neap *n, const neap_config *c) {
  bool memory = !c->store || !*c->store || strcmp(c->store, ":memory:") == 0;
  neap_rc rc =
      memory ? np_store_memory_open(&n->alloc, &n->store, &n->error)
             : np_store_sqlite_open(&n->alloc, c->store, (n->flags & NEAP_READONLY) != 0,
                                    &n->store, &n->error);
  bool hold = c->on_store_failure == NEAP_STORE_HOLD && !(n->flags & NEAP_READONLY);
  if (rc && !memory && hold) {
    np_err why = n->error;
    n->error = (np_err){0};
    rc = np_store_sqlite_away(&n->alloc, c->store, &why, &n->store, &n->error);
  }
  if (rc) return rc;
  n->store->hold = c->on_store_failure == NEAP_STORE_HOLD;
  n->store->text = np_words_text;
  n->store->text_ctx = &n->alloc;
  n->store->compress = (n->flags & NEAP_COMPRESS) != 0;
  if (n->flags & NEAP_FIXED_SECRET) {
    memcpy(n->secret, fixed_secret, NP_SHA256);
    return NEAP_OK;
  }
  return n->store->ops->secret(n->store, n->secret, &n->error);
}

static bool is_alloc_set(const neap_alloc *a) {
  return a->malloc && a->realloc && a->free;
}

neap_rc neap_open(const neap_config *config, neap **out) {
  neap_config c = {0};
  if (!out) return NEAP_E_ARG;
  *out = NULL;
  if (config) memcpy(&c, config, config->size < sizeof c ? config->size : sizeof c);
  const neap_alloc *a = is_alloc_set(&c.alloc) ? &c.alloc : &np_alloc_libc;
  neap *n = np_calloc(a, 1, sizeof *n);
  if (!n) return NEAP_E_MEMORY;
  n->alloc = *a;
  n->flags = c.flags;
  if (mtx_init(&n->lock, mtx_plain) != thrd_success) {
    np_free(a, n);
    return NEAP_E_MEMORY;
  }
  np_buf_init(&n->last_system, &n->alloc);
  np_buf_init(&n->last_tools, &n->alloc);
  *out = n;
  n->tenant = copy_cstr(a, c.tenant ? c.tenant : "");
  n->data_named = c.data && *c.data;
  n->data = find_data(n, c.data);
  if (!n->tenant || !n->data) return np_fail_mem(&n->error);
  if (c.flags & ~(NEAP_READONLY | NEAP_FIXED_SECRET | NEAP_COMPRESS)) {
    return np_fail(&n->error, NEAP_E_ARG, "flags %d are not known; use those of neap.h",
                   c.flags);
  }
  if ((unsigned)c.on_store_failure > NEAP_STORE_HOLD) {
    return np_fail(&n->error, NEAP_E_ARG,
                   "on_store_failure %d is not known; use one of neap.h",
                   (int)c.on_store_failure);
  }
  if ((c.flags & NEAP_COMPRESS) && !np_press_built()) {
    return np_fail(&n->error, NEAP_E_CONFIG,
                   "this neap is built without what compresses; install libzstd-dev and "
                   "build it again, or leave compressing out");
  }
  return open_store(n, &c);
}

neap_rc neap_close(neap *n) {
  neap_rc rc = NEAP_OK;
  if (!n) return rc;
  while (n->sessions) neap_session_close(n->sessions);
  for (size_t i = 0; i < n->vocab_count; i++) np_vocab_free(n->vocabs[i]);
  if (n->store) rc = n->store->ops->close(n->store, NULL);
  mtx_destroy(&n->lock);
  neap_alloc a = n->alloc;
  np_buf_free(&n->last_system);
  np_buf_free(&n->last_tools);
  np_free(&a, n->vocabs);
  np_free(&a, n->tenant);
  np_free(&a, n->data);
  np_free(&a, n);
  return rc;
}

/* ---- vocabularies ---- */

static const np_vocab *loaded_vocab(const neap *n, np_str name) {
  for (size_t i = 0; i < n->vocab_count; i++) {
    if (np_str_is(name, np_vocab_info(n->vocabs[i])->name)) return n->vocabs[i];
  }
  return NULL;
}

static bool vocab_room(neap *n) {
  void *vocabs = n->vocabs;
  bool ok =
      np_grow(&n->alloc, &vocabs, &n->vocab_cap, n->vocab_count + 1, sizeof(np_vocab *));
  n->vocabs = vocabs;
  return ok;
}

static neap_rc load_vocab(neap *n, np_str name, const np_vocab **out, np_err *e) {
  *out = loaded_vocab(n, name);
  if (*out) return NEAP_OK;
  if (!vocab_room(n)) return np_fail_mem(e);
  np_vocab **v = &n->vocabs[n->vocab_count];
  neap_rc rc = n->data_named ? np_vocab_open(&n->alloc, n->data, name, v, e)
                             : np_vocab_open_any(&n->alloc, n->data, name, v, e);
  if (!rc) *out = n->vocabs[n->vocab_count++];
  return rc;
}

neap_rc np_engine_vocab(neap *n, np_str name, const np_vocab **out, np_err *e) {
  mtx_lock(&n->lock);
  neap_rc rc = load_vocab(n, name, out, e);
  mtx_unlock(&n->lock);
  return rc;
}

neap_rc neap_encoding_get(neap *n, const char *name, const neap_encoding **enc) {
  np_err e = {0};
  const np_vocab *v = NULL;
  if (!n || !name || !enc) return NEAP_E_ARG;
  neap_rc rc = np_engine_vocab(n, np_str_cstr(name), &v, &e);
  if (rc) return np_engine_fail(n, &e);
  *enc = (const neap_encoding *)v;
  return NEAP_OK;
}

static neap_rc add_vocab(neap *n, np_vocab *v, np_err *e) {
  if (loaded_vocab(n, np_str_cstr(np_vocab_info(v)->name))) {
    return np_fail(e, NEAP_E_MISUSE,
                   "encoding %.64s is loaded already; hand it over first",
                   np_vocab_info(v)->name);
  }
  if (!vocab_room(n)) return np_fail_mem(e);
  n->vocabs[n->vocab_count++] = v;
  return NEAP_OK;
}

neap_rc neap_encoding_add(neap *n, neap_str bytes, const neap_encoding **enc) {
  np_err e = {0};
  np_vocab *v = NULL;
  if (!n || !bytes.p) return NEAP_E_ARG;
  neap_rc rc = np_vocab_from_bytes(&n->alloc, "vocabulary", bytes, &v, &e);
  if (!rc) {
    mtx_lock(&n->lock);
    rc = add_vocab(n, v, &e);
    mtx_unlock(&n->lock);
  }
  if (rc) {
    np_vocab_free(v);
    return np_engine_fail(n, &e);
  }
  if (enc) *enc = (const neap_encoding *)v;
  return NEAP_OK;
}

size_t neap_count(const neap_encoding *enc, neap_str text) {
  if (!enc || !text.p || text.n > PTRDIFF_MAX) return 0;
  return np_vocab_count((const np_vocab *)enc, text);
}
