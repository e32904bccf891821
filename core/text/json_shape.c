/*
** The shape of a JSON text: a line a path, `$.items[].name: string, number (120)`, in the order
** in which the paths first come up; the items of an array are one. As many paths as a reader
** takes in; what is deeper or comes later is counted. next: ../token/token.h
*/
#include "base/hash.h"
#include "text/extract_own.h"
#include "text/json_walk.h"
#include "text/text.h"

#define PATHS 200 /* lines of a shape */
#define SLOTS 1024
#define KEY_MAX 80 /* bytes of a key that are shown */

static const char *const type_names[] = {
    [NP_JSON_NONE] = "",         [NP_JSON_NULL] = "null",     [NP_JSON_BOOL] = "boolean",
    [NP_JSON_NUMBER] = "number", [NP_JSON_STRING] = "string", [NP_JSON_ARRAY] = "array",
    [NP_JSON_OBJECT] = "object"};

typedef struct node {
  uint32_t parent; /* + 1; 0: none */
  np_str key;      /* with quotes; empty: an item of an array */
  unsigned types;  /* a bit each */
  size_t count, items_least, items_most;
} node;

typedef struct shape {
  node nodes[PATHS];
  uint32_t n;
  uint16_t slot[SLOTS]; /* node + 1 */
  size_t more;          /* values of paths that there was no room for */
} shape;

static uint64_t hash_of(uint32_t parent, np_str key) {
  return np_hash64(key) ^ (uint64_t)parent * 0x9E3779B97F4A7C15ull;
}

/* The node of such a child, made when there is room: its number + 1, or 0. */
static uint32_t child(shape *s, uint32_t parent, np_str key) {
  size_t at = hash_of(parent, key) % SLOTS;
  for (; s->slot[at]; at = (at + 1) % SLOTS) {
    node *n = &s->nodes[s->slot[at] - 1];
    if (n->parent == parent && np_str_eq(n->key, key)) return s->slot[at];
  }
  if (s->n == PATHS) return 0;
  s->nodes[s->n] = (node){.parent = parent, .key = key, .items_least = SIZE_MAX};
  return s->slot[at] = (uint16_t)++s->n;
}

static uint64_t begin(void *ctx, const np_json_place *p) {
  shape *s = ctx;
  uint32_t at = p->top || p->above ? child(s, (uint32_t)p->above, p->key) : 0;
  if (!at) {
    s->more++;
    return 0;
  }
  s->nodes[at - 1].types |= 1u << p->type;
  s->nodes[at - 1].count++;
  return at;
}

static void end(void *ctx, uint64_t what, size_t from, size_t to, size_t items) {
  shape *s = ctx;
  (void)from;
  (void)to;
  if (!what) return;
  node *n = &s->nodes[what - 1];
  if (!(n->types & (1u << NP_JSON_ARRAY))) return;
  if (items < n->items_least) n->items_least = items;
  if (items > n->items_most) n->items_most = items;
}

static bool is_word(np_str s) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    if (!(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
        c != '_' && (unsigned char)c < 0x80)
      return false;
  }
  return s.n > 0;
}

static void add_step(const node *n, np_buf *out) {
  np_str key = n->key.n ? np_str_cut(n->key, 1, n->key.n - 1) : n->key;
  if (!n->key.n) {
    np_buf_adds(out, "[]");
  } else if (is_word(key)) {
    np_buf_addc(out, '.');
    np_buf_add(out, np_str_cut(key, 0, np_utf8_floor(key, KEY_MAX)));
  } else {
    np_buf_adds(out, "[\"");
    np_utf8_repair(np_str_cut(key, 0, np_utf8_floor(key, KEY_MAX)), out);
    np_buf_adds(out, "\"]");
  }
  if (key.n > KEY_MAX) np_buf_adds(out, "\xE2\x80\xA6");
}

static void add_path(const shape *s, uint32_t at, np_buf *out) {
  uint32_t way[NP_JSON_DEPTH + 2];
  size_t n = 0;
  for (uint32_t i = at; s->nodes[i].parent && n < NP_COUNT(way);
       i = s->nodes[i].parent - 1)
    way[n++] = i;
  np_buf_addc(out, '$');
  while (n > 0) add_step(&s->nodes[way[--n]], out);
}

static void add_node(const shape *s, uint32_t at, np_buf *out) {
  const node *n = &s->nodes[at];
  bool any = false;
  add_path(s, at, out);
  np_buf_addc(out, ':');
  for (unsigned t = NP_JSON_NULL; t <= NP_JSON_OBJECT; t++) {
    if (!(n->types >> t & 1)) continue;
    np_buf_adds(out, any ? ", " : " ");
    np_buf_adds(out, type_names[t]);
    any = true;
    if (t != NP_JSON_ARRAY) continue;
    np_buf_adds(out, " of ");
    np_buf_count(out, (int64_t)n->items_least);
    if (n->items_most == n->items_least) continue;
    np_buf_addc(out, '-');
    np_buf_count(out, (int64_t)n->items_most);
  }
  if (n->count > 1) {
    np_buf_adds(out, " (");
    np_buf_count(out, (int64_t)n->count);
    np_buf_addc(out, ')');
  }
  np_buf_addc(out, '\n');
}

neap_rc np_json_shape(np_str text, const neap_alloc *a, np_buf *out, np_err *e) {
  shape *s = np_calloc(a, 1, sizeof *s);
  if (!s) return np_fail_mem(e);
  np_json_walker w = {begin, end, s, false};
  neap_rc rc = np_json_walk(text, &w, a, e);
  for (uint32_t i = 0; !rc && i < s->n; i++) add_node(s, i, out);
  if (!rc && s->more) {
    np_buf_adds(out, "\xE2\x80\xA6 and ");
    np_buf_count(out, (int64_t)s->more);
    np_buf_adds(out, s->more == 1 ? " value more\n" : " values more\n");
  }
  np_free(a, s);
  if (!rc && out->failed) rc = np_fail_mem(e);
  return rc;
}
