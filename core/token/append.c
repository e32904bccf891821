/*
** The splitter as a machine that takes one character at a time (split.c has the patterns
** it follows). It cuts a piece off as soon as no later byte can change it: behind a word
** the next character, or up to three for a contraction; behind white space its whole run;
** in a word with cases all of a run of capitals, since lower case behind it would move
** the seam. Kinds whose patterns have other terms are cut at borders that they never
** cross. next: fit.c
*/
#include "token/append.h"

#include "token/unicode.h" /* made by gen/unicode.c */

#define LETTERS (NP_CLASS_UPPER | NP_CLASS_LOWER | NP_CLASS_LETTER)
#define BOTH (NP_CLASS_LETTER | NP_CLASS_MARK) /* stand on either side of a word's seam */
#define SYMBOLS (NP_CLASS_OTHER | NP_CLASS_MARK)
#define WORDS (LETTERS | NP_CLASS_MARK)
#define WHITE (NP_CLASS_SPACE | NP_CLASS_NEWLINE)
#define SLICE ((size_t)1 << 16) /* bytes taken over at a time */
#define MUCH 512                /* bytes for which looking for a border pays */

/* ---- the kinds --------------------------------------------------------------------- */

typedef enum contraction {
  NO_CONTRACTION,
  OWN_PIECE, /* 's is a piece of its own */
  OF_WORD    /* 's belongs to the word before */
} contraction;

/* Borders that a pattern never crosses, whatever stands around them, and up to which it
** cuts as if the text ended there. Between an ASCII letter and a blank every pattern has
** one. */
typedef enum border {
  AFTER_LINES = 1, /* between a line end and an ASCII letter or an ideograph */
  AFTER_LINE = 2,  /* the same, when the line end is all the white space there */
  SENTENCES = 4    /* between the marks of Chinese sentences and an ideograph */
} border;

/* How a family of patterns cuts, in the terms of this machine; with `word` 0 its pattern
** has others, and add_plainly serves it by its borders, as it does kinds not in the
** table. */
typedef struct rule {
  unsigned word;    /* classes that stand in words */
  unsigned symbols; /* classes that stand in a row of symbols */
  unsigned digits;  /* numbers in a piece */
  contraction contraction;
  unsigned borders;
  bool is_cased;  /* words are cut before a capital that follows lower case */
  bool has_slash; /* a / may stand among the line ends behind symbols */
} rule;

static const rule rules[NP_SPLIT_END] = {
    [NP_SPLIT_CL100K] = {LETTERS, SYMBOLS, 3, OWN_PIECE, AFTER_LINES, false, false},
    [NP_SPLIT_O200K] = {WORDS, SYMBOLS, 3, OF_WORD, AFTER_LINES, true, true},
    [NP_SPLIT_QWEN2] = {LETTERS, SYMBOLS, 1, OWN_PIECE, AFTER_LINES, false, false},
    [NP_SPLIT_QWEN35] = {WORDS, NP_CLASS_OTHER, 1, OWN_PIECE, AFTER_LINES, false, false},
    [NP_SPLIT_TEKKEN] = {WORDS, SYMBOLS, 1, NO_CONTRACTION, AFTER_LINES, true, true},
    [NP_SPLIT_DEEPSEEK3] = {.borders = AFTER_LINES | SENTENCES},
    [NP_SPLIT_GPT2] = {.borders = AFTER_LINE | SENTENCES},
    [NP_SPLIT_GPT2_DIGITS] = {.borders = AFTER_LINE | SENTENCES},
    [NP_SPLIT_GPT2_NUMBERS] = {.borders = AFTER_LINE | SENTENCES},
};

/* Where text is normalized before it is split, the machine would read other characters;
** the borders stand, since no letter or ideograph there joins what is before it. */
static rule rule_of(const np_vocab *v) {
  size_t kind = (size_t)v->split;
  rule r = kind < NP_COUNT(rules) ? rules[kind] : (rule){.word = 0};
  if (v->flags & NP_VOCAB_NFC) r.word = 0;
  return r;
}

/* ---- counting ---------------------------------------------------------------------- */

