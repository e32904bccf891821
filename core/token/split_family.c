/*
** The published patterns of other families as scanners. With L, N, M, P, S for \p{L} …:
**
** qwen2     (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\nLN]?L+|N| ?[^\sLN]+[\r\n]*|WHITE
** qwen35    the same with [^\r\nLN]?[LM]+ and  ?[^\sLMN]+[\r\n]*
** tekken    words as in o200k without 's 't …|N| ?[^\sLN]+[\r\n/]*|WHITE
** deepseek3 N{1,3} cut out, then [一-龥぀-ゟ゠-ヿ]+, and inside each part
**           [!-/:-~][A-Za-z]+|[^\r\nLPS]?[LM]+| ?[PS]+[\r\n]*|WHITE
** gpt2      's|'t|'re|'ve|'m|'ll|'d| ?L+| ?N+| ?[^\sLN]+|\s+(?!\S)|\s+, alone or with
**           digits cut out before
** where WHITE is \s*[\r\n]+|\s+(?!\S)|\s+. What is cut out before ends the text for what
** comes after. next: vocab.c
*/
#include "token/split.h"

#include "token/punct.h" /* made by gen/punct.c */
#include "token/unicode.h"

#define LETTERS (NP_CLASS_UPPER | NP_CLASS_LOWER | NP_CLASS_LETTER)
#define BOTH (NP_CLASS_LETTER | NP_CLASS_MARK)
#define WORD (LETTERS | NP_CLASS_MARK)
#define SYMBOLS (NP_CLASS_OTHER | NP_CLASS_MARK)
#define WHITE (NP_CLASS_SPACE | NP_CLASS_NEWLINE)
#define CONTROL 0x100u /* beside the classes: neither P nor S, for deepseek3 alone */

typedef const uint8_t *at; /* a place in the text */

/* What ends the text for the pattern at work, beside its end: where parts were cut out. */
typedef enum edge { EDGE_NONE, EDGE_NUMBER, EDGE_KANJI, EDGE_NOT_KANJI } edge;

typedef struct scan {
  at end;
  edge edge;
} scan;

static unsigned class_of(uint32_t cp) {
  unsigned block = np_class_index[cp >> NP_CLASS_SHIFT];
  return np_class_block[block][cp & ((1u << NP_CLASS_SHIFT) - 1)];
}

static bool is_punct(uint32_t cp) {
  unsigned block = np_punct_index[cp >> NP_PUNCT_SHIFT];
  unsigned k = cp & ((1u << NP_PUNCT_SHIFT) - 1);
  return np_punct_block[block][k / 8] >> (k % 8) & 1;
}

static bool is_kanji(uint32_t cp) {
  return (cp >= 0x4E00 && cp <= 0x9FA5) || (cp >= 0x3040 && cp <= 0x30FF);
}

