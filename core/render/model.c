/*
** The table of models. Where a vocabulary is not public, the factor is the middle and the
** bound the reach of what was measured on prose and code; calibration narrows it while the
** agent runs. next: claude_count.h, gemini_count.h
*/
#include "render/model.h"

/* OpenAI, vision guide, 2026-09; a million-pixel square counts 765, 630, 620, 25,501. */
static const np_image_cost gpt_4o = {.rule = NP_IMAGE_TILES, .base = 85, .tile = 170};
static const np_image_cost gpt_4o_mini = {
    .rule = NP_IMAGE_TILES, .base = 2833, .tile = 5667};
static const np_image_cost o_series = {.rule = NP_IMAGE_TILES, .base = 75, .tile = 150};
static const np_image_cost gpt_5 = {.rule = NP_IMAGE_TILES, .base = 70, .tile = 140};
static const np_image_cost mini = {
    .rule = NP_IMAGE_PATCHES, .side = 32, .most = 1536, .whole = true, .percent = 162};
static const np_image_cost nano = {
    .rule = NP_IMAGE_PATCHES, .side = 32, .most = 1536, .whole = true, .percent = 246};
static const np_image_cost o4_mini = {
    .rule = NP_IMAGE_PATCHES, .side = 32, .most = 1536, .whole = true, .percent = 172};
/* Measured on sizes up to 3840 x 2160: 1.2 tokens for each 32-pixel patch, no shrinking. */
static const np_image_cost gpt_newest = {
    .rule = NP_IMAGE_PATCHES, .side = 32, .edge = 6000, .most = 10000, .percent = 120};
/* Anthropic, vision guide, 2026-09: about w * h / 750 (28-pixel patches); longer side and
** patches at most 1568, in the newest generation 2576 and 4784. */
static const np_image_cost claude_4 = {
    .rule = NP_IMAGE_PATCHES, .side = 28, .edge = 1568, .most = 1568, .percent = 100};
static const np_image_cost claude_5 = {
    .rule = NP_IMAGE_PATCHES, .side = 28, .edge = 2576, .most = 4784, .percent = 100};
/* Google, token guide, 2026-09: 258 a crop; from Gemini 3 on by resolution, 1,120 unasked. */
static const np_image_cost gemini_2 = {.rule = NP_IMAGE_CROPS, .tile = 258};
static const np_image_cost gemini_3 = {.rule = NP_IMAGE_FLAT, .base = 1120};

#define OPENAI "OpenAI, models and vision guides", "2026-09-01"
#define CLAUDE                                                                           \
  "Anthropic, tool use, vision, token counting; counts against o200k_base", "2026-09-01"
#define GOOGLE "Google, models and tokens guides; counts against o200k_base", "2026-09-01"
#define O200K "o200k_base", true, NP_MILLION, 0
#define CL100K "cl100k_base", true, NP_MILLION, 0
/* English 4.3 characters a token, o200k_base 4.7; code up to 1.3 times as many. */
#define CLAUDE_OLD "o200k_base", false, 1200000, 200000
/* The newer tokenizer: 1.0 to 1.47 times as many again, about 1.3 says the provider. */
#define CLAUDE_NEW "o200k_base", false, 1450000, 200000
/* English 5 to 10 % more than o200k_base, many other scripts fewer. */
#define GEMINI "o200k_base", false, 1100000, 150000

/* Published for Claude: 1,500 to 3,000 tokens of text a page, and the page as a picture; for
** Gemini: 258, from 3 on 560 where no resolution is asked for. OpenAI says the same of text
** and picture, without a figure: a full page of text and the largest picture. */
#define PAGE_CLAUDE (3000 + 1568)
#define PAGE_CLAUDE_5 (3000 + 4784)
#define PAGE_OPENAI (1500 + 1445)

