/*
** Breakpoints of the provider's cache: where a prompt is marked so that the next one finds it
** again. At most four, in the order of the prompt:
**  1. what never changes: the last of tools and system
**  2. the stem: the last that the newest rewrite has left as it was (where that is nothing, as
**     in the first epoch: the first prompt that is long enough); at a rewrite that leaves the
**     stem before alone, that one as well
**  3. the end of the last prompt, which so is found however many blocks came behind it
**  4. the end of this one
** Within an epoch 1 and 2 stay where they are. A mark stands on no thought and on no prefix
** that is too short to be kept. The frame holds no marks: they are written into a copy.
** next: breaks.c
*/
#ifndef NP_RENDER_BREAKS_H
#define NP_RENDER_BREAKS_H

#include "render/frame.h"

#define NP_BREAKS_MAX 4

typedef struct np_breaks {
  size_t at[NP_BREAKS_MAX]; /* segments, ascending, each once */
  size_t count;
  size_t stem, newest; /* segments + 1 of the plan before; 0: none */
} np_breaks;

/* Plans the marks of the prompt that was rendered last. `minimum`: counted tokens of the
** shortest prefix that is kept. */
void np_breaks_plan(np_breaks *b, const np_frame *f, const np_view *v,
                    const np_rendered *r, int64_t minimum);
/* Where the host's own marks stand in the prompt that was rendered last, for what they cost. */
void np_breaks_of_host(np_breaks *b, const np_frame *f, const np_view *v);
/* Whether the host marks prompts itself: then the engine adds none. */
bool np_breaks_are_hosts(const np_view *v);
/* Appends the rendered body with `mark` (a JSON object) at each breakpoint. */
void np_breaks_write(const np_breaks *b, const np_frame *f, np_str body, np_str mark,
                     np_buf *out);

#endif