static size_t count_plainly(const np_counter *c, size_t from, size_t to) {
  return np_vocab_count(c->v, np_str_of((const char *)c->p + from, to - from));
}

/* The tokens of the open piece [from, to). */
static size_t count_open(np_counter *c, np_open_piece *t, size_t from, size_t to) {
  size_t n = to - from, tokens;
  if (n == 0) return 0;
  if (np_vocab_find(c->v, c->p + from, n) != NP_TOKEN_NONE) return 1;
  if (np_open_piece_count(c->v, &c->alloc, t, c->p + from, n, &tokens)) {
    return tokens;
  }
  return count_plainly(c, from, to);
}

/* Cuts the piece [from, to) off. What was behind the inner cut comes to the front. */
static void settle(np_counter *c, size_t to) {
  if (to == c->from) return;
  if (c->first.n) {
    c->settled += count_open(c, &c->first, c->from, to);
  } else if (np_vocab_find(c->v, c->p + c->from, to - c->from) != NP_TOKEN_NONE) {
    c->settled++;
  } else {
    c->settled += count_plainly(c, c->from, to);
  }
  c->from = to;
  if (!c->first.n && !c->second.n) return;
  np_open_piece first = c->first;
  c->first = c->second;
  c->second = first;
  np_open_piece_clear(&c->second);
}

/* ---- one character ----------------------------------------------------------------- */

typedef struct letter {
  size_t n;       /* bytes */
  unsigned class; /* one of NP_CLASS_ */
  uint8_t byte;   /* the first */
} letter;

/* The piece ends before the character that comes next; the character is looked at again. */
static bool end_before(np_counter *c) {
  settle(c, c->at);
  if (c->first.n) np_open_piece_clear(&c->first);
  c->phase = NP_PHASE_NONE;
  return false;
}

/* The piece ends behind the character. */
static bool end_behind(np_counter *c, letter l) {
  c->at += l.n;
  end_before(c);
  return true;
}

/* The piece ends at `to`, where reading begins again. */
static bool end_at(np_counter *c, size_t to) {
  c->at = to;
  end_before(c);
  return true;
}

static bool go_on(np_counter *c, letter l, np_phase phase) {
  c->at += l.n;
  c->phase = phase;
  return true;
}

static bool begin_word(np_counter *c) {
  c->phase = NP_PHASE_WORD;
  c->lower = false;
  c->cut = 0;
  return false;
}

/* 's 't 'm 'd: the letter behind the apostrophe ends it. A long s folds to s. */
static bool is_short(const np_counter *c, letter l) {
  uint8_t low = l.byte | 0x20;
  if (low == 's' || low == 't' || low == 'm' || low == 'd') return l.n == 1;
  return l.byte == 0xC5 && l.n == 2 && c->p[c->at + 1] == 0xBF;
}

static bool is_begun(letter l) {
  uint8_t low = l.byte | 0x20;
  return low == 'r' || low == 'v' || low == 'l';
}

/* 're 've 'll: does the letter end what `before` has begun? */
static bool is_ended(uint8_t before, letter l) {
  return (l.byte | 0x20) == ((before | 0x20) == 'l' ? 'l' : 'e');
}

static bool take_first(np_counter *c, const rule *r, letter l) {
  if (l.class & r->word) return begin_word(c);
  c->digits = 0;
  if (l.class == NP_CLASS_NUMBER) {
    c->phase = NP_PHASE_DIGITS;
    return false;
  }
  if (l.class == NP_CLASS_NEWLINE) {
    c->cut = 0;
    c->phase = NP_PHASE_WHITE;
    return false;
  }
  c->lead = l.byte < 0x80 ? l.byte : 0;
  c->is_white = l.class == NP_CLASS_SPACE;
  return go_on(c, l, NP_PHASE_LEAD);
}

