/*
** Which tools are shown: the wish of the policy, what the model has looked for, and the rules
** that hold. A change of the set changes the first bytes of every prompt, so it waits until
** they are written anew. next: tool_list.c
*/
#include "pack/pack.h"

#include <stdlib.h>

#include "pack/change.h"
#include "render/parts.h"

void np_toolset_init(np_toolset *t, const neap_alloc *a) {
  *t = (np_toolset){.all = NP_LIT(""), .request = NP_LIT("")};
  np_buf_init(&t->text, a);
  np_buf_init(&t->why, a);
  np_buf_init(&t->by, a);
  np_buf_init(&t->saved, a);
  np_arena_init(&t->arena, a);
}

void np_toolset_free(np_toolset *t) {
  const neap_alloc *a = t->arena.alloc;
  np_free(a, t->items);
  np_free(a, t->by_name);
  np_free(a, t->named);
  np_buf_free(&t->text);
  np_buf_free(&t->why);
  np_buf_free(&t->by);
  np_buf_free(&t->saved);
  np_arena_free(&t->arena);
}

/* ---- reading the schemas ---- */

typedef struct reader {
  np_toolset *t;
  np_json choice; /* what the request says of tools */
  np_buf text;
  bool failed;
} reader;

static np_str keep_text(reader *r, np_json string) {
  np_str kept = NP_LIT("");
  np_buf_clear(&r->text);
  if (string.type == NP_JSON_STRING) np_json_text(string, &r->text);
  if (r->text.failed || !np_arena_copy(&r->t->arena, np_buf_str(&r->text), &kept))
    r->failed = true;
  return kept;
}

/* A tool that its provider runs may have a type alone, or be one member. */
static np_json name_of(const np_tool *tool) {
  np_json v = tool->name;
  np_str key;
  if (v.type == NP_JSON_STRING) return v;
  if (np_json_get(tool->raw, "type", &v) && v.type == NP_JSON_STRING) return v;
  np_json_iter it = np_json_each(tool->raw);
  if (!np_json_next(&it, &key, &v)) return (np_json){0};
  return (np_json){NP_JSON_STRING, key};
}

static bool is_ours(np_str name) {
  return np_str_is(name, "neap_read") || np_str_is(name, "neap_recall") ||
         np_str_is(name, "neap_tools");
}

static bool read_item(void *ctx, np_json json) {
  reader *r = ctx;
  np_toolset *t = r->t;
  void *items = t->items;
  if (!np_grow(t->arena.alloc, &items, &t->cap, t->count + 1, sizeof *t->items)) {
    r->failed = true;
    return false;
  }
  t->items = items;
  np_tool tool = {.raw = json};
  if (json.type == NP_JSON_OBJECT) tool = np_tool_read(json);
  np_json name = json.type == NP_JSON_OBJECT ? name_of(&tool) : (np_json){0};
  np_tool_item *i = &t->items[t->count++];
  *i = (np_tool_item){.raw = json.raw, .tokens = -1};
  i->bits = NP_TOOL_SHOWN | NP_TOOL_WANTED;
  i->name = keep_text(r, name);
  i->description = keep_text(r, tool.description);
  i->ours = is_ours(i->name);
  bool asked = name.type && np_str_find(r->choice.raw, name.raw, 0) != SIZE_MAX;
  i->fixed = i->ours || asked || !i->name.n;
  return !r->failed;
}

/* What the request asks of certain tools, in any provider's words. */
static np_json choice_of(np_str request) {
  static const char *const names[] = {"tool_choice", "toolConfig", "tool_config",
                                      "function_call"};
  np_json object, v;
  if (!request.n || np_json_check(request, &object, NULL)) return (np_json){0};
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    if (np_json_get(object, names[i], &v)) return v;
  }
  return (np_json){0};
}

typedef struct named_at {
  np_str name;
  uint32_t at;
} named_at;

static int by_name(const void *a, const void *b) {
  const named_at *x = a, *y = b;
  int c = np_str_cmp(x->name, y->name);
  return c ? c : (x->at > y->at) - (x->at < y->at);
}

static bool sort_names(np_toolset *t) {
  const neap_alloc *a = t->arena.alloc;
  void *index = t->by_name, *named = t->named;
  named_at *list = np_calloc(a, t->count + 1, sizeof *list);
  bool ok = list && np_grow(a, &index, &t->by_name_cap, t->count, sizeof *t->by_name);
  t->by_name = index;
  ok = ok && np_grow(a, &named, &t->named_cap, t->count, sizeof *t->named);
  t->named = named;
  for (size_t i = 0; ok && i < t->count; i++)
    list[i] = (named_at){t->items[i].name, (uint32_t)i};
  if (ok && t->count) qsort(list, t->count, sizeof *list, by_name);
  for (size_t i = 0; ok && i < t->count; i++) t->by_name[i] = list[i].at;
  np_free(a, list);
  return ok;
}

