/*
** Which way to cut: the one with the widest instructions that this machine has. The
** question is so cheap that each call asks it, and nothing has to be kept.
** next: split_block.h
*/
#include "token/split_many.h"

#include "base/port.h"

typedef struct way {
  const char *name;
  np_split_cutter *cut; /* NULL: not in this build */
  unsigned needs;       /* of np_cpu */
} way;

static const way ways[NP_SPLIT_PATHS] = {
    [NP_SPLIT_SINGLY] = {"singly", np_split_singly, 0},
    [NP_SPLIT_PLAIN] = {"plain", np_split_plain, 0},
#ifdef NP_SPLIT_ARM
    [NP_SPLIT_NEON] = {"neon", np_split_neon, NP_CPU_NEON},
#else
    [NP_SPLIT_NEON] = {"neon", NULL, 0},
#endif
#ifdef NP_SPLIT_X86
    [NP_SPLIT_AVX2] = {"avx2", np_split_avx2, NP_CPU_AVX2},
    [NP_SPLIT_AVX512] = {"avx512", np_split_avx512, NP_CPU_AVX512},
#else
    [NP_SPLIT_AVX2] = {"avx2", NULL, 0},
    [NP_SPLIT_AVX512] = {"avx512", NULL, 0},
#endif
};

static bool can(const way *w, unsigned cpu) {
  return w->cut && (w->needs & ~cpu) == 0;
}

bool np_split_can(np_split_path path) {
  return path < NP_SPLIT_PATHS && can(&ways[path], np_port_cpu());
}

const char *np_split_path_name(np_split_path path) {
  return ways[path].name;
}

size_t np_split_by(np_split_path path, np_split_kind kind, const uint8_t *p,
                   const uint8_t *end, uint32_t *ends, size_t cap) {
  if (kind >= NP_SPLIT_QWEN2) return np_split_singly(kind, p, end, ends, cap);
  if (!np_split_rules_of(kind)) path = NP_SPLIT_SINGLY;
  return ways[path].cut(kind, p, end, ends, cap);
}

size_t np_split_many(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                     uint32_t *ends, size_t cap) {
  if (kind >= NP_SPLIT_QWEN2) return np_split_singly(kind, p, end, ends, cap);
  unsigned cpu = np_port_cpu(), path = NP_SPLIT_PATHS - 1;
  while (!can(&ways[path], cpu)) path--; /* the first ones need nothing */
  return np_split_by(path, kind, p, end, ends, cap);
}