static bool take_after_lead(np_counter *c, const rule *r, letter l) {
  if (l.class & r->word) {
    if (c->lead != '\'' || r->contraction != OWN_PIECE) return begin_word(c);
    if (is_short(c, l)) return end_behind(c, l);
    return is_begun(l) ? go_on(c, l, NP_PHASE_FRONT) : begin_word(c);
  }
  if (!c->is_white) {
    if (l.class & r->symbols) return go_on(c, l, NP_PHASE_SYMBOLS);
    return l.class == NP_CLASS_NEWLINE ? go_on(c, l, NP_PHASE_ENDS) : end_before(c);
  }
  if (l.class & WHITE) {
    c->cut = 0;
    c->phase = NP_PHASE_WHITE;
    return false;
  }
  bool joins = c->lead == ' ' && (l.class & r->symbols);
  return joins ? go_on(c, l, NP_PHASE_SYMBOLS) : end_before(c);
}

static bool take_front(np_counter *c, letter l) {
  if (is_ended(c->p[c->from + 1], l)) return end_behind(c, l);
  return begin_word(c);
}

static bool end_word(np_counter *c, const rule *r, letter l) {
  if (r->is_cased && !c->lower && c->cut && c->cut < c->at) {
    settle(c, c->cut);
    c->cut = 0;
    return false;
  }
  if (r->contraction != OF_WORD || l.byte != '\'') return end_before(c);
  c->cut = c->at;
  return go_on(c, l, NP_PHASE_QUOTE);
}

static bool take_in_word(np_counter *c, const rule *r, letter l) {
  if (!r->is_cased) {
    return l.class & r->word ? go_on(c, l, NP_PHASE_WORD) : end_word(c, r, l);
  }
  unsigned fits = c->lower ? NP_CLASS_LOWER | BOTH : LETTERS | NP_CLASS_MARK;
  if (!(l.class & fits)) return end_word(c, r, l);
  c->at += l.n;
  if (l.class == NP_CLASS_LOWER) {
    c->lower = true;
  } else if (!c->lower && (l.class & BOTH)) {
    c->cut = c->at;
    np_open_piece_clear(&c->second);
  }
  return true;
}

static bool take_after_quote(np_counter *c, letter l) {
  if (is_short(c, l)) return end_behind(c, l);
  return is_begun(l) ? go_on(c, l, NP_PHASE_QUOTE2) : end_at(c, c->cut);
}

static bool take_after_quote2(np_counter *c, letter l) {
  return is_ended(c->p[c->cut + 1], l) ? end_behind(c, l) : end_at(c, c->cut);
}

static bool take_in_digits(np_counter *c, const rule *r, letter l) {
  if (l.class != NP_CLASS_NUMBER) return end_before(c);
  return ++c->digits == r->digits ? end_behind(c, l) : go_on(c, l, NP_PHASE_DIGITS);
}

static bool take_in_symbols(np_counter *c, const rule *r, letter l) {
  if (l.class & r->symbols) return go_on(c, l, NP_PHASE_SYMBOLS);
  return l.class == NP_CLASS_NEWLINE ? go_on(c, l, NP_PHASE_ENDS) : end_before(c);
}

static bool take_in_ends(np_counter *c, const rule *r, letter l) {
  bool fits = l.class == NP_CLASS_NEWLINE || (r->has_slash && l.byte == '/');
  return fits ? go_on(c, l, NP_PHASE_ENDS) : end_before(c);
}

/* The run is a piece up to its last line end, a piece without its last character, and the
** last character, which may lead what follows. */
static bool take_in_white(np_counter *c, letter l) {
  if (l.class & WHITE) {
    c->last = c->at;
    c->at += l.n;
    if (l.class == NP_CLASS_NEWLINE) {
      c->cut = c->at;
      np_open_piece_clear(&c->second);
    }
    return true;
  }
  if (c->cut) settle(c, c->cut);
  return end_at(c, c->last > c->from ? c->last : c->from);
}

/* True when the character has been taken, or reading has gone back; false to look at it
** again in the new phase. */
static bool take(np_counter *c, const rule *r, letter l) {
  switch (c->phase) {
    case NP_PHASE_NONE: return take_first(c, r, l);
    case NP_PHASE_LEAD: return take_after_lead(c, r, l);
    case NP_PHASE_FRONT: return take_front(c, l);
    case NP_PHASE_WORD: return take_in_word(c, r, l);
    case NP_PHASE_QUOTE: return take_after_quote(c, l);
    case NP_PHASE_QUOTE2: return take_after_quote2(c, l);
    case NP_PHASE_DIGITS: return take_in_digits(c, r, l);
    case NP_PHASE_SYMBOLS: return take_in_symbols(c, r, l);
    case NP_PHASE_ENDS: return take_in_ends(c, r, l);
    case NP_PHASE_WHITE: return take_in_white(c, l);
  }
  return true;
}

