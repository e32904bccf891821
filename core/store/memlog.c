/*
** Logs in memory. A row's head and body are one block, the head first. next: memory.c
*/
#include "store/memlog.h"

void np_memlogs_init(np_memlogs *m, const neap_alloc *a, bool shared_blobs) {
  *m = (np_memlogs){.alloc = a, .shared_blobs = shared_blobs};
}

/* Volatile, so that the compiler does not leave it out before a free. */
void np_wipe(void *p, size_t n) {
  volatile unsigned char *at = p;
  while (n-- > 0) *at++ = 0;
}

static bool owns_body(const np_memlogs *m, const np_row *r) {
  return !(m->shared_blobs && np_is_content(r->place));
}

static size_t owned_bytes(const np_memlogs *m, const np_row *r) {
  return r->ev.head.n + (owns_body(m, r) ? r->ev.body.n : 0);
}

static void row_free(np_memlogs *m, np_row *r) {
  m->bytes -= owned_bytes(m, r);
  np_free(m->alloc, r->block);
}

static bool row_copy(np_memlogs *m, np_row *to, const np_row *from) {
  size_t n = 0;
  bool body = owns_body(m, from);
  if (!np_add_ok(from->ev.head.n, body ? from->ev.body.n : 0, &n)) return false;
  char *block = np_malloc(m->alloc, n ? n : 1);
  if (!block) return false;
  *to = *from;
  to->block = block;
  if (from->ev.head.n) memcpy(block, from->ev.head.p, from->ev.head.n);
  to->ev.head.p = block;
  if (body) {
    to->ev.body.p = block + from->ev.head.n;
    if (from->ev.body.n)
      memcpy(block + from->ev.head.n, from->ev.body.p, from->ev.body.n);
  }
  m->bytes += n;
  return true;
}

/* ---- finding ----------------------------------------------------------------------- */

static int log_cmp(const np_memlog *log, np_str tenant, np_str session) {
  int c = np_str_cmp(log->tenant, tenant);
  return c ? c : np_str_cmp(log->session, session);
}

/* The index of the first log that does not come before (tenant, session). */
static size_t lower_bound(const np_memlogs *m, np_str tenant, np_str session) {
  size_t lo = 0, hi = m->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (log_cmp(m->logs[mid], tenant, session) < 0) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo;
}

size_t np_memlog_first(const np_memlogs *m, np_str tenant) {
  return lower_bound(m, tenant, (np_str){"", 0});
}

np_memlog *np_memlog_find(const np_memlogs *m, np_str tenant, np_str session) {
  size_t i = lower_bound(m, tenant, session);
  return i < m->n && log_cmp(m->logs[i], tenant, session) == 0 ? m->logs[i] : NULL;
}

/* ---- making and dropping ----------------------------------------------------------- */

/* One block: the log and then both names. Names are short, see NP_STORE_NAME_MAX. */
static np_memlog *log_new(const neap_alloc *a, np_str tenant, np_str session) {
  np_memlog *log = np_malloc(a, sizeof *log + tenant.n + session.n + 1);
  if (!log) return NULL;
  char *p = (char *)(log + 1);
  if (tenant.n) memcpy(p, tenant.p, tenant.n);
  if (session.n) memcpy(p + tenant.n, session.p, session.n);
  *log = (np_memlog){.tenant = {p, tenant.n}, .session = {p + tenant.n, session.n}};
  return log;
}

np_memlog *np_memlog_make(np_memlogs *m, np_str tenant, np_str session) {
  size_t i = lower_bound(m, tenant, session);
  if (i < m->n && log_cmp(m->logs[i], tenant, session) == 0) return m->logs[i];
  void *items = m->logs;
  if (!np_grow(m->alloc, &items, &m->cap, m->n + 1, sizeof *m->logs)) return NULL;
  m->logs = items;
  np_memlog *log = log_new(m->alloc, tenant, session);
  if (!log) return NULL;
  memmove(m->logs + i + 1, m->logs + i, (m->n - i) * sizeof *m->logs);
  m->logs[i] = log;
  m->n++;
  return log;
}

static void log_free(np_memlogs *m, np_memlog *log) {
  for (size_t i = 0; i < log->n; i++) row_free(m, &log->rows[i]);
  np_free(m->alloc, log->rows);
  np_free(m->alloc, log);
}

void np_memlog_drop(np_memlogs *m, np_memlog *log) {
  size_t i = lower_bound(m, log->tenant, log->session);
  memmove(m->logs + i, m->logs + i + 1, (m->n - i - 1) * sizeof *m->logs);
  m->n--;
  log_free(m, log);
}

void np_memlogs_free(np_memlogs *m) {
  for (size_t i = 0; i < m->n; i++) log_free(m, m->logs[i]);
  np_free(m->alloc, m->logs);
  np_memlogs_init(m, m->alloc, m->shared_blobs);
}

/* ---- rows -------------------------------------------------------------------------- */

bool np_memlog_add(np_memlogs *m, np_memlog *log, const np_row *rows, size_t n) {
  size_t need = 0, had = log->n;
  void *items = log->rows;
  if (!np_add_ok(log->n, n, &need)) return false;
  if (!np_grow(m->alloc, &items, &log->cap, need, sizeof *log->rows)) return false;
  log->rows = items;
  for (size_t i = 0; i < n; i++) {
    if (!row_copy(m, &log->rows[log->n], &rows[i])) {
      while (log->n > had) row_free(m, &log->rows[--log->n]);
      return false;
    }
    log->n++;
  }
  return true;
}

void np_memlog_purge(np_memlogs *m, np_row *row) {
  if (owns_body(m, row)) {
    np_wipe(row->block + row->ev.head.n, row->ev.body.n);
    m->bytes -= row->ev.body.n;
  }
  row->ev.body = (np_str){"", 0};
  row->place = NP_PLACE_PURGED;
}
