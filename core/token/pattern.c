/*
** The table of known ways to split: a pre_tokenizer is a row of steps, and each step is
** compared letter by letter. A pattern that means the same in other words is a row of its
** own; one that nobody has looked at is refused, however near it comes. next: hf.c
*/
#include "token/import.h"

#define WHITE "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SHORT "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UP "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOW "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define LEAD "[^\\r\\n\\p{L}\\p{N}]?"
#define CL100K(digits)                                                                   \
  SHORT "|" LEAD "\\p{L}+|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" WHITE
#define CASED(short, digits)                                                             \
  LEAD UP "*" LOW "+" short "|" LEAD UP "+" LOW                                          \
                            "*" short "|" digits                                         \
                                      "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" WHITE
#define GPT2                                                                             \
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

#define STEPS 5

/* A step is a kind and, for splits, a pattern: S cuts what matches and what lies between
** apart; b and B are ByteLevel, B with its own (GPT-2's) pattern; d and D cut digits out, D
** one by one. `total` patterns match every character: then it makes no difference whether
** what lies between matches is kept. The first row of a kind bears its name. */
static const struct family {
  uint32_t split;
  const char *name;
  bool total;
  const char *steps[STEPS];
} families[] = {
    {NP_SPLIT_CL100K, "cl100k", true, {"S" CL100K("\\p{N}{1,3}"), "b"}},
    {NP_SPLIT_CL100K,
     NULL,
     true,
     {"S'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+|"
      " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
      "b"}},
    {NP_SPLIT_CL100K,
     NULL,
     true,
     {"S'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}|"
      " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
      "b"}},
    {NP_SPLIT_O200K, "o200k", true, {"S" CASED(SHORT "?", "\\p{N}{1,3}"), "b"}},
    {NP_SPLIT_QWEN2, "qwen2", true, {"S" CL100K("\\p{N}"), "b"}},
    {NP_SPLIT_QWEN2,
     NULL,
     true,
     {"S'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}|"
      " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
      "b"}},
    {NP_SPLIT_QWEN35,
     "qwen35",
     true,
     {"S" SHORT "|" LEAD
      "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" WHITE,
      "b"}},
    {NP_SPLIT_TEKKEN, "tekken", true, {"S" CASED("", "\\p{N}"), "b"}},
    {NP_SPLIT_DEEPSEEK3,
     "deepseek3",
     false,
     {"S\\p{N}{1,3}", "S[一-龥぀-ゟ゠-ヿ]+",
      "S[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|"
      "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
      "\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
      "b"}},
    {NP_SPLIT_GPT2, "gpt2", true, {"B"}},
    {NP_SPLIT_GPT2, NULL, true, {"S" GPT2, "b"}},
    {NP_SPLIT_GPT2_DIGITS, "gpt2-digits", false, {"D", "B"}},
    {NP_SPLIT_GPT2_NUMBERS, "gpt2-numbers", false, {"d", "B"}},
};

uint32_t np_pattern_named(np_str name) {
  for (size_t i = 0; i < NP_COUNT(families); i++) {
    const struct family *f = &families[i];
    if (f->name && np_str_is(name, f->name)) return f->split;
    if (f->total && f->steps[0][0] == 'S' && np_str_is(name, f->steps[0] + 1)) {
      return f->split;
    }
  }
  return 0;
}

void np_pattern_names(np_buf *b) {
  for (size_t i = 0; i < NP_COUNT(families); i++) {
    if (!families[i].name) continue;
    if (i) np_buf_adds(b, ", ");
    np_buf_adds(b, families[i].name);
  }
}

/* ---- reading steps ---- */

typedef struct steps {
  np_buf text; /* the steps one after another */
  size_t end[STEPS];
  size_t n;
  bool removed; /* a split keeps its matches alone */
} steps;

static bool is_true(np_json object, const char *key, bool otherwise) {
  np_json v;
  if (!np_json_get(object, key, &v) || v.type != NP_JSON_BOOL) return otherwise;
  return v.raw.p[0] == 't';
}

static bool member_is(np_json object, const char *key, const char *text) {
  np_json v;
  return np_json_get(object, key, &v) && v.type == NP_JSON_STRING &&
         np_json_is_key(v.raw, text);
}

