/*
** Reads a Hugging Face tokenizer.json with a byte-level BPE model into a draft. Tokens are
** written there with a character for each byte; merges are pairs of tokens, earliest first,
** as "a b" or ["a", "b"]. Whatever would change tokens and is not known here is refused by
** name. Not looked at: truncation, padding and post-processors, which are not the text's
** tokens. next: pattern.c
*/
#include "token/import.h"

/* The members of the whole file, and of its model, that are looked at. */
typedef struct parts {
  np_json added, normalizer, pre, decoder, model;
  np_json vocab, merges;
} parts;

typedef struct reader {
  np_draft *d;
  np_err *e;
  np_buf text;          /* a decoded string */
  np_buf bytes;         /* what it stands for */
  int16_t byte_of[324]; /* the byte that a character stands for, or -1 */
} reader;

static neap_rc fail(const reader *r, const char *what, np_str shown, const char *advice) {
  np_buf b;
  np_buf_init(&b, r->d->alloc);
  neap_rc rc = np_fail(r->e, NEAP_E_VOCAB, "%s: %s %s%s", r->d->where, what,
                       np_draft_show(&b, shown), advice);
  np_buf_free(&b);
  return rc;
}

static neap_rc fail_value(const reader *r, const char *what, np_json v,
                          const char *advice) {
  int n = v.raw.n < 120 ? (int)v.raw.n : 120;
  return np_fail(r->e, NEAP_E_VOCAB, "%s: %s is %.*s%s; %s", r->d->where, what, n,
                 v.type ? v.raw.p : "missing", v.raw.n > 120 ? "…" : "", advice);
}

#define FORM "neap reads byte-level BPE as Hugging Face tokenizers writes it"
#define EXACT "neap cannot count exactly with it"

static bool is_on(np_json v) {
  return v.type == NP_JSON_BOOL && v.raw.p[0] == 't';
}

static bool is_absent(np_json v) {
  return v.type == NP_JSON_NONE || v.type == NP_JSON_NULL;
}

static bool is_text(np_json v, const char *text) {
  return v.type == NP_JSON_STRING && np_json_is_key(v.raw, text);
}

/* A whole number below NP_TOKEN_IDS. */
static bool number_of(np_json v, uint32_t *n) {
  *n = 0;
  if (v.type != NP_JSON_NUMBER) return false;
  for (size_t i = 0; i < v.raw.n; i++) {
    char c = v.raw.p[i];
    if (c < '0' || c > '9' || *n >= NP_TOKEN_IDS) return false;
    *n = 10 * *n + (uint32_t)(c - '0');
  }
  return *n < NP_TOKEN_IDS;
}

/* ---- bytes and characters ---- */

/* Printable characters of Latin-1 stand for themselves; the other bytes, in their order,
** for the characters from U+0100 on. */
static void fill_bytes(reader *r) {
  int16_t next = 256;
  for (int i = 0; i < 324; i++) r->byte_of[i] = -1;
  for (int16_t c = 0; c < 256; c++) {
    bool plain = (c > 32 && c < 127) || (c > 160 && c != 173);
    r->byte_of[plain ? c : next++] = c;
  }
}

/* The bytes that the characters of a token stand for, in r->bytes. False when one stands
** for none. */
static bool to_bytes(reader *r, np_str s) {
  const uint8_t *p = (const uint8_t *)s.p, *end = p + s.n;
  np_buf_clear(&r->bytes);
  while (p < end) {
    uint32_t c = *p++;
    if (c >= 0x80) {
      if (c < 0xC2 || c > 0xC5 || p == end) return false;
      c = (c & 0x1F) << 6 | (*p++ & 0x3Fu);
    }
    if (c > 323 || r->byte_of[c] < 0) return false;
    np_buf_addc(&r->bytes, (char)r->byte_of[c]);
  }
  return true;
}

