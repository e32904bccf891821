/*
** Lists of tool schemas, read and written as slices. Gemini lists declarations inside one
** tool; those are tools of their own here. next: ../engine/catalogue.c
*/
#include "pack/pack.h"

static bool is_list(np_str key, np_json value) {
  return value.type == NP_JSON_ARRAY && (np_json_is_key(key, "functionDeclarations") ||
                                         np_json_is_key(key, "function_declarations"));
}

/* The list inside a tool, of type NONE when it has none or an empty one. */
static np_json declarations(np_json tool) {
  np_str key;
  np_json value, first;
  if (tool.type != NP_JSON_OBJECT) return (np_json){0};
  np_json_iter it = np_json_each(tool);
  while (np_json_next(&it, &key, &value)) {
    np_json_iter inner = np_json_each(value);
    if (is_list(key, value) && np_json_next(&inner, NULL, &first)) return value;
  }
  return (np_json){0};
}

/* Has members besides its list: a tool that the provider runs itself. */
static bool has_more(np_json tool) {
  np_json value;
  size_t n = 0;
  np_json_iter it = np_json_each(tool);
  while (np_json_next(&it, NULL, &value)) n++;
  return n > 1;
}

bool np_tool_each(np_json all, np_tool_fn fn, void *ctx) {
  np_json tool, inner;
  np_json_iter it = np_json_each(all);
  while (np_json_next(&it, NULL, &tool)) {
    np_json list = declarations(tool);
    if (!list.type && !fn(ctx, tool)) return false;
    np_json_iter each = np_json_each(list);
    while (list.type && np_json_next(&each, NULL, &inner)) {
      if (!fn(ctx, inner)) return false;
    }
  }
  return true;
}

typedef struct writer {
  const np_toolset *t;
  size_t at; /* item */
  np_buf *out;
} writer;

static bool next_shown(writer *w) {
  return w->t->items[w->at++].bits & NP_TOOL_SHOWN;
}

/* How many of the list's are shown; the writer stays where it is. */
static size_t shown_in(const writer *w, np_json list, size_t *all) {
  writer ahead = *w;
  np_json inner;
  size_t n = 0;
  *all = 0;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &inner)) {
    n += next_shown(&ahead) ? 1 : 0;
    ++*all;
  }
  return n;
}

static void add_shown(writer *w, np_json list) {
  np_json inner;
  char sep = '[';
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &inner)) {
    if (!next_shown(w)) continue;
    np_buf_addc(w->out, sep);
    np_buf_add(w->out, inner.raw);
    sep = ',';
  }
  np_buf_addc(w->out, ']');
}

/* A tool that lists declarations, with those that are shown. */
static void add_partly(writer *w, np_json tool, np_json list, size_t shown) {
  np_str key;
  np_json value;
  char sep = '{';
  np_json_iter it = np_json_each(tool);
  while (np_json_next(&it, &key, &value)) {
    if (!shown && value.raw.p == list.raw.p) continue;
    np_buf_addc(w->out, sep);
    np_buf_add(w->out, key);
    np_buf_addc(w->out, ':');
    if (value.raw.p == list.raw.p) add_shown(w, list);
    else np_buf_add(w->out, value.raw);
    sep = ',';
  }
  np_buf_addc(w->out, '}');
}

/* One tool of the array, and the writer goes on to what follows it. */
static void add_tool(writer *w, np_json tool, size_t from) {
  np_json list = declarations(tool);
  size_t listed = 1, shown = list.type ? shown_in(w, list, &listed) : 0;
  bool whole = list.type ? shown == listed : next_shown(w);
  bool partly = list.type && !whole && (shown || has_more(tool));
  if ((whole || partly) && w->out->n > from + 1) np_buf_addc(w->out, ',');
  if (whole) np_buf_add(w->out, tool.raw);
  size_t at = w->at;
  if (partly) add_partly(w, tool, list, shown);
  if (list.type) w->at = at + listed;
}

void np_toolset_write(const np_toolset *t, np_buf *out) {
  writer w = {.t = t, .out = out};
  np_json all, tool;
  size_t from = out->n;
  np_buf_addc(out, '[');
  if (np_json_check(t->all, &all, NULL)) all = (np_json){0};
  np_json_iter it = np_json_each(all);
  while (all.type && np_json_next(&it, NULL, &tool)) add_tool(&w, tool, from);
  np_buf_addc(out, ']');
}
