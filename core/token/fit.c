/*
** The longest beginning or end of a text that has at most so many tokens. A cut changes
** the pieces next to it, and counts do not only rise with length, so whole pieces lead to
** the place and every cut near it is counted as it would be alone. In pieces too long for
** that the track of all prefix counts proposes cuts, and each is counted before it is
** taken. next: cut.c
*/
#include "token/bpe.h"
#include "text/nfc.h"

#define LONG 96  /* bytes of a piece up to which every cut in it is tried */
#define BACK 32  /* tokens before the limit at which the search by bytes begins */
#define TRIES 16 /* proposed cuts; each costs a count of the piece */
#define NEAR                                                                             \
  4 /* bytes: a contraction and its apostrophe, cut off, change the piece before */

/* Where a piece begins, and the tokens before it. */
typedef struct mark {
  size_t at, tokens;
} mark;

static size_t count_part(const np_vocab *v, np_str text, size_t from, size_t to) {
  return np_vocab_count(v, np_str_cut(text, from, to));
}

/* Moves `m` over one piece of `text`. */
static void pass_piece(const np_vocab *v, np_str text, mark *m) {
  const uint8_t *p = (const uint8_t *)text.p;
  size_t n = np_split_next(v->split, p + m->at, p + text.n);
  m->tokens += count_part(v, text, m->at, m->at + n);
  m->at += n;
}

/* ---- inside one long piece --------------------------------------------------------- */

/* A boundary of the tokens of p[0, n), n > 0: `tokens` before it, and the token on either
** side (NP_TOKEN_NONE at the ends). */
typedef struct seam {
  size_t at, tokens;
  uint32_t before, behind;
} seam;

/* The boundary behind `want` tokens, or the piece's end; the beginning for a piece that
** needs the slow way. *total is the piece's count when it is not NULL. */
static seam find_seam(const np_vocab *v, const uint8_t *p, size_t n, size_t want,
                      size_t *total) {
  np_bpe w;
  seam found = {0, 0, NP_TOKEN_NONE, NP_TOKEN_NONE};
  size_t done = 0, tokens = 0;
  uint32_t before = NP_TOKEN_NONE;
  bool open = true;
  while (done < n && (open || total)) {
    size_t count = np_bpe_next(v, p, n, &done, &before, &w);
    if (!count) return (seam){0, 0, NP_TOKEN_NONE, NP_TOKEN_NONE};
    for (size_t i = 0; open && i < count; i++) {
      if (found.tokens == want) {
        found.behind = w.ids[i];
        open = false;
      } else {
        found.tokens++;
        found.before = w.ids[i];
        found.at += np_token_len(v, w.ids[i]);
      }
    }
    tokens += count;
  }
  if (total) *total = tokens;
  return found;
}

/* The longest p[0, m), m <= n, between characters, that has at most `room` tokens as one
** piece, looked for from `back` tokens before `room` on. A token is at most 255 bytes
** long: when so many prefixes in a row have more than `room`, all longer ones have. *sure
** is false when a longer prefix has tokens of its own from before the beginning of the
** search on. */
static size_t search_head(const np_vocab *v, np_str text, size_t room, size_t back,
                          bool *sure) {
  const uint8_t *p = (const uint8_t *)text.p;
  seam s = find_seam(v, p, text.n, room > back ? room - back : 0, NULL);
  np_track t;
  np_track_begin(&t, s.before, s.tokens);
  size_t best = 0, misses = 0;
  *sure = true;
  while (s.at + t.at < text.n && misses <= NP_TOKEN_LONGEST) {
    np_track_step(v, p + s.at, text.n - s.at, &t);
    bool known = t.last[t.at & 255] != NP_TOKEN_NONE;
    bool fits = known && t.count[t.at & 255] <= room;
    misses = fits ? 0 : misses + 1;
    *sure = (*sure && known) || s.at == 0;
    if (!fits || !np_split_between(text, s.at + t.at)) continue;
    best = s.at + t.at;
    *sure = true;
  }
  return best;
}

static size_t propose_head(const np_vocab *v, np_str text, size_t room) {
  bool sure = false;
  size_t best = 0;
  for (size_t back = BACK; !sure; back = back < room ? back * 8 : SIZE_MAX) {
    best = search_head(v, text, room, back, &sure);
  }
  return best;
}

/* First tokens and counts of the ends of a piece, as np_track for prefixes. */
typedef struct ends {
  uint32_t first[256];
  size_t count[256];
} ends;