/* ---- reading ----------------------------------------------------------------------- */

/* False when the bytes may be the beginning of one character. */
static bool is_whole(const uint8_t *p, size_t room) {
  if (*p < 0xC2 || *p > 0xF4) return true;
  size_t need = *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
  for (size_t i = 1; i < need; i++) {
    if (i == room) return false;
    if ((p[i] & 0xC0) != 0x80) return true;
  }
  return true;
}

/* Classes of ASCII that change nothing in this phase but the length. */
static unsigned classes_that_go_on(const np_counter *c, const rule *r) {
  if (c->phase == NP_PHASE_SYMBOLS) return NP_CLASS_OTHER;
  if (c->phase != NP_PHASE_WORD) return 0;
  if (!r->is_cased) return LETTERS;
  return c->lower ? NP_CLASS_LOWER : NP_CLASS_UPPER;
}

/* Reads all whole characters. */
static void read_on(np_counter *c, const rule *r) {
  while (c->at < c->n) {
    letter l = {1, np_class_ascii[c->p[c->at]], c->p[c->at]};
    if (l.byte >= 0x80) {
      if (!is_whole(c->p + c->at, c->n - c->at)) return;
      l.class = np_split_class(c->p + c->at, c->p + c->n, &l.n);
    }
    while (!take(c, r, l)) continue;
    unsigned fits = classes_that_go_on(c, r);
    while (c->at < c->n && (np_class_ascii[c->p[c->at]] & fits)) c->at++;
  }
}

/* The tokens of what is open when the text ends here. Half a character at the end is
** symbols, one a byte. */
static size_t count_end(np_counter *c) {
  size_t from = c->from, cut = c->cut > from ? c->cut : from, end = c->at;
  switch (c->phase) {
    case NP_PHASE_WORD:
      if (c->lower || cut == from) cut = end;
      break;
    case NP_PHASE_QUOTE:
    case NP_PHASE_QUOTE2: end = cut; break;
    case NP_PHASE_SYMBOLS: cut = end = c->n; break;
    case NP_PHASE_DIGITS:
    case NP_PHASE_ENDS: cut = end; break;
    case NP_PHASE_WHITE:
      if (end < c->n) end = c->last > cut ? c->last : cut;
      if (cut == from) cut = end;
      break;
    default: return count_plainly(c, from, c->n);
  }
  return count_open(c, &c->first, from, cut) + count_open(c, &c->second, cut, end) +
         count_plainly(c, end, c->n);
}

/* U+3001, U+3002 and U+FF0C end before p. */
static bool is_sentence_end(const uint8_t *p) {
  return (p[-3] == 0xE3 && p[-2] == 0x80 && (p[-1] == 0x81 || p[-1] == 0x82)) ||
         (p[-3] == 0xEF && p[-2] == 0xBC && p[-1] == 0x8C);
}

/* Ideographs are those of U+5000 to U+8FFF. They need not be whole: a lone byte is no
** part of what is before it either. */
static bool is_border(const np_counter *c, const rule *r, size_t at) {
  const uint8_t *p = c->p + at;
  unsigned before = np_class_ascii[p[-1]];
  if (*p == ' ') return (before & LETTERS) != 0;
  bool ideograph = *p >= 0xE5 && *p <= 0xE8;
  if (!ideograph && !(np_class_ascii[*p] & LETTERS)) return false;
  if (before == NP_CLASS_NEWLINE) {
    if (r->borders & AFTER_LINES) return true;
    bool alone = at >= c->from + 2 && (np_class_ascii[p[-2]] & ~WHITE);
    return (r->borders & AFTER_LINE) && alone;
  }
  bool sentences = ideograph && (r->borders & SENTENCES);
  return sentences && at >= c->from + 3 && is_sentence_end(p);
}

