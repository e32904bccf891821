/*
** The tokenizer: byte-pair encodings, exact, with a splitter of our own instead of a regex
** engine. A vocabulary is immutable after loading and may be used by any number of threads.
** next: split.c, then bpe.c
*/
#ifndef NP_TOKEN_TOKEN_H
#define NP_TOKEN_TOKEN_H

#include "base/buf.h"
#include "base/err.h"

typedef struct np_vocab np_vocab; /* the public neap_encoding is this */

typedef struct np_encoding_info {
  const char *name;   /* "o200k_base" */
  uint32_t tokens;    /* ordinary tokens in the vocabulary */
  const char *source; /* "npm tiktoken 1.0.22, MIT" */
  bool exact;
} np_encoding_info;

/* The table of known encodings. */
size_t np_encoding_count(void);
const np_encoding_info *np_encoding_at(size_t i);
const np_encoding_info *np_encoding_find(np_str name); /* NULL when unknown */

/* ---- opening ----------------------------------------------------------------------- */

/* Opens the encoding `name` from folder `dir`: maps its ready file NAME.neapready, shared
** with other processes; where there is none, unfolds its compact file NAME.neapvocab, which
** takes some fifty times as long. A ready file that is damaged, of another version or of
** another kind of machine is refused, never passed over. The result is freed with
** np_vocab_free; until then a mapped file must not be changed in place. Errors:
** NEAP_E_ENCODING (unknown), NEAP_E_VOCAB (missing or damaged; the text names the file and
** what to do), NEAP_E_MEMORY. */
neap_rc np_vocab_open(const neap_alloc *a, const char *dir, np_str name, np_vocab **out,
                      np_err *e);

/* The folder of the vocabularies that the user has imported, appended and ended by a NUL:
** NEAP_DATA where it is set, else neap/vocabularies below XDG_DATA_HOME, else below
** ~/.local/share. */
void np_vocab_user_dir(np_buf *path);

/* np_vocab_open, and what is not known there is looked for in the user's folder. */
neap_rc np_vocab_open_any(const neap_alloc *a, const char *dir, np_str name,
                          np_vocab **out, np_err *e);

/* A vocabulary from the bytes of a compact or a ready file. A ready one is used where it
** lies, if it begins at an address divisible by 8, and must then outlive the vocabulary;
** otherwise it is copied. `where` names the bytes in messages. */
neap_rc np_vocab_from_bytes(const neap_alloc *a, const char *where, np_str bytes,
                            np_vocab **out, np_err *e);
void np_vocab_free(np_vocab *v);
const np_encoding_info *np_vocab_info(const np_vocab *v);

/* ---- building ---------------------------------------------------------------------- */

/* A token that is a whole piece is taken as it is, also when no merges lead to it
** (`ignore_merges` of tokenizer.json). Without the flag such tokens are never made. */
#define NP_VOCAB_WHOLE 1u
/* Text is brought to Unicode's form C before it is split; for those who count. */
#define NP_VOCAB_NFC 2u

typedef struct np_vocab_special {
  uint32_t id; /* as the model knows it */
  np_str text; /* 1 to 256 bytes */
} np_vocab_special;

/* What a vocabulary is made of. Ranks are positions here: the 256 single bytes have no
** merges, every other token's rank says when its merge is done, lowest first. */
typedef struct np_vocab_parts {
  np_str name, source; /* 1 to 256 bytes, no NUL */
  bool exact;
  uint32_t split;        /* np_split_kind */
  uint32_t flags;        /* NP_VOCAB_WHOLE … */
  uint32_t tokens;       /* 256 to NP_TOKEN_LIMIT */
  const uint8_t *bytes;  /* all tokens' bytes, by rank */
  const uint32_t *start; /* token i is bytes[start[i], start[i + 1]); tokens + 1 items */
  const uint32_t *left, *right; /* the last merge that makes token i; i itself where none
                                   does: single bytes, and tokens no merges lead to */
  const uint32_t *external;     /* the model's id of each rank; NULL: the rank */
  const np_vocab_special *special; /* ids rising; one that is a token's has its bytes, and
                                      is not below `tokens` without `external` */
  uint32_t specials;
} np_vocab_parts;

/* Builds a vocabulary; nothing of `parts` is kept. Refused with NEAP_E_VOCAB and the rank
** in e->pos: a token that is empty, longer than 255 bytes, there twice, or not the bytes of
** its parts; parts that come later than it; a merge that is never the last one when the
** token's bytes are merged alone; a byte without token. */
neap_rc np_vocab_build(const neap_alloc *a, const np_vocab_parts *parts, np_vocab **out,
                       np_err *e);

/* The bytes of the ready file of `v`; valid as long as `v`. */
np_str np_vocab_image(const np_vocab *v);

/* ---- using ------------------------------------------------------------------------- */

/* Number of tokens of any bytes; special-token text is ordinary text. Never fails: texts of
** 4 kB and more borrow up to a mebibyte from the vocabulary's allocator, and are counted more
** slowly without. Linear in n for every input. */
size_t np_vocab_count(const np_vocab *v, np_str text);

/* Words seen before, for texts that are counted one after the other (words.h): at most
** `entries` of 16 bytes, 0 and too many mean 65,536. For one thread at a time, and for `v`
** alone, which must outlive them. NULL when out of memory. */
typedef struct np_words np_words;
np_words *np_words_new(const np_vocab *v, const neap_alloc *a, size_t entries);
void np_words_free(np_words *w);
/* As np_vocab_count, the same number, with the words in `w` or, when NULL, without. */
size_t np_vocab_count_with(const np_vocab *v, np_words *w, np_str text);

/* Appends the ids to *ids (grown through `a`, capacity *cap); *n is their number. With
** `special` the text of special tokens becomes their ids. */
neap_rc np_vocab_encode(const np_vocab *v, np_str text, bool special, const neap_alloc *a,
                        uint32_t **ids, size_t *n, size_t *cap, np_err *e);

/* Appends the bytes of `ids`. NEAP_E_ARG with the index in e->pos for an id that is none. */
neap_rc np_vocab_decode(const np_vocab *v, const uint32_t *ids, size_t n, np_buf *out,
                        np_err *e);

/* The longest prefix (or suffix, when `tail`) of `text` that has at most `limit` tokens when
** counted alone, ends between UTF-8 characters, and is found in O(n) amortised time. Returns
** its length in bytes. */
size_t np_vocab_fit(const np_vocab *v, np_str text, size_t limit, bool tail);

typedef enum np_cut {
  NP_CUT_CHARACTERS,
  NP_CUT_GRAPHEMES, /* borders as np_grapheme_floor has them */
  NP_CUT_LINES      /* behind a newline */
} np_cut;

/* The same for the longest that ends (or begins) at such a cut; both ends of the text are
** one. The result fits, and no longer one does, counted alone: a longer text has fewer
** tokens at times. */
size_t np_vocab_fit_cut(const np_vocab *v, np_str text, size_t limit, bool tail,
                        np_cut kind);

#endif
