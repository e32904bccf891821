/*
** The table of caches. Factors and rules are those of the providers' guides to prompt caching,
** prices those of their lists for short prompts; dearer bands for long ones are left out. A
** source says where a row was taken from what others wrote of those lists; for rows of older
** models that is so in part: look a price up before money depends on it. next: breaks.h
*/
#include "render/cache.h"

/* clang-format off */
#define OPENAI "OpenAI, prompt caching guide and pricing", "2026-09-01"
#define CLAUDE "Anthropic, prompt caching guide and pricing", "2026-09-01"
#define GOOGLE "Google, context caching guide and pricing", "2026-09-01"
#define OPENAI_PAGE "OpenAI, the model's page", "2026-11-30"
#define OPENAI_HEARD "OpenAI's list of prices as several others quote it", "2026-11-30"
#define CLAUDE_LIST "Anthropic, pricing", "2026-11-30"
#define CLAUDE_PAGE "Anthropic, the model's page", "2026-11-30"
/* The price of a token is the provider's own word, that of one read from the cache is not. */
#define CLAUDE_HEARD                                                                     \
  "Anthropic, models overview; cache reads as several others quote its list", "2026-11-30"
#define GOOGLE_HEARD "Google's list of prices as others copied it", "2026-10-07"
#define GOOGLE_2026 "the same; twice that from 2027 on", "2026-10-07"

/* From GPT-5.6 on writes cost and a prefix lives 30 minutes; before, 5 to 10 when idle: the
** shorter is taken. */
#define GPT_NEW 1250000, 0, 1024, 128, 1800, 0, 0, 0
#define GPT_OLD 1000000, 0, 1024, 128, 300, 0, 0, 0
/* Breakpoints: 4 in a request, 20 blocks looked at from each. */
#define LIVES 1, 300, 3600, 4, 20
/* No life is stated: taken as warm. */
#define GEMINI 1000000, 0
#define IMPLICIT 1, 0, 0, 0, 0

