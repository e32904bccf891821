/*
** The ways to cut many pieces at once, each a reading of 64 bytes into sets of classes by
** one kind of instructions; all of them give the pieces of np_split_next. Callers use
** np_split_many; to choose a way by hand is for tests. next: split_many.c
*/
#ifndef NP_TOKEN_SPLIT_MANY_H
#define NP_TOKEN_SPLIT_MANY_H

#include "token/split.h"

typedef enum np_split_path {
  NP_SPLIT_SINGLY, /* np_split_next again and again */
  NP_SPLIT_PLAIN,  /* plain C, eight bytes at a time in one word */
  NP_SPLIT_NEON,
  NP_SPLIT_AVX2,
  NP_SPLIT_AVX512,
  NP_SPLIT_PATHS
} np_split_path;

/* This build on this machine has the path. SINGLY and PLAIN are everywhere. */
bool np_split_can(np_split_path path);
const char *np_split_path_name(np_split_path path);
/* np_split_many by a path that np_split_can allows. */
size_t np_split_by(np_split_path path, np_split_kind kind, const uint8_t *p,
                   const uint8_t *end, uint32_t *ends, size_t cap);

/* One in each split_*.c. Those of other processors are not there. */
typedef size_t np_split_cutter(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                               uint32_t *ends, size_t cap);
np_split_cutter np_split_singly, np_split_plain;
#if defined(__GNUC__) && defined(__x86_64__)
#define NP_SPLIT_X86 1
np_split_cutter np_split_avx2, np_split_avx512;
#elif defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON)
#define NP_SPLIT_ARM 1
np_split_cutter np_split_neon;
#endif

/* What the sets must know of a pattern, a sum; 0 for the kinds whose pieces are cut one by
** one on every path. */
typedef enum np_split_rules {
  NP_RULE_SETS = 1, /* set for all others */
  NP_RULE_CASED =
      2, /* words are [Lu Lt Lm Lo M]*[Ll Lm Lo M]*; symbols end in [\r\n/]* */
  NP_RULE_MARKS = 4,   /* marks are in words */
  NP_RULE_SYMBOLS = 8, /* and among symbols */
  NP_RULE_ONE = 16,    /* digits are cut one by one, not by three */
  NP_RULE_PIECE = 32,  /* a contraction is a piece */
  NP_RULE_TAIL = 64    /* or the end of a word */
} np_split_rules;

static inline unsigned np_split_rules_of(np_split_kind kind) {
  unsigned cased = NP_RULE_SETS | NP_RULE_CASED | NP_RULE_MARKS | NP_RULE_SYMBOLS;
  switch (kind) {
    case NP_SPLIT_CL100K: return NP_RULE_SETS | NP_RULE_PIECE;
    case NP_SPLIT_O200K: return cased | NP_RULE_TAIL;
    case NP_SPLIT_QWEN2: return NP_RULE_SETS | NP_RULE_PIECE | NP_RULE_ONE;
    case NP_SPLIT_QWEN35:
      return NP_RULE_SETS | NP_RULE_PIECE | NP_RULE_ONE | NP_RULE_MARKS;
    case NP_SPLIT_TEKKEN: return cased | NP_RULE_ONE;
    default: return 0;
  }
}

/* What up to 64 bytes from a piece's beginning hold; bit i says something of byte i. Each
** byte of a character of several bytes has that character's class. What is in no class is
** a symbol. */
typedef struct np_block {
  uint64_t
      letter;     /* of any case or none; marks too where the pattern has them in words */
  uint64_t upper; /* of these, upper or title case */
  uint64_t both;  /* of these, neither upper nor lower case */
  uint64_t mark;  /* of these, marks */
  uint64_t digit;
  uint64_t blank; /* ' ' */
  uint64_t space; /* white space that ends no line; also blanks */
  uint64_t line;  /* CR, LF */
  uint64_t quote; /* ' */
  uint64_t slash;
  uint64_t high;             /* bytes from 0x80 on */
  uint64_t two, three, four; /* where a character of so many bytes begins */
} np_block;

/* Of the bytes from 0x80 on. */
typedef struct np_high {
  uint64_t tail;             /* 0x80 to 0xBF */
  uint64_t from_e0, from_f0; /* so great or greater */
  uint64_t even; /* lead bytes, the next byte looked at too, of three bytes that are a
                    letter without case if they are valid: most of Han and Hangul */
} np_high;

/* Length of the contraction that the quote at p begins, or 0. */
unsigned np_split_contraction(const uint8_t *p, const uint8_t *end);

#endif