static neap_rc unknown(const np_draft *d, np_json what, const char *reason, np_err *e) {
  int n = what.raw.n < 160 ? (int)what.raw.n : 160;
  return np_fail(e, NEAP_E_VOCAB,
                 "%s: pre_tokenizer %.*s%s %s; neap splits exactly or not "
                 "at all",
                 d->where, n, what.raw.p, what.raw.n > 160 ? "…" : "", reason);
}

static neap_rc read_split(const np_draft *d, np_json step, steps *s, np_err *e) {
  np_json pattern, regex;
  if (!np_json_get(step, "pattern", &pattern) || !np_json_get(pattern, "Regex", &regex) ||
      regex.type != NP_JSON_STRING) {
    return unknown(d, step, "has no pattern that is a Regex", e);
  }
  bool invert = is_true(step, "invert", false);
  if (member_is(step, "behavior", "Removed") && invert) {
    s->removed = true;
  } else if (!member_is(step, "behavior", "Isolated") || invert) {
    return unknown(d, step, "does not keep matches apart (Isolated)", e);
  }
  np_buf_addc(&s->text, 'S');
  np_json_text(regex, &s->text);
  return NEAP_OK;
}

static neap_rc read_step(const np_draft *d, np_json step, steps *s, np_err *e) {
  neap_rc rc = NEAP_OK;
  if (s->n == STEPS) return unknown(d, step, "is one step too many", e);
  if (member_is(step, "type", "Split")) {
    rc = read_split(d, step, s, e);
  } else if (member_is(step, "type", "ByteLevel")) {
    if (is_true(step, "add_prefix_space", true)) {
      return unknown(d, step, "puts a blank before the text (add_prefix_space)", e);
    }
    np_buf_addc(&s->text, is_true(step, "use_regex", true) ? 'B' : 'b');
  } else if (member_is(step, "type", "Digits")) {
    np_buf_addc(&s->text, is_true(step, "individual_digits", false) ? 'D' : 'd');
  } else {
    rc = unknown(d, step, "is of a type that is not known", e);
  }
  s->end[s->n++] = s->text.n;
  return rc;
}

static neap_rc read_steps(const np_draft *d, np_json pre, steps *s, np_err *e) {
  np_json list, step;
  neap_rc rc = NEAP_OK;
  if (!member_is(pre, "type", "Sequence")) return read_step(d, pre, s, e);
  if (!np_json_get(pre, "pretokenizers", &list) || list.type != NP_JSON_ARRAY) {
    return unknown(d, pre, "has no steps", e);
  }
  np_json_iter it = np_json_each(list);
  while (!rc && np_json_next(&it, NULL, &step)) rc = read_step(d, step, s, e);
  return rc;
}

static bool same_steps(const struct family *f, const steps *s) {
  if (s->removed && !f->total) return false;
  for (size_t i = 0; i < STEPS; i++) {
    size_t from = i ? s->end[i - 1] : 0;
    if (i >= s->n || !f->steps[i]) return i == s->n && !f->steps[i];
    np_str step = np_str_of(s->text.p + from, s->end[i] - from);
    if (!np_str_is(step, f->steps[i])) return false;
  }
  return true;
}

neap_rc np_pattern_of(const np_draft *d, np_json pre, uint32_t *split, np_err *e) {
  steps s = {.n = 0};
  np_buf_init(&s.text, d->alloc);
  *split = 0;
  if (pre.type != NP_JSON_OBJECT) {
    return np_fail(e, NEAP_E_VOCAB,
                   "%s: has no pre_tokenizer: it is no byte-level vocabulary, the only "
                   "kind neap reads",
                   d->where);
  }
  neap_rc rc = read_steps(d, pre, &s, e);
  if (!rc && s.text.failed) rc = np_fail_mem(e);
  for (size_t i = 0; !rc && !*split && i < NP_COUNT(families); i++) {
    if (same_steps(&families[i], &s)) *split = families[i].split;
  }
  if (!rc && !*split) rc = unknown(d, pre, "is none of the known split families", e);
  np_buf_free(&s.text);
  return rc;
}