static const np_cache caches[] = {
    {"gpt", 100000, GPT_NEW, 0, OPENAI},
    {"gpt-3.5", 1000000, GPT_OLD, 500, OPENAI},
    {"gpt-4", 1000000, GPT_OLD, 30000, OPENAI},
    {"gpt-4-", 1000000, GPT_OLD, 10000, OPENAI},
    {"gpt-4o", 500000, GPT_OLD, 2500, OPENAI},
    {"gpt-4o-mini", 500000, GPT_OLD, 150, OPENAI},
    {"chatgpt-4o", 1000000, GPT_OLD, 5000, OPENAI},
    {"gpt-4.1", 250000, GPT_OLD, 2000, OPENAI},
    {"gpt-4.1-mini", 250000, GPT_OLD, 400, OPENAI},
    {"gpt-4.1-nano", 250000, GPT_OLD, 100, OPENAI},
    {"gpt-4.5", 500000, GPT_OLD, 75000, OPENAI},
    {"gpt-5", 100000, GPT_OLD, 1250, OPENAI},
    {"gpt-5-mini", 100000, GPT_OLD, 250, OPENAI},
    {"gpt-5-nano", 100000, GPT_OLD, 50, OPENAI},
    {"gpt-5.1", 100000, GPT_OLD, 1250, OPENAI},
    {"gpt-5.4", 100000, GPT_OLD, 2500, OPENAI},
    {"gpt-5.4-mini", 100000, GPT_OLD, 750, OPENAI},
    {"gpt-5.4-nano", 100000, GPT_OLD, 200, OPENAI},
    {"gpt-5.5", 100000, GPT_OLD, 5000, OPENAI},
    {"gpt-5.6", 100000, GPT_NEW, 5000, OPENAI},
    {"gpt-6-astra", 100000, GPT_NEW, 10000, OPENAI_HEARD},
    {"gpt-6-sol", 100000, GPT_NEW, 2000, OPENAI_HEARD},
    {"gpt-6-luna", 100000, GPT_NEW, 100, OPENAI_HEARD},
    {"gpt-6.1-sol", 50000, GPT_NEW, 2000, OPENAI_HEARD},
    {"gpt-6.1-terra", 50000, GPT_NEW, 1000, OPENAI_HEARD},
    {"gpt-6.2-sol", 50000, GPT_NEW, 2000, OPENAI_PAGE},
    {"o1", 500000, GPT_OLD, 15000, OPENAI},
    {"o3", 250000, GPT_OLD, 2000, OPENAI},
    {"o4-mini", 250000, GPT_OLD, 1100, OPENAI},
    {"claude", 100000, 1250000, 2000000, 1024, LIVES, 0, CLAUDE},
    {"claude-3-haiku", 120000, 1200000, 2000000, 2048, LIVES, 250, CLAUDE},
    {"claude-3-5-haiku", 100000, 1250000, 2000000, 2048, LIVES, 800, CLAUDE},
    {"claude-3-5-sonnet", 100000, 1250000, 2000000, 1024, LIVES, 3000, CLAUDE},
    {"claude-3-7-sonnet", 100000, 1250000, 2000000, 1024, LIVES, 3000, CLAUDE},
    {"claude-3-opus", 100000, 1250000, 2000000, 1024, LIVES, 15000, CLAUDE},
    {"claude-opus-4", 100000, 1250000, 2000000, 1024, LIVES, 15000, CLAUDE},
    {"claude-opus-4-5", 100000, 1250000, 2000000, 4096, LIVES, 5000, CLAUDE},
    {"claude-opus-4-6", 100000, 1250000, 2000000, 4096, LIVES, 5000, CLAUDE},
    {"claude-opus-4-7", 100000, 1250000, 2000000, 2048, LIVES, 5000, CLAUDE},
    {"claude-opus-4-8", 100000, 1250000, 2000000, 1024, LIVES, 5000, CLAUDE},
    {"claude-opus-5", 100000, 1250000, 2000000, 512, LIVES, 5000, CLAUDE},
    {"claude-opus-5-5", 50000, 1250000, 2000000, 1024, LIVES, 4000, CLAUDE_HEARD},
    {"claude-fable-5", 100000, 1250000, 2000000, 512, LIVES, 10000, CLAUDE_LIST},
    {"claude-fable-5-1", 25000, 1250000, 2000000, 1024, LIVES, 10000, CLAUDE_LIST},
    /* what it reads for is not known: no price */
    {"claude-fable-5-2", 100000, 1250000, 2000000, 1024, LIVES, 0, CLAUDE_LIST},
    {"claude-mythos-5", 100000, 1250000, 2000000, 512, LIVES, 10000, CLAUDE_LIST},
    {"claude-mythos-5-1", 25000, 1250000, 2000000, 1024, LIVES, 10000, CLAUDE_LIST},
    {"claude-sonnet-4", 100000, 1250000, 2000000, 1024, LIVES, 3000, CLAUDE},
    {"claude-sonnet-5", 100000, 1250000, 2000000, 1024, LIVES, 2000, CLAUDE},
    {"claude-sonnet-5-5", 50000, 1250000, 2000000, 1024, LIVES, 2000, CLAUDE_HEARD},
    {"claude-haiku-5-5", 100000, 1250000, 2000000, 1024, LIVES, 100, CLAUDE_PAGE},
    {"claude-haiku-4-5", 100000, 1250000, 2000000, 4096, LIVES, 1000, CLAUDE},
    {"gemini", 100000, GEMINI, 4096, IMPLICIT, 0, GOOGLE},
    {"gemini-2.5-flash", 100000, GEMINI, 2048, IMPLICIT, 300, GOOGLE},
    {"gemini-2.5-flash-lite", 100000, GEMINI, 2048, IMPLICIT, 100, GOOGLE},
    {"gemini-2.5-pro", 100000, GEMINI, 2048, IMPLICIT, 1250, GOOGLE},
    {"gemini-3-pro", 100000, GEMINI, 4096, IMPLICIT, 2000, GOOGLE},
    {"gemini-3.1-pro", 100000, GEMINI, 4096, IMPLICIT, 2000, GOOGLE_HEARD},
    {"gemini-3.5-flash", 100000, GEMINI, 4096, IMPLICIT, 1500, GOOGLE_HEARD},
    {"gemini-3.5-flash-lite", 100000, GEMINI, 4096, IMPLICIT, 300, GOOGLE_HEARD},
    {"gemini-3.8-flash", 100000, GEMINI, 4096, IMPLICIT, 750, GOOGLE_2026},
    {"text", 100000, 1250000, 0, 0, 1, 0, 0, 0, 0, 0,
     "none: no provider takes plain text; the factors of the newest models", "2026-09-01"},
};
/* clang-format on */

const np_cache *np_cache_at(size_t i) {
  return i < NP_COUNT(caches) ? &caches[i] : NULL;
}

const np_cache *np_cache_find(np_str name) {
  const np_cache *best = NULL;
  size_t longest = 0;
  for (size_t i = 0; i < NP_COUNT(caches); i++) {
    size_t n = np_model_fit(name, caches[i].name);
    if (n <= longest) continue;
    longest = n;
    best = &caches[i];
  }
  return best;
}

const np_cache *np_cache_default(np_str format) {
  if (np_str_is(format, "text")) return np_cache_find(format);
  return np_cache_find(np_str_cstr(np_model_default(format)->name));
}