/* Fills in the end that begins at i; those behind it up to `known` are there. The longest
** token is most often the one. */
static void step_back(const np_vocab *v, const uint8_t *p, size_t i, size_t known,
                      size_t n, ends *t) {
  uint32_t id = np_bpe_longest(v, p + i, known - i);
  for (; id != NP_TOKEN_NONE; id = np_token_shorter(v, id)) {
    size_t k = i + np_token_len(v, id);
    uint32_t next = t->first[k & 255];
    if (k < n && (next == NP_TOKEN_NONE || !np_bpe_seam(v, id, next))) continue;
    t->count[i & 255] = t->count[k & 255] + 1;
    break;
  }
  t->first[i & 255] = id;
}

/* As search_head, from the end: returns where the longest end with `room` tokens
** begins. */
static size_t search_tail(const np_vocab *v, np_str text, size_t room, seam s,
                          size_t keep, bool *sure) {
  const uint8_t *p = (const uint8_t *)text.p;
  ends t;
  t.first[s.at & 255] = s.behind;
  t.count[s.at & 255] = keep;
  size_t best = text.n, misses = 0;
  *sure = true;
  for (size_t i = s.at; i-- > 0 && misses <= NP_TOKEN_LONGEST;) {
    size_t known_to = s.at - i < 256 ? s.at : i + 255;
    step_back(v, p, i, known_to, text.n, &t);
    bool known = t.first[i & 255] != NP_TOKEN_NONE;
    bool fits = known && t.count[i & 255] <= room;
    misses = fits ? 0 : misses + 1;
    *sure = (*sure && known) || s.at == text.n;
    if (!fits || !np_split_between(text, i)) continue;
    best = i;
    *sure = true;
  }
  return best;
}

static size_t propose_tail(const np_vocab *v, np_str text, size_t room) {
  const uint8_t *p = (const uint8_t *)text.p;
  size_t total = 0, best = text.n;
  find_seam(v, p, text.n, SIZE_MAX, &total);
  bool sure = false;
  for (size_t back = BACK; !sure; back = back < room ? back * 8 : SIZE_MAX) {
    size_t keep = room > back ? room - back : 0;
    seam s = {text.n, 0, NP_TOKEN_NONE, NP_TOKEN_NONE};
    if (keep < total) s = find_seam(v, p, text.n, total - keep, NULL);
    if (keep == 0 || s.at == 0 || s.at == text.n) {
      s.at = text.n;
      keep = 0;
    }
    best = search_tail(v, text, room, s, keep, &sure);
  }
  return best;
}

/* ---- beginnings -------------------------------------------------------------------- */

/* What is known where a beginning got too long: the piece [last.at, end) exceeds the
** limit, `far` is two pieces before it. */
typedef struct head {
  const np_vocab *v;
  np_str text;
  size_t limit;
  mark far, last;
  size_t end;
} head;

/* True when text[0, at) may be cut off: white space before the last piece joins what
** follows it, so cuts behind the first character of the piece are counted from two pieces
** before. */
static bool head_fits(const head *h, size_t at) {
  if (!np_split_between(h->text, at)) return false;
  mark from = at > h->last.at + NEAR ? h->last : h->far;
  return from.tokens + count_part(h->v, h->text, from.at, at) <= h->limit;
}

/* The longest fitting cut in [from, to), tried one by one, or 0. */
static size_t try_head(const head *h, size_t from, size_t to) {
  for (size_t at = to; at-- > from;) {
    if (head_fits(h, at)) return at;
  }
  return 0;
}

static size_t cut_head(const head *h) {
  size_t high = h->end + NEAR < h->text.n ? h->end + NEAR : h->text.n;
  if (h->end - h->last.at <= LONG) return try_head(h, h->far.at + 1, high + 1);
  size_t at = try_head(h, h->end - NEAR, high + 1);
  np_str piece = np_str_cut(h->text, h->last.at, h->end);
  for (int i = 0; !at && i < TRIES; i++) {
    piece.n = propose_head(h->v, piece, h->limit - h->last.tokens);
    if (piece.n == 0) break;
    if (head_fits(h, h->last.at + piece.n)) at = h->last.at + piece.n;
    piece.n--;
  }
  return at ? at : try_head(h, h->far.at + 1, h->last.at + NEAR + 1);
}

