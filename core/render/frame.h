/*
** The frozen segments of a prompt. Within an epoch a prompt is the previous one plus an
** appendix: segments are appended, and only what a change has touched is rendered anew. The
** frame compares bytes, so a rewrite cannot go unnoticed. next: same.c, frame.c
*/
#ifndef NP_RENDER_FRAME_H
#define NP_RENDER_FRAME_H

#include "render/view.h"

typedef enum np_segment_kind {
  NP_SEGMENT_HEAD,
  NP_SEGMENT_MESSAGE,
  NP_SEGMENT_NOTICE
} np_segment_kind;

typedef struct np_segment {
  np_segment_kind kind;
  int64_t ref;    /* message index, or first entry of a run */
  int64_t first;  /* first entry of the group that it is of */
  np_seam seam;   /* what the body has come to behind it */
  size_t end;     /* of its bytes in the buffer */
  int64_t tokens; /* of everything up to and with it */
  int64_t blocks; /* likewise: what the provider counts as blocks of content */
} np_segment;

typedef struct np_frame {
  const neap_alloc *alloc;
  np_buf bytes; /* segments one behind the other, then the closing part */
  np_segment *segments;
  size_t count, cap;
  size_t body_end; /* bytes without the closing part */
  size_t sent;     /* segments of the last prompt */
  int64_t last;    /* last entry that was rendered or passed over, 0: none */
  int64_t epoch;   /* from 1 */
  np_buf old;      /* scratch: what the re-rendered segments were, from old_base on */
  size_t old_base;
  np_segment *old_segments;
  size_t old_cap;
} np_frame;

typedef struct np_rendered {
  np_str body;    /* valid until the next render */
  bool rewrite;   /* something that was sent has changed: a new epoch */
  size_t kept;    /* bytes of the beginning that were not written anew */
  size_t common;  /* segments shared with the last prompt */
  int64_t cached; /* their tokens */
} np_rendered;

void np_frame_init(np_frame *f, const neap_alloc *a);
void np_frame_free(np_frame *f);

/* Renders the view: appends what is new, renders again from the lowest changed segment, and
** says what that did to the prefix. Marks entries as sent. NEAP_E_MEMORY only. */
neap_rc np_frame_render(np_frame *f, np_view *v, np_rendered *out, np_err *e);

/* Whether two renderings of a segment are one to the provider: cache marks and the brackets
** around a single text aside. same.c */
bool np_same_aside(np_str a, np_str b);

/* Tokens of segment i alone. */
static inline int64_t np_segment_tokens(const np_frame *f, size_t i) {
  return f->segments[i].tokens - (i ? f->segments[i - 1].tokens : 0);
}

#endif
