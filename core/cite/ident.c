/*
** What an identifier is. A text is cut into runs of name characters, runs of CJK characters
** and words of other letters; a run that looks like a name is taken whole, any other gives
** its words. What stands left and right of a run never changes what is found in it, so that
** the same name is found wherever it stands. Before that, what stands in quotation marks is
** looked at as a whole (quote.c). next: quote.c
*/
#include "cite/common.h"
#include "cite/scan.h"
#include "text/text.h"

#define LONGEST 256 /* bytes; a longer run is data (base64, hex dumps), no identifier */
#define NAME_MIN 4
#define NUMBER_MIN 3
#define WORD_MIN 5
#define CJK_MIN 2
#define CJK_MAX 8

/* Classes of ASCII characters. */
enum {
  LOWER = 1,
  UPPER = 2,
  DIGIT = 4,
  MARK = 8,   /* _ and /: a name wherever they stand */
  JOINT = 16, /* . and -: a name when they stand inside */
  OTHER = 32  /* : @ # */
};
#define LETTER (LOWER | UPPER)
#define OUTER (JOINT | OTHER)

#define L LOWER
#define U UPPER
#define D DIGIT
#define M MARK
#define J JOINT
#define O OTHER
static const unsigned char class_of[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* controls */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, O, 0, 0, 0, 0, 0, 0, 0, 0, 0, J, J, M, /* # - . slash */
    D, D, D, D, D, D, D, D, D, D, O, 0, 0, 0, 0, 0, /* digits : */
    O, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, /* @ A-O */
    U, U, U, U, U, U, U, U, U, U, U, 0, 0, 0, 0, M, /* P-Z _ */
    0, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, 0,
};
#undef L
#undef U
#undef D
#undef M
#undef J
#undef O

static unsigned class_at(const char *p) {
  return class_of[(unsigned char)*p];
}

static bool is_outer(const char *p) {
  return *p == '/' || (class_at(p) & OUTER) != 0;
}

/* Strips outer punctuation. A leading slash stays when it begins the run and stands alone:
** "/usr/lib" is a path, "//note" a comment, "./a/b" the same file as "a/b". */
static np_str strip(const char *p, const char *end) {
  const char *q = p;
  while (q < end && is_outer(q)) q++;
  while (end > q && is_outer(end - 1)) end--;
  if (q - p == 1 && *p == '/' && end > q) q = p;
  return np_str_of(q, (size_t)(end - q));
}

/* True when the run [p, end), of which `seen` are the classes, is a name or a number. */
static bool name_in(const char *p, const char *end, unsigned seen, np_ident *out) {
  if ((seen & (DIGIT | MARK | JOINT | UPPER)) == 0 || end - p > LONGEST) return false;
  np_str s = strip(p, end);
  if (s.n < NUMBER_MIN) return false;
  unsigned inner = 0, first = class_at(s.p);
  for (size_t i = 1; i < s.n; i++) inner |= class_at(s.p + i);
  *out = (np_ident){s, NP_IDENT_NAME};
  if ((first | inner) == DIGIT) {
    out->kind = NP_IDENT_NUMBER;
    return true;
  }
  if (s.n < NAME_MIN || ((first | inner) & (LETTER | DIGIT)) == 0) return false;
  return ((first & (DIGIT | MARK)) | (inner & (DIGIT | MARK | JOINT | UPPER))) != 0;
}

/* A letter of a word beyond ASCII, or a mark on one; 0 when it is neither. */
static size_t word_char(const char *p, const char *end) {
  size_t n;
  uint32_t c = np_utf8_decode(p, end, &n);
  if (c == 0xFFFD || np_is_cjk(c)) return 0;
  return np_is_letter(c) || np_is_mark(c) ? n : 0;
}

/* The end of the word that begins at `p`; *letters gets its length in characters. */
static const char *word_end(const char *p, const char *end, size_t *letters) {
  *letters = 0;
  while (p < end) {
    size_t n = class_at(p) & LETTER       ? 1
               : (unsigned char)*p < 0x80 ? 0
                                          : word_char(p, end);
    if (n == 0) break;
    p += n;
    ++*letters;
  }
  return p;
}

/* One word at it->p, or nothing; steps over what it looked at. */
static bool take_word(np_ident_iter *it, np_ident *out) {
  size_t letters;
  const char *from = it->p;
  const char *end = word_end(from, it->end, &letters);
  it->p = end > from ? end : from + 1;
  *out = (np_ident){np_str_of(from, (size_t)(end - from)), NP_IDENT_WORD};
  return letters >= WORD_MIN && out->text.n <= LONGEST;
}

/* The character at `p`, of a run of CJK characters; *n gets its length. */
static uint32_t cjk_char(const char *p, const char *end, size_t *n) {
  const unsigned char *s = (const unsigned char *)p;
  if (*s < 0xE1 || *s > 0xEC) return np_utf8_decode(p, end, n);
  *n = 3;
  return (uint32_t)(*s & 15) << 12 | (uint32_t)(s[1] & 63) << 6 | (s[2] & 63);
}

/* The next pair of characters of a long CJK run, neither of them common: its words, since no
** list of words is here. False at the run's end. */
static bool take_pair(np_ident_iter *it, np_ident *out) {
  size_t a, b;
  const char *p = it->p, *end = it->plain;
  bool common = np_is_common(cjk_char(p, end, &a));
  for (; p + a < end; p += a, a = b) {
    bool next = np_is_common(cjk_char(p + a, end, &b));
    if (!common && !next) {
      *out = (np_ident){np_str_of(p, a + b), NP_IDENT_WORD};
      it->p = p + a + b < end ? p + a : end;
      return true;
    }
    common = next;
  }
  it->p = end;
  return false;
}