/* The text of a JSON string, raw with its quotes, in r->text or where it lies. */
static np_str decode(reader *r, np_str raw) {
  if (!memchr(raw.p, '\\', raw.n)) return np_str_cut(raw, 1, raw.n - 1);
  np_buf_clear(&r->text);
  np_json_text((np_json){NP_JSON_STRING, raw}, &r->text);
  return np_buf_str(&r->text);
}

/* ---- what must be so ---- */

static neap_rc check_normalizer(reader *r, np_json v) {
  np_json type = {0}, list, item;
  if (is_absent(v)) return NEAP_OK;
  np_json_get(v, "type", &type);
  if (is_text(type, "NFC")) {
    r->d->flags |= NP_VOCAB_NFC;
    return NEAP_OK;
  }
  if (!is_text(type, "Sequence") || !np_json_get(v, "normalizers", &list) ||
      list.type != NP_JSON_ARRAY) {
    return fail_value(r, "normalizer", v, "neap knows NFC and none");
  }
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &item)) {
    np_json_get(item, "type", &type);
    if (!is_text(type, "NFC")) {
      return fail_value(r, "a normalizer", item, "neap knows NFC and none");
    }
    r->d->flags |= NP_VOCAB_NFC;
  }
  return NEAP_OK;
}

/* Members of the model that change what its merges give. */
static neap_rc check_member(reader *r, np_str key, np_json v) {
  static const char *const empty[] = {"dropout", "continuing_subword_prefix",
                                      "end_of_word_suffix"};
  if (np_json_is_key(key, "byte_fallback") && is_on(v)) {
    return fail_value(r, "model.byte_fallback", v, EXACT);
  }
  for (size_t i = 0; i < NP_COUNT(empty); i++) {
    if (!np_json_is_key(key, empty[i]) || is_absent(v) || is_text(v, "")) continue;
    np_str name = np_str_cut(key, 1, key.n - 1);
    char what[48] = "model.";
    memcpy(what + 6, name.p, name.n < 40 ? name.n : 40);
    return fail_value(r, what, v, EXACT);
  }
  if (np_json_is_key(key, "ignore_merges") && is_on(v)) r->d->flags |= NP_VOCAB_WHOLE;
  return NEAP_OK;
}

static neap_rc read_model(reader *r, parts *p) {
  np_str key;
  np_json v, type = {0};
  neap_rc rc = NEAP_OK;
  if (p->model.type != NP_JSON_OBJECT) return fail_value(r, "model", p->model, FORM);
  np_json_iter it = np_json_each(p->model);
  while (!rc && np_json_next(&it, &key, &v)) {
    if (np_json_is_key(key, "type")) type = v;
    else if (np_json_is_key(key, "vocab")) p->vocab = v;
    else if (np_json_is_key(key, "merges")) p->merges = v;
    else rc = check_member(r, key, v);
  }
  if (rc) return rc;
  if (type.type && !is_text(type, "BPE")) return fail_value(r, "model.type", type, FORM);
  if (p->vocab.type != NP_JSON_OBJECT)
    return fail_value(r, "model.vocab", p->vocab, FORM);
  if (p->merges.type == NP_JSON_ARRAY) return NEAP_OK;
  return fail_value(r, "model.merges", p->merges, FORM);
}

static neap_rc read_top(reader *r, np_json file, parts *p) {
  np_str key;
  np_json v;
  if (file.type != NP_JSON_OBJECT) return fail_value(r, "the file", file, FORM);
  np_json_iter it = np_json_each(file);
  while (np_json_next(&it, &key, &v)) {
    if (np_json_is_key(key, "added_tokens")) p->added = v;
    else if (np_json_is_key(key, "normalizer")) p->normalizer = v;
    else if (np_json_is_key(key, "pre_tokenizer")) p->pre = v;
    else if (np_json_is_key(key, "decoder")) p->decoder = v;
    else if (np_json_is_key(key, "model")) p->model = v;
  }
  if (!is_absent(p->added) && p->added.type != NP_JSON_ARRAY) {
    return fail_value(r, "added_tokens", p->added, FORM);
  }
  neap_rc rc = read_model(r, p);
  if (rc) return rc;
  np_json type = {0};
  if (!is_absent(p->decoder) &&
      (!np_json_get(p->decoder, "type", &type) || !is_text(type, "ByteLevel"))) {
    return fail_value(r, "decoder", p->decoder, FORM);
  }
  return check_normalizer(r, p->normalizer);
}

