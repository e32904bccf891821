/*
** A query as units, each of which FTS5 looks up by itself, and the best entries that they
** find. query.c reads and looks up, rank.c weighs, find.c is the way from one to the other.
** next: query.c
*/
#ifndef NP_STORE_QUERY_H
#define NP_STORE_QUERY_H

#include "store/fts.h"

#define NP_QUERY_MAX 65536 /* bytes of a query that are looked at */
#define NP_LOOKED 512      /* units of one query; what follows is not looked for */
#define NP_UNITS 64        /* of which those that weigh most count */
#define NP_ROWS 2048 /* of one unit that are weighed, the newest: a millisecond's work; */
#define NP_ROWS_ALL 16384 /* of all units that are looked up, so that a long query */
#define NP_ROWS_LEAST 64  /* of one of them, takes some milliseconds as well */
#define NP_SHORTLIST 256  /* entries of which all is looked at */

/* A word, or a pair of CJK characters: one token of the index. */
typedef struct np_unit {
  uint64_t hash;   /* of its lower case */
  size_t from, to; /* in the query */
  bool name;       /* looks like an identifier rather than a word */
  bool begins;     /* one CJK character: whatever begins with it */
  bool more;       /* there are older rows than those that are here */
  size_t rows, at; /* in np_query.rows: how many, and where they begin */
  int64_t df;      /* entries that hold it; an estimate when there are more */
  double weight;
  bool stop; /* in so many entries that it says nothing */
} np_unit;

typedef struct np_query {
  np_str text;
  int64_t from, to;            /* ids of docs that may be seen */
  int64_t docs, words;         /* in that range */
  np_unit unit[NP_LOOKED + 1]; /* the last: entries with all units */
  size_t n;
  size_t most;    /* rows of one unit */
  int64_t newest; /* of the docs */
  bool own;       /* one session, whose task every prompt shows */
  np_buf rows;    /* ids (int64_t) of each unit's entries, the newest first */
} np_query;

/* Which of the entries with a unit it is: what showed it last, or first, says more of it. */
typedef enum np_holds {
  NP_HOLDS_NOT,
  NP_HOLDS_LAST,
  NP_HOLDS_FIRST,
  NP_HOLDS_TOO
} np_holds;

/* An entry that was found. */
typedef struct np_found {
  int64_t id;
  uint8_t has[NP_UNITS]; /* np_holds: each unit */
  unsigned units;        /* how many it holds */
  double score;
  int64_t seq, part, rank, step, pair, cites, words;
  double near;   /* what its neighbours gave; */
  double factor; /* for age, citations, kind */
  double own;    /* by its words alone */
} np_found;

typedef struct np_short {
  np_found at[2 * NP_SHORTLIST]; /* room for neighbours */
  size_t n;
} np_short;

/* Cuts the text into units and looks them up. `q` is zeroed but for text, range and figures. */
neap_rc np_query_look(np_sqlite *sq, np_query *q, np_err *e);
/* The id of the unit's i-th row. */
int64_t np_query_row(const np_query *q, const np_unit *u, size_t i);
/* How much a unit says: the rarer the more, and a name more than a word. */
double np_unit_weight(const np_query *q, const np_unit *u);
/* The entries with most of what was looked up. */
void np_query_collect(np_query *q, np_short *out);
/* Weighs them, with all that is known of them; best first. Those that come with others (a
** call's result) may be added. */
neap_rc np_rank(np_sqlite *sq, const np_query *q, np_short *list, np_err *e);

#endif
