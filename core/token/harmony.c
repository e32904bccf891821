/*
** o200k_harmony: the tokens of o200k_base with special tokens of its own, those of the gpt-oss
** models' message form. Ids as OpenAI published them with o200k_harmony: eleven have names,
** the others up to 201,087 are reserved by number. next: count.c
*/
#include <stdio.h>

#include "token/vocab.h"

#define FIRST 199998u
#define LAST 201087u
#define TEXT 24 /* bytes, enough for "<|reserved_201087|>" */

static const struct named {
  uint32_t id;
  const char *text;
} named[] = {
    {199998, "<|startoftext|>"}, {199999, "<|endoftext|>"}, {200002, "<|return|>"},
    {200003, "<|constrain|>"},   {200005, "<|channel|>"},   {200006, "<|start|>"},
    {200007, "<|end|>"},         {200008, "<|message|>"},   {200012, "<|call|>"},
    {200018, "<|endofprompt|>"},
};

/* What a vocabulary wears in the place of its own special tokens. */
typedef struct worn {
  np_special special[LAST - FIRST + 1];
  char texts[(LAST - FIRST + 1) * TEXT];
} worn;

neap_rc np_vocab_harmony(np_vocab *v, const np_encoding_info *info, np_err *e) {
  worn *w = np_calloc(&v->alloc, 1, sizeof *w);
  if (!w) return np_fail_mem(e);
  for (uint32_t id = FIRST, next = 0; id <= LAST; id++) {
    uint32_t at = (id - FIRST) * TEXT;
    bool has_name = next < NP_COUNT(named) && named[next].id == id;
    if (has_name) snprintf(w->texts + at, TEXT, "%s", named[next++].text);
    else snprintf(w->texts + at, TEXT, "<|reserved_%lu|>", (unsigned long)id);
    w->special[id - FIRST] =
        (np_special){id, at, (uint32_t)strlen(w->texts + at), (uint8_t)'<'};
  }
  v->worn = w;
  v->special = w->special;
  v->texts = w->texts;
  v->specials = LAST - FIRST + 1;
  memset(v->special_first, 0, sizeof v->special_first);
  v->special_first['<' >> 3] |= 1u << ('<' & 7);
  v->info = info;
  return NEAP_OK;
}
