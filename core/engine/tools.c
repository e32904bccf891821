/*
** The engine's own tools for the model: neap_read gives an entry's text again, neap_recall
** finds entries by words, neap_tools finds tools that are not shown. They are in the schemas
** from the first prompt on or never; what the first two fetch is not put away again.
** next: catalogue.c
*/
#include "engine/read.h"

/* What the model is told, in the language of its task. The rule to fetch first stands here, since
** it holds where the tool is there, and in the head of every prompt, which never changes. */
typedef struct words {
  const char *read, *pointers, *recall;
} words;

static const words english = {
    .read =
        "Reads an earlier part of this conversation by its number, as given in a [neap] "
        "mark. Read first what a decision depends on.",
    .pointers =
        " Other tools take neap:17, or neap:17#41-380, as the whole of a text argument "
        "in place of that text.",
    .recall =
        "Searches all earlier steps, also those no longer shown, by words such as names, "
        "paths or error codes.",
};

/* The same. */
static const words chinese = {
    .read = "按编号读取本对话较早的内容，编号见 [neap] 标记。"
            "决定若依赖未显示的细节，须先读取。",
    .pointers = "其他工具的整个文本参数可写成 neap:17 或 neap:17#41-380，以代替该文本。",
    .recall = "按名称、路径、错误码等词语搜索以前的所有步骤，包括不再显示的。",
};

/* The forms of a part are those of text/extract.h. */
static void add_fetching(np_offer offer, np_buf *out) {
  const words *w = offer.chinese ? &chinese : &english;
  np_buf_adds(out, "{\"type\":\"function\",\"function\":{\"name\":\"neap_read\","
                   "\"description\":\"");
  np_buf_adds(out, w->read);
  if (offer.pointers) np_buf_adds(out, w->pointers);
  np_buf_adds(
      out, "\",\"parameters\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":"
           "\"string\"},\"part\":{\"type\":\"string\",\"description\":\"41-380 (lines), "
           "head 50, tail 50, match REGEX, errors, json $.a[0], rows 1-20, section "
           "TITLE, outline, about WORDS\"}},\"required\":[\"id\"]}}},"
           "{\"type\":\"function\",\"function\":{\"name\":\"neap_recall\","
           "\"description\":\"");
  np_buf_adds(out, w->recall);
  np_buf_adds(out, "\",\"parameters\":{\"type\":\"object\",\"properties\":{\"query\":{"
                   "\"type\":\"string\",\"description\":\"words to look "
                   "for\"}},\"required\":[\"query\"]}}}");
}

static const char catalogue[] =
    "{\"type\":\"function\",\"function\":{\"name\":\"neap_tools\",\"description\":"
    "\"Finds "
    "tools that are not listed here, by words, with their schemas; and calls one that "
    "was "
    "found.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"query\":{\"type\":"
    "\"string\",\"description\":\"words for what the tool should "
    "do\"},\"call\":{\"type\":"
    "\"string\",\"description\":\"name of a found tool, to call "
    "it\"},\"arguments\":{\"type\":\"object\",\"description\":\"arguments of that call, "
    "by "
    "the tool's schema\"}}}}}";

bool np_tools_is_ours(np_str name) {
  return name.n > 5 && memcmp(name.p, "neap_", 5) == 0;
}

/* What neap_tools gives is a schema, which is shown later, or another tool's result; what
** neap_state says is that the state shows it. */
bool np_tools_fetches(np_str name) {
  return np_tools_is_ours(name) && !np_str_is(name, "neap_tools") &&
         !np_str_is(name, "neap_state") && !np_str_is(name, "neap_scratch");
}

neap_rc np_tools_schemas(const neap_session *s, np_str host, np_offer offer, np_buf *out,
                         np_err *e) {
  np_json list, item;
  bool any = false;
  np_buf_addc(out, '[');
  if (host.n) {
    neap_rc rc = np_json_check(host, &list, e);
    if (rc) return rc;
    np_json_iter it = np_json_each(list);
    while (np_json_next(&it, NULL, &item)) {
      if (any) np_buf_addc(out, ',');
      np_buf_add(out, item.raw);
      any = true;
    }
  }
  if (any) np_buf_addc(out, ',');
  if (offer.fetch) add_fetching(offer, out);
  if (offer.fetch && offer.find) np_buf_addc(out, ',');
  if (offer.find) np_buf_adds(out, catalogue);
  if (offer.state && (offer.fetch || offer.find)) np_buf_addc(out, ',');
  if (offer.state) np_object_tool(s, offer.chinese, out);
  if (offer.scratch && (offer.fetch || offer.find || offer.state)) np_buf_addc(out, ',');
  if (offer.scratch) np_scratch_tool(offer.chinese, out);
  np_buf_addc(out, ']');
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}

/* ---- words ---- */

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* `word` occurs in `text`, upper and lower case alike. */
bool np_query_in(np_str text, np_str word) {
  if (word.n > text.n) return false;
  for (size_t i = 0; i + word.n <= text.n; i++) {
    size_t j = 0;
    while (j < word.n && lower(text.p[i + j]) == lower(word.p[j])) j++;
    if (j == word.n) return true;
  }
  return false;
}

static bool is_word_byte(char c) {
  return (unsigned char)c >= 0x80 || (c >= '0' && c <= '9') ||
         (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || c == '.' || c == '/' ||
         c == '-';
}

/* Next word of two bytes or more. */
bool np_query_next(np_str *rest, np_str *word) {
  while (rest->n) {
    while (rest->n && !is_word_byte(rest->p[0])) *rest = np_str_cut(*rest, 1, rest->n);
    size_t n = 0;
    while (n < rest->n && is_word_byte(rest->p[n])) n++;
    *word = np_str_cut(*rest, 0, n);
    *rest = np_str_cut(*rest, n, rest->n);
    if (n >= 2) return true;
  }
  return false;
}

neap_rc np_tools_answer(neap_session *s, const neap_call *c, np_buf *out) {
  np_json args = {0};
  neap_rc rc = NEAP_OK;
  np_buf_clear(out);
  if (np_json_check(c->arguments, &args, NULL)) args = (np_json){0};
  if (np_str_is(c->name, "neap_read")) rc = np_read_answer(s, args, out);
  else if (np_str_is(c->name, "neap_recall")) rc = np_recall_answer(s, args, out);
  else if (np_str_is(c->name, "neap_tools")) np_catalogue_answer(s, args, out);
  else np_buf_adds(out, "There is no such tool; neap offers neap_read and neap_recall.");
  return out->failed ? np_fail_mem(&s->err) : rc;
}

/* The log of a resumed session has the host's tools with the engine's. */
neap_rc np_tools_same(neap_session *s, np_str json, bool *same) {
  neap_rc rc = NEAP_OK;
  *same = np_str_eq(json, s->host_tools) || np_str_eq(json, s->tools);
  for (int ours = 1; ours < 64 && !*same && !rc; ours++) {
    np_buf list;
    np_offer offer = {ours & 1, ours & 2, ours & 4, ours & 32, ours & 8, ours & 16};
    if (offer.state && !s->object.schema) continue;
    np_buf_init(&list, &s->engine->alloc);
    rc = np_tools_schemas(s, json, offer, &list, &s->err);
    *same = !rc && np_str_eq(np_buf_str(&list), s->tools);
    np_buf_free(&list);
  }
  return rc;
}
