/*
** The formats that are built in. next: mark.c
*/
#include "render/anthropic.h"
#include "render/gemini.h"
#include "render/openai.h"
#include "render/responses.h"

static const np_format *const formats[] = {&np_format_openai, &np_format_responses,
                                           &np_format_anthropic, &np_format_gemini,
                                           &np_format_text};

const np_format *np_format_at(size_t i) {
  return i < NP_COUNT(formats) ? formats[i] : NULL;
}

const np_format *np_format_find(np_str name) {
  for (size_t i = 0; i < NP_COUNT(formats); i++) {
    if (np_str_is(name, formats[i]->name)) return formats[i];
  }
  return NULL;
}