/* A run of letters alone, as most are: a name when a capital stands inside, else a word. */
static bool take_letters(np_ident_iter *it, const char *end, bool inner, np_ident *out) {
  const char *p = it->p;
  size_t n = (size_t)(end - p);
  it->p = end;
  *out =
      (np_ident){np_str_of(p, n), inner && n >= NAME_MIN ? NP_IDENT_NAME : NP_IDENT_WORD};
  return n <= LONGEST && (n >= WORD_MIN || out->kind == NP_IDENT_NAME);
}

/* A run of name characters: one identifier, or (from here to `plain`) words only. */
static bool take_run(np_ident_iter *it, np_ident *out) {
  const char *p = it->p, *q = p + 1;
  unsigned first = class_at(p), inner = 0, c;
  for (; q < it->end && (c = class_at(q)) != 0; q++) inner |= c;
  unsigned seen = first | inner;
  bool goes_on = q < it->end && (unsigned char)*q >= 0x80; /* perhaps a letter */
  if (!(seen & ~(unsigned)LETTER) && !goes_on)
    return take_letters(it, q, (inner & UPPER) != 0, out);
  if (name_in(p, q, seen, out)) {
    it->p = q;
    return true;
  }
  it->plain = q;
  if (q - p > LONGEST && (seen & (DIGIT | MARK | JOINT | UPPER))) it->p = q;
  return false;
}

/* A run of CJK characters: an identifier, or, when it is long, pairs up to `plain`; before them
** the run itself, for who wants it. */
static bool take_cjk(np_ident_iter *it, np_ident *out) {
  size_t chars = 0, n;
  const char *p = it->p, *q = p;
  for (; q < it->end && (n = np_cjk_len(q, it->end)) != 0; q += n) chars++;
  *out = (np_ident){np_str_of(p, (size_t)(q - p)), NP_IDENT_CJK};
  if (chars > CJK_MAX) {
    it->plain = q;
    out->kind = NP_IDENT_RUN;
    return it->runs;
  }
  it->p = q;
  return chars >= CJK_MIN;
}

np_ident_iter np_ident_scan(np_str text) {
  np_ident_iter it = {.p = text.p, .end = text.p, .plain = text.p};
  if (text.n) it.end = text.p + text.n;
  it.begin = it.unquoted = text.p;
  return it;
}

/* At a place where something begins: `plain` says whether its run is known to hold words
** only, which keeps the whole scan linear. */
static bool take(np_ident_iter *it, np_ident *out) {
  bool ascii = (unsigned char)*it->p < 0x80, cjk = !ascii && np_cjk_len(it->p, it->end);
  if (it->p < it->plain) return cjk ? take_pair(it, out) : take_word(it, out);
  if (cjk) return take_cjk(it, out);
  return ascii ? take_run(it, out) : take_word(it, out);
}

/* The punctuation of CJK text that is met the most: U+3000 to U+3004 and the brackets behind, and
** U+FF00 to U+FF20; neither letters nor CJK characters. */
static bool is_wide_mark(const char *p, const char *end) {
  const unsigned char *s = (const unsigned char *)p;
  if (*s < 0xE3 || end - p < 3 || (s[2] & 0xC0) != 0x80) return false;
  if (*s == 0xE3) return s[1] == 0x80 && (s[2] < 0x85 || (s[2] > 0x87 && s[2] < 0xA1));
  return *s == 0xEF && s[1] == 0xBC && s[2] < 0xA1;
}

bool np_ident_next(np_ident_iter *it, np_ident *out) {
  while (it->p < it->end) {
    if ((unsigned char)*it->p < 0x80 && class_at(it->p) == 0) {
      if (np_quote_begins(it) && np_quote_take(it, out)) return true;
      it->p++;
    } else if (is_wide_mark(it->p, it->end)) {
      it->p += 3;
    } else if (take(it, out)) {
      return true;
    }
  }
  return false;
}

/* What surely parts two runs: an ASCII character that is in no name. */
static bool parts(const char *p) {
  return (unsigned char)*p < 0x80 && class_at(p) == 0;
}

/* True when all of `s` is CJK characters, as many as an identifier may have. */
static bool all_cjk(np_str s) {
  size_t chars = 0, n = 0;
  const char *end = s.p + s.n;
  for (const char *p = s.p; p < end; p += n, chars++) {
    if ((n = np_cjk_len(p, end)) == 0) return false;
  }
  return chars >= CJK_MIN && chars <= CJK_MAX;
}

/* Each place where the bytes stand is scanned from the last parting character to the next,
** so it is found exactly if the scanner of the whole text finds it. CJK text has no borders
** between words: there an identifier may stand inside a longer run. What was quoted elsewhere
** may stand here without quotation marks. */
bool np_ident_in(np_str text, np_str ident) {
  if (ident.n == 0 || ident.n > LONGEST) return false;
  if (np_quote_is(ident)) return np_quote_in(text, ident);
  bool cjk = all_cjk(ident);
  for (size_t at = 0; (at = np_str_find(text, ident, at)) != SIZE_MAX;) {
    if (cjk) return true;
    size_t from = at, to = at + ident.n;
    while (from > 0 && !parts(text.p + from - 1)) from--;
    while (to < text.n && !parts(text.p + to)) to++;
    np_ident_iter it = np_ident_scan(np_str_cut(text, from, to));
    np_ident found;
    while (np_ident_next(&it, &found)) {
      if (np_str_eq(found.text, ident)) return true;
    }
    at = to;
  }
  return false;
}
