/*
** Validators: does a whole request body keep its provider's rules? Written from what the
** providers document and refuse, knowing nothing of how neap renders, so that a renderer's
** mistake and a validator's are two mistakes. A post-condition of every prompt in builds with
** -DNEAP_CHECK, and called by every property test. next: check.c
*/
#ifndef NP_RENDER_CHECK_H
#define NP_RENDER_CHECK_H

#include "base/err.h"
#include "base/mem.h"

/* Checks `body` against the rules of `format` (openai, responses, anthropic, gemini, text).
** NEAP_E_SHAPE at the first rule that is broken, *e being one line: where, what. Then bytes
** that are no JSON or no UTF-8 (NEAP_E_JSON, NEAP_E_UTF8, NEAP_E_LIMIT), NEAP_E_FORMAT for a
** name that is none of these, NEAP_E_MEMORY.
** `strict` adds what the host is answerable for: schemas of the provider's shape, and what
** providers bear: members that stand twice in an object, arguments that are no JSON, calls of
** tools that the request does not have. Linear in the body's size times its depth. */
neap_rc np_check(const neap_alloc *a, np_str format, np_str body, bool strict, np_err *e);

#endif