static const np_model models[] = {
    {"gpt", O200K, 0, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-3.5-turbo", CL100K, 16385, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-4", CL100K, 8192, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-4-turbo", CL100K, 128000, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-4-1106", CL100K, 128000, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-4-0125", CL100K, 128000, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-4o", O200K, 128000, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-4o-mini", O200K, 128000, &gpt_4o_mini, PAGE_OPENAI, 0, 0, OPENAI},
    {"chatgpt-4o", O200K, 128000, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-4.1", O200K, 1047576, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-4.1-mini", O200K, 1047576, &mini, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-4.1-nano", O200K, 1047576, &nano, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-4.5", O200K, 128000, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-5", O200K, 400000, &gpt_5, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-5-mini", O200K, 400000, &mini, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-5-nano", O200K, 400000, &nano, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-5.", O200K, 400000, &gpt_newest, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-5.1", O200K, 400000, &gpt_5, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-6", O200K, 400000, &gpt_newest, PAGE_OPENAI, 0, 0, OPENAI},
    {"gpt-oss", O200K, 131072, &gpt_4o, PAGE_OPENAI, 0, 0, OPENAI},
    {"o1", O200K, 200000, &o_series, PAGE_OPENAI, 0, 0, OPENAI},
    {"o3", O200K, 200000, &o_series, PAGE_OPENAI, 0, 0, OPENAI},
    {"o4-mini", O200K, 200000, &o4_mini, PAGE_OPENAI, 0, 0, OPENAI},
    {"claude", CLAUDE_NEW, 200000, &claude_5, PAGE_CLAUDE_5, 675, 804, CLAUDE},
    {"claude-3", CLAUDE_OLD, 200000, &claude_4, PAGE_CLAUDE, 346, 355, CLAUDE},
    {"claude-opus-4", CLAUDE_OLD, 200000, &claude_4, PAGE_CLAUDE, 313, 315, CLAUDE},
    {"claude-sonnet-4", CLAUDE_OLD, 200000, &claude_4, PAGE_CLAUDE, 313, 315, CLAUDE},
    {"claude-opus-4-5", CLAUDE_OLD, 200000, &claude_4, PAGE_CLAUDE, 496, 588, CLAUDE},
    {"claude-sonnet-4-5", CLAUDE_OLD, 200000, &claude_4, PAGE_CLAUDE, 496, 588, CLAUDE},
    {"claude-haiku-4-5", CLAUDE_OLD, 200000, &claude_4, PAGE_CLAUDE, 496, 588, CLAUDE},
    {"claude-opus-4-6", CLAUDE_OLD, 200000, &claude_4, PAGE_CLAUDE, 497, 589, CLAUDE},
    {"claude-sonnet-4-6", CLAUDE_OLD, 200000, &claude_4, PAGE_CLAUDE, 497, 589, CLAUDE},
    {"claude-opus-4-7", CLAUDE_NEW, 200000, &claude_5, PAGE_CLAUDE_5, 675, 804, CLAUDE},
    {"claude-opus-4-8", CLAUDE_NEW, 200000, &claude_5, PAGE_CLAUDE_5, 290, 410, CLAUDE},
    {"claude-opus-5", CLAUDE_NEW, 200000, &claude_5, PAGE_CLAUDE_5, 286, 406, CLAUDE},
    {"claude-sonnet-5", CLAUDE_NEW, 200000, &claude_5, PAGE_CLAUDE_5, 354, 474, CLAUDE},
    {"gemini", GEMINI, 1048576, &gemini_3, 560, 0, 0, GOOGLE},
    {"gemini-1.5", GEMINI, 1048576, &gemini_2, 258, 0, 0, GOOGLE},
    {"gemini-2", GEMINI, 1048576, &gemini_2, 258, 0, 0, GOOGLE},
};

const np_model *np_model_at(size_t i) {
  return i < NP_COUNT(models) ? &models[i] : NULL;
}

/* Where a model's own name may begin: at the start, or behind a provider's prefix. */
static bool begins_at(np_str name, size_t at) {
  return !at || memchr("/.:", name.p[at - 1], 3);
}

static size_t fit_at(np_str name, size_t at, const char *row) {
  size_t n = strlen(row);
  return name.n - at >= n && memcmp(name.p + at, row, n) == 0 ? n : 0;
}

size_t np_model_fit(np_str name, const char *row) {
  size_t longest = 0;
  for (size_t at = 0; !longest && at < name.n && at < 256; at++) {
    if (begins_at(name, at)) longest = fit_at(name, at, row);
  }
  return longest;
}

const np_model *np_model_find(np_str name) {
  const np_model *best = NULL;
  size_t longest = 0;
  for (size_t i = 0; i < NP_COUNT(models); i++) {
    size_t n = np_model_fit(name, models[i].name);
    if (n <= longest) continue;
    longest = n;
    best = &models[i];
  }
  return best;
}

bool np_model_binds(const np_model *m) {
  static const char *const names[] = {"claude", "claude-opus-5", "claude-sonnet-5"};
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    if (strcmp(m->name, names[i]) == 0) return true;
  }
  return false;
}

const np_model *np_model_default(np_str format) {
  np_str name = NP_LIT("gpt");
  if (np_str_is(format, "anthropic")) name = NP_LIT("claude");
  if (np_str_is(format, "gemini")) name = NP_LIT("gemini");
  return np_model_find(name);
}