/* ---- added tokens ---- */

static neap_rc check_added(reader *r, np_json v, np_str text) {
  static const char *const flags[] = {"single_word", "lstrip", "rstrip"};
  np_json on;
  for (size_t i = 0; i < NP_COUNT(flags); i++) {
    if (!np_json_get(v, flags[i], &on) || !is_on(on)) continue;
    char advice[80] = " sets ";
    strcat(advice, flags[i]);
    strcat(advice, ", which neap does not know");
    return fail(r, "added token", text, advice);
  }
  if (r->d->flags & NP_VOCAB_NFC && np_json_get(v, "normalized", &on) && is_on(on)) {
    return fail(r, "added token", text,
                " is looked for in normalized text, which neap does not do");
  }
  return NEAP_OK;
}

static neap_rc add_special(reader *r, np_json v) {
  np_json content, number;
  uint32_t id;
  if (!np_json_get(v, "content", &content) || content.type != NP_JSON_STRING ||
      !np_json_get(v, "id", &number) || !number_of(number, &id)) {
    return fail_value(r, "an added token", v, "it takes a content and an id");
  }
  np_str text = content.raw;
  size_t at = r->d->bytes.n; /* kept behind the tokens' bytes */
  np_json_text(content, &r->d->bytes);
  if (r->d->bytes.failed) return np_fail_mem(r->e);
  text = np_str_cut(np_buf_str(&r->d->bytes), at, r->d->bytes.n);
  neap_rc rc = check_added(r, v, text);
  return rc ? rc : np_draft_special_add(r->d, at, text.n, id, r->e);
}

static neap_rc read_added(reader *r, np_json added) {
  np_json v;
  neap_rc rc = NEAP_OK;
  if (is_absent(added)) return NEAP_OK;
  np_json_iter it = np_json_each(added);
  while (!rc && np_json_next(&it, NULL, &v)) rc = add_special(r, v);
  return rc;
}

/* ---- tokens and merges ---- */

/* A token with a character that stands for no byte can only be an added one. */
static neap_rc read_token(reader *r, np_str key, np_json number) {
  uint32_t id;
  np_str text = decode(r, key);
  if (!number_of(number, &id)) {
    return fail(r, "token", text, " has no id of 0 to 4194303");
  }
  uint32_t special = np_draft_special_find(r->d, id);
  bool same =
      special != NP_TOKEN_NONE && np_str_eq(np_draft_special_text(r->d, special), text);
  if (special != NP_TOKEN_NONE && !same) {
    return fail(r, "token", text, " has the id of an added token");
  }
  if (to_bytes(r, text)) return np_draft_add(r->d, np_buf_str(&r->bytes), id, r->e);
  if (same) return NEAP_OK;
  return fail(r, "token", text, " holds a character that stands for no byte");
}

static neap_rc read_vocab(reader *r, np_json vocab) {
  np_str key;
  np_json v;
  neap_rc rc = NEAP_OK;
  np_json_iter it = np_json_each(vocab);
  while (!rc && np_json_next(&it, &key, &v)) rc = read_token(r, key, v);
  return rc;
}

/* An added token that is a token of the vocabulary, too, has its id. */
static neap_rc check_ids(reader *r) {
  for (uint32_t i = 0; i < r->d->special_n; i++) {
    np_str text = np_draft_special_text(r->d, i);
    if (!to_bytes(r, text)) continue;
    uint32_t place = np_draft_find(r->d, np_buf_str(&r->bytes));
    if (place != NP_TOKEN_NONE && r->d->tokens[place].id != r->d->special[i].id) {
      return fail(r, "added token", text, " has another id in the vocabulary");
    }
  }
  return NEAP_OK;
}

