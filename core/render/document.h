/*
** What a document in a message costs: providers read a PDF page by page, as its text and as a
** picture of it; its bytes are not text. An estimate, since the pages' text is not known
** here. Other files are for the caller. next: document.c
*/
#ifndef NP_RENDER_DOCUMENT_H
#define NP_RENDER_DOCUMENT_H

#include "render/model.h"

/* Whether the part is a PDF, or a document that the provider keeps or fetches: *pages gets how
** many pages it has, a guess where they cannot be told (*pages is never 0). Forms: file.
** file_data, file_data, source.data, inlineData.data; file_id, file_url, source.url,
** fileData. Linear in the part's bytes; decodes without memory. */
bool np_document_read(np_json part, uint32_t *pages);

/* Tokens of so many pages for the model. */
uint32_t np_document_tokens(const np_model *m, uint32_t pages);

#endif
