/*
** Values of a state object while it is worked on: a tree in an arena, members in the order of
** their keys' bytes. For the object's files only. next: value.c
*/
#ifndef NP_LOG_VALUE_H
#define NP_LOG_VALUE_H

#include "log/object.h"

typedef struct np_value {
  np_json_type type;
  np_str key;  /* of a member, decoded */
  np_str text; /* a string decoded; numbers and literals as written */
  struct np_value *items;
  uint32_t count, cap;
} np_value;

/* What one piece of work shares: where values live, what was found wrong, and where. */
typedef struct np_work {
  np_arena ar;
  np_buf path; /* a JSON pointer, of where the walk is */
  np_faults *faults;
  size_t values; /* read so far */
  bool failed;   /* out of memory */
} np_work;

void np_work_init(np_work *w, const neap_alloc *a, np_faults *faults);
void np_work_free(np_work *w);

/* One step down the path, and back: what np_path_push gave. */
size_t np_path_push(np_work *w, np_str key);
size_t np_path_push_at(np_work *w, size_t index);
static inline void np_path_pop(np_work *w, size_t to) {
  w->path.n = to;
}

/* Notes what is wrong at the path. `fmt` as for np_fail. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void np_fault(np_work *w, const char *fmt, ...);

/* Reads a checked JSON value. What a state cannot hold is noted: null (unless `nulls`), a member
** given twice, half a surrogate pair, a zero character, what is too deep or too much. */
bool np_value_read(np_work *w, np_json v, bool nulls, np_value *out);
/* The member of that key, or where it would stand. */
bool np_value_find(const np_value *object, np_str key, uint32_t *at);
/* Room for a value at that place of an object or list; NULL when out of memory. */
np_value *np_value_insert(np_work *w, np_value *parent, uint32_t at);
void np_value_remove(np_value *parent, uint32_t at);
/* Equal as written; with `by_value` numbers by what they are. */
bool np_value_same(const np_value *a, const np_value *b, bool by_value);

/* The kinds of a list of open things. */
typedef enum np_open_kind { NP_OPEN_NONE, NP_OPEN_PENDING, NP_OPEN_BLOCKED } np_open_kind;

enum {
  NP_TYPE_STRING = 1,
  NP_TYPE_NUMBER = 2,
  NP_TYPE_INTEGER = 4,
  NP_TYPE_BOOLEAN = 8,
  NP_TYPE_ARRAY = 16,
  NP_TYPE_OBJECT = 32,
  NP_TYPE_ID = 64
};

struct np_schema {
  np_str key;
  unsigned types; /* a set; 0: any */
  np_schema *props;
  size_t prop_count;
  uint32_t *by_key;       /* indexes of props, in the order of their keys */
  const np_schema *items; /* NULL: any */
  const np_schema *more;  /* members that are not listed; NULL: none may be */
  np_value choice;        /* enum: a list; type NONE: any */
  np_str minimum, maximum;
  int64_t min_length, max_length, min_items, max_items; /* -1: no limit */
  unsigned writers;                                     /* a set of np_who */
  bool required, hard;
  np_open_kind open;
};

/* The schema of a member; NULL: there may be none of that key. */
const np_schema *np_schema_member(const np_schema *sc, np_str key);
/* Writes the value: declared members in the schema's order, others behind them by their keys. */
void np_value_write(const np_schema *sc, const np_value *v, bool lines, np_buf *out);
/* A text as JSON, in which no character is one that is not seen. */
void np_value_quote(np_buf *out, np_str text);
/* Applies a patch, an object or a list, to the object; notes what is wrong. */
void np_patch_apply(np_work *w, np_value *object, const np_value *patch);
/* An object as it was written; empty: one without members. False: it cannot be read, or memory is
** out (w->failed). */
bool np_object_read(np_work *w, np_str now, np_value *out);
/* Notes what of the object is not as the schema has it. */
void np_schema_check(np_work *w, const np_schema *sc, const np_value *v);
/* Notes what differs and is not for `who` to change. NULL: nothing there. */
void np_schema_allow(np_work *w, const np_schema *sc, const np_value *was,
                     const np_value *now, const np_proposed *p);

#endif
