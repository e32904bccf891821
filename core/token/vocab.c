/*
** Opens a vocabulary by name or from bytes, whichever form they have. next: image.c for ready
** files, compact.c for the others
*/
#include "token/image.h"

#define HARMONY "o200k_harmony"
#define HARMONY_BASE "o200k_base" /* whose files it shares */

static const np_encoding_info encodings[] = {
    {"o200k_base", 199998, "npm tiktoken 1.0.22, MIT", true},
    {"cl100k_base", 100256, "npm tiktoken 1.0.22, MIT", true},
    {HARMONY, 199998, "npm tiktoken 1.0.22, MIT", true},
};

size_t np_encoding_count(void) {
  return NP_COUNT(encodings);
}

const np_encoding_info *np_encoding_at(size_t i) {
  return i < NP_COUNT(encodings) ? &encodings[i] : NULL;
}

const np_encoding_info *np_encoding_find(np_str name) {
  for (size_t i = 0; i < NP_COUNT(encodings); i++) {
    if (np_str_is(name, encodings[i].name)) return &encodings[i];
  }
  return NULL;
}

const np_encoding_info *np_vocab_info(const np_vocab *v) {
  return v->info;
}

/* ---- tokens ------------------------------------------------------------------------ */

size_t np_token_copy(const np_vocab *v, uint32_t id, uint8_t out[NP_TOKEN_LONGEST]) {
  np_key k = v->keys[id];
  size_t n = (size_t)(k.hi >> 56);
  if (n != NP_KEY_FAR) {
    if (n > NP_KEY_LONGEST) return 0;
    for (size_t i = 0; i < n; i++)
      out[i] = (uint8_t)((i < 8 ? k.lo : k.hi) >> (8 * (i & 7)));
    return n;
  }
  n = (size_t)(k.lo & 0xFF);
  uint64_t at = k.lo >> 8;
  if (n > v->far_n || at > v->far_n - n) return 0;
  memcpy(out, v->far + at, n);
  return n;
}

/* ---- files ------------------------------------------------------------------------- */

/* A file holds the encoding it is named after (`name` empty: any); one that we know has our
** number of tokens. */
static neap_rc check_name(np_vocab **v, np_str name, const char *where, np_err *e) {
  np_str held = np_str_cstr((*v)->own.name);
  const np_encoding_info *known = np_encoding_find(held);
  bool right = !name.n || np_str_eq(name, held);
  if (known) (*v)->info = known;
  if (right && (!known || known->tokens == (*v)->tokens)) return NEAP_OK;
  np_fail(e, NEAP_E_VOCAB,
          "%s: holds another encoding than %s; install neap again or run `make`", where,
          right ? known->name : "its name says");
  np_vocab_free(*v);
  *v = NULL;
  return NEAP_E_VOCAB;
}

static neap_rc open_ready(const neap_alloc *a, const char *path, np_vocab **out,
                          np_err *e) {
  np_str image;
  if (!np_port_map(path, &image)) {
    return np_fail(e, NEAP_E_VOCAB,
                   "%s: cannot be mapped; check that it is a file and may be read", path);
  }
  neap_rc rc = np_image_open(a, path, image, out, e);
  if (rc) np_port_unmap(image);
  if (!rc) (*out)->mapped = true;
  return rc;
}

static neap_rc open_compact(const neap_alloc *a, const char *path, np_vocab **out,
                            np_err *e) {
  uint8_t *p = NULL;
  size_t n = 0;
  neap_rc rc = np_vocab_read(a, path, &p, &n, e);
  if (!rc) rc = np_vocab_parse(a, path, np_str_of((const char *)p, n), out, e);
  np_free(a, p);
  return rc;
}

static void set_path(np_buf *b, const char *dir, np_str name, const char *ending) {
  np_buf_clear(b);
  np_buf_adds(b, dir ? dir : ".");
  np_buf_addc(b, '/');
  np_buf_add(b, name);
  np_buf_adds(b, ending);
  np_buf_addc(b, '\0');
}

static neap_rc unknown(np_str name, np_err *e) {
  int n = name.n < 64 ? (int)name.n : 64;
  return np_fail(e, NEAP_E_ENCODING,
                 "encoding \"%.*s\" is not known; `neap encodings` lists them", n,
                 name.p);
}

/* Letters, digits, '_', '-' and inner dots: a name leads to no other folder. */
static bool is_name(np_str name) {
  if (!name.n || name.n > 200 || name.p[0] == '.') return false;
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-' && c != '.')
      return false;
  }
  return true;
}

static neap_rc open_files(const neap_alloc *a, const char *dir, np_str name, np_buf *path,
                          np_vocab **out, np_err *e) {
  set_path(path, dir, name, ".neapready");
  if (path->failed) return np_fail_mem(e);
  if (np_port_readable(path->p)) return open_ready(a, path->p, out, e);
  if (!np_encoding_find(name))
    return np_port_exists(path->p) ? open_ready(a, path->p, out, e) : unknown(name, e);
  set_path(path, dir, name, ".neapvocab");
  return path->failed ? np_fail_mem(e) : open_compact(a, path->p, out, e);
}

neap_rc np_vocab_open(const neap_alloc *a, const char *dir, np_str name, np_vocab **out,
                      np_err *e) {
  *out = NULL;
  if (!is_name(name)) return unknown(name, e);
  np_buf path;
  np_buf_init(&path, a);
  bool harmony = np_str_is(name, HARMONY);
  np_str file = harmony ? NP_LIT(HARMONY_BASE) : name;
  neap_rc rc = open_files(a, dir, file, &path, out, e);
  if (!rc) rc = check_name(out, file, path.p, e);
  if (!rc && harmony && np_vocab_harmony(*out, np_encoding_find(name), e)) {
    np_vocab_free(*out);
    *out = NULL;
    rc = NEAP_E_MEMORY;
  }
  np_buf_free(&path);
  return rc;
}

/* ---- bytes ------------------------------------------------------------------------- */

static bool is_aligned(const void *p) {
  return (uintptr_t)p % sizeof(uint64_t) == 0;
}

static neap_rc open_copy(const neap_alloc *a, const char *where, np_str bytes,
                         np_vocab **out, np_err *e) {
  char *p = np_malloc(a, bytes.n);
  if (!p) return np_fail_mem(e);
  memcpy(p, bytes.p, bytes.n);
  neap_rc rc = np_image_open(a, where, np_str_of(p, bytes.n), out, e);
  if (rc) np_free(a, p);
  if (!rc) (*out)->memory = p;
  return rc;
}

neap_rc np_vocab_from_bytes(const neap_alloc *a, const char *where, np_str bytes,
                            np_vocab **out, np_err *e) {
  neap_rc rc;
  *out = NULL;
  if (bytes.n < 8 || memcmp(bytes.p, "neapmap\n", 8) != 0) {
    rc = np_vocab_parse(a, where, bytes, out, e);
  } else if (is_aligned(bytes.p)) {
    rc = np_image_open(a, where, bytes, out, e);
  } else {
    rc = open_copy(a, where, bytes, out, e);
  }
  return rc ? rc : check_name(out, NP_LIT(""), where, e);
}

void np_vocab_free(np_vocab *v) {
  if (!v) return;
  neap_alloc a = v->alloc;
  if (v->mapped) np_port_unmap(v->image);
  np_free(&a, v->memory);
  np_free(&a, v->worn);
  np_free(&a, v);
}