static neap_rc find_part(reader *r, np_str text, uint32_t *place) {
  *place = to_bytes(r, text) ? np_draft_find(r->d, np_buf_str(&r->bytes)) : NP_TOKEN_NONE;
  if (*place != NP_TOKEN_NONE) return NEAP_OK;
  return fail(r, "a merge names", text, ", which is no token of the vocabulary");
}

static neap_rc add_merge(reader *r, np_draft_merge m) {
  np_str left = np_draft_text(r->d, m.left), right = np_draft_text(r->d, m.right);
  np_buf_clear(&r->bytes);
  np_buf_add(&r->bytes, left);
  np_buf_add(&r->bytes, right);
  if (r->bytes.failed) return np_fail_mem(r->e);
  m.result = np_draft_find(r->d, np_buf_str(&r->bytes));
  if (m.result != NP_TOKEN_NONE) return np_draft_merge_add(r->d, m, r->e);
  return fail(r, "a merge gives", np_buf_str(&r->bytes),
              ", which is no token of the vocabulary");
}

/* "a b": exactly one blank. */
static neap_rc read_line(reader *r, np_json v) {
  np_draft_merge m = {0};
  np_str line = decode(r, v.raw);
  size_t blank = np_str_find(line, NP_LIT(" "), 0);
  if (blank == SIZE_MAX || np_str_find(line, NP_LIT(" "), blank + 1) != SIZE_MAX) {
    return fail(r, "a merge is", line, ", not two tokens parted by a blank");
  }
  neap_rc rc = find_part(r, np_str_cut(line, 0, blank), &m.left);
  if (!rc) rc = find_part(r, np_str_cut(line, blank + 1, line.n), &m.right);
  return rc ? rc : add_merge(r, m);
}

static neap_rc read_pair(reader *r, np_json v) {
  np_draft_merge m = {0};
  np_json item[3];
  size_t n = 0;
  np_json_iter it = np_json_each(v);
  while (n < 3 && np_json_next(&it, NULL, &item[n])) n++;
  if (n != 2 || item[0].type != NP_JSON_STRING || item[1].type != NP_JSON_STRING) {
    return fail_value(r, "a merge", v, "it takes two tokens");
  }
  neap_rc rc = find_part(r, decode(r, item[0].raw), &m.left);
  if (!rc) rc = find_part(r, decode(r, item[1].raw), &m.right);
  return rc ? rc : add_merge(r, m);
}

static neap_rc read_merges(reader *r, np_json merges) {
  np_json v;
  neap_rc rc = NEAP_OK;
  np_json_iter it = np_json_each(merges);
  for (size_t i = 0; !rc && np_json_next(&it, NULL, &v); i++) {
    bool line = v.type == NP_JSON_STRING;
    /* The first line of a merges.txt may have come along. */
    if (i == 0 && line && v.raw.n > 9 && !memcmp(v.raw.p + 1, "#version", 8)) continue;
    if (line) rc = read_line(r, v);
    else if (v.type == NP_JSON_ARRAY) rc = read_pair(r, v);
    else rc = fail_value(r, "a merge", v, "it takes two tokens");
  }
  return rc;
}

neap_rc np_hf_read(np_draft *d, np_str text, np_err *e) {
  reader r = {.d = d, .e = e};
  parts p = {0};
  np_json file;
  neap_rc rc = np_json_check(text, &file, e);
  if (rc) return rc;
  np_buf_init(&r.text, d->alloc);
  np_buf_init(&r.bytes, d->alloc);
  fill_bytes(&r);
  rc = read_top(&r, file, &p);
  if (!rc) rc = np_pattern_of(d, p.pre, &d->split, e);
  if (!rc) rc = read_added(&r, p.added);
  if (!rc) rc = np_draft_special_sort(d, e);
  if (!rc) rc = read_vocab(&r, p.vocab);
  if (!rc) rc = check_ids(&r);
  if (!rc) rc = read_merges(&r, p.merges);
  if (!rc && (r.text.failed || r.bytes.failed)) rc = np_fail_mem(e);
  np_buf_free(&r.text);
  np_buf_free(&r.bytes);
  return rc;
}
