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

#endif