static size_t fit_head(const np_vocab *v, np_str text, size_t limit) {
  while (text.n) {
    mark row[3] = {{0, 0}, {0, 0}, {0, 0}}, next = {0, 0};
    while (next.at < text.n) {
      row[0] = row[1];
      row[1] = row[2];
      row[2] = next;
      pass_piece(v, text, &next);
      if (next.tokens > limit) break;
    }
    if (next.tokens <= limit) return text.n;
    head h = {v, text, limit, row[0], row[2], next.at};
    size_t at = cut_head(&h);
    if (at) return at;
    text.n = h.far.at; /* nothing near fits: again, with the text before */
  }
  return 0;
}

/* ---- ends -------------------------------------------------------------------------- */

/* `good` begins the first piece from which on the rest fits; `tokens` counts that
** rest. */
typedef struct tail {
  const np_vocab *v;
  np_str text;
  size_t limit;
  mark good;
} tail;

/* True when the end that begins at `at` <= good.at fits. Its pieces are not those of the
** whole text at first; both rows are walked until they meet. */
static bool tail_fits(const tail *t, size_t at) {
  if (!np_split_between(t->text, at)) return false;
  mark a = {at, 0}, b = {t->good.at, 0};
  while (a.at != b.at) pass_piece(t->v, t->text, a.at < b.at ? &a : &b);
  return a.tokens + (t->good.tokens - b.tokens) <= t->limit;
}

/* The first fitting cut in [from, to), or `to`. */
static size_t try_tail(const tail *t, size_t from, size_t to) {
  while (from < to && !tail_fits(t, from)) from++;
  return from;
}

/* Cuts in the piece [from, to); the end of a long one is tried byte by byte as well,
** since what is left of it may join what follows. `to` when there is none. */
static size_t cut_tail(const tail *t, size_t from, size_t to) {
  if (to - from <= LONG) return try_tail(t, from, to);
  if (to == t->good.at) {
    np_str piece = np_str_cut(t->text, from, to);
    for (int i = 0; i < TRIES; i++) {
      size_t skip = propose_tail(t->v, piece, t->limit - t->good.tokens);
      if (skip >= piece.n) break;
      size_t at = (size_t)(piece.p - t->text.p) + skip;
      if (tail_fits(t, at)) return at;
      piece = np_str_cut(piece, skip + 1, piece.n);
    }
  }
  return try_tail(t, to - NEAR, to);
}

static size_t fit_tail(const np_vocab *v, np_str text, size_t limit) {
  size_t total = np_vocab_count(v, text);
  if (total <= limit) return text.n;
  mark row[3] = {{0, 0}, {0, 0}, {0, 0}};
  while (total - row[2].tokens > limit) {
    row[0] = row[1];
    row[1] = row[2];
    pass_piece(v, text, &row[2]);
  }
  tail t = {v, text, limit, {row[2].at, total - row[2].tokens}};
  size_t at = cut_tail(&t, row[0].at, row[1].at);
  if (at == row[1].at) at = cut_tail(&t, row[1].at, row[2].at);
  return text.n - at;
}

/* ---- the whole --------------------------------------------------------------------- */

static size_t fit_text(const np_vocab *v, np_str text, size_t limit, bool at_end) {
  if (!text.n || !limit) return 0;
  return at_end ? fit_tail(v, text, limit) : fit_head(v, text, limit);
}

/* In a text that normalization changes, a cut is where one of its parts begins: what is cut
** off is normalized to a beginning (or end) of the normalized text. */
static size_t fit_nfc(const np_vocab *v, np_str text, size_t limit, bool at_end) {
  np_buf b;
  np_buf_init(&b, &v->alloc);
  np_nfc(text, &b);
  np_str all = np_buf_str(&b), rest = all;
  size_t found = b.failed ? 0 : SIZE_MAX;
  if (!b.failed && np_str_eq(all, text)) found = fit_text(v, text, limit, at_end);
  while (found == SIZE_MAX) {
    size_t n = fit_text(v, rest, limit, at_end), size = at_end ? all.n - n : n;
    size_t at = np_nfc_place(text, &v->alloc, at_end, &size);
    if (at == SIZE_MAX) break;
    rest = at_end ? np_str_cut(all, size, all.n) : np_str_cut(all, 0, size);
    if (np_vocab_count(v, rest) <= limit) found = at_end ? text.n - at : at;
  }
  np_buf_free(&b);
  return found == SIZE_MAX ? 0 : found;
}

size_t np_vocab_fit(const np_vocab *v, np_str text, size_t limit, bool at_end) {
  bool plain = !(v->flags & NP_VOCAB_NFC) || np_nfc_plain(text);
  return plain ? fit_text(v, text, limit, at_end) : fit_nfc(v, text, limit, at_end);
}