neap_rc np_pack_tools_set(np_pack *p, np_str all, np_str request, bool recall,
                          np_err *e) {
  np_toolset *t = &p->tools;
  np_json list;
  reader r = {.t = t, .choice = choice_of(request)};
  if (!r.choice.type) r.choice.raw = NP_LIT("");
  t->all = all;
  t->request = request;
  t->recall = recall;
  t->count = t->seen = 0;
  np_buf_clear(&t->why);
  np_buf_clear(&t->by);
  np_arena_clear(&t->arena);
  np_buf_init(&r.text, p->alloc);
  if (all.n && !np_json_check(all, &list, NULL) && list.type == NP_JSON_ARRAY)
    np_tool_each(list, read_item, &r);
  np_buf_free(&r.text);
  if (r.failed || !sort_names(t)) return np_fail_mem(e);
  np_view_set_head(&p->view, all, request, recall);
  return p->view.lost ? np_fail_mem(e) : NEAP_OK;
}

/* ---- by name ---- */

bool np_toolset_find(const np_toolset *t, np_str name, size_t *from, size_t *to) {
  size_t low = 0, high = t->count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (np_str_cmp(np_toolset_at(t, mid)->name, name) < 0) low = mid + 1;
    else high = mid;
  }
  *from = low;
  while (low < t->count && np_str_eq(np_toolset_at(t, low)->name, name)) low++;
  *to = low;
  return *to > *from;
}

bool np_toolset_has(const np_toolset *t, const char *name_cstr) {
  size_t from, to;
  return np_toolset_find(t, np_str_cstr(name_cstr), &from, &to);
}

void np_pack_tools_named(np_pack *p) {
  np_toolset *t = &p->tools;
  const np_view *v = &p->view;
  size_t from, to;
  if (t->count) memset(t->named, 0, t->count * sizeof *t->named);
  int64_t id = np_view_first(v, UINT32_C(1) << NP_KIND_CALL, false, false);
  for (; t->count && id <= (int64_t)v->count; id++) {
    const np_entry *en = np_log_entry(p->log, id);
    if (en->kind != NP_KIND_CALL || !np_view_is_shown(v, id)) continue;
    if (!np_toolset_find(t, en->tool, &from, &to)) continue;
    for (; from < to; from++) t->named[t->by_name[from]] = true;
  }
}

/* ---- counting ---- */

int64_t np_pack_tool_tokens(np_pack *p, size_t item) {
  np_tool_item *i = &p->tools.items[item];
  np_buf one;
  if (i->tokens >= 0) return i->tokens;
  np_buf_init(&one, p->alloc);
  np_buf_addc(&one, '[');
  np_buf_add(&one, i->raw);
  np_buf_addc(&one, ']');
  if (one.failed) np_view_lose(&p->view);
  else i->tokens = np_view_tools_tokens(&p->view, np_buf_str(&one));
  np_buf_free(&one);
  return i->tokens < 0 ? 0 : i->tokens;
}

/* ---- the state, saved and laid ---- */

void np_toolset_save(const np_toolset *t, np_buf *out) {
  for (size_t i = 0; i < t->count; i++) np_buf_addc(out, (char)('0' + t->items[i].bits));
  np_buf_addc(out, '\0');
  np_buf_add(out, np_buf_str(&t->by));
  np_buf_addc(out, '\0');
  np_buf_add(out, np_buf_str(&t->why));
}

/* Shows what the bits say. The host's own bytes stand where all are shown. */
static void show(np_pack *p) {
  np_toolset *t = &p->tools;
  size_t n = 0;
  while (n < t->count && (t->items[n].bits & NP_TOOL_SHOWN)) n++;
  np_str text = t->all;
  if (n < t->count) {
    np_buf_clear(&t->text);
    np_toolset_write(t, &t->text);
    if (t->text.failed) np_view_lose(&p->view);
    else text = np_buf_str(&t->text);
  }
  np_view_set_head(&p->view, text, t->request, t->recall);
}

bool np_pack_tools_load(np_pack *p, np_str saved) {
  np_toolset *t = &p->tools;
  bool other = false;
  if (saved.n < t->count + 2 || saved.p[t->count]) return false;
  for (size_t i = 0; i < t->count; i++) {
    unsigned bits = (unsigned char)saved.p[i] - (unsigned)'0';
    if (bits > NP_TOOL_BITS) return false;
    other = other || ((t->items[i].bits ^ bits) & NP_TOOL_SHOWN);
    t->items[i].bits = (uint8_t)bits;
  }
  np_str rest = np_str_cut(saved, t->count + 1, saved.n);
  size_t by = np_str_find(rest, NP_LIT("\0"), 0);
  if (by == SIZE_MAX) return false;
  np_buf_clear(&t->by);
  np_buf_add(&t->by, np_str_cut(rest, 0, by));
  np_buf_clear(&t->why);
  np_buf_add(&t->why, np_str_cut(rest, by + 1, rest.n));
  if (t->by.failed || t->why.failed) np_view_lose(&p->view);
  if (other) show(p);
  return !p->view.lost;
}

/* ---- changes ---- */

