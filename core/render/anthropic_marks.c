/*
** Cache marks that the host's messages bring: each is kept while no more than the provider's
** four are there, the newest first; an older one is left out, and only that. next: marked.c
*/
#include "render/anthropic.h"

static bool is_mark(np_str key) {
  return np_json_is_key(key, "cache_control");
}

static uint32_t marks_of(np_json block) {
  np_json v, inner;
  uint32_t n = np_json_get(block, "cache_control", &v) && v.type != NP_JSON_NULL;
  if (!np_json_get(block, "content", &v) || v.type != NP_JSON_ARRAY) return n;
  np_json_iter it = np_json_each(v);
  while (np_json_next(&it, NULL, &inner)) {
    np_json mark;
    n += np_json_get(inner, "cache_control", &mark) && mark.type != NP_JSON_NULL;
  }
  return n;
}

/* Of the host's members and tools. */
static uint32_t head_marks(const np_view *v) {
  np_json request, tool, list = np_part_tools(v), mark;
  uint32_t n = 0;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &tool)) n += marks_of(tool);
  if (v->request.n && !np_json_check(v->request, &request, NULL))
    n += np_json_get(request, "cache_control", &mark) && mark.type != NP_JSON_NULL;
  return n;
}

uint32_t np_anthropic_marks(const np_view *v, const np_entry *en) {
  if (!en) return head_marks(v);
  bool own = np_view_message(v, en)->shape == NP_SHAPE_ANTHROPIC;
  return own && en->place == NP_PLACE_PART ? marks_of(en->raw) : 0;
}

/* ---- leaving out ---- */

typedef struct cutter {
  const np_message *m;
  np_buf *out;
  const char *at; /* bytes before it are written or left out */
} cutter;

static void write_to(cutter *c, const char *end) {
  if (end > c->at) np_part_raw(c->m, np_str_of(c->at, (size_t)(end - c->at)), c->out);
  c->at = end;
}

/* Leaves out a mark and the comma before it, or as first member the one behind it. */
static void cut_block(cutter *c, np_json block) {
  np_str key;
  np_json value, inner;
  const char *end = block.raw.p + 1;
  bool kept = false, waits = false;
  np_json_iter it = np_json_each(block);
  while (block.type == NP_JSON_OBJECT && np_json_next(&it, &key, &value)) {
    if (waits) c->at = key.p;
    waits = false;
    if (is_mark(key)) {
      write_to(c, kept ? end : key.p);
      c->at = value.raw.p + value.raw.n;
      waits = !kept;
    } else {
      kept = true;
      np_json_iter inside = np_json_each(value);
      bool list = np_json_is_key(key, "content") && value.type == NP_JSON_ARRAY;
      while (list && np_json_next(&inside, NULL, &inner)) cut_block(c, inner);
    }
    end = value.raw.p + value.raw.n;
  }
}

void np_anthropic_unmarked(const np_message *m, np_json block, np_buf *out) {
  cutter c = {m, out, block.raw.p};
  cut_block(&c, block);
  write_to(&c, block.raw.p + block.raw.n);
}

void np_anthropic_content(const np_view *v, const np_message *m, np_json list,
                          np_buf *out) {
  cutter c = {m, out, list.raw.p};
  np_json block;
  np_json_iter it = np_json_each(list);
  for (uint32_t i = 0; i < m->entries && np_json_next(&it, NULL, &block); i++) {
    if (np_view_at(v, m->first + i)->unmarked) cut_block(&c, block);
  }
  write_to(&c, list.raw.p + list.raw.n - 1);
}
