/*
** Compact files: checked as a whole by their checksum and again value by value, and unfolded
** into the parts a vocabulary is built from. The form is described in data/README.md.
** next: build.h
*/
#include "base/hash.h"
#include "token/vocab.h"

#define HEAD 16 /* magic, version, length of the content */
#define VERSION 1
#define TEXT_LONGEST 256 /* bytes of a name, a source or a special token */
#define BYTES_LARGEST ((uint32_t)64 << 20) /* of all tokens together */
#define SPECIALS 1024
#define AGAIN "install neap again or run `make vocab`"

/* ---- reading values ---------------------------------------------------------------- */

/* What is left of the content. A bad value is sticky: `bad` is looked at once at the
** end. */
typedef struct reader {
  const uint8_t *p, *end;
  bool bad;
} reader;

/* Seven bits a byte, low ones first, at most 28 bits. */
static uint32_t read_number(reader *r) {
  uint32_t n = 0;
  for (unsigned shift = 0; shift < 28 && r->p < r->end; shift += 7) {
    uint8_t c = *r->p++;
    n |= (c & 0x7Fu) << shift;
    if (c < 0x80) return n;
  }
  r->bad = true;
  return 0;
}

static np_str read_text(reader *r) {
  size_t n = read_number(r);
  if (n == 0 || n > TEXT_LONGEST || n > (size_t)(r->end - r->p)) {
    r->bad = true;
    return NP_LIT("");
  }
  np_str s = {(const char *)r->p, n};
  r->p += n;
  return s;
}

/* ---- unfolding --------------------------------------------------------------------- */

/* The parts, with what they point to; `total` bytes of all tokens, of which `at` are
** there. */
typedef struct unfolded {
  np_vocab_parts parts;
  uint8_t *bytes;
  uint32_t *start, *left, *right;
  np_vocab_special *special;
  uint32_t total, longest;
} unfolded;

static void forget(const neap_alloc *a, unfolded *u) {
  np_free(a, u->bytes);
  np_free(a, u->start);
  np_free(a, u->left);
  np_free(a, u->right);
  np_free(a, u->special);
}

/* The sizes; the numbers of tokens and bytes are bounded by what the content can hold: a
** token takes a byte of it at least, and doubles the longest at most. */
static bool read_sizes(unfolded *u, reader *r) {
  u->parts.split = read_number(r);
  u->parts.tokens = read_number(r);
  u->total = read_number(r);
  u->longest = read_number(r);
  read_number(r); /* the nodes of a trie, for readers that build one */
  u->parts.specials = read_number(r);
  return !r->bad && u->parts.tokens <= (size_t)(r->end - r->p) &&
         u->total <= BYTES_LARGEST && u->parts.specials <= SPECIALS &&
         u->longest <= NP_TOKEN_LONGEST && np_split_known(u->parts.split);
}

static bool read_special(unfolded *u, reader *r) {
  for (uint32_t i = 0; i < u->parts.specials; i++) {
    uint32_t id = read_number(r);
    u->special[i] = (np_vocab_special){id, read_text(r)};
  }
  return !r->bad;
}

/* Token `id`: 0 and its byte, or its left part + 1 and its right part. */
static bool read_token(unfolded *u, reader *r, uint32_t id) {
  uint32_t at = u->start[id], code = read_number(r);
  if (code == 0) {
    if (r->p == r->end || at == u->total) return false;
    u->bytes[at] = *r->p++;
    u->left[id] = u->right[id] = id;
    u->start[id + 1] = at + 1;
    return true;
  }
  uint32_t left = code - 1, right = read_number(r);
  if (r->bad || left >= id || right >= id) return false;
  uint32_t l = u->start[left + 1] - u->start[left];
  uint32_t n = l + u->start[right + 1] - u->start[right];
  if (n > u->longest || n > u->total - at) return false;
  memcpy(u->bytes + at, u->bytes + u->start[left], l);
  memcpy(u->bytes + at + l, u->bytes + u->start[right], n - l);
  u->left[id] = left;
  u->right[id] = right;
  u->start[id + 1] = at + n;
  return true;
}