/* Counts up to the last border behind byte `after`, as a whole. */
static void count_to_border(np_counter *c, const rule *r, size_t after) {
  size_t cut = c->n;
  while (--cut > after && !is_border(c, r, cut)) continue;
  if (cut <= after) return;
  c->settled += count_plainly(c, c->from, cut);
  c->from = c->at = cut;
  c->phase = NP_PHASE_NONE;
  np_open_piece_clear(&c->first);
  np_open_piece_clear(&c->second);
}

/* Takes in the n bytes that came last. Much at a time is counted the fast way, but for its
** end; but not a long open piece again. */
static void take_in(np_counter *c, const rule *r, size_t n) {
  if (!r->word) {
    count_to_border(c, r, c->at);
    c->at = c->n - 1;
    return;
  }
  if (n >= MUCH && c->at - c->from < n) count_to_border(c, r, c->at);
  read_on(c, r);
}

/* ---- the counter ------------------------------------------------------------------- */

void np_counter_init(np_counter *c, const np_vocab *v, const neap_alloc *a) {
  *c = (np_counter){.v = v, .alloc = *a};
}

void np_counter_free(np_counter *c) {
  np_open_piece_free(&c->first, &c->alloc);
  np_open_piece_free(&c->second, &c->alloc);
  np_free(&c->alloc, c->p);
  np_counter_init(c, c->v, &c->alloc);
}

void np_counter_reset(np_counter *c) {
  c->settled = c->open = c->from = c->at = c->n = c->cut = 0;
  c->failed = false;
  c->phase = NP_PHASE_NONE;
  np_open_piece_clear(&c->first);
  np_open_piece_clear(&c->second);
}

/* The first `by` bytes of the text kept have gone. */
static void shift(np_counter *c, size_t by) {
  c->from -= by;
  c->at -= c->at < by ? c->at : by;
  c->n -= by;
  c->cut -= c->cut < by ? c->cut : by;
  c->last -= c->last < by ? c->last : by;
}

static bool copy_items(const neap_alloc *a, void **to, const void *from, size_t n) {
  *to = n ? np_malloc(a, n) : NULL;
  if (*to) memcpy(*to, from, n);
  return !n || *to;
}

/* The marks of a finished search are not needed. */
static bool copy_piece(const neap_alloc *a, const np_open_piece *from,
                       np_open_piece *to) {
  void *ids;
  bool ok = copy_items(a, &ids, from->ids, from->tokens * sizeof *to->ids);
  *to = (np_open_piece){.ids = ids};
  if (!ok) return false;
  to->tokens = to->ids_cap = from->tokens;
  to->n = from->n;
  return true;
}

bool np_counter_copy(const np_counter *c, np_counter *to) {
  *to = *c;
  void *p;
  bool ok = copy_items(&c->alloc, &p, c->p ? c->p + c->from : NULL, c->n - c->from);
  to->p = p;
  to->cap = c->n - c->from;
  ok &= copy_piece(&c->alloc, &c->first, &to->first);
  ok &= copy_piece(&c->alloc, &c->second, &to->second);
  if (!ok) np_counter_free(to);
  if (ok) shift(to, c->from);
  return ok;
}

static bool reserve(np_counter *c, size_t more) {
  bool full = more > c->cap - c->n && c->from > c->cap / 2;
  if (c->from && (c->from == c->n || full)) {
    size_t by = c->from;
    memmove(c->p, c->p + by, c->n - by);
    shift(c, by);
  }
  size_t need;
  void *p = c->p;
  bool ok = np_add_ok(c->n, more, &need) && np_grow(&c->alloc, &p, &c->cap, need, 1);
  c->p = p;
  return ok;
}

bool np_counter_add(np_counter *c, np_str bytes) {
  rule r = rule_of(c->v);
  for (size_t done = 0; done < bytes.n && !c->failed;) {
    size_t n = bytes.n - done < SLICE ? bytes.n - done : SLICE;
    c->failed = !reserve(c, n);
    if (c->failed) break;
    memcpy(c->p + c->n, bytes.p + done, n);
    c->n += n;
    done += n;
    take_in(c, &r, n);
  }
  if (bytes.n && !c->failed)
    c->open = r.word ? count_end(c) : count_plainly(c, c->from, c->n);
  return !c->failed;
}
