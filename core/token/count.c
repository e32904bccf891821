/*
** Counting, encoding and decoding whole texts: piece by piece, each looked up whole and
** only merged when it is no token itself. next: fit.c
*/
#include "token/bpe.h"
#include "text/nfc.h"
#include "token/special.h"
#include "token/words.h"

/* ---- encoding ---------------------------------------------------------------------- */

typedef struct sink {
  const neap_alloc *alloc;
  uint32_t **ids;
  size_t *n, *cap;
} sink;

/* Appends ids that the model knows. */
static bool emit_external(sink *s, const uint32_t *ids, size_t count) {
  void *p = *s->ids;
  if (count > SIZE_MAX - *s->n) return false;
  bool ok = np_grow(s->alloc, &p, s->cap, *s->n + count, sizeof **s->ids);
  *s->ids = p;
  if (!ok) return false;
  memcpy(*s->ids + *s->n, ids, count * sizeof *ids);
  *s->n += count;
  return true;
}

/* Appends tokens. */
static bool emit(sink *s, const np_vocab *v, const uint32_t *ids, size_t count) {
  if (!emit_external(s, ids, count)) return false;
  if (!v->external) return true;
  uint32_t *at = *s->ids + *s->n - count;
  for (size_t i = 0; i < count; i++) at[i] = np_token_external(v, at[i]);
  return true;
}

/* The slow way finds tokens last to first: writes the last token of each prefix, then
** walks back from the end and turns the row around. */
static bool encode_slowly(const np_vocab *v, const uint8_t *p, size_t n, sink *s) {
  if (n > SIZE_MAX / sizeof(uint32_t)) return false;
  uint32_t *last = np_malloc(s->alloc, n * sizeof *last);
  if (!last) return false;
  np_track t;
  np_track_begin(&t, NP_TOKEN_NONE, 0);
  while (t.at < n) {
    np_track_step(v, p, n, &t);
    last[t.at - 1] = t.last[t.at & 255];
  }
  bool ok = true;
  size_t from = *s->n;
  for (size_t at = n; ok && at && last[at - 1] != NP_TOKEN_NONE;) {
    ok = emit(s, v, &last[at - 1], 1);
    at -= np_token_len(v, last[at - 1]);
  }
  for (size_t i = from, k = *s->n; ok && i + 1 < k; i++) {
    uint32_t id = (*s->ids)[i];
    (*s->ids)[i] = (*s->ids)[--k];
    (*s->ids)[k] = id;
  }
  np_free(s->alloc, last);
  return ok;
}

static bool encode_merged(const np_vocab *v, const uint8_t *p, size_t n, sink *s) {
  np_bpe w;
  size_t from = *s->n, done = 0;
  uint32_t before = NP_TOKEN_NONE;
  while (done < n) {
    size_t count = np_bpe_next(v, p, n, &done, &before, &w);
    if (!count) {
      *s->n = from;
      return encode_slowly(v, p, n, s);
    }
    if (!emit(s, v, w.ids, count)) return false;
  }
  return true;
}

/* A piece that is a token of its own, or what its merges give. */
static bool encode_piece(const np_vocab *v, const np_batch *b, size_t i, const uint8_t *p,
                         size_t n, sink *s) {
  uint32_t skip = v->flags & NP_VOCAB_WHOLE ? 0 : NP_PIECE_ATOM;
  uint32_t id = n <= NP_KEY_LONGEST ? np_vocab_find_key(v, b->keys[i], b->hashes[i], skip)
                                    : np_vocab_find(v, p, n);
  return id != NP_TOKEN_NONE ? emit(s, v, &id, 1) : encode_merged(v, p, n, s);
}

static bool encode_batch(const np_vocab *v, np_batch *b, size_t pieces, const uint8_t *p,
                         size_t room, sink *s) {
  np_batch_keys(b, pieces, p, room, NULL);
  for (size_t i = 0; i < pieces; i++) b->misses[i] = (uint16_t)i;
  np_batch_fetch(v, b, pieces);
  uint32_t at = 0;
  for (size_t i = 0; i < pieces; at = b->ends[i++]) {
    if (!encode_piece(v, b, i, p + at, b->ends[i] - at, s)) return false;
  }
  return true;
}

