/*
** What the files of extracts share. Not for others. next: extract.c
*/
#ifndef NP_TEXT_EXTRACT_OWN_H
#define NP_TEXT_EXTRACT_OWN_H

#include "text/extract.h"

/* One part that is looked for in one text. */
typedef struct np_extract_job {
  np_str text;
  const np_extract *what;
  const neap_alloc *alloc;
  np_stretches *out;
  np_err *err;
} np_extract_job;

neap_rc np_extract_match(np_extract_job *j);
neap_rc np_extract_json(np_extract_job *j);
neap_rc np_extract_items(np_extract_job *j); /* ROWS of a JSON array */
neap_rc np_extract_rows(np_extract_job *j);
neap_rc np_extract_section(np_extract_job *j);
neap_rc np_extract_outline(np_extract_job *j);
/* The shape of a JSON text, a line a path, appended to `out`. Errors: those of np_json_walk. */
neap_rc np_json_shape(np_str text, const neap_alloc *a, np_buf *out, np_err *e);

#endif
