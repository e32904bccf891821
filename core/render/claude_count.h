/*
** What Anthropic's requests cost besides the texts, in tokens of the model. Published: what
** tools add (model.h), images (model.h), and the counts of whole small requests, from which
** the framing of a message and of the answer follow. Not published: calls, results, schemas.
** All of it is an estimate; factor and bound of the model cover it. next: gemini_count.h
*/
#ifndef NP_RENDER_CLAUDE_COUNT_H
#define NP_RENDER_CLAUDE_COUNT_H

#include <stdint.h>

typedef struct np_claude_cost {
  uint32_t message; /* each message, its role included */
  uint32_t reply;   /* priming of the answer, once */
  uint32_t tool;    /* a tool, besides name, description and schema as JSON text */
  uint32_t call;    /* a tool_use block, besides name and input as JSON text */
  uint32_t result;  /* a tool_result block, besides its content */
} np_claude_cost;

/* "Hello" alone counts 8, with a system prompt of four words and "Hello, Claude" 14:
** platform.claude.com, token counting, 2026-09-01. */
static const np_claude_cost np_claude_cost_table = {
    .message = 4, .reply = 3, .tool = 12, .call = 26, .result = 12};

#endif
