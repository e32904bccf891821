/*
** What Gemini's requests cost besides the texts, in tokens of the model. Published: images
** (model.h), pages of documents, and that text counts as itself: "The quick brown fox jumps
** over the lazy dog." is 10 or 11 with its turn. Not published: calls, results, schemas. All
** of it is an estimate; factor and bound of the model cover it. next: mark.c
*/
#ifndef NP_RENDER_GEMINI_COUNT_H
#define NP_RENDER_GEMINI_COUNT_H

#include <stdint.h>

typedef struct np_gemini_cost {
  uint32_t message; /* each turn of contents */
  uint32_t reply;   /* priming of the answer, once */
  uint32_t tool;    /* a function, besides name, description and schema as JSON text */
  uint32_t call;    /* a functionCall part, besides name and arguments as JSON text */
  uint32_t result;  /* a functionResponse part, besides name and response as JSON text */
} np_gemini_cost;

/* ai.google.dev, tokens guide, 2026-09-01. */
static const np_gemini_cost np_gemini_cost_table = {
    .message = 1, .reply = 1, .tool = 8, .call = 8, .result = 8};

#endif
