/*
** The growing byte buffer. next: err.c
*/
#include "base/buf.h"

void np_buf_init(np_buf *b, const neap_alloc *a) {
  *b = (np_buf){.alloc = a};
}

void np_buf_free(np_buf *b) {
  np_free(b->alloc, b->p);
  b->p = NULL;
  b->n = b->cap = 0;
  b->failed = false;
}

bool np_buf_reserve(np_buf *b, size_t more) {
  size_t need;
  if (b->failed || !np_add_ok(b->n, more, &need)) {
    b->failed = true;
    return false;
  }
  void *p = b->p;
  if (!np_grow(b->alloc, &p, &b->cap, need, 1)) b->failed = true;
  b->p = p;
  return !b->failed;
}

void np_buf_add(np_buf *b, np_str s) {
  if (s.n == 0 || !np_buf_reserve(b, s.n)) return;
  memcpy(b->p + b->n, s.p, s.n);
  b->n += s.n;
}

void np_buf_addc(np_buf *b, char c) {
  if (!np_buf_reserve(b, 1)) return;
  b->p[b->n++] = c;
}

void np_buf_adds(np_buf *b, const char *cstr) {
  np_buf_add(b, np_str_cstr(cstr));
}

/* Digits of `v`, with `sep` between groups of three when it is not 0. */
static void add_digits(np_buf *b, uint64_t v, char sep) {
  char tmp[32];
  size_t i = sizeof tmp, digits = 0;
  do {
    if (sep && digits && digits % 3 == 0) tmp[--i] = sep;
    tmp[--i] = (char)('0' + v % 10);
    v /= 10;
    digits++;
  } while (v);
  np_buf_add(b, (np_str){tmp + i, sizeof tmp - i});
}

static uint64_t magnitude(np_buf *b, int64_t v) {
  if (v < 0) np_buf_addc(b, '-');
  return v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v;
}

void np_buf_int(np_buf *b, int64_t v) {
  add_digits(b, magnitude(b, v), 0);
}

void np_buf_count(np_buf *b, int64_t v) {
  add_digits(b, magnitude(b, v), ',');
}

/* Rounds half away from zero; values beyond 2^53 / 10^decimals lose their last digits. */
void np_buf_num(np_buf *b, double v, int decimals) {
  static const double scale[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
  if (!(v > -9e15 && v < 9e15)) {
    np_buf_adds(b, "null"); /* JSON has no infinity */
    return;
  }
  if (decimals < 0) decimals = 0;
  if (decimals > 6) decimals = 6;
  double s = scale[decimals], x = v < 0 ? -v : v;
  uint64_t whole = (uint64_t)x;
  uint64_t frac = (uint64_t)((x - (double)whole) * s + 0.5);
  if (frac >= (uint64_t)s) {
    whole++;
    frac = 0;
  }
  if (v < 0 && (whole || frac)) np_buf_addc(b, '-');
  add_digits(b, whole, 0);
  if (decimals == 0) return;
  np_buf_addc(b, '.');
  for (uint64_t unit = (uint64_t)s / 10; unit; unit /= 10) {
    np_buf_addc(b, (char)('0' + frac / unit % 10));
  }
}
