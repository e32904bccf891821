/*
** The state object: what must not drift (goal, constraints, what is done, what waits), as plain
** data that a schema describes. A change is proposed by somebody, checked path by path (types,
** ranges, who may write), and taken whole or not at all. Numbers keep their written form. Pure:
** a text in, a text out; sessions keep and show it.
** next: value.h, schema.c, patch.c, object.c, changes.c
*/
#ifndef NP_LOG_OBJECT_H
#define NP_LOG_OBJECT_H

#include "base/json.h"

#define NP_OBJECT_BYTES ((size_t)64 << 10) /* of an object as it is written */
#define NP_OBJECT_VALUES 4096              /* values in it, members and items counted */
#define NP_OBJECT_DEPTH 32                 /* objects and lists in each other */
#define NP_PATCH_BYTES ((size_t)256 << 10) /* of a patch */
#define NP_PATCH_STEPS 256                 /* operations of one that is a list */
#define NP_SCHEMA_BYTES ((size_t)64 << 10)
#define NP_KEY_BYTES 256    /* of a member's key */
#define NP_OBJECT_FAULTS 20 /* that one answer lists */

typedef enum np_who {
  NP_WHO_USER,
  NP_WHO_CONTROLLER, /* the host's own program */
  NP_WHO_MODEL,
  NP_WHO_TOOL,
  NP_WHO_POLICY,
  NP_WHO_COUNT
} np_who;
const char *np_who_name(np_who who);
bool np_who_parse(np_str name, np_who *out);

typedef struct np_schema np_schema;

/* Reads a schema into the arena: a part of JSON Schema's words (type, properties, required, items,
** additionalProperties, enum, minimum, maximum, minLength, maxLength, minItems, maxItems; title,
** description, $schema are passed over) and neap's own: the type "id", writers, hard, kind.
** Members that are not listed are refused unless additionalProperties lets them in. Errors:
** NEAP_E_JSON, _UTF8, _LIMIT; NEAP_E_CONFIG with the path and the word that is wrong. */
neap_rc np_schema_read(np_arena *ar, np_str json, const np_schema **out, np_err *e);

/* What is wrong with a proposal, path by path: a JSON list [{"path","what"}, …] in `list`. */
typedef struct np_faults {
  np_buf *list;
  size_t count;
} np_faults;

typedef struct np_proposed {
  np_who
      who; /* NP_WHO_COUNT: what comes whole from elsewhere, who may write is not asked */
  np_str patch;  /* JSON: a merge patch (RFC 7396), or a list of {op, path, value} */
  bool reasoned; /* a reason is given: what goes from a list of open things needs one */
} np_proposed;

/* What the patch makes of `now` (JSON as this function wrote it; empty: nothing yet), appended to
** `out`. NEAP_E_REFUSED: `faults` says why, and `out` is as it was. Errors besides:
** NEAP_E_MEMORY. `out` gets the bytes of `now` where nothing changes. */
neap_rc np_object_propose(const np_schema *sc, np_str now, const np_proposed *p,
                          np_buf *out, np_faults *faults, const neap_alloc *a, np_err *e);

neap_rc np_object_damaged(np_err *e); /* NEAP_E_CORRUPT: an object that cannot be read */
/* The same of a patch that was taken once: nothing is checked, so that what was taken stays so. What
** is not a patch of this object is NEAP_E_CORRUPT. */
neap_rc np_object_apply(const np_schema *sc, np_str now, np_str patch, np_buf *out,
                        const neap_alloc *a, np_err *e);

/* Whether an object that was taken before stands under this schema; as above. */
neap_rc np_object_check(const np_schema *sc, np_str now, np_faults *faults,
                        const neap_alloc *a, np_err *e);

/* How many things are open: the items of lists of kind "pending" and "blocked". */
typedef struct np_open_things {
  int64_t pending, blocked;
} np_open_things;
neap_rc np_object_count(const np_schema *sc, np_str now, np_open_things *out,
                        const neap_alloc *a, np_err *e);

/* The paths that `who` may change, as one line: "/progress (list), /notes (string)". */
void np_schema_writable(const np_schema *sc, np_who who, np_buf *out);

/* What lies between two objects, as a list of {"path","from","to"} with the values as written. */
neap_rc np_object_diff(np_str from, np_str to, np_buf *out, const neap_alloc *a,
                       np_err *e);

/* The same for a model: operations of a patch that make the one of the other, each a line with a
** line end before it: `replace /status "running" (was "planning")`. changes.c */
neap_rc np_object_changes(np_str from, np_str to, np_buf *out, const neap_alloc *a,
                          np_err *e);

/* -1, 0 or 1: two JSON numbers by their value, exactly, whatever their size. */
int np_number_cmp(np_str a, np_str b);

#endif
