/*
** Repairs that all formats share: what is not listed, half surrogates, calls and results that
** stand alone, results with empty texts or with pictures that have no place.
** next: repair_forms.c
*/
#include "render/repair.h"

#include "render/inner.h"

const char *np_repair_name(np_repair r) {
  static const char *const names[NP_REPAIR_COUNT] = {
#define NP_X(id, name) name,
      NP_REPAIRS(NP_X)
#undef NP_X
  };
  return names[r];
}

/* What has no place in the prompt at all. */
static uint32_t unlisted(const np_view *v, const np_entry *en) {
  bool own = np_view_message(v, en)->shape == v->format->shape;
  if (en->kind == NP_KIND_LOG || en->kind == NP_KIND_SUMMARY || en->apart) return 0;
  if (en->empty) return NP_REPAIRED(EMPTY);
  if (en->kind == NP_KIND_THOUGHT)
    return en->text.n || en->opaque || own ? NP_REPAIRED(THOUGHT) : NP_REPAIRED(EMPTY);
  return en->opaque || en->kind == NP_KIND_RESULT ? NP_REPAIRED(OPAQUE)
                                                  : NP_REPAIRED(EMPTY);
}

/* Halves stand in the entry itself, or somewhere else in its message: then the first entry
** answers for them. */
static bool is_lone(const np_view *v, const np_entry *en) {
  const np_message *m = np_view_message(v, en);
  if (!m->lone) return false;
  if (np_json_has_lone(en->raw)) return true;
  if (en->id != m->first) return false;
  for (uint32_t i = 1; i < m->entries; i++) {
    if (np_json_has_lone(np_log_entry(v->log, m->first + i)->raw)) return false;
  }
  return true;
}

static bool is_empty_string(np_json s) {
  return s.type == NP_JSON_STRING && s.raw.n == 2;
}

/* Where a provider's form has a result's content. */
static np_json content_of(const np_view *v, const np_entry *en) {
  np_json v2 = {0}, f;
  switch (np_view_message(v, en)->shape) {
    case NP_SHAPE_CHAT: return en->raw;
    case NP_SHAPE_ANTHROPIC: np_json_get(en->raw, "content", &v2); break;
    case NP_SHAPE_RESPONSES: np_json_get(en->raw, "output", &v2); break;
    default:
      if (!np_json_get(en->raw, "functionResponse", &f))
        np_json_get(en->raw, "function_response", &f);
      np_json_get(f, "response", &v2);
  }
  return v2;
}

/* An Anthropic result may lack its content; no other may. */
static bool lacks_content(const np_view *v, const np_entry *en) {
  np_json content = content_of(v, en), part;
  np_shape shape = np_view_message(v, en)->shape;
  if (content.type == NP_JSON_NONE) return shape != NP_SHAPE_ANTHROPIC;
  if (content.type == NP_JSON_NULL) return true;
  if (content.type != NP_JSON_ARRAY || shape == NP_SHAPE_ANTHROPIC) return false;
  np_json_iter it = np_json_each(content);
  return !np_json_next(&it, NULL, &part);
}

static uint32_t result_repairs(const np_view *v, const np_entry *en) {
  np_inner in;
  bool own = np_view_message(v, en)->shape == v->format->shape;
  uint32_t set = own && lacks_content(v, en) ? NP_REPAIRED(EMPTY) : 0;
  np_inners all = np_inner_each(v, en);
  while (!en->opaque && np_inner_next(&all, &in)) {
    if (in.kind == NP_KIND_TEXT) {
      if (own && is_empty_string(in.words)) set |= NP_REPAIRED(EMPTY);
      continue;
    }
    bool taken = v->format->takes && (own || v->format->takes(v, in.part, in.kind));
    if (!taken) set |= NP_REPAIRED(PICTURE);
  }
  return set;
}

uint32_t np_repairs(const np_view *v, const np_entry *en, np_repair_memo *memo) {
  const np_shown *s = np_view_at(v, en->id);
  uint32_t set = 0;
  if (en->kind == NP_KIND_SUMMARY || en->kind == NP_KIND_LOG) return 0;
  if (!s->listed && !s->folded) return unlisted(v, en);
  if (is_lone(v, en)) set |= NP_REPAIRED(SURROGATE);
  if (!v->format->repairs) return set;
  if (en->kind == NP_KIND_CALL && !en->pair) set |= NP_REPAIRED(STUB);
  if (en->kind == NP_KIND_RESULT && !en->pair) set |= NP_REPAIRED(ORPHAN);
  if (en->kind == NP_KIND_RESULT && en->pair) set |= result_repairs(v, en);
  return set | v->format->repairs(v, en, memo);
}
