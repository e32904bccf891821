/*
** Opens a vocabulary: reads its compact file, checks it as a whole by its checksum and
** again value by value, and unfolds it. The form of the file is described in
** data/README.md. next: table.c
*/
#include "token/vocab.h"

#include "base/hash.h"

#define HEAD 16 /* magic, version, length of the content */
#define VERSION 1
#define TEXT_LONGEST 256 /* bytes of a name, a source or a special token */
#define AGAIN "install neap again or run `make vocab`"

static const np_encoding_info encodings[] = {
    {"o200k_base", 199998, "npm tiktoken 1.0.22, MIT", true},
    {"cl100k_base", 100256, "npm tiktoken 1.0.22, MIT", true},
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

static bool read_special(np_vocab *v, reader *r, size_t *text_bytes) {
  for (uint32_t i = 0; i < v->specials; i++) {
    uint32_t id = read_number(r);
    np_str text = read_text(r);
    if (r->bad || id < v->tokens || (i && id <= v->special[i - 1].id)) return false;
    v->special[i] = (np_special){id, text};
    v->special_first[(uint8_t)text.p[0] >> 3] |=
        (uint8_t)(1u << ((uint8_t)text.p[0] & 7));
    *text_bytes += text.n;
  }
  return true;
}

/* The special texts still lie in the file, which goes away: copies them behind the
** tokens. */
static void keep_special(np_vocab *v, uint8_t *to) {
  for (uint32_t i = 0; i < v->specials; i++) {
    np_str *text = &v->special[i].text;
    memcpy(to, text->p, text->n);
    text->p = (const char *)to;
    to += text->n;
  }
}

/* Token `id`: 0 and its byte, or its left part + 1 and its right part. */
static bool read_token(np_vocab *v, reader *r, uint32_t id, size_t total) {
  uint32_t at = v->start[id];
  uint32_t code = read_number(r);
  if (code == 0) {
    if (r->p == r->end || at == total) return false;
    v->bytes[at] = *r->p++;
    v->merges[id] = (np_merge){id, id, NP_TOKEN_NONE, 1};
    v->start[id + 1] = at + 1;
    return true;
  }
  np_merge m = {code - 1, read_number(r), NP_TOKEN_NONE, 0};
  if (r->bad || m.left >= id || m.right >= id) return false;
  uint32_t left = np_token_len(v, m.left), right = np_token_len(v, m.right);
  if (left + right > v->longest || left + right > total - at) return false;
  memcpy(v->bytes + at, v->bytes + v->start[m.left], left);
  memcpy(v->bytes + at + left, v->bytes + v->start[m.right], right);
  m.n = left + right;
  v->merges[id] = m;
  v->start[id + 1] = at + left + right;
  return true;
}

/* Every byte must be a token: then all text has tokens. */
static bool has_all_bytes(const np_vocab *v) {
  for (unsigned c = 0; c < 256; c++) {
    if (v->byte[c] == NP_TOKEN_NONE) return false;
  }
  return true;
}

static neap_rc bad_values(const char *path, np_err *e) {
  return np_fail(e, NEAP_E_VOCAB, "%s: holds values that make no sense; " AGAIN, path);
}

static neap_rc unfold(np_vocab *v, reader *r, const char *path, np_err *e) {
  v->split = (np_split_kind)read_number(r);
  v->tokens = read_number(r);
  size_t total = read_number(r), text_bytes = 0;
  v->longest = read_number(r);
  v->nodes = read_number(r);
  v->specials = read_number(r);
  if (r->bad || (v->split != NP_SPLIT_CL100K && v->split != NP_SPLIT_O200K) ||
      v->tokens != v->info->tokens || v->longest > NP_TOKEN_LONGEST ||
      v->nodes > NP_TOKEN_LIMIT / 2 || v->specials > 1024) {
    return bad_values(path, e);
  }
  v->special = np_calloc(&v->alloc, v->specials, sizeof *v->special);
  if (!v->special) return np_fail_mem(e);
  if (!read_special(v, r, &text_bytes)) {
    v->specials = 0;
    return bad_values(path, e);
  }
  v->bytes = np_malloc(&v->alloc, total + text_bytes);
  v->start = np_malloc(&v->alloc, ((size_t)v->tokens + 1) * sizeof *v->start);
  v->merges = np_malloc(&v->alloc, (size_t)v->tokens * sizeof *v->merges);
  if (!v->bytes || !v->start || !v->merges) return np_fail_mem(e);
  keep_special(v, v->bytes + total);
  v->start[0] = 0;
  uint32_t longest = 0;
  for (uint32_t id = 0; id < v->tokens; id++) {
    if (!read_token(v, r, id, total)) return bad_values(path, e);
    if (np_token_len(v, id) > longest) longest = np_token_len(v, id);
  }
  if (v->start[v->tokens] != total || longest != v->longest || r->p != r->end) {
    return bad_values(path, e);
  }
  bool bad = false;
  if (!np_vocab_index(v, &bad)) return bad ? bad_values(path, e) : np_fail_mem(e);
  return has_all_bytes(v) ? NEAP_OK : bad_values(path, e);
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

neap_rc np_vocab_parse(const neap_alloc *a, const np_encoding_info *info,
                       const char *path, np_str file, np_vocab **out, np_err *e) {
  *out = NULL;
  neap_rc rc = check_file(path, file, e);
  if (rc != NEAP_OK) return rc;
  const uint8_t *p = (const uint8_t *)file.p;
  reader r = {p + HEAD, p + file.n - NP_SHA256, false};
  np_str name = read_text(&r);
  read_text(&r); /* source and licence are for readers of the file */
  read_text(&r);
  if (r.bad) return bad_values(path, e);
  if (!np_str_is(name, info->name)) {
    return np_fail(e, NEAP_E_VOCAB, "%s: holds another encoding than %s; " AGAIN, path,
                   info->name);
  }
  np_vocab *v = np_calloc(a, 1, sizeof *v);
  if (!v) return np_fail_mem(e);
  v->alloc = *a;
  v->info = info;
  rc = unfold(v, &r, path, e);
  if (rc == NEAP_OK) {
    *out = v;
  } else {
    np_vocab_free(v);
  }
  return rc;
}

neap_rc np_vocab_open(const neap_alloc *a, const char *dir, np_str name, np_vocab **out,
                      np_err *e) {
  *out = NULL;
  const np_encoding_info *info = np_encoding_find(name);
  if (!info) {
    int n = name.n < 64 ? (int)name.n : 64;
    return np_fail(e, NEAP_E_ENCODING,
                   "encoding \"%.*s\" is not known; `neap encodings` lists them", n,
                   name.p);
  }
  np_buf path;
  np_buf_init(&path, a);
  np_buf_adds(&path, dir ? dir : ".");
  np_buf_adds(&path, "/");
  np_buf_adds(&path, info->name);
  np_buf_adds(&path, ".neapvocab");
  np_buf_addc(&path, '\0');
  uint8_t *p = NULL;
  size_t n = 0;
  neap_rc rc = path.failed ? np_fail_mem(e) : np_vocab_read(a, path.p, &p, &n, e);
  if (rc == NEAP_OK) {
    rc = np_vocab_parse(a, info, path.p, np_str_of((const char *)p, n), out, e);
  }
  np_free(a, p);
  np_buf_free(&path);
  return rc;
}

void np_vocab_free(np_vocab *v) {
  if (!v) return;
  neap_alloc a = v->alloc;
  void *const parts[] = {v->bytes,    v->start,    v->merges,   v->special, v->shorts.at,
                         v->longs.at, v->pairs.at, v->maybe.at, v->trie.at, v->two};
  for (size_t i = 0; i < NP_COUNT(parts); i++) np_free(&a, parts[i]);
  np_free(&a, v);
}
