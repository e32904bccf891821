/*
** Where a projection is from: id, lines, hash. next: project.c
*/
#include "render/project.h"

#define RANGES 4 /* that are named one by one */

static void add_range(size_t from, size_t to, bool first, np_buf *out) {
  np_buf_adds(out, first ? "" : ", ");
  np_buf_int(out, (int64_t)from);
  if (from == to) return;
  np_buf_addc(out, '-');
  np_buf_int(out, (int64_t)to);
}

static void add_lines(const np_projection *p, np_buf *out) {
  np_buf_adds(out, p->count == 1 && p->kept[0].line_from == p->kept[0].line_to
                       ? ", line "
                       : ", lines ");
  if (p->count > RANGES) {
    add_range(p->kept[0].line_from, p->kept[p->count - 1].line_to, true, out);
    np_buf_adds(out, " in part");
  }
  for (size_t i = 0; i < p->count && p->count <= RANGES; i++)
    add_range(p->kept[i].line_from, p->kept[i].line_to, i == 0, out);
  np_buf_adds(out, " of ");
  np_buf_count(out, (int64_t)p->lines);
}

void np_locator_add(const np_projection *p, np_str id, np_str hash, np_buf *out) {
  np_buf_add(out, id);
  if (p->count) {
    add_lines(p, out);
  } else {
    np_buf_adds(out, p->made ? ", made of " : ", none of ");
    np_buf_count(out, (int64_t)p->lines);
    np_buf_adds(out, p->lines == 1 ? " line" : " lines");
  }
  if (!hash.n) return;
  np_buf_adds(out, ", sha256 ");
  np_buf_add(out, np_str_cut(hash, 0, 12));
}
