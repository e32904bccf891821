/*
** The index from inside: one record per entry, per identifier and per line of a result.
** Records name each other by number, which halves them. next: index.c
*/
#ifndef NP_CITE_INDEX_H
#define NP_CITE_INDEX_H

#include "cite/cite.h"
#include "cite/drift.h"
#include "cite/map.h"

#define NP_CITE_NONE UINT32_MAX
#define NP_CITE_HOLDERS 64 /* entries remembered per identifier */
#define NP_CITE_USES 4     /* more say nothing more */
#define NP_CITE_RARE 3     /* holders */

typedef struct np_cite_entry {
  int64_t id, message, step;
  int64_t last_hit, repeated_by;
  size_t idents; /* its identifiers in the pool begin here */
  uint32_t ident_count, hits;
  uint32_t latest, written; /* facts that nothing later holds; of those the model wrote */
  uint32_t numbers, again;  /* of the latest: numbers; how often the model wrote them */
  uint32_t words;           /* rare plain words that would be facts, the same way */
  uint32_t lines;           /* distinct lines of a result */
  uint32_t shared, shared_by; /* lines that stand again in the result `shared_by` */
  np_origin who;
} np_cite_entry;

/* What would be lost with the newest holder. */
typedef enum np_cite_as { NP_CITE_NOTHING, NP_CITE_FACT, NP_CITE_WORD } np_cite_as;

typedef struct np_cite_ident {
  const char *p;
  int64_t *list; /* holders, once there are two */
  uint16_t n;
  uint8_t kind;
  uint8_t list_cap;
  bool number;          /* of class NP_CLASS_NUMBER */
  uint8_t uses;         /* entries of the model that hold it, NP_CITE_USES at most */
  uint8_t counted;      /* uses, as counted in its newest holder */
  uint8_t as;           /* what it is counted as there, np_cite_as */
  uint32_t count;       /* holders */
  uint32_t first;       /* entries by number */
  uint32_t last, other; /* newest holder; newest of another message than that one's */
  uint32_t in_last;     /* holders of the newest holder's message */
  uint32_t seen;        /* the newest entry that showed it, holder or not */
  uint32_t used;        /* the newest step in which the model wrote it, 0: none */
} np_cite_ident;

/* A line of results, by its hash: a chain of the results that hold it, newest first. */
typedef struct np_cite_line {
  uint64_t hash;
  uint32_t chain;
} np_cite_line;

typedef struct np_cite_link {
  uint32_t entry, next;
} np_cite_link;

struct np_cite {
  const neap_alloc *alloc;
  np_arena arena; /* bytes of identifiers, lists of holders */
  char *text;     /* the block that identifiers are copied into */
  size_t text_left;
  np_map by_text, by_line;
  np_cite_entry *entries;
  size_t entry_count, entry_cap;
  np_cite_ident *idents;
  size_t ident_count, ident_cap;
  uint32_t *pool; /* identifiers by entry, in order of place */
  size_t pool_count, pool_cap;
  np_citation *citations;
  size_t citation_count, citation_cap;
  np_cite_line *lines;
  size_t line_count, line_cap;
  np_cite_link *links;
  size_t link_count, link_cap;
  /* By the hash of two characters: of the known CJK identifiers that begin with them a bit for
  ** each length. Made with the first of them. Then a bit by the hash of each whole one, and of
  ** each beginning of one. */
  uint8_t *cjk_lengths, *cjk_whole, *cjk_begun;
  np_drift drift;
};

/* Enters the lines of a result, the newest entry. False when out of memory. */
bool np_cite_add_lines(np_cite *c, np_str text);

#endif
