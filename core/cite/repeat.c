/*
** Repeated content: a result is stale when 80 % of its lines stand again in one later
** result (the same file read again, the same listing). Compares content, never paths. Each
** line remembers the results that hold it; only the newest 8 are looked at, so that a line
** that stands everywhere costs no more than another. next: ../render/trim.h
*/
#include "base/hash.h"
#include "cite/index.h"
#include "text/text.h"

#define LINE_MIN 4  /* bytes: shorter lines are brackets and blanks */
#define LINES_MIN 3 /* lines: less says nothing */
#define LATEST 8

/* The line's record, made when new. False when out of memory; *out NP_CITE_NONE when the
** table gave it up. */
static bool intern_line(np_cite *c, uint64_t hash, uint32_t *out) {
  if (!np_map_room(&c->by_line)) return false;
  np_probe p = np_map_find(&c->by_line, hash);
  while (np_map_next(&c->by_line, &p, out)) {
    if (c->lines[*out].hash == hash) return true;
  }
  void *lines = c->lines;
  *out = NP_CITE_NONE;
  if (c->line_count >= NP_CITE_NONE - 1 ||
      !np_grow(c->alloc, &lines, &c->line_cap, c->line_count + 1, sizeof *c->lines)) {
    return false;
  }
  c->lines = lines;
  if (!np_map_put(&c->by_line, &p, (uint32_t)c->line_count)) return true;
  *out = (uint32_t)c->line_count++;
  c->lines[*out] = (np_cite_line){hash, NP_CITE_NONE};
  return true;
}

/* One more line of the earlier result `was` stands in the newest entry. */
static void share(np_cite *c, np_cite_entry *was, uint32_t now) {
  if (was->shared_by != now) was->shared = 0;
  was->shared_by = now;
  was->shared++;
  if (was->lines >= LINES_MIN && (uint64_t)was->shared * 5 >= (uint64_t)was->lines * 4) {
    was->repeated_by = c->entries[now].id;
  }
}

static bool add_link(np_cite *c, np_cite_line *l, uint32_t entry) {
  void *links = c->links;
  if (c->link_count >= NP_CITE_NONE - 1 ||
      !np_grow(c->alloc, &links, &c->link_cap, c->link_count + 1, sizeof *c->links)) {
    return false;
  }
  c->links = links;
  c->links[c->link_count] = (np_cite_link){entry, l->chain};
  l->chain = (uint32_t)c->link_count++;
  return true;
}

static bool add_line(np_cite *c, np_str line) {
  uint32_t i, now = (uint32_t)c->entry_count - 1;
  if (!intern_line(c, np_hash64(line), &i)) return false;
  if (i == NP_CITE_NONE) return true;
  np_cite_line *l = &c->lines[i];
  if (l->chain != NP_CITE_NONE && c->links[l->chain].entry == now) return true;
  uint32_t at = l->chain;
  for (int k = 0; k < LATEST && at != NP_CITE_NONE; k++) {
    share(c, &c->entries[c->links[at].entry], now);
    at = c->links[at].next;
  }
  c->entries[now].lines++;
  return add_link(c, l, now);
}

bool np_cite_add_lines(np_cite *c, np_str text) {
  np_str line;
  while (np_line_next(&text, &line)) {
    if (line.n && line.p[line.n - 1] == '\r') line.n--;
    if (line.n >= LINE_MIN && !add_line(c, line)) return false;
  }
  return true;
}
