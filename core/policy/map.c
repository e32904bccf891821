/*
** A map of what exists but is not shown in full: a few lines of tools, files and names with
** the entries that hold them. A model does not search for what it does not remember having
** seen; a summary that ends in such lines tells it what there is. next: call.c
*/
#include "policy/host.h"

#define BYTES_MAX 4000
#define TOOLS 8  /* different ones that are named, */
#define FILES 24 /* the newest, */
#define NAMES 24 /* those of the entries that were cited most */
#define PER_ENTRY 2
#define LONGEST 80 /* bytes of a name; longer ones are left out */

typedef struct map {
  const np_pack *pack;
  const np_span
      *span; /* of what it holds alone; NULL: of all that is not shown in full */
  char text[BYTES_MAX];
  size_t n, room;
} map;

/* All of `s` or nothing. */
static bool put(map *m, np_str s) {
  if (s.n > m->room - m->n) return false;
  memcpy(m->text + m->n, s.p, s.n);
  m->n += s.n;
  return true;
}

static np_str digits(char out[24], int64_t v) {
  size_t at = 24;
  do {
    out[--at] = (char)('0' + v % 10);
    v /= 10;
  } while (v > 0);
  return np_str_of(out + at, 24 - at);
}

static bool put_int(map *m, int64_t v) {
  char d[24];
  return put(m, digits(d, v));
}

/* "name (17)" or "name 21", with what parts it from the one before; all of it or nothing. */
static bool put_item(map *m, const char *first, bool begun, np_str name, int64_t v,
                     bool is_id) {
  size_t was = m->n;
  bool ok = put(m, np_str_cstr(begun ? ", " : first)) && put(m, name) &&
            put(m, np_str_cstr(is_id ? " (" : " ")) && put_int(m, v) &&
            put(m, np_str_cstr(is_id ? ")" : ""));
  if (!ok) m->n = was;
  return ok;
}

static bool holds(const np_span *s, uint32_t atom) {
  size_t lo = 0, hi = s->atoms;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (s->atom[mid] < atom) lo = mid + 1;
    else hi = mid;
  }
  return lo < s->atoms && s->atom[lo] == atom;
}

static bool is_hidden(const map *m, const np_entry *en) {
  const np_view *v = &m->pack->view;
  if (en->id > (int64_t)v->count) return false;
  if (m->span) return holds(m->span, en->atom);
  const np_shown *s = np_view_at(v, en->id);
  return s->folded || s->rung != NP_FULL;
}

/* ---- the lines ---- */

static int64_t add_extent(map *m) {
  int64_t n = 0, from = INT64_MAX, to = 0;
  for (size_t i = 0; i < m->pack->log->entry_count; i++) {
    const np_entry *en = &m->pack->log->entries[i];
    if (!is_hidden(m, en)) continue;
    n++;
    if (en->step < from) from = en->step;
    if (en->step > to) to = en->step;
  }
  if (n == 0) return 0;
  put(m, m->span ? NP_LIT("Of these: ") : NP_LIT("Not shown in full: "));
  put_int(m, n);
  put(m, n == 1 ? NP_LIT(" entry") : NP_LIT(" entries"));
  put(m, from == to ? NP_LIT(" of step ") : NP_LIT(" of steps "));
  put_int(m, from);
  if (from != to) put(m, NP_LIT("-"));
  if (from != to) put_int(m, to);
  return n;
}

typedef struct item {
  np_str name;
  int64_t v;
} item;

static item *have(item *list, size_t *n, size_t most, np_str name) {
  for (size_t i = 0; i < *n; i++) {
    if (np_str_eq(list[i].name, name)) return &list[i];
  }
  if (*n == most) return NULL;
  list[*n] = (item){name, 0};
  return &list[(*n)++];
}

static void put_line(map *m, const char *first, const item *list, size_t n, bool ids) {
  bool begun = false;
  for (size_t i = 0; i < n; i++)
    begun = put_item(m, first, begun, list[i].name, list[i].v, ids) || begun;
}

static void add_tools(map *m) {
  item list[TOOLS];
  size_t n = 0;
  for (size_t i = 0; i < m->pack->log->entry_count; i++) {
    const np_entry *en = &m->pack->log->entries[i];
    bool counts = en->kind == NP_KIND_RESULT && en->tool.n && en->tool.n <= LONGEST;
    if (!counts || !is_hidden(m, en)) continue;
    item *one = have(list, &n, TOOLS, en->tool);
    if (one) one->v++;
  }
  put_line(m, "\nResults: ", list, n, false);
}

static void add_files(map *m) {
  item list[FILES];
  size_t n = 0;
  for (size_t i = m->pack->log->entry_count; i-- > 0;) {
    const np_entry *en = &m->pack->log->entries[i];
    bool counts = en->kind == NP_KIND_RESULT && en->path.n && en->path.n <= LONGEST;
    if (!counts || !is_hidden(m, en)) continue;
    item *one = have(list, &n, FILES, en->path);
    if (one && !one->v) one->v = en->id;
  }
  put_line(m, "\nFiles: ", list, n, true);
}

/* The entries that were cited most, the newest of those that were cited alike. */
static void add_names(map *m) {
  item list[NAMES];
  np_str names[PER_ENTRY];
  const np_cite *c = m->pack->log->cite;
  size_t n = 0;
  for (uint32_t hits = 8; hits > 0; hits /= 2) {
    for (size_t i = m->pack->log->entry_count; i-- > 0 && n < NAMES;) {
      const np_entry *en = &m->pack->log->entries[i];
      uint32_t has = np_cite_of(c, en->id).hits;
      bool counts =
          en->kind == NP_KIND_RESULT && has >= hits && (has < 2 * hits || hits == 8);
      if (!counts || !is_hidden(m, en)) continue;
      size_t k = np_cite_rarest(c, en->id, names, PER_ENTRY);
      for (size_t j = 0; j < k; j++) {
        item *one = names[j].n <= LONGEST ? have(list, &n, NAMES, names[j]) : NULL;
        if (one && !one->v) one->v = en->id;
      }
    }
  }
  put_line(m, "\nNames: ", list, n, true);
}

/* map(bytes, span): the lines, of at most so many bytes (1,000); nil when all is shown in full. Of a
** span what it holds, for the end of the summary that is to stand for it. */
int np_context_map(lua_State *L) {
  np_policy *p = np_host(L);
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  lua_Integer bytes = luaL_optinteger(L, 2, 1000);
  luaL_argcheck(L, bytes >= 100 && bytes <= BYTES_MAX, 2, "between 100 and 4,000 bytes");
  const np_span *span = lua_isnoneornil(L, 3) ? NULL : np_check_span(L, 3);
  np_charge_slow(L, 4 * p->pack->log->entry_count + 1000);
  map *m = lua_newuserdatauv(L, sizeof *m, 0);
  m->pack = p->pack;
  m->span = span;
  m->n = 0;
  m->room = (size_t)bytes;
  np_index_need(L);
  if (add_extent(m)) {
    add_tools(m);
    add_files(m);
    add_names(m);
    np_wording_map(p, np_str_of(m->text, m->n));
    lua_pushlstring(L, m->text, m->n);
  } else {
    lua_pushnil(L);
  }
  return 1;
}
