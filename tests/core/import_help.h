/*
** Small tokenizer.json files for tests: the 256 bytes, a few tokens, merges, and whatever
** parts a test wants to say differently. next: test_import.c
*/
#ifndef NP_TESTS_IMPORT_HELP_H
#define NP_TESTS_IMPORT_HELP_H

#include "check.h"

#include "token/import.h"

#define BYTE_LEVEL                                                                       \
  "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"
#define BYTE_LEVEL_ONLY                                                                  \
  "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}"

/* The JSON of the members; NULL stands for what a plain file would say. */
typedef struct paper {
  const char *pre, *normalizer, *added, *decoder;
  const char *model;  /* further members of the model, with a comma behind each */
  const char *vocab;  /* further tokens, with a comma before each */
  const char *merges; /* the items */
} paper;

/* The character that stands for a byte. */
static inline unsigned paper_char(unsigned c) {
  if ((c > 32 && c < 127) || (c > 160 && c != 173)) return c;
  return c <= 32 ? 256 + c : c <= 160 ? 256 + 33 + (c - 127) : 256 + 67;
}

/* Byte c has the id c. */
static inline void paper_bytes(np_buf *b) {
  for (unsigned c = 0; c < 256; c++) {
    char text[32];
    snprintf(text, sizeof text, "%s\"\\u%04x\":%u", c ? "," : "", paper_char(c), c);
    np_buf_adds(b, text);
  }
}

static inline const char *paper_or(const char *text, const char *otherwise) {
  return text ? text : otherwise;
}

static inline np_str paper_write(np_buf *b, const paper *p) {
  np_buf_clear(b);
  np_buf_adds(b, "{\"version\":\"1.0\",\"added_tokens\":[");
  np_buf_adds(b, paper_or(p->added, ""));
  np_buf_adds(b, "],\"normalizer\":");
  np_buf_adds(b, paper_or(p->normalizer, "null"));
  np_buf_adds(b, ",\"pre_tokenizer\":");
  np_buf_adds(b, paper_or(p->pre, BYTE_LEVEL));
  np_buf_adds(b, ",\"decoder\":");
  np_buf_adds(b, paper_or(p->decoder, "{\"type\":\"ByteLevel\"}"));
  np_buf_adds(b, ",\"model\":{\"type\":\"BPE\",");
  np_buf_adds(b, paper_or(p->model, ""));
  np_buf_adds(b, "\"vocab\":{");
  paper_bytes(b);
  np_buf_adds(b, paper_or(p->vocab, ""));
  np_buf_adds(b, "},\"merges\":[");
  np_buf_adds(b, paper_or(p->merges, ""));
  np_buf_adds(b, "]}}\n");
  return np_buf_str(b);
}

static inline neap_rc paper_import(np_str text, const char *pattern, np_vocab **out,
                                   np_err *e) {
  np_import how = {"small.json", NP_LIT("small"), np_str_cstr(pattern), NP_LIT("a test")};
  return np_vocab_import(&np_alloc_libc, text, &how, out, e);
}

#endif