static bool read_tokens(unfolded *u, reader *r) {
  uint32_t longest = 0;
  u->start[0] = 0;
  for (uint32_t id = 0; id < u->parts.tokens; id++) {
    if (!read_token(u, r, id)) return false;
    uint32_t n = u->start[id + 1] - u->start[id];
    if (n > longest) longest = n;
  }
  return u->start[u->parts.tokens] == u->total && longest == u->longest && r->p == r->end;
}

static bool make_room(const neap_alloc *a, unfolded *u) {
  size_t tokens = (size_t)u->parts.tokens + 1;
  u->bytes = np_malloc(a, u->total);
  u->start = np_calloc(a, tokens, sizeof *u->start);
  u->left = np_calloc(a, tokens, sizeof *u->left);
  u->right = np_calloc(a, tokens, sizeof *u->right);
  u->special = np_calloc(a, u->parts.specials, sizeof *u->special);
  u->parts.bytes = u->bytes;
  u->parts.start = u->start;
  u->parts.left = u->left;
  u->parts.right = u->right;
  u->parts.special = u->special;
  return u->bytes && u->start && u->left && u->right && u->special;
}

static neap_rc bad_values(const char *path, np_err *e) {
  return np_fail(e, NEAP_E_VOCAB, "%s: holds values that make no sense; " AGAIN, path);
}

static neap_rc unfold(const neap_alloc *a, unfolded *u, reader *r, const char *path,
                      np_vocab **out, np_err *e) {
  if (!read_sizes(u, r)) return bad_values(path, e);
  if (!make_room(a, u)) return np_fail_mem(e);
  if (!read_special(u, r) || !read_tokens(u, r)) return bad_values(path, e);
  neap_rc rc = np_vocab_build(a, &u->parts, out, e);
  return rc == NEAP_E_VOCAB ? bad_values(path, e) : rc;
}

/* ---- the file ---------------------------------------------------------------------- */

static neap_rc check_file(const char *path, np_str file, np_err *e) {
  const uint8_t *p = (const uint8_t *)file.p;
  if (file.n < 8 || memcmp(p, "neapvoc\n", 8) != 0) {
    return np_fail(e, NEAP_E_VOCAB, "%s: is no vocabulary file; " AGAIN, path);
  }
  if (file.n < HEAD) return np_fail(e, NEAP_E_VOCAB, "%s: is cut off; " AGAIN, path);
  unsigned version = (unsigned)np_load32(p + 8);
  if (version != VERSION) {
    return np_fail(e, NEAP_E_VOCAB,
                   "%s: has version %u of the format, this neap reads version %d; " AGAIN,
                   path, version, VERSION);
  }
  size_t room = file.n - HEAD, content = (size_t)np_load32(p + 12);
  if (room < NP_SHA256 || room - NP_SHA256 != content) {
    return np_fail(e, NEAP_E_VOCAB, "%s: has %lu bytes where its head says %lu; " AGAIN,
                   path, (unsigned long)file.n,
                   (unsigned long)content + HEAD + NP_SHA256);
  }
  uint8_t sum[NP_SHA256];
  np_sha256(np_str_of(file.p, HEAD + content), sum);
  if (memcmp(sum, p + HEAD + content, NP_SHA256) == 0) return NEAP_OK;
  return np_fail(e, NEAP_E_VOCAB, "%s: is damaged (its checksum differs); " AGAIN, path);
}

neap_rc np_vocab_parse(const neap_alloc *a, const char *path, np_str file, np_vocab **out,
                       np_err *e) {
  *out = NULL;
  neap_rc rc = check_file(path, file, e);
  if (rc) return rc;
  const uint8_t *p = (const uint8_t *)file.p;
  reader r = {p + HEAD, p + file.n - NP_SHA256, false};
  unfolded u = {.parts = {.exact = true}};
  u.parts.name = read_text(&r);
  u.parts.source = read_text(&r);
  read_text(&r); /* the licence is for readers of the file */
  rc = r.bad ? bad_values(path, e) : unfold(a, &u, &r, path, out, e);
  forget(a, &u);
  return rc;
}