/* The code point at p, or U+FFFD for a byte that begins no character. */
static uint32_t point(at p, at end, size_t *len) {
  size_t n = np_utf8_len((const char *)p, (const char *)end);
  *len = n ? n : 1;
  if (n == 1) return p[0];
  if (n == 2) return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
  if (n == 3) return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
  if (!n) return 0xFFFD;
  return (p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 |
         (p[3] & 0x3Fu);
}

/* The class at p, 0 where the text ends for this pattern. */
static inline unsigned look(const scan *s, at p, size_t *len) {
  *len = 0;
  if (p == s->end) return 0;
  *len = 1;
  uint32_t cp = *p < 0x80 ? *p : point(p, s->end, len);
  unsigned k = *p < 0x80 ? np_class_ascii[*p] : class_of(cp);
  if (s->edge == EDGE_NONE) return k;
  if (k == NP_CLASS_NUMBER) return 0;
  if (s->edge == EDGE_NUMBER) return k;
  if (is_kanji(cp) != (s->edge == EDGE_NOT_KANJI)) return 0;
  return k == NP_CLASS_OTHER && !is_punct(cp) ? CONTROL : k;
}

/* In a run of ASCII one table answers; but not for the symbols of deepseek3, nor beside
** kanji. */
static at skip(const scan *s, at p, unsigned mask) {
  bool ascii =
      s->edge <= EDGE_NUMBER || (s->edge == EDGE_KANJI && !(mask & NP_CLASS_OTHER));
  for (size_t len;; p += len) {
    while (ascii && p < s->end && (np_class_ascii[*p] & mask)) p++;
    if (!(look(s, p, &len) & mask)) return p;
  }
}

/* End of 's 't 'm 'd 're 've 'll at p, or p. With `fold` in any case, and 's with a long s,
** which folds to s. */
static at contraction(const scan *s, at p, bool fold) {
  size_t room = (size_t)(s->end - p);
  if (room < 2 || *p != '\'') return p;
  uint8_t up = fold ? 0x20 : 0, a = p[1] | up;
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return p + 2;
  if (room < 3) return p;
  if (fold && p[1] == 0xC5 && p[2] == 0xBF) return p + 3;
  uint8_t b = p[2] | up;
  return ((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l') ? p + 3 : p;
}

/* White space from p: up to its last line end when `lines` count; else all of it when the
** text ends there, else all but the last character, which leads what follows. */
static at white(const scan *s, at p, bool lines) {
  at q = p, last = p, line = NULL;
  size_t len;
  unsigned k;
  while ((k = look(s, q, &len)) & WHITE) {
    last = q;
    q += len;
    if (k == NP_CLASS_NEWLINE) line = q;
  }
  if (lines && line) return line;
  return k == 0 || last == p ? q : last;
}

/* ---- qwen2, qwen35 ---- */

static at next_qwen(const scan *s, at p, unsigned word) {
  size_t len;
  unsigned k = look(s, p, &len), symbols = NP_CLASS_OTHER | (SYMBOLS & ~word);
  if (k & word) return skip(s, p, word);
  if (k == NP_CLASS_NUMBER) return p + len;
  if (k == NP_CLASS_NEWLINE) return white(s, p, true);
  at q = contraction(s, p, true);
  if (q > p) return q;
  q = skip(s, p + len, word);
  if (q > p + len) return q;
  if (k == NP_CLASS_SPACE && (*p != ' ' || !(look(s, q, &len) & symbols))) {
    return white(s, p, true);
  }
  return skip(s, skip(s, q, symbols), NP_CLASS_NEWLINE);
}

/* ---- tekken ---- */

/* A word without its lead, or p: upper case and what has none, then lower case and what has
** none. Without lower case behind it the run goes to its last letter that may stand on the
** lower side, or is all upper case. */
static at cased_word(const scan *s, at p) {
  at q = p, seam = NULL;
  size_t len;
  unsigned k;
  while ((k = look(s, q, &len)) & (NP_CLASS_UPPER | BOTH)) {
    q += len;
    if (k & BOTH) seam = q;
  }
  if (k == NP_CLASS_LOWER) return skip(s, q, NP_CLASS_LOWER | BOTH);
  return seam ? seam : q;
}

static at next_tekken(const scan *s, at p) {
  size_t len;
  unsigned k = look(s, p, &len);
  if (k & WORD) return cased_word(s, p);
  if (k == NP_CLASS_NUMBER) return p + len;
  if (k == NP_CLASS_NEWLINE) return white(s, p, true);
  at q = p + len, r = cased_word(s, q);
  if (r > q) return r;
  if (k == NP_CLASS_SPACE && (*p != ' ' || look(s, q, &len) != NP_CLASS_OTHER)) {
    return white(s, p, true);
  }
  r = skip(s, q, SYMBOLS);
  while (r < s->end && (*r == '\n' || *r == '\r' || *r == '/')) r++;
  return r;
}

/* ---- gpt2 ---- */

static at next_gpt2(const scan *s, at p) {
  size_t len;
  unsigned k = look(s, p, &len);
  at q = contraction(s, p, false);
  if (q > p) return q;
  if (*p == ' ') {
    q = p + 1;
    k = look(s, q, &len);
    if (!k || (k & WHITE)) return white(s, p, false);
  }
  if (k & LETTERS) return skip(s, q, LETTERS);
  if (k & WHITE) return white(s, p, false);
  return skip(s, q, k == NP_CLASS_NUMBER ? NP_CLASS_NUMBER : SYMBOLS);
}

/* Up to `most` digits, or p. */
static at digits(at p, at end, size_t most) {
  size_t len;
  for (; most && p < end; most--, p += len) {
    if (class_of(point(p, end, &len)) != NP_CLASS_NUMBER) break;
  }
  return p;
}

/* ---- deepseek3 ---- */

static bool is_ascii_letter(uint8_t c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* What no alternative takes is one piece, up to where one of them does: a control that leads
** a word is that word's. */
static at gap(const scan *s, at p) {
  size_t len, after;
  while (look(s, p, &len) == CONTROL && !(look(s, p + len, &after) & WORD)) p += len;
  return p;
}

static at next_deepseek3(at p, at end) {
  size_t len;
  at q = digits(p, end, 3);
  if (q > p) return q;
  scan s = {end, is_kanji(point(p, end, &len)) ? EDGE_NOT_KANJI : EDGE_KANJI};
  unsigned k = look(&s, p, &len);
  q = p + len;
  if (k & WORD) return skip(&s, p, WORD);
  if (k == NP_CLASS_NEWLINE) return white(&s, p, true);
  if (k == NP_CLASS_OTHER) {
    if (*p < 0x80 && q < end && is_ascii_letter(*q)) {
      while (q < end && is_ascii_letter(*q)) q++;
      return q;
    }
    return skip(&s, skip(&s, q, NP_CLASS_OTHER), NP_CLASS_NEWLINE);
  }
  unsigned after = look(&s, q, &len);
  if (after & WORD) return skip(&s, q, WORD);
  if (k == CONTROL) return gap(&s, p);
  if (*p != ' ' || after != NP_CLASS_OTHER) return white(&s, p, true);
  return skip(&s, skip(&s, q, NP_CLASS_OTHER), NP_CLASS_NEWLINE);
}

/* ---- the kinds ---- */

static at next_digits(at p, at end, size_t most) {
  at q = digits(p, end, most);
  return q > p ? q : next_gpt2(&(scan){end, EDGE_NUMBER}, p);
}

size_t np_split_family(np_split_kind kind, const uint8_t *p, const uint8_t *end) {
  scan s = {end, EDGE_NONE};
  at q = p;
  switch (kind) {
    case NP_SPLIT_QWEN2: q = next_qwen(&s, p, LETTERS); break;
    case NP_SPLIT_QWEN35: q = next_qwen(&s, p, WORD); break;
    case NP_SPLIT_TEKKEN: q = next_tekken(&s, p); break;
    case NP_SPLIT_DEEPSEEK3: q = next_deepseek3(p, end); break;
    case NP_SPLIT_GPT2_DIGITS: q = next_digits(p, end, 1); break;
    case NP_SPLIT_GPT2_NUMBERS: q = next_digits(p, end, SIZE_MAX); break;
    default: q = next_gpt2(&s, p); break;
  }
  return (size_t)(q - p);
}