/* Records the state before a change of it, for the undo and the account. */
static bool record(np_pack *p, np_reason r) {
  np_str before;
  np_buf_clear(&p->tools.saved);
  np_toolset_save(&p->tools, &p->tools.saved);
  if (p->tools.saved.failed ||
      !np_arena_copy(&p->turn, np_buf_str(&p->tools.saved), &before))
    return false;
  if (!np_pack_record(p, 0, NP_FULL, NP_FULL, before, false, r)) return false;
  p->changes[p->change_count - 1].flag = NP_FLAG_TOOLS;
  return true;
}

static bool is_due(const np_toolset *t) {
  for (size_t i = 0; i < t->count; i++) {
    if (np_tool_stays(&t->items[i]) != ((t->items[i].bits & NP_TOOL_SHOWN) != 0))
      return true;
  }
  return false;
}

/* What may go goes; what is to come comes as far as there is room, one after the other. */
static bool choose(np_pack *p, int64_t room) {
  np_toolset *t = &p->tools;
  bool other = false;
  for (size_t i = 0; i < t->count; i++) {
    np_tool_item *it = &t->items[i];
    bool shown = (it->bits & NP_TOOL_SHOWN) != 0,
         stays = np_tool_stays(it) || t->named[i];
    if (!shown || stays) continue;
    room += np_pack_tool_tokens(p, i);
    it->bits &= (uint8_t)~NP_TOOL_SHOWN;
    other = true;
  }
  for (size_t i = 0; i < t->count; i++) {
    np_tool_item *it = &t->items[i];
    if ((it->bits & NP_TOOL_SHOWN) || !(np_tool_stays(it) || t->named[i])) continue;
    if (np_pack_tool_tokens(p, i) > room) continue;
    room -= np_pack_tool_tokens(p, i);
    it->bits |= NP_TOOL_SHOWN;
    other = true;
  }
  return other;
}

/* Lists of tools do not count as their parts in every format: when it does not fit after all,
** nothing comes. */
static void take_out_again(np_pack *p, np_str before) {
  for (size_t i = 0; i < p->tools.count; i++) {
    bool was = ((unsigned char)before.p[i] - (unsigned)'0') & NP_TOOL_SHOWN;
    if (!was) p->tools.items[i].bits &= (uint8_t)~NP_TOOL_SHOWN;
  }
  show(p);
}

np_verdict np_pack_tools_settle(np_pack *p, bool now) {
  np_reason found = {NP_LIT("the model has looked for it"), NP_LIT("neap_tools")};
  np_toolset *t = &p->tools;
  if (!is_due(t) || !(now || np_frame_rewrites(&p->frame, &p->view))) return NP_SAME;
  int64_t room = p->budget - np_pack_tokens(p);
  np_reason wish = {np_buf_str(&t->why), np_buf_str(&t->by)};
  size_t mark = np_pack_mark(p);
  np_pack_tools_named(p);
  if (!record(p, wish.by.n ? wish : found)) return NP_NO_MEMORY;
  if (!choose(p, room)) {
    p->change_count = mark; /* nothing has changed */
    return p->view.lost ? NP_NO_MEMORY : NP_SAME;
  }
  int64_t most = np_pack_tokens(p) > p->budget ? np_pack_tokens(p) : p->budget;
  show(p);
  if (np_pack_tokens(p) > most) take_out_again(p, p->changes[mark].text_before);
  return p->view.lost ? NP_NO_MEMORY : NP_DONE;
}

static bool has_any(const np_toolset *t, const bool *wanted, bool now) {
  for (size_t i = 0; i < t->count; i++) {
    const np_tool_item *it = &t->items[i];
    if (wanted[i] || it->fixed || (!now && (it->bits & NP_TOOL_FOUND))) return true;
  }
  return false;
}

static bool differs(const np_toolset *t, const bool *wanted, bool now) {
  for (size_t i = 0; i < t->count; i++) {
    unsigned bits = t->items[i].bits;
    if (wanted[i] != ((bits & NP_TOOL_WANTED) != 0)) return true;
    if (now && !wanted[i] && (bits & NP_TOOL_FOUND)) return true;
  }
  return false;
}

/* The wish stands until the next one. `now`: the prompt must become smaller, so that even what
** the model has looked for goes, and at once. */
np_verdict np_pack_tools_want(np_pack *p, const bool *wanted, bool now, np_reason r) {
  np_toolset *t = &p->tools;
  if (!has_any(t, wanted, now))
    return np_pack_refuse(p, "one tool at least stays; a request without any is another");
  if (differs(t, wanted, now)) {
    if (!record(p, r)) return NP_NO_MEMORY;
    for (size_t i = 0; i < t->count; i++) {
      unsigned bits = t->items[i].bits & ~NP_TOOL_WANTED;
      if (now && !wanted[i]) bits &= ~NP_TOOL_FOUND;
      t->items[i].bits = (uint8_t)(bits | (wanted[i] ? NP_TOOL_WANTED : 0));
    }
    np_buf_clear(&t->why);
    np_buf_add(&t->why, r.why);
    np_buf_clear(&t->by);
    np_buf_add(&t->by, r.by);
    if (t->why.failed || t->by.failed) return NP_NO_MEMORY;
  }
  np_verdict v = np_pack_tools_settle(p, now);
  return v == NP_NO_MEMORY ? v : NP_DONE;
}
