/*
** The tools of a session: every schema that the host and the engine have given, and which of
** them the prompts begin with. What is shown is frozen within an epoch; it changes where the
** prompt is written anew anyway, or must shrink to fit, and never below what visible calls
** name. A tool is known by its name and is no entry. next: tools.c, tool_list.c
*/
#ifndef NP_PACK_TOOLS_H
#define NP_PACK_TOOLS_H

#include "render/frame.h"

typedef struct np_pack np_pack;

/* Bits of a tool's state. */
#define NP_TOOL_SHOWN 1u  /* the prompts of this epoch begin with it */
#define NP_TOOL_WANTED 2u /* the policy wants it shown */
#define NP_TOOL_FOUND 4u /* the model has looked for it: shown from the next rewrite on */
#define NP_TOOL_BITS 7u

typedef struct np_tool_item {
  np_str name;        /* decoded; two tools of one name are shown or hidden together */
  np_str description; /* decoded, may be empty */
  np_str raw;         /* its schema */
  bool fixed; /* always shown: the engine's, one that the request names, no name */
  bool ours;  /* the engine's */
  uint8_t bits;
  int64_t tokens; /* of a list of it alone; -1: not counted yet */
  int64_t calls;  /* of the whole history */
  int64_t last;   /* step of the newest one */
} np_tool_item;

typedef struct np_toolset {
  np_str all, request; /* raw: the array of every schema; the host's members */
  bool recall;
  np_tool_item *items; /* in the order of `all` */
  size_t count, cap;
  uint32_t *by_name; /* indices, ordered by name, then by place */
  size_t by_name_cap;
  size_t seen;    /* entries whose calls have been counted */
  np_buf text;    /* the array that is shown, when it is not `all` */
  np_buf why, by; /* of the policy's last wish */
  np_buf saved;   /* scratch */
  bool *named;    /* scratch, by item */
  size_t named_cap;
  np_arena arena; /* names and descriptions */
} np_toolset;

void np_toolset_init(np_toolset *t, const neap_alloc *a);
void np_toolset_free(np_toolset *t);

/* Gives the session its tools; all are shown and wanted. Slices must outlive the pack. What is
** no array of objects has no tools. NEAP_E_MEMORY only. */
neap_rc np_pack_tools_set(np_pack *p, np_str all, np_str request, bool recall, np_err *e);

/* The range [*from, *to) of by_name of that name; false when there is none. */
bool np_toolset_find(const np_toolset *t, np_str name, size_t *from, size_t *to);
static inline np_tool_item *np_toolset_at(const np_toolset *t, size_t by_name) {
  return &t->items[t->by_name[by_name]];
}
bool np_toolset_has(const np_toolset *t, const char *name_cstr);

/* The tools that are to be shown at the next rewrite, visible calls aside. */
static inline bool np_tool_stays(const np_tool_item *i) {
  return i->fixed || (i->bits & (NP_TOOL_WANTED | NP_TOOL_FOUND));
}

/* Sets named[i] for each tool that a visible call names. Costs what is shown. */
void np_pack_tools_named(np_pack *p);
/* Tokens of a list of the tool alone. */
int64_t np_pack_tool_tokens(np_pack *p, size_t item);

/* What is sent is written anew in this turn, or nothing has been sent. */
static inline bool np_frame_rewrites(const np_frame *f, const np_view *v) {
  return v->dirty < f->sent || !f->sent;
}

/* The whole state as bytes, for the undo and the log: a digit a tool, NUL, by, NUL, why. */
void np_toolset_save(const np_toolset *t, np_buf *out);
/* Back to such a state; false when it is none of this list of tools, or memory is out: then
** view.lost is set. */
bool np_pack_tools_load(np_pack *p, np_str saved);

/* tool_list.c: the array of the tools that are shown, in its own bytes. A list of declarations
** inside one tool keeps its other members. */
void np_toolset_write(const np_toolset *t, np_buf *out);
/* Visits every tool of an array in order: those of a list of declarations one by one. */
typedef bool (*np_tool_fn)(void *ctx, np_json tool);
bool np_tool_each(np_json all, np_tool_fn fn, void *ctx);

#endif
