/*
** Trimmed JSON with its mark. For mark_trim.c only. next: mark_json.c
*/
#ifndef NP_RENDER_MARK_JSON_H
#define NP_RENDER_MARK_JSON_H

#include "render/mark.h"
#include "render/trim_json.h"

/* A trim of at most ask->tokens tokens and ask->lines lines that parses; `all`: tokens of the
** text. *over, and nothing written, when not even the mark alone has as few. NEAP_E_MEMORY
** only. */
neap_rc np_mark_json(np_view *v, const np_entry *en, const np_json_doc *doc, size_t all,
                     const np_trim_ask *ask, np_buf *out, bool *over, np_err *e);

#endif