static bool encode_text(const np_vocab *v, const uint8_t *p, const uint8_t *end,
                        sink *s) {
  np_batch b;
  while (p < end) {
    size_t pieces = np_split_many(v->split, p, end, b.ends, NP_BATCH), n;
    if (pieces) {
      n = b.ends[pieces - 1];
      if (!encode_batch(v, &b, pieces, p, (size_t)(end - p), s)) return false;
    } else {
      n = np_split_next(v->split, p, end);
      if (!encode_merged(v, p, n, s)) return false;
    }
    p += n;
  }
  return true;
}

/* Text between special tokens; each is normalized by itself where the vocabulary asks. */
static bool encode_part(const np_vocab *v, const uint8_t *p, const uint8_t *end,
                        sink *s) {
  np_str text = np_str_of((const char *)p, (size_t)(end - p));
  if (!(v->flags & NP_VOCAB_NFC) || np_nfc_plain(text)) return encode_text(v, p, end, s);
  np_buf b;
  np_buf_init(&b, s->alloc);
  np_nfc(text, &b);
  const uint8_t *q = (const uint8_t *)b.p;
  bool ok = !b.failed && encode_text(v, q, q + b.n, s);
  np_buf_free(&b);
  return ok;
}

static bool encode_special(const np_vocab *v, const np_specials *t, const uint8_t *p,
                           const uint8_t *end, sink *s) {
  for (const uint8_t *q = p; q < end;) {
    const np_special *found = np_specials_at(t, q, end);
    if (!found) {
      q++;
      continue;
    }
    if (!encode_part(v, p, q, s) || !emit_external(s, &found->id, 1)) return false;
    p = q += found->n;
  }
  return encode_part(v, p, end, s);
}

neap_rc np_vocab_encode(const np_vocab *v, np_str text, bool special, const neap_alloc *a,
                        uint32_t **ids, size_t *n, size_t *cap, np_err *e) {
  sink s = {a, ids, n, cap};
  np_specials t;
  if (!text.n) return NEAP_OK;
  const uint8_t *p = (const uint8_t *)text.p, *end = p + text.n;
  if (!special) return encode_part(v, p, end, &s) ? NEAP_OK : np_fail_mem(e);
  if (!np_specials_open(&t, v, a)) return np_fail_mem(e);
  bool ok = encode_special(v, &t, p, end, &s);
  np_specials_close(&t, a);
  return ok ? NEAP_OK : np_fail_mem(e);
}

/* ---- decoding ---------------------------------------------------------------------- */

/* The place of the special token `id`, or of the first one behind it. */
static uint32_t special_from(const np_vocab *v, uint32_t id) {
  uint32_t low = 0, high = v->specials;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (v->special[middle].id < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool add_text_of(const np_vocab *v, uint32_t id, np_buf *out) {
  uint8_t bytes[NP_TOKEN_LONGEST];
  uint32_t rank = id;
  if (v->ranks) rank = id < v->externals ? v->ranks[id] : NP_TOKEN_NONE;
  if (rank < v->tokens) {
    np_buf_add(out, np_str_of((const char *)bytes, np_token_copy(v, rank, bytes)));
    return true;
  }
  uint32_t i = special_from(v, id);
  if (i == v->specials || v->special[i].id != id) return false;
  np_buf_add(out, np_special_text(v, i));
  return true;
}

neap_rc np_vocab_decode(const np_vocab *v, const uint32_t *ids, size_t n, np_buf *out,
                        np_err *e) {
  for (size_t i = 0; i < n; i++) {
    if (!add_text_of(v, ids[i], out)) {
      return np_fail_at(e, NEAP_E_ARG, i, "a token id is not in the vocabulary");
    }
  }
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}
